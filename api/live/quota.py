"""The quota of requests that may wait in this worker: in all, for each player and each address.

Callers without a token share half of all slots, so that they cannot keep players from waiting.
"""

from __future__ import annotations

from collections import Counter

from api.observability import context, metrics


class Slot:
    """The right of one request to wait."""

    def __init__(self, quota: Quota, player_id: str | None, address: str) -> None:
        self._quota: Quota | None = quota
        self._player_id = player_id
        self._address = address

    def release(self) -> None:
        """Return the slot to the quota. Does nothing the second time."""
        if self._quota is not None:
            self._quota.release(self._player_id, self._address)
            self._quota = None


class Quota:
    """Counts the requests that wait."""

    def __init__(self, in_all: int, for_each: int, for_address: int) -> None:
        self.in_all = in_all
        self.for_each = for_each
        self.for_address = for_address
        self.for_anonymous = max(in_all // 2, 1)
        self._used = 0
        self._used_by_player: Counter[str | None] = Counter()
        self._used_by_address: Counter[str] = Counter()

    def take(self, player_id: str | None) -> Slot | None:
        """Return a slot for the current request, None if there is none.

        `player_id` is None for a caller without a token.
        """
        address = context.current().address
        exhausted = self._exhausted(player_id, address)
        if exhausted is not None:
            metrics.wait_refused(exhausted)
            return None
        self._used += 1
        self._used_by_player[player_id] += 1
        self._used_by_address[address] += 1
        metrics.wait_began()
        return Slot(self, player_id, address)

    def _exhausted(self, player_id: str | None, address: str) -> str | None:
        """Return which part of the quota has no slot left, as the metrics name it."""
        if self._used >= self.in_all:
            return "worker"
        if self._used_by_address[address] >= self.for_address:
            return "address"
        if player_id is None:
            return "strangers" if self._used_by_player[None] >= self.for_anonymous else None
        return "player" if self._used_by_player[player_id] >= self.for_each else None

    def release(self, player_id: str | None, address: str) -> None:
        """Return a slot."""
        self._used -= 1
        self._used_by_player[player_id] -= 1
        self._used_by_address[address] -= 1
        metrics.wait_ended()
        # The counters keep no entry of callers that are gone.
        if not self._used_by_player[player_id]:
            del self._used_by_player[player_id]
        if not self._used_by_address[address]:
            del self._used_by_address[address]
