"""How many may wait in this worker, all together and each player."""

from __future__ import annotations

from collections import Counter

from api import metrics


class Places:
    """Places to wait: so many in all, and so many for each player."""

    def __init__(self, in_all: int, for_each: int) -> None:
        self.in_all = in_all
        self.for_each = for_each
        self.for_strangers = max(in_all // 2, 1)
        self._taken = 0
        self._taken_by: Counter[str | None] = Counter()

    def take(self, player_id: str | None) -> bool:
        """Take a place for this player, or a stranger (None), if one is free; tell whether."""
        if self._taken >= self.in_all:
            return False
        most = self.for_strangers if player_id is None else self.for_each
        if self._taken_by[player_id] >= most:
            return False
        self._taken_by[player_id] += 1
        self._taken += 1
        metrics.wait_began()
        return True

    def give_back(self, player_id: str | None) -> None:
        """Give back a place that was taken."""
        self._taken -= 1
        metrics.wait_ended()
        self._taken_by[player_id] -= 1
        if not self._taken_by[player_id]:
            del self._taken_by[player_id]
