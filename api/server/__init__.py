"""The processes: the command line, gunicorn's master and workers, the embedded Valkey.

`cli` is the command `ludotheque`, `run` its `serve`. `gunicorn_config` configures `serve` and the
gunicorn command alike; it names the `worker` and the `log_format`. `valkey` starts the embedded
server under a `valkey_supervisor`.
"""
