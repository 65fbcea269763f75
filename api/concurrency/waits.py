"""Waits that need no greenlet.

A greenlet that waits holds its stacks, 20 kB or more. So a response that may wait for long is made
in steps: a generator that yields a `Wait` where it has to wait. The worker ends the greenlet there,
and goes on with the generator in a new one when the wait has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeVar

import gevent
from gevent.event import Event

Result = TypeVar("Result")


class Wait:
    """A wait for an event, at most for so many seconds."""

    __slots__ = ("_event", "_resume", "_seconds", "_timer")

    def __init__(self, event: Event, seconds: float) -> None:
        self._event = event
        self._seconds = seconds
        self._resume: Callable[[], object] | None = None
        self._timer: Any = None

    def block(self) -> None:
        """Wait in the current greenlet."""
        self._event.wait(self._seconds)

    def then(self, resume: Callable[[], object]) -> None:
        """Call a function, which must not block, once the wait has ended."""
        self._resume = resume
        self._timer = gevent.get_hub().loop.timer(self._seconds)
        self._timer.start(self._end)
        self._event.rawlink(self._end)

    def _end(self, _: Any = None) -> None:
        self._timer.close()
        self._event.unlink(self._end)
        resume, self._resume = self._resume, None
        if resume is not None:
            resume()


Steps = Generator[Wait, None, Result]
"""Work that yields where it waits, and returns a result."""


class Parts:
    """The body of a response that may wait between its parts.

    `steps` are the parts and the waits, for a server that can do something else meanwhile; any
    other server iterates over the parts. `on_close` is called when the response has ended.
    """

    def __init__(
        self, steps: Generator[bytes | Wait, None, None], on_close: Callable[[], object]
    ) -> None:
        self.steps = steps
        self._on_close = on_close

    def __iter__(self) -> Iterator[bytes]:
        for step in self.steps:
            if isinstance(step, Wait):
                step.block()
            else:
                yield step

    def close(self) -> None:
        """End the response, also before its last part."""
        self.steps.close()
        self._on_close()
