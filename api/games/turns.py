"""Turns: the games that wait for a player, and the games that ended since the player last asked.

The answer has a cursor. With the cursor the service knows what the client was told, and whether
anything is news to it. That is told from the documents of the games: their positions are read only
for an answer that shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from msgspec import Raw

from api.concurrency.time_slices import long_work, pause
from api.games.answers import EndedGame, TurnsAnswer
from api.games.cursors import (
    TurnsCursor,
    end_mark,
    read_turns_cursor,
    turn_mark,
    turns_cursor,
)
from api.games.players import Credentials, Players
from api.games.progress import is_due
from api.games.representations import game_answer, game_without_view
from api.games.settling import each_readable, settled_games, some_due
from api.games.transactions import Transactions
from api.model.game import PLAYING, Game, raw
from api.model.retention import COMMIT_MS
from api.storage.client import Command
from api.storage.games import StoredGame
from api.storage.indexes import Entry, Indexes, Page, ended_command, occupied, read_entries
from api.storage.store import Reading, Store

MAX_TURNS = 100
"""Games that wait for the player, in one answer."""

MAX_ENDED = 200
"""Ended games in one answer; the next answer has the others."""

MAX_END_MARKS = 150
"""Marks of ended games in a cursor, which must fit into a URL with all its other marks."""

ENDED_SHOWN_MS = 24 * 60 * 60 * 1000
"""The age up to which a request without a cursor is told ended games."""


@dataclass(frozen=True)
class Turns:
    """A player's turns at a time.

    Attributes:
        now: The store's time, in ms since 1970.
        caller: The player's id.
        known: The marks of what the client was told before.
        is_news: Whether the client was not told of all of it before.
        answer: The answer to the client.
    """

    now: int
    caller: str
    known: frozenset[bytes]
    is_news: bool
    answer: TurnsAnswer

    @cached_property
    def rendered(self) -> Raw:
        """The answer as JSON, encoded once for all requests that share it."""
        return raw(self.answer)

    def would_be_news(self, game: Game) -> bool:
        """Return whether a game that changed is news: a turn or an end that the client lacks."""
        if game.has_ended:
            return self.caller in game.participants() and end_mark(game.id) not in self.known
        return _waits_for(game, self.caller) and turn_mark(game) not in self.known


class InPlay(NamedTuple):
    """A player's games in play: their documents, and the positions of those that were settled.

    The others of those whose time has run out are left out: their next seat to move is unknown.
    """

    games: list[Game]
    settled: dict[str, StoredGame]

    def waiting_for(self, player_id: str) -> list[Game]:
        """Return the games that wait for this player, longest waiting first."""
        waiting = [game for game in self.games if _waits_for(game, player_id)]
        return sorted(waiting, key=_waits_since)


class Ended(NamedTuple):
    """The ended games to tell, and the time and the marks of the next cursor."""

    games: list[Game]
    since: int
    marks: list[bytes]


class TurnQueries:
    """Finds the turns of players."""

    def __init__(
        self, transactions: Transactions, store: Store, indexes: Indexes, players: Players
    ) -> None:
        self.transactions = transactions
        self.store = store
        self.indexes = indexes
        self.players = players

    def turns(self, credentials: Credentials, since: str | None, *, has_view: bool = True) -> Turns:
        """Return the caller's turns, with or without views and legal moves.

        `since` is the cursor of an earlier answer: if nothing is news, the games that wait are left
        out, and their positions are not read.

        Raises `Problem` (``invalid_token``, ``invalid_request``).
        """
        caller = credentials.player_id
        given = None if since is None else read_turns_cursor(since)
        page = Page(Entry(occupied(caller), PLAYING), None, MAX_TURNS)
        commands = [page.first_command]
        if given is not None:
            commands.append(_find_ended(caller, given))
        reading = self.store.read(caller, extra=commands)
        self.players.authenticate(reading, credentials)
        now, known = reading.now, _known(given, reading.now)
        in_play = self._in_play(page, reading)
        waiting = in_play.waiting_for(caller)
        items: list[Raw] = []
        is_news = _has_news(waiting, known)
        if is_news:
            waiting, items = self._shown(caller, waiting, in_play, now, has_view=has_view)
            is_news = _has_news(waiting, known)
        answers = reading.extra[1:]
        if known is not given or reading.extra[0]:
            # Read the ended games after those in play: otherwise a game that ends between the two
            # reads would be in neither list.
            answers = self.store.client.execute([_find_ended(caller, known)])
        ended = self._ended(caller, known, read_entries(answers[0]), now)
        if ended.games and not is_news:
            waiting, items = self._shown(caller, waiting, in_play, now, has_view=has_view)
        is_news = is_news or bool(ended.games)
        marks = [turn_mark(game) for game in waiting]
        return Turns(
            now=now,
            caller=caller,
            known=known.marks,
            is_news=is_news,
            answer=TurnsAnswer(
                items=tuple(items) if is_news else (),
                ended=tuple(EndedGame(game.id, game.result) for game in ended.games),
                unchanged=given is not None and not is_news,
                cursor=turns_cursor(ended.since, marks + ended.marks),
            ),
        )

    def _in_play(self, page: Page, reading: Reading) -> InPlay:
        """Return the games of a page, of which the first entries were read; settle a few of them.

        Positions are read only of the games to settle.
        """
        now = reading.now
        games, _ = self.indexes.page(page, now, reading.extra[0])
        due = some_due(self.transactions, games, now)
        settled = {each.game.id: each for each in settled_games(self.transactions, due, now)}
        current = [game for game in games if not is_due(game, now)]
        current += [each.game for each in settled.values() if each.game.status == PLAYING]
        return InPlay(current, settled)

    def _shown(
        self, caller: str, waiting: Sequence[Game], in_play: InPlay, now: int, *, has_view: bool
    ) -> tuple[list[Game], list[Raw]]:
        """Return the games that still wait when their positions are read, each with its answer."""
        if not has_view:
            return [*waiting], [game_without_view(each, caller) for each in waiting]

        def answer(stored: StoredGame) -> tuple[Game, Raw]:
            pause()
            return stored.game, game_answer(stored, stored.game.audience_of(caller))

        ids = [game.id for game in waiting]
        others = [each for each in ids if each not in in_play.settled]
        read = [in_play.settled[each] for each in ids if each in in_play.settled]
        read += settled_games(self.transactions, others, now)
        still = [each for each in read if _waits_for(each.game, caller)]
        with long_work():
            answers = list(each_readable(still, _game_id, answer))
        answers.sort(key=lambda each: _waits_since(each[0]))
        return [game for game, _ in answers], [shown for _, shown in answers]

    def _ended(
        self, caller: str, known: TurnsCursor, entries: list[tuple[str, int]], now: int
    ) -> Ended:
        """Return the ended games to tell.

        `entries` are index entries, each with its time; the game may not have ended. An entry is
        written before its commit, so entries of the last minute are read again the next time. Marks
        name those of them that the client has been told. If they are too many for a cursor, the
        older of them are not read again.
        """
        new = [each for each in entries if end_mark(each[0]) not in known.marks][:MAX_ENDED]
        games = [
            game
            for game in self.store.games([game_id for game_id, _ in new]).values()
            if game is not None and game.has_ended and caller in game.participants()
        ]
        until = new[-1][1] if len(new) == MAX_ENDED else now
        since = max(known.since, until - COMMIT_MS)
        told = {game.id for game in games}
        marked = [
            (game_id, at)
            for game_id, at in entries
            if at >= since and (game_id in told or end_mark(game_id) in known.marks)
        ]
        if len(marked) > MAX_END_MARKS:
            since = marked[-MAX_END_MARKS - 1][1] + 1
        return Ended(games, since, [end_mark(game_id) for game_id, _ in marked[-MAX_END_MARKS:]])


def _game_id(stored: StoredGame) -> str:
    return stored.game.id


def _waits_for(game: Game, player_id: str) -> bool:
    return game.status == PLAYING and game.seat_of(player_id) in game.to_move


def _waits_since(game: Game) -> int:
    return game.turn_started_at or 0


def _has_news(waiting: Sequence[Game], known: TurnsCursor) -> bool:
    return not known.marks.issuperset(turn_mark(game) for game in waiting)


def _known(given: TurnsCursor | None, now: int) -> TurnsCursor:
    """Return what the client knows, by the cursor that it sent."""
    if given is None:
        return TurnsCursor(now - ENDED_SHOWN_MS, frozenset())
    if given.since > now:
        # The store's clock was set back: games that end from now on have times before the cursor's.
        return given._replace(since=now - COMMIT_MS)
    return given


def _find_ended(caller: str, known: TurnsCursor) -> Command:
    # The games that the client was told are among the entries.
    return ended_command(caller, known.since, MAX_ENDED + len(known.marks))
