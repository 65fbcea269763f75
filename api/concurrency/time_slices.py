"""Time slices: work that takes long lets the worker serve other requests in between.

All requests of a worker share one thread, so a request that computes for long would delay every
other one. Such a request computes inside `long_work()` and calls `pause()` between two units of
it. Its first slice it has at once. For more it queues: only one piece of long work runs at a time
in a worker, for one slice. Then the worker serves other requests for as long as the slice took,
and the next piece has its slice. So long work takes at most half of a worker's time, however many
requests ask for it, and work that is over within its first slice never queues.

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


class Work:
    """A piece of long work: when its slice began, and whether it holds the turn."""

    __slots__ = ("began", "has_turn")

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.has_turn = False


class TimeSlices:
    """Shares out the time of a worker among its pieces of long work, in the order of asking."""

    def __init__(self) -> None:
        self._works: dict[gevent.Greenlet, Work] = {}
        self._turn = Semaphore(1)
        self._next_at = 0.0

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Begin a piece of long work. Inside another such block, be a part of that work."""
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
        """Let others have their turn if the slice is over. Does nothing outside `long_work()`."""
        work = self._works.get(gevent.getcurrent())
        if work is None:
            return
        ran = time.monotonic() - work.began
        if ran < SLICE_SECONDS:
            return
        if work.has_turn:
            self._end_turn(work)
            # Without this the work would take the next turn itself, before others in the queue.
            gevent.sleep(0)
        else:
            gevent.sleep(ran)
        self._begin_turn(work)

    def _begin_turn(self, work: Work) -> None:
        self._turn.acquire()
        try:
            rest = self._next_at - time.monotonic()
            if rest > 0:
                # A timer: the event loop reads from sockets only between two of its rounds.
                gevent.sleep(rest)
        except BaseException:
            # The request was stopped while it rested.
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
