"""A clock for tests of gevent code: time passes only when the test says so.

The clock stands in for `time.monotonic` and for the timers of gevent's event loop, which
`gevent.sleep`, `gevent.spawn_later` and every wait with a timeout use. Code under test needs no
seam for it, and a test of hours runs in milliseconds.
"""

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gevent

ROUNDS = 200
"""Greenlets that are still ready after this many rounds are taken for an endless loop."""


class Timer:
    """A timer of the event loop that belongs to a fake clock."""

    pending = False
    ref = True

    def __init__(self, clock: "FakeClock", seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._call: Callable[[], Any] | None = None

    @property
    def active(self) -> bool:
        return self._call is not None

    def start(self, callback: Callable[..., Any], *args: Any, update: bool = True) -> None:
        self._call = lambda: callback(*args)
        self._clock.schedule(self, self._seconds)

    def stop(self) -> None:
        self._call = None

    close = stop

    def fire(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            # In the greenlet of the event loop, as gevent demands.
            gevent.get_hub().loop.run_callback(call)

    def __enter__(self) -> "Timer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Loop:
    """The real event loop with timers of a fake clock."""

    def __init__(self, real: Any, clock: "FakeClock") -> None:
        self._real = real
        self._clock = clock
        self.scheduled = 0

    def run_callback(self, *args: Any) -> Any:
        """Every greenlet that becomes ready is scheduled by a call of this."""
        self.scheduled += 1
        return self._real.run_callback(*args)

    def timer(self, after: float, repeat: float = 0.0, **options: Any) -> Timer:
        assert not repeat
        return Timer(self._clock, after)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class FakeClock:
    """Seconds since the test began, and what is to happen later."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def monotonic(self) -> float:
        return self.now

    def schedule(self, timer: Timer, seconds: float) -> None:
        heapq.heappush(self._timers, (self.now + seconds, next(self._order), timer))

    def settle(self) -> None:
        """Run every greenlet until it waits for something or for a later time."""
        loop = gevent.get_hub().loop
        for _ in range(ROUNDS):
            before = loop.scheduled
            gevent.sleep(0)
            if loop.scheduled == before + 1:  # this call's own
                return
        raise AssertionError("greenlets do not come to rest")

    def advance(self, seconds: float) -> None:
        """Let so much time pass; each timer fires at its own time."""
        until = self.now + seconds
        self.settle()
        while self._timers and self._timers[0][0] <= until:
            self._fire_next()
        self.now = until

    def result(self, greenlet: gevent.Greenlet, within: float = 60.0) -> Any:
        """The result of a greenlet, once time has passed as far as it needs."""
        until = self.now + within
        self.settle()
        while not greenlet.ready():
            assert self._timers, "the greenlet waits for something that no timer brings"
            assert self._timers[0][0] <= until, f"no result within {within} seconds"
            self._fire_next()
        return greenlet.get()

    def _fire_next(self) -> None:
        at, _, timer = heapq.heappop(self._timers)
        if timer.active:
            self.now = max(self.now, at)
            timer.fire()
            self.settle()


@contextmanager
def fake_clock() -> Iterator[FakeClock]:
    """Put a fake clock in place of time, for this thread's greenlets."""
    clock, hub = FakeClock(), gevent.get_hub()
    loop, monotonic = hub.loop, time.monotonic
    hub.loop, time.monotonic = Loop(loop, clock), clock.monotonic  # type: ignore[assignment]
    try:
        yield clock
    finally:
        hub.loop, time.monotonic = loop, monotonic  # type: ignore[assignment]
