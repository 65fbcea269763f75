"""Time slices: work that takes long lets the worker serve other requests in between.

All requests of a worker share one thread, so a request that computes for long would delay every
other one. Such a request computes inside `long_work()` and calls `pause()` between two units of
it. Only one piece of long work runs at a time in a worker, for one slice. Then the worker serves
other requests for as long as the slice took, and the next piece has its slice. So long work takes
at most half of a worker's time, however many requests ask for it.

Do not wait for the store or for a client inside `long_work()`: all other long work would wait too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import gevent
from gevent.lock import Semaphore

SLICE_SECONDS = 0.001
"""How long one piece of work runs before others have their turn, unless one unit takes longer."""


class TimeSlices:
    """Shares out the time of a worker among its pieces of long work, in the order of asking."""

    def __init__(self) -> None:
        self._turn = Semaphore(1)
        self._runs: gevent.Greenlet | None = None
        self._began = 0.0
        self._next_at = 0.0

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Wait for a slice and work in it. Inside another such block, be a part of that work."""
        if self._runs is gevent.getcurrent():
            yield
            return
        self._begin()
        try:
            yield
        finally:
            # The request may have been stopped in `pause`, while it had no slice.
            if self._runs is gevent.getcurrent():
                self._end()

    def pause(self) -> None:
        """Let others have their turn if the slice is over. Does nothing outside `long_work()`."""
        if self._runs is not gevent.getcurrent():
            return
        if time.monotonic() - self._began < SLICE_SECONDS:
            return
        self._end()
        # Without this the work would take the next slice itself, before others that wait for it.
        gevent.sleep(0)
        self._begin()

    def _begin(self) -> None:
        with self._turn_taken():
            rest = self._next_at - time.monotonic()
            if rest > 0:
                # A timer: the event loop reads from sockets only between two of its rounds.
                gevent.sleep(rest)
            self._runs = gevent.getcurrent()
            self._began = time.monotonic()

    @contextmanager
    def _turn_taken(self) -> Iterator[None]:
        self._turn.acquire()
        try:
            yield
        except BaseException:
            self._turn.release()
            raise

    def _end(self) -> None:
        now = time.monotonic()
        self._next_at = now + (now - self._began)
        self._runs = None
        self._turn.release()


_slices = TimeSlices()
long_work = _slices.long_work
pause = _slices.pause
