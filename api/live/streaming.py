"""What all event streams do: take a slot, tell a failure, and wait for a store that fails."""

from __future__ import annotations

import time
from collections.abc import Generator

from gevent.event import Event
from redis import RedisError

from api.concurrency.waits import Wait
from api.live.hub import PAUSE_SECONDS
from api.live.quota import Quota, Slot
from api.live.server_sent_events import PING, RETRY, unavailable
from api.observability.logger import log
from api.problems.problem import Problem
from api.storage.errors import count_failure

PING_SECONDS = 15.0
"""Silence after which a comment is sent, so that both sides notice a broken connection."""

CHECK_SECONDS = 30.0
"""Time between two checks of the caller's token, in addition to the checks after notifications."""

MAX_PAUSE_SECONDS = 5.0
"""Longest pause between two attempts to read from the store; each is twice the last one."""

MAX_FAILING_SECONDS = 60.0
"""How long a failing store is read again before the stream ends."""

StreamSteps = Generator[bytes | Wait, None, None]
"""The parts of a response body, and the waits between them."""


class OpenStream:
    """One open stream. Close it to release its slot."""

    def __init__(self, quota: Quota, player_id: str | None) -> None:
        self._quota = quota
        self._player_id = player_id
        self._slot: Slot | None = None

    def take_slot(self) -> None:
        """Take a slot of the quota. Raises `Problem` (``too_many_waiting``)."""
        self._slot = self._quota.take(self._player_id)
        if self._slot is None:
            raise Problem("too_many_waiting")

    def close(self) -> None:
        """Release the slot. Does nothing the second time."""
        if self._slot is not None:
            self._slot.release()

    def steps(self) -> StreamSteps:
        """Yield the parts of the response body when they are due, and what they wait for."""
        yield RETRY
        try:
            yield from self._events()
        except RedisError as error:
            count_failure(error)
            log.warning("a stream was given up: %s", type(error).__name__)
            yield unavailable(Problem("store_unavailable"))
        # The status is sent already: the client learns the problem when it opens the stream again.
        except Exception as error:
            self._log_failure(error)

    def _events(self) -> StreamSteps:
        raise NotImplementedError

    def _log_failure(self, error: Exception) -> None:
        raise NotImplementedError


class Attempts:
    """The attempts of a stream to read from a store that may fail."""

    def __init__(self) -> None:
        self._ping_at = time.monotonic()
        self._failing_since: float | None = None
        self._pause = PAUSE_SECONDS

    def succeeded(self) -> None:
        """Note that the store answers."""
        self._failing_since, self._pause = None, PAUSE_SECONDS

    def failed(self, error: RedisError) -> StreamSteps:
        """Wait before the next attempt; raise the error if the store has failed for too long."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if now - self._failing_since > MAX_FAILING_SECONDS:
            raise error
        if now >= self._ping_at:
            # Only writing to the connection shows whether the client is still there.
            yield PING
            self._ping_at = now + PING_SECONDS
        yield Wait(Event(), self._pause)
        self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS)
