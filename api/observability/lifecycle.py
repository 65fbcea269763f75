"""Whether this worker is about to stop, and the callbacks to run when it starts and stops.

The server tells this module of both, and the application asks it, so that neither knows the other.
It imports nothing, so that the worker can load it before gevent patches.
"""

from __future__ import annotations

from collections.abc import Callable

_watchers: list[Callable[[], None]] = []
_callbacks: list[Callable[[], None]] = []
_is_stopping = False


def in_one_worker(callback: Callable[[], None]) -> None:
    """Run `callback` in one of the workers before it serves, and in the one that replaces it."""
    _watchers.append(callback)


def start_in_one_worker() -> None:
    """Run the callbacks of `in_one_worker`. The server calls this in one worker at a time."""
    for callback in _watchers:
        callback()


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
