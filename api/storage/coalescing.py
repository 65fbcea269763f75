"""Request coalescing: callers share round trips to the store; each may have a few in flight.

While one batch is in flight, requests that arrive wait for it and then travel together in the next
one: most of the cost of a round trip does not depend on how much it carries. A batch begins when
all requests that have arrived at the worker have submitted their commands. When the connection
fails, all waiting requests fail at once: the store is probably down. Any other error fails only the
requests of its batch.

The user of this module says how a batch is executed. Commands are submitted packed: a value that
cannot be packed must not fail the other requests of a batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gevent
from gevent.event import AsyncResult

from api.storage.errors import UNREACHABLE

MAX_BATCH = 500
"""How many commands of several requests go into one batch. One request alone may have more."""


class _Request(NamedTuple):
    """The packed commands of one caller, which waits for the next batch."""

    commands: Sequence[bytes]
    replies: AsyncResult


class Batcher:
    """Executes one batch at a time.

    `execute` returns one reply for each packed command of a batch, in order, or raises.
    """

    def __init__(self, execute: Callable[[Sequence[bytes]], list[Any]]) -> None:
        self._execute = execute
        self._is_in_flight = False
        self._waiting: deque[_Request] = deque()

    def submit(self, commands: Sequence[bytes]) -> list[Any]:
        """Return the replies to some packed commands, which stay together in one batch.

        Raises what `execute` raises for their batch, or the failure of the connection for the batch
        that they waited for.
        """
        if not self._is_in_flight:
            self._is_in_flight = True
            try:
                # Meanwhile, the other requests that have arrived come here too.
                gevent.sleep(0)
                if not self._waiting:
                    return self._execute(commands)
            except UNREACHABLE as error:
                _fail(self._waiting, error)
                raise
            finally:
                if self._waiting:
                    # In a greenlet of its own: this one may be killed.
                    gevent.spawn(self._execute_waiting)
                else:
                    self._is_in_flight = False
        request = _Request(commands, AsyncResult())
        self._waiting.append(request)
        replies: list[Any] = request.replies.get()
        return replies

    def _execute_waiting(self) -> None:
        """Execute batches until no request waits."""
        while self._waiting:
            batch = self._next_batch()
            try:
                replies = self._execute([each for request in batch for each in request.commands])
            except Exception as error:
                _fail(batch, error)
                if isinstance(error, UNREACHABLE):
                    _fail(self._waiting, error)
                continue
            begin = 0
            for request in batch:
                end = begin + len(request.commands)
                request.replies.set(replies[begin:end])
                begin = end
        self._is_in_flight = False

    def _next_batch(self) -> deque[_Request]:
        batch = deque([self._waiting.popleft()])
        size = len(batch[0].commands)
        while self._waiting:
            size += len(self._waiting[0].commands)
            if size > MAX_BATCH:
                break
            batch.append(self._waiting.popleft())
        return batch


def _fail(requests: deque[_Request], error: Exception) -> None:
    while requests:
        requests.popleft().replies.set_exception(error)
