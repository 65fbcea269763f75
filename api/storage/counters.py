"""Where the library `limits` keeps its counts: in this worker's memory, or in the store.

Its own storages do not fit: those for Redis open connections of their own, and the one in memory
grows without bound and goes through all that it holds a hundred times a second. These have one
count for each window, and what the store said last is kept beside it, so that looking at it, or
refusing what is used up, costs no round trip.

Windows end by the monotonic clock, so that a change of the machine's time makes none longer.
"""

from __future__ import annotations

import time

from limits.storage import Storage

from api.storage.client import Script, StoreClient

MOST_KEYS = 50_000
"""About ten megabytes. Beyond, the oldest are forgotten: whose count was lost starts again."""

FEW_KEYS = 1000
"""From so many on, those that are over are forgotten whenever there are twice as many as last."""

COUNT = Script.of("""
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
""")


class WorkerCounts(Storage):
    """Counts of this worker."""

    STORAGE_SCHEME = None

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[str, tuple[int, float]] = {}
        self._room = FEW_KEYS

    @property
    def base_exceptions(self) -> type[Exception]:
        """Nothing can go wrong."""
        return ValueError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count on, in a new window if the last one is over."""
        now = time.monotonic()
        count, until = self._windows.get(key, (0, 0.0))
        if until <= now:
            count, until = 0, now + expiry
        self._note(key, count + amount, until)
        return count + amount

    def get(self, key: str) -> int:
        """The count of the present window."""
        return self.window(key)[0]

    def get_expiry(self, key: str) -> float:
        """When (s, of the monotonic clock) the window is over; now if there is none."""
        return self.window(key)[1]

    def window(self, key: str) -> tuple[int, float]:
        """The count of the present window, and when (s, monotonic) it is over; now if none."""
        now = time.monotonic()
        count, until = self._windows.get(key, (0, 0.0))
        return (count, until) if until > now else (0, now)

    def check(self) -> bool:
        """It is always there."""
        return True

    def reset(self) -> int:
        """Forget all; how many there were."""
        number = len(self._windows)
        self._windows.clear()
        return number

    def clear(self, key: str) -> None:
        """Forget one."""
        self._windows.pop(key, None)

    def _note(self, key: str, count: int, until: float) -> None:
        if key not in self._windows and len(self._windows) >= self._room:
            self._make_room()
        self._windows[key] = (count, until)

    def _make_room(self) -> None:
        """Forget what is over, and if that is not enough a tenth, so that it is done seldom."""
        now = time.monotonic()
        kept = [each for each in self._windows.items() if each[1][1] > now]
        self._windows = dict(kept[max(len(kept) - MOST_KEYS * 9 // 10, 0) :])
        self._room = min(max(2 * len(self._windows), FEW_KEYS), MOST_KEYS)


class SharedCounts(WorkerCounts):
    """Counts of all workers, in the store; to look at one is to look at what it said last.

    A count whose answer was lost may be counted twice. Counting may raise `redis.RedisError`.
    """

    STORAGE_SCHEME = None

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self._link = client

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count on, in one round trip."""
        ((count, left_ms),) = self._link.ask([COUNT.on(key, args=(amount, expiry * 1000))])
        self._note(key, count, time.monotonic() + left_ms / 1000)
        return int(count)
