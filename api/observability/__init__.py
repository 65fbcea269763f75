"""What a running process reports: metrics, log lines, the context of a request, its own stop.

`metrics` counts events, `multiprocess` keeps the counts of all workers. `logger` is the service's
log, `redaction` describes exceptions without secrets. `context` holds what is known of a request,
`addresses` finds its caller. `lifecycle` tells that the worker starts and stops. `restarts` counts
those of the embedded store.
"""
