"""Counters of fixed windows: in this worker's memory, or in the store for all workers.

Each keeps what it knows of a window in memory, so that reading a counter, or refusing what is used
up already, costs no round trip. Windows end by the monotonic clock, so a change of the machine's
time makes none longer.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from api.storage.client import Command, Script, StoreClient
from api.storage.errors import readable

MAX_KEYS = 50_000
"""About ten megabytes. Beyond, the oldest windows are forgotten, so their counts start again."""

MIN_KEYS = 1000
"""From so many on, windows that are over are forgotten whenever their number has doubled."""

COUNT = Script.load("count")


class Window(NamedTuple):
    """The total count of the current window, and when (s, monotonic clock) it ends."""

    total: int
    ends_at: float


class WorkerCounters:
    """Counters of this worker."""

    def __init__(self) -> None:
        self._windows: dict[str, Window] = {}
        self._limit = MIN_KEYS

    def __len__(self) -> int:
        return len(self._windows)

    def add(self, key: str, seconds: int) -> Window:
        """Count one more, in a window of this length if none is open; return the window."""
        now = time.monotonic()
        total, ends_at = self._windows.get(key, (0, 0.0))
        if ends_at <= now:
            total, ends_at = 0, now + seconds
        return self._store(key, Window(total + 1, ends_at))

    def window(self, key: str) -> Window:
        """Return the current window; without one, an empty window that ends now."""
        now = time.monotonic()
        window = self._windows.get(key)
        return window if window is not None and window.ends_at > now else Window(0, now)

    def _store(self, key: str, window: Window) -> Window:
        if key not in self._windows and len(self._windows) >= self._limit:
            self._forget()
        self._windows[key] = window
        return window

    def _forget(self) -> None:
        """Forget windows that are over. If these are too few, forget a tenth of all as well."""
        now = time.monotonic()
        kept = [each for each in self._windows.items() if each[1].ends_at > now]
        self._windows = dict(kept[max(len(kept) - MAX_KEYS * 9 // 10, 0) :])
        self._limit = min(max(2 * len(self._windows), MIN_KEYS), MAX_KEYS)


class SharedCounters(WorkerCounters):
    """Counters of all workers, in the store. `window` returns what the store reported last.

    A count whose reply was lost may be counted twice.
    """

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self._client = client

    def add(self, key: str, seconds: int) -> Window:
        """Count one more, in one round trip. Raises `redis.RedisError` or `Unreadable`."""
        (reply,) = self._client.execute([self.command(key, seconds)])
        return self.received(key, reply)

    def command(self, key: str, seconds: int) -> Command:
        """Return the command that counts one more; `received` takes its reply."""
        return COUNT.call(key, args=(1, seconds * 1000))

    def received(self, key: str, reply: Any) -> Window:
        """Note the reply to `command`, and return the window. Raises as `add`."""
        total, left_ms = readable(reply)
        return self._store(key, Window(total, time.monotonic() + left_ms / 1000))
