"""How long things are kept, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from api.config.settings import Settings
from api.model.game import CANCELLED, ENDED, PLAYING, Game

MINUTE_MS = 60 * 1000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

OLD_TOKEN_MS = 10 * 60 * 1000
"""A token after a new one was issued, at most."""

SEEN_MS = 20 * 1000
"""How exactly it is noted when a player was last heard of.

A poll is sent again after 25 seconds, a stream checked every 30: so that whoever waits was heard
of within half a minute.
"""

COMMIT_MS = 60_000
"""Longer than a commit can be under way."""


@dataclass(frozen=True, slots=True)
class Retention:
    """What the settings say: players from their last use on, games from their last change on.

    `unused_player` is for one who was never in a game, `request` for an Idempotency-Key, `ticket`
    for a stream's. A cancelled game has a short life, as there is no bound to how many of them a
    player may have.
    """

    player: int
    unused_player: int
    unfinished: int
    finished: int
    cancelled: int
    request: int
    ticket: int

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """The lives that these settings give."""
        return cls(
            player=int(settings.player_days * DAY_MS),
            unused_player=int(settings.unused_player_minutes * MINUTE_MS),
            unfinished=int(settings.open_game_days * DAY_MS),
            finished=int(settings.finished_game_days * DAY_MS),
            cancelled=int(settings.cancelled_game_hours * HOUR_MS),
            request=int(settings.idempotency_hours * HOUR_MS),
            ticket=int(settings.ticket_hours * HOUR_MS),
        )

    @property
    def ended(self) -> int:
        """How long any game is kept that has ended, at most."""
        return max(self.finished, self.cancelled)

    @property
    def renewal(self) -> int:
        """How old what keeps something alive may get before it is renewed."""
        return min(DAY_MS, self.player // 2, self.unfinished // 2)

    def of_game(self, game: Game, now: int) -> int:
        """How long a game is kept from a commit on; always beyond its deadline."""
        if game.status in ENDED:
            return self._of_ended(game)
        return self.unfinished + max((game.deadline or now) - now, 0)

    def of_entries(self, game: Game) -> int:
        """How long what lists a game, and who plays it, are kept: beyond the game itself.

        They are written anew only when a game that goes on has not done so for a while, and
        before a commit, from which on the game lives; its deadline may be another by then.
        """
        longest = self._of_ended(game) if game.status in ENDED else self.unfinished
        if game.status == PLAYING:
            longest += game.turn_seconds * 1000
        return longest + self.renewal + COMMIT_MS

    def _of_ended(self, game: Game) -> int:
        return self.cancelled if game.status == CANCELLED else self.finished
