"""The configuration: `settings` from the environment, and what follows from it.

`rate_policies` is the table of the rate limits, `capacity` the number of connections that a worker
can hold on this machine.
"""
