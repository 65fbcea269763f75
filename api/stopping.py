"""What is to be done at once when this worker stops.

The worker knows nothing of the application, and the application nothing of the worker: both know
this list. It imports nothing, so that the worker can load it early.
"""

from __future__ import annotations

from collections.abc import Callable

_calls: list[Callable[[], None]] = []


def when_stopping(call: Callable[[], None]) -> None:
    """Have this called when the worker stops, before requests in flight are waited for."""
    _calls.append(call)


def stop() -> None:
    """The worker stops: requests that wait for something are to be answered now."""
    for call in _calls:
        call()
