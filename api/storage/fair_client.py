"""A client of one server that all callers share fairly.

A caller with many requests at once does not delay those of other callers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gevent.lock import Semaphore

from api.observability.context import current
from api.storage.client import Command, ServerClient
from api.storage.errors import UNREACHABLE, PoolExhausted

Result = TypeVar("Result")


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


class FairClient:
    """A client of one server in which each caller has a bounded number of requests."""

    MAX_CONCURRENT = 16
    """Requests of one address that are in flight at once; more wait."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client
        self._limits = CallerLimits(self.MAX_CONCURRENT)
        self._failed_at = -math.inf
        self._failure: Exception = PoolExhausted()
        self.publish = client.publish
        self.waits_for_replicas = client.waits_for_replicas

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        """See `StoreClient`."""
        return self._run(self._client.execute, commands, durable=durable, keep_errors=keep_errors)

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        """See `StoreClient`."""
        return self._run(self._client.execute_on_all, *words)

    def servers(self) -> Sequence[FairClient]:
        """See `StoreClient`."""
        return (self,)

    def _run(self, execute: Callable[..., Result], *args: Any, **options: Any) -> Result:
        """Wait for a slot of the caller, and execute commands."""
        began = time.monotonic()
        with self._limits.of(current().address):
            if self._failed_at > began:
                # Fail fast: the server went down while this request was queued.
                raise type(self._failure)(*self._failure.args)
            try:
                return execute(*args, **options)
            except UNREACHABLE as error:
                # A copy without a traceback, which would keep the request's frames alive.
                self._failed_at, self._failure = time.monotonic(), type(error)(*error.args)
                raise
