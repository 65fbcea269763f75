"""Whether this worker is about to stop, and what is to be done at once when it does.

The worker knows nothing of the application, and the application nothing of the worker: both know
this module. It imports nothing, so that the worker can load it early.
"""

from __future__ import annotations

from collections.abc import Callable

_calls: list[Callable[[], None]] = []
_is_announced = False


def when_stopping(call: Callable[[], None]) -> None:
    """Have this called when the worker stops, before requests in flight are waited for."""
    _calls.append(call)


def announce() -> None:
    """The worker was told to stop: it still serves, but nobody new should be sent here."""
    global _is_announced  # noqa: PLW0603 (there is one worker in a process)
    _is_announced = True


def is_announced() -> bool:
    """Whether the worker is about to stop."""
    return _is_announced


def stop() -> None:
    """The worker stops: requests that wait for something are to be answered now."""
    announce()
    for call in _calls:
        call()
