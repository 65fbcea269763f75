"""Turns: the games that wait for a player, and the games that ended since the player last asked.

The answer has a cursor. With the cursor the service knows what the client was told, and whether
anything is news to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
from api.games.representations import game_answer
from api.games.settling import each_readable, settled_games, some_due
from api.games.transactions import Transactions
from api.model.game import OPEN, PLAYING, Game, raw
from api.model.retention import COMMIT_MS
from api.storage.client import Command
from api.storage.games import StoredGame
from api.storage.indexes import Entry, Indexes, Page, ended_command, occupied, read_entries
from api.storage.store import Reading, Store

MAX_TURNS = 100
"""Games that wait for the player, in one answer."""

MAX_ENDED = 200
"""Ended games in one answer; the next answer has the others."""

MAX_END_MARKS = 250
"""Marks of ended games in a cursor, which must fit into a URL with as many turns."""

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


class TurnQueries:
    """Finds the turns of players."""

    def __init__(
        self, transactions: Transactions, store: Store, indexes: Indexes, players: Players
    ) -> None:
        self.transactions = transactions
        self.store = store
        self.indexes = indexes
        self.players = players

    def turns(self, credentials: Credentials, since: str | None) -> Turns:
        """Return the caller's turns. `since` is the cursor of an earlier answer.

        Raises `Problem` (``invalid_token``, ``invalid_request``).
        """
        caller = credentials.player_id
        given = None if since is None else read_turns_cursor(since)
        playing = Page(Entry(occupied(caller), PLAYING), None, MAX_TURNS)
        open_ = Page(Entry(occupied(caller), OPEN), None, MAX_TURNS)
        commands = [playing.first_command, open_.first_command]
        if given is not None:
            commands.append(_find_ended(caller, given))
        reading = self.store.read(caller, extra=commands)
        self.players.authenticate(reading, credentials)
        known = _known(given, reading.now)
        starting = self._starting(open_, reading)
        waiting = self._waiting(caller, playing, reading, starting)
        answers = reading.extra[2:]
        if known is not given or reading.extra[0]:
            # Read the ended games after those in play: otherwise a game that ends between the two
            # reads would be in neither list.
            answers = self.store.client.execute([_find_ended(caller, known)])
        entries = read_entries(answers[0])
        ended, since_then, end_marks = self._ended(caller, known, entries, reading.now)
        turn_marks = [turn_mark(game) for game, _ in waiting]
        return Turns(
            now=reading.now,
            caller=caller,
            known=known.marks,
            is_news=bool(ended) or not known.marks.issuperset(turn_marks),
            answer=TurnsAnswer(
                items=tuple(answer for _, answer in waiting),
                ended=tuple(EndedGame(game.id, game.result) for game in ended),
                cursor=turns_cursor(since_then, turn_marks + end_marks),
            ),
        )

    def _starting(self, page: Page, reading: Reading) -> list[Game]:
        """Return the open games of a page that are to start, as their deadline has passed."""
        games, _ = self.indexes.page(page, reading.now, reading.extra[1])
        return [game for game in games if is_due(game, reading.now)]

    def _waiting(
        self, caller: str, playing: Page, reading: Reading, starting: list[Game]
    ) -> list[tuple[Game, Raw]]:
        """Return the games that wait for the caller, longest waiting first, each with its answer.

        Only a few due games are settled. The others are left out: until then their next seat to
        move is unknown.
        """
        now = reading.now

        def answer(stored: StoredGame) -> tuple[Game, Raw]:
            pause()
            return stored.game, game_answer(stored, stored.game.audience_of(caller))

        # The states of the games are read only for those that may wait for the caller.
        games, _ = self.indexes.page(playing, now, reading.extra[0])
        ids = [game.id for game in games if _waits_for(game, caller) and not is_due(game, now)]
        ids += some_due(self.transactions, [*games, *starting], now)
        settled = settled_games(self.transactions, ids, now)
        waiting = [stored for stored in settled if _waits_for(stored.game, caller)]
        with long_work():
            answers = list(each_readable(waiting, _game_id, answer))
        return sorted(answers, key=lambda each: each[0].turn_started_at or 0)

    def _ended(
        self, caller: str, known: TurnsCursor, entries: list[tuple[str, int]], now: int
    ) -> tuple[list[Game], int, list[bytes]]:
        """Return the ended games to tell, and the time and the marks of the next cursor.

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
        return games, since, [end_mark(game_id) for game_id, _ in marked[-MAX_END_MARKS:]]


def _game_id(stored: StoredGame) -> str:
    return stored.game.id


def _waits_for(game: Game, player_id: str) -> bool:
    return game.status == PLAYING and game.seat_of(player_id) in game.to_move


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
