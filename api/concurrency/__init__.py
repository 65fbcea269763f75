"""Coordination of the greenlets of one worker.

- `time_slices`: `long_work`, `pause`
- `single_flight`: `SingleFlight`
- `waits`: `Wait`, `Steps`, `Parts`
"""
