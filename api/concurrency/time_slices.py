"""Time slices: long computations let the worker serve other requests in between.

All requests of a worker share one thread, so a long computation would delay every other request. It
runs inside `long_work()` and calls `pause()` between two units of work. Its first slice begins at
once. For further slices it queues: one piece of long work runs at a time in a worker, for one
slice. Then the worker serves other requests for as long as the slice took, and the next piece runs.
So long work takes at most half of a worker's time, however many requests cause it, and work that
ends within its first slice never queues.

Do not wait for the store or for a client inside `long_work()`: all other long work would wait too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import gevent
from gevent.lock import Semaphore

SLICE_SECONDS = 0.001
"""How long one piece of work runs before others do, unless a single unit takes longer."""


class Work:
    """A piece of long work: when its slice began, and whether it holds the turn."""

    __slots__ = ("began", "has_turn")

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.has_turn = False


class TimeSlices:
    """Divides the time of a worker among its pieces of long work, first come, first served."""

    def __init__(self) -> None:
        self._works: dict[gevent.Greenlet, Work] = {}
        self._turn = Semaphore(1)
        self._next_at = 0.0

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Begin a piece of long work. An inner block is part of the work of the outer one."""
        me = gevent.getcurrent()
        if me in self._works:
            yield
            return
        work = self._works[me] = Work()
        try:
            yield
        finally:
            del self._works[me]
            if work.has_turn:
                self._end_turn(work)

    def pause(self) -> None:
        """Let others run if the slice is over. Does nothing outside `long_work()`."""
        work = self._works.get(gevent.getcurrent())
        if work is None:
            return
        ran = time.monotonic() - work.began
        if ran < SLICE_SECONDS:
            return
        if work.has_turn:
            self._end_turn(work)
            # Let the next in the queue acquire the turn first.
            gevent.sleep(0)
        else:
            gevent.sleep(ran)
        self._begin_turn(work)

    def _begin_turn(self, work: Work) -> None:
        self._turn.acquire()
        try:
            rest = self._next_at - time.monotonic()
            if rest > 0:
                # With a timer, so that the event loop reads from sockets in the meantime.
                gevent.sleep(rest)
        except BaseException:
            # The request was killed while it rested.
            self._turn.release()
            raise
        work.has_turn = True
        work.began = time.monotonic()

    def _end_turn(self, work: Work) -> None:
        now = time.monotonic()
        self._next_at = now + (now - work.began)
        work.has_turn = False
        self._turn.release()


_slices = TimeSlices()
long_work = _slices.long_work
pause = _slices.pause
