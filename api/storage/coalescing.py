"""Request coalescing: callers share round trips to the store; each may have a few in flight.

While one batch is in flight, requests that arrive wait for it and then travel together in the next
one: most of the cost of a round trip does not depend on how much it carries. When the connection
fails, all waiting requests fail at once: the store is probably down. Any other error fails only the
requests of its batch.

The user of this module says how a batch is executed. Items that can be wrong by themselves have to
be checked before they are submitted, as an error fails all requests of a batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import gevent
from gevent.event import AsyncResult

from api.storage.errors import UNREACHABLE

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

        Raises what `execute` raises for their batch, or the failure of the connection for the batch
        that they waited for.
        """
        if self._is_in_flight:
            request = _Request(items)
            self._waiting.append(request)
            replies: list[Reply] = request.replies.get()
            return replies
        self._is_in_flight = True
        try:
            return self._execute(items)
        except UNREACHABLE as error:
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
                if isinstance(error, UNREACHABLE):
                    _fail(self._waiting, error)
                continue
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
