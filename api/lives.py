"""How long things are kept, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from api.settings import Settings

HOUR_MS = 60 * 60 * 1000
DAY_MS = 24 * HOUR_MS

UNUSED_PLAYER_MS = HOUR_MS
"""A player who was never in a game."""

OLD_TOKEN_MS = 10 * 60 * 1000
"""A token after a new one was issued, at most."""

SEEN_MS = 20 * 1000
"""How exactly it is noted when a player was last heard of.

A poll is sent again after 25 seconds, a stream checked every 30: so that whoever waits was heard
of within half a minute.
"""

REQUEST_MS = DAY_MS
"""An Idempotency-Key."""


TICKET_MS = 12 * HOUR_MS
"""A ticket for a stream."""


@dataclass(frozen=True, slots=True)
class Lives:
    """What the settings say: players from their last use on, games from their last change on."""

    player: int
    unfinished: int
    ended: int

    @classmethod
    def of(cls, settings: Settings) -> Lives:
        """The lives that these settings give."""
        return cls(
            player=int(settings.player_days * DAY_MS),
            unfinished=int(settings.open_game_days * DAY_MS),
            ended=int(settings.finished_game_days * DAY_MS),
        )

    @property
    def index(self) -> int:
        """An index outlives every game that it lists, as it is renewed before half its life."""
        return 2 * max(self.unfinished, self.ended) + DAY_MS

    @property
    def renewal(self) -> int:
        """How old what keeps something alive may get before it is renewed."""
        return min(DAY_MS, self.player // 2, self.unfinished // 2)
