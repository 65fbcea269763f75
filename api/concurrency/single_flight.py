"""Single flight: concurrent calls with the same key share one execution."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gevent.event import AsyncResult

Result = TypeVar("Result")


class Abandoned(Exception):
    """The greenlet that executed a call for others was killed."""


class SingleFlight(Generic[Result]):
    """Executes a function once for all concurrent calls with the same key.

    The function has to wait for I/O at least once, or the calls are not concurrent. Its error is
    raised by every call that shares the execution. If the greenlet that executes it is killed,
    another call executes its own function.
    """

    __slots__ = ("_in_flight",)

    def __init__(self) -> None:
        self._in_flight: dict[Hashable, AsyncResult] = {}

    def run(self, key: Hashable, function: Callable[[], Result]) -> Result:
        """Return the result of the execution in flight, or else execute `function`."""
        while (flight := self._in_flight.get(key)) is not None:
            with contextlib.suppress(Abandoned):
                return self._join(flight)
        flight = self._in_flight[key] = AsyncResult()
        try:
            result = function()
        except BaseException as error:
            del self._in_flight[key]
            flight.set_exception(error if isinstance(error, Exception) else Abandoned())
            raise
        del self._in_flight[key]
        flight.set(result)
        return result

    def run_fresh(self, key: Hashable, function: Callable[[], Result]) -> Result:
        """Return the result of an execution that begins after this call.

        If one is in flight, wait for it first, and share the next one with all other waiting
        calls. If the one in flight fails, raise its error: the next one would hardly succeed, and
        the caller has waited long enough.
        """
        flight = self._in_flight.get(key)
        if flight is not None:
            with contextlib.suppress(Abandoned):
                self._join(flight)
        return self.run(key, function)

    def _join(self, flight: AsyncResult) -> Result:
        try:
            result: Result = flight.get()
        except Exception as error:
            # Without its traceback, which keeps the frames of other requests alive.
            raise error.with_traceback(None) from error.__cause__
        return result
