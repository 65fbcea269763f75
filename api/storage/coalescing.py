"""Request coalescing: callers share round trips to the store; each may have a few in flight.

While one batch is in flight, requests that arrive wait for it and then travel together in the next
one: most of the cost of a round trip does not depend on how much it carries. When a batch fails,
all waiting requests fail at once: the store is probably down.

This module does not know the store: its user says how a batch is executed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import gevent
from gevent.event import AsyncResult
from gevent.lock import Semaphore

Item = TypeVar("Item")
Reply = TypeVar("Reply")

MAX_BATCH = 500
"""How many items of several requests go into one batch. One request alone may have more."""


class _Request(Generic[Item]):
    """The items of one caller, which waits for the next batch."""

    __slots__ = ("items", "replies")

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.replies = AsyncResult()


class Batcher(Generic[Item, Reply]):
    """Executes one batch at a time.

    `execute` returns one reply for each item of a batch, in order, or raises.
    """

    def __init__(self, execute: Callable[[Sequence[Item]], list[Reply]]) -> None:
        self._execute = execute
        self._is_in_flight = False
        self._waiting: deque[_Request[Item]] = deque()

    def submit(self, items: Sequence[Item]) -> list[Reply]:
        """Return the replies to some items, which stay together in one batch.

        Raises what `execute` raises for their batch, or for the batch that they waited for.
        """
        if self._is_in_flight:
            request = _Request(items)
            self._waiting.append(request)
            replies: list[Reply] = request.replies.get()
            return replies
        self._is_in_flight = True
        try:
            return self._execute(items)
        except Exception as error:
            _fail(self._waiting, error)
            raise
        finally:
            if self._waiting:
                # In a greenlet of its own: this one has its replies, and may be killed.
                gevent.spawn(self._execute_waiting)
            else:
                self._is_in_flight = False

    def _execute_waiting(self) -> None:
        """Execute batches until no request waits."""
        while self._waiting:
            batch = self._next_batch()
            try:
                replies = self._execute([item for request in batch for item in request.items])
            except Exception as error:
                _fail(batch, error)
                _fail(self._waiting, error)
                break
            begin = 0
            for request in batch:
                end = begin + len(request.items)
                request.replies.set(replies[begin:end])
                begin = end
        self._is_in_flight = False

    def _next_batch(self) -> deque[_Request[Item]]:
        batch = deque([self._waiting.popleft()])
        size = len(batch[0].items)
        while self._waiting:
            size += len(self._waiting[0].items)
            if size > MAX_BATCH:
                break
            batch.append(self._waiting.popleft())
        return batch


def _fail(requests: deque[_Request[Item]], error: Exception) -> None:
    while requests:
        requests.popleft().replies.set_exception(error)


class CallerLimits:
    """Limits the concurrent requests of each caller: `with limits.of(caller):` waits for a slot."""

    MAX_CALLERS = 1000
    """Above this number, callers without a request in flight are forgotten."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slots: dict[str, Semaphore] = {}

    def of(self, caller: str) -> Semaphore:
        """Return the free slots of a caller."""
        slots = self._slots.get(caller)
        if slots is None:
            self._forget_idle()
            slots = self._slots[caller] = Semaphore(self._limit)
        return slots

    def _forget_idle(self) -> None:
        if len(self._slots) >= self.MAX_CALLERS:
            self._slots = {
                caller: slots
                for caller, slots in self._slots.items()
                if slots.counter < self._limit
            }
