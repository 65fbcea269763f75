"""Waiting: long polls and streams, over one subscription for a whole worker.

`subscription` hears, `hub` looks at what was heard of and wakes who waits for it, `polls` and
`streams` answer. A signal only ever says "look": what is there decides, so one that is lost costs
no more than the time until the hub looks again by itself.
"""

MAX_WAIT_SECONDS = 25
"""How long a poll may wait: well below the half minute after which proxies give up."""
