"""How many may wait in this worker: all together, each player, each address."""

from __future__ import annotations

from collections import Counter

from api.observability import context, metrics


class Slot:
    """A place that was taken. It can be given back as often as one likes."""

    def __init__(self, quota: Quota, player_id: str | None, address: str) -> None:
        self._places: Quota | None = quota
        self._player_id = player_id
        self._address = address

    def give_back(self) -> None:
        """Give it back."""
        if self._places is not None:
            self._places.give_back(self._player_id, self._address)
            self._places = None


class Quota:
    """Places to wait: so many in all, for each player, and for each address."""

    def __init__(self, in_all: int, for_each: int, for_address: int) -> None:
        self.in_all = in_all
        self.for_each = for_each
        self.for_address = for_address
        self.for_strangers = max(in_all // 2, 1)
        self._taken = 0
        self._taken_by: Counter[str | None] = Counter()
        self._taken_from: Counter[str] = Counter()

    def take(self, player_id: str | None) -> Slot | None:
        """A place for this player, or a stranger (None), who is calling now, if one is free."""
        address = context.caller_address()
        taken = self._all_taken(player_id, address)
        if taken is not None:
            metrics.wait_refused(taken)
            return None
        self._taken_by[player_id] += 1
        self._taken_from[address] += 1
        self._taken += 1
        metrics.wait_began()
        return Slot(self, player_id, address)

    def _all_taken(self, player_id: str | None, address: str) -> str | None:
        """Whose places are all taken, so that there is none for this caller."""
        if self._taken >= self.in_all:
            return "worker"
        if self._taken_from[address] >= self.for_address:
            return "address"
        if player_id is None:
            return "strangers" if self._taken_by[None] >= self.for_strangers else None
        return "player" if self._taken_by[player_id] >= self.for_each else None

    def give_back(self, player_id: str | None, address: str) -> None:
        """Give back a place that was taken."""
        self._taken -= 1
        metrics.wait_ended()
        self._taken_by[player_id] -= 1
        self._taken_from[address] -= 1
        if not self._taken_by[player_id]:
            del self._taken_by[player_id]
        if not self._taken_from[address]:
            del self._taken_from[address]
