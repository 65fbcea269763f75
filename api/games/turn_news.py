"""News for a player's stream: turns, ends, starts and invitations that a cursor does not know.

Only what is true now is news: a turn that was missed and has passed is not told. The cursor after
each event has what was told so far, so that a stream which is cut anywhere goes on with the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec import Struct

from api.games.answers import EndedGame, GameNews, TurnNews
from api.games.cursors import TurnsCursor, invitation_mark, start_mark, turn_mark
from api.games.players import Credentials, Remembered
from api.games.representations import game_answer, game_summary
from api.games.settling import each_readable
from api.games.turns import Ended, OwnGames, TurnQueries, would_be_news
from api.model.game import PLAYING, Game
from api.storage.games import GameDocument, StoredGame
from api.storage.indexes import MAX_INVITATIONS, invitations_page


class ToldTurn(NamedTuple):
    """A turn that a client was told: the version of the game that has it, and its mark."""

    version: int
    mark: bytes


class News:
    """What a client lacks of a player's games.

    Attributes:
        now: The store's time, in ms since 1970.
        known: What the client knows once it was told the events that `events` has yielded.
        has_more: Whether there may be more news already.
        turns: The turns that the client knows once it was told the events, by the games' ids.
    """

    def __init__(
        self, own: OwnGames, invitations: list[Game], positions: list[StoredGame], ended: Ended
    ) -> None:
        self.now = own.now
        self.known = own.known
        self.has_more = ended.has_more
        waiting = [*own.waiting, *(each.game for each in positions)]
        self.turns = {game.id: ToldTurn(game.version, turn_mark(game)) for game in waiting}
        self._own = own
        self._invitations = sorted(invitations, key=lambda game: game.created_at)
        self._playing = sorted([*own.games, *own.due], key=lambda game: game.started_at or 0)
        self._positions = positions
        self._ended = ended

    def events(self) -> Iterator[tuple[str, Struct]]:
        """Yield the name and the data of each event, and bring `known` up to date before.

        Without any event, `known` still forgets the marks of what is not true any more.
        """
        known = self._still_true()
        times = {game.id: at for game, at in self._ended.entries.games}
        ids: set[str] = set()
        for game in self._ended.games:
            ids.add(game.id)
            self.known = self._ended.entries.cursor(ids, times[game.id]).with_marks(known)
            yield "ended", EndedGame(game.id, game.result)
        self.known = self._ended.cursor.with_marks(known)
        for mark, name, data in self._unended():
            self.known = self.known.with_marks({mark})
            yield name, data

    def _still_true(self) -> frozenset[bytes]:
        """Return the marks that the client knows, without those that are not true any more."""
        marks = {turn_mark(game) for game in self._playing}
        marks |= {start_mark(game.id) for game in self._playing}
        marks |= {invitation_mark(game.id) for game in self._invitations}
        return self._own.known.marks & marks

    def _unended(self) -> Iterator[tuple[bytes, str, Struct]]:
        reader, marks = self._own.reader, self._own.known.marks
        for game in self._invitations:
            if (mark := invitation_mark(game.id)) not in marks:
                yield mark, "invited", GameNews(game_summary(GameDocument(game), reader))
        for game in self._playing:
            if (mark := start_mark(game.id)) not in marks:
                yield mark, "started", GameNews(game_summary(GameDocument(game), reader))

        def turn(stored: StoredGame) -> tuple[bytes, str, Struct]:
            shown = game_answer(stored, stored.game.audience_of(reader))
            return turn_mark(stored.game), "turn", TurnNews(shown)

        yield from each_readable(self._positions, lambda each: each.game.id, turn)


def find_news(
    queries: TurnQueries, credentials: Credentials | Remembered, given: TurnsCursor | None
) -> News:
    """Return what a client with this cursor lacks; without a cursor, all that is true now.

    Raises `Problem` (``invalid_token``).
    """
    page = invitations_page(credentials.player_id, None, MAX_INVITATIONS)
    own = queries.own_games(credentials, given, page.first_commands)
    invitations, _ = queries.indexes.page(page, own.now, own.extra)
    new = [game for game in own.waiting if turn_mark(game) not in own.known.marks]
    invited_to = [each.game for each in invitations]
    return News(own, invited_to, queries.positions(own, new), queries.ended(own))


def would_be_stream_news(game: Game, reader: str, marks: AbstractSet[bytes]) -> bool:
    """Return whether a game that changed is news to a stream whose client knows these marks."""
    if would_be_news(game, reader, marks):
        return True
    plays = game.status == PLAYING and game.seat_of(reader) is not None
    return plays and start_mark(game.id) not in marks
