"""How long records are kept: times to live, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from api.model.game import CANCELLED, PLAYING, Account, Game

MINUTE_MS = 60 * 1000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

OLD_TOKEN_MS = 10 * 60 * 1000
"""How long a token is valid after the next one was issued, at most."""

SEEN_MS = 20 * 1000
"""The precision of the time when a player was last seen.

Long polls are repeated after 25 seconds and streams checked every 30, so a waiting player was
seen within the last half minute.
"""

COMMIT_MS = 60_000
"""An upper bound of the time for which a commit is in flight."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Times to live: of players from their last use, of games from their last commit.

    `unused_player` is for a player that never was in a game, `request` for an Idempotency-Key,
    `ticket` for a ticket of a stream. Cancelled games are kept only briefly, as a player may have
    any number of them.
    """

    player: int
    unused_player: int
    unfinished: int
    finished: int
    cancelled: int
    request: int
    ticket: int

    def of_player(self, account: Account) -> int:
        """Return for how long a player is kept at least if its token is not used again."""
        return self.player if account.kept_at else self.unused_player

    @property
    def ended(self) -> int:
        """The longest time to live of a game that has ended."""
        return max(self.finished, self.cancelled)

    @property
    def renewal(self) -> int:
        """After how long a time to live is renewed."""
        return min(DAY_MS, self.player // 2, self.unfinished // 2)

    def of_game(self, game: Game, now: int) -> int:
        """Return the time to live of a game after a commit; it ends after the game's deadline."""
        if game.has_ended:
            return self._of_ended(game)
        return self.unfinished + max((game.deadline or now) - now, 0)

    def of_entries(self, game: Game) -> int:
        """Return the time to live of a game's index entries and players: beyond the game's own.

        They are written before the commit that starts the game's time to live. While a game goes
        on, they are renewed only now and then, and by then its deadline may be another one. That of
        an open game stays.
        """
        longest = self._of_ended(game) if game.has_ended else self.unfinished
        if game.status == PLAYING:
            longest += game.turn_seconds * 1000
        elif game.deadline is not None:
            longest += max(game.deadline - game.created_at, 0)
        return longest + self.renewal + COMMIT_MS

    def _of_ended(self, game: Game) -> int:
        return self.cancelled if game.status == CANCELLED else self.finished
