"""The text of `/metrics`, rendered at most once a second in each worker.

Rendering takes tens of milliseconds of computing, so a thread of its own does it: the interpreter
switches back to the worker's own thread every few milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import gevent
from redis import RedisError

from api.concurrency.single_flight import SingleFlight
from api.observability import metrics
from api.storage.errors import Unreadable, count_failure

MAX_AGE_SECONDS = 1.0

Answer = TypeVar("Answer")


class MetricsPage:
    """The metrics as text, at most `MAX_AGE_SECONDS` old."""

    def __init__(
        self, lobby_sizes: Callable[[], dict[str, int]], is_full: Callable[[], bool]
    ) -> None:
        self._lobby_sizes = lobby_sizes
        self._is_full = is_full
        self._text = b""
        self._stale_at = 0.0
        self._rendering = SingleFlight[bytes]()

    def get(self) -> bytes:
        """Return the text. Concurrent requests share one rendering."""
        return self._text if self._is_fresh() else self._rendering.run_fresh("text", self._render)

    def _is_fresh(self) -> bool:
        return time.monotonic() < self._stale_at

    def _render(self) -> bytes:
        # A rendering that has just ended is fresh enough for the requests that arrived meanwhile.
        if not self._is_fresh():
            threads = gevent.get_hub().threadpool
            of_store = _ask(self._lobby_sizes), _ask(self._is_full)
            self._text = threads.apply(metrics.exposition, of_store)
            self._stale_at = time.monotonic() + MAX_AGE_SECONDS
        return self._text


def _ask(store: Callable[[], Answer]) -> Answer | None:
    """Return the store's answer, or None if it fails: then the other metrics matter most."""
    try:
        return store()
    except (RedisError, Unreadable) as error:
        count_failure(error)
        return None
