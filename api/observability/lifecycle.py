"""Whether this worker is about to stop, and the callbacks to run when it stops.

The worker tells this module of its stop, and the application asks it, so that neither knows the
other. It imports nothing, so that the worker can load it before gevent patches.
"""

from __future__ import annotations

from collections.abc import Callable

_callbacks: list[Callable[[], None]] = []
_is_stopping = False


def on_stop(callback: Callable[[], None]) -> None:
    """Run `callback` when the worker stops, before it waits for the requests in flight."""
    _callbacks.append(callback)


def announce_stop() -> None:
    """Report not ready from now on: the worker still serves, but will stop soon."""
    global _is_stopping  # noqa: PLW0603 (there is one worker in a process)
    _is_stopping = True


def is_stopping() -> bool:
    """Return whether the worker was told to stop."""
    return _is_stopping


def stop() -> None:
    """Run the callbacks: they end the requests that wait for something to happen."""
    announce_stop()
    for callback in _callbacks:
        callback()
