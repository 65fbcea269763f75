"""How often seats of one game are taken: each time adds to what the game keeps for ever.

Before the start all who come to the table count together, as there may be any number of them.
Later only its players can come back, and each counts alone, so that none keeps another out. To
leave is never refused: nobody leaves more often than they came. What changed nothing counts
nothing, so nobody without a seat uses it up.
"""

from __future__ import annotations

from api.config.rate_policies import SITTINGS
from api.model.game import OPEN, Game, Player
from api.observability.context import note_standing
from api.ratelimit.limiter import Limiter, too_many


class SeatLimits:
    """Counts who sits down."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def check(self, game: Game, player: Player) -> None:
        """Raise `Problem` (``too_many_requests``) if it was too often already."""
        standing = self._limiter.look(SITTINGS, _whose(game, player))
        if standing is not None and standing.is_over:
            note_standing(standing)
            raise too_many(standing)

    def count(self, game: Game, player: Player) -> None:
        """The player sat down."""
        standing = self._limiter.note(SITTINGS, _whose(game, player))
        if standing is not None:
            note_standing(standing)


def _whose(game: Game, player: Player) -> str:
    return game.id if game.status == OPEN else f"{game.id}:{player.id}"
