"""The text of `/metrics`: rendered at most once a second in each worker, for all who ask.

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
from api.storage.errors import Unreadable

SECONDS_KEPT = 1.0

Answer = TypeVar("Answer")


class Exposition:
    """The metrics as text, which may be as old as `SECONDS_KEPT`."""

    def __init__(
        self, lobby_sizes: Callable[[], dict[str, int]], is_full: Callable[[], bool]
    ) -> None:
        self._lobby_sizes = lobby_sizes
        self._is_full = is_full
        self._text = b""
        self._kept_until = 0.0
        self._rendering = SingleFlight[bytes]()

    def get(self) -> bytes:
        """Return the text."""
        return self._text if self._is_fresh() else self._rendering.run_fresh("text", self._render)

    def _is_fresh(self) -> bool:
        return time.monotonic() < self._kept_until

    def _render(self) -> bytes:
        # Requests that came while the text was rendered come here after it.
        if not self._is_fresh():
            threads = gevent.get_hub().threadpool
            of_store = _ask(self._lobby_sizes), _ask(self._is_full)
            self._text = threads.apply(metrics.exposition, of_store)
            self._kept_until = time.monotonic() + SECONDS_KEPT
        return self._text


def _ask(store: Callable[[], Answer]) -> Answer | None:
    try:
        return store()
    except (RedisError, Unreadable) as error:
        # The other figures matter most when the store is away.
        metrics.store_failed(error)
        return None
