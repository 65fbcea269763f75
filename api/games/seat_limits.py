"""The limit on how often the seats of one game are taken.

Each taking of a seat adds items to the game's history, which stays for good. Before the start all
players count together, since any number of them may come. After the start only the game's own
players can take seats back, and each counts alone, so that no player locks out another. Only
requests that changed the game count. Leaving is not limited: it needs a seat that was taken.
"""

from __future__ import annotations

from api.config.rate_policies import SITTINGS
from api.model.game import OPEN, Game, Player
from api.ratelimit.limiter import Limiter, refuse_if_over
from api.storage.client import Deferred


class SeatLimits:
    """Limits how often seats are taken. The answer tells how much of the limit is left."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def check(self, game: Game, player: Player) -> None:
        """Raise `Problem` (``too_many_requests``) if the limit is used up."""
        refuse_if_over(self._limiter.look(SITTINGS, _counter(game, player)))

    def count(self, game: Game, player: Player) -> list[Deferred]:
        """Return what counts that a player has taken a seat, and tells how much is left."""
        return self._limiter.defer_note(SITTINGS, _counter(game, player))


def _counter(game: Game, player: Player) -> str:
    """Return the key that a seat counts for."""
    return game.id if game.status == OPEN else f"{game.id}:{player.id}"
