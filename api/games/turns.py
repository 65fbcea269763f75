"""Turns: the games that wait for a player, and the games that ended since the player last asked.

The answer has a cursor. With the cursor the service knows what the client was told, and whether
anything is news to it. That is told from the documents of the games: their positions are read only
for an answer that shows them.

A player's stream tells the same one by one, and also which games started and in which a seat is
reserved for the player (see `api.games.turn_news`).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Raw

from api.concurrency.time_slices import long_work, pause
from api.games.answers import EndedGame, TurnsAnswer
from api.games.cursors import TurnsCursor, end_mark, read_turns_cursor, turn_mark
from api.games.players import Credentials, Players, Remembered
from api.games.progress import is_due
from api.games.representations import game_answer, game_without_view
from api.games.settling import each_readable, settled_games, some_due
from api.games.transactions import Transactions
from api.model.game import OPEN, PLAYING, Game, raw
from api.model.retention import COMMIT_MS
from api.storage.client import Command
from api.storage.games import StoredGame
from api.storage.indexes import Indexes, Page, ended_command, read_entries, unfinished_page
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
        return would_be_news(game, self.caller, self.known)


class EndedEntries(NamedTuple):
    """A player's games that ended, oldest first, each with the time (ms) of its index entry.

    An entry is written before its commit, so its game may end later. So the entries of the last
    minute before `now` (ms) are read again the next time, and marks name those of the games that
    the client was told.
    """

    games: list[tuple[Game, int]]
    known: TurnsCursor
    now: int

    def new(self) -> list[tuple[Game, int]]:
        """Return the games that the client was not told."""
        return [each for each in self.games if end_mark(each[0]) not in self.known.marks]

    def cursor(self, told: AbstractSet[str], until: int) -> TurnsCursor:
        """Return what the client knows once it was told these games: all that ended until a time.

        If the marks are too many for a cursor, the oldest of the entries are not read again.
        """
        # No commit of an older entry is in flight: after it, the cursor moves on though its game is
        # gone or was never told.
        since = max(self.known.since, min(until, self.now - COMMIT_MS))
        marked = [
            (mark, at)
            for game, at in self.games
            if at >= since and ((mark := end_mark(game)) in self.known.marks or game.id in told)
        ]
        if len(marked) > MAX_END_MARKS:
            since = marked[-MAX_END_MARKS - 1][1] + 1
        return TurnsCursor(since, frozenset(mark for mark, _ in marked[-MAX_END_MARKS:]))


class Ended(NamedTuple):
    """The ended games that are news, oldest first.

    `until` is the time up to which there are no others; `has_more` tells whether there may be
    later ones already.
    """

    games: list[Game]
    entries: EndedEntries
    until: int
    has_more: bool

    @property
    def cursor(self) -> TurnsCursor:
        """What the client knows of ended games once it was told these."""
        return self.entries.cursor({game.id for game in self.games}, self.until)


@dataclass(frozen=True)
class OwnGames:
    """A player's games in play, by their documents.

    Attributes:
        reader: The player's id.
        known: What the client was told before.
        now: The store's time, in ms since 1970.
        games: The games.
        due: Games whose time has run out and that were not settled: their next seat to move is
            unknown.
        settled: Those of `games` that were settled, with their positions.
        extra: The replies to the extra commands.
        ended_reply: The reply to the command that finds the ended games; None if that must be sent
            now.
    """

    reader: str
    known: TurnsCursor
    now: int
    games: list[Game]
    due: list[Game]
    settled: dict[str, StoredGame]
    extra: Sequence[Any]
    ended_reply: Any

    @cached_property
    def waiting(self) -> list[Game]:
        """The games that wait for the player, longest waiting first."""
        return sorted((game for game in self.games if self.is_waiting(game)), key=_waits_since)

    def is_waiting(self, game: Game) -> bool:
        """Return whether a game waits for the player."""
        return is_waiting_for(game, self.reader)

    def is_news(self, waiting: Sequence[Game]) -> bool:
        """Return whether the client was not told of all of these games that wait."""
        return not self.known.marks.issuperset(turn_mark(game) for game in waiting)


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
        own = self.own_games(credentials, None if since is None else read_turns_cursor(since))
        waiting, items = own.waiting, list[Raw]()
        is_news = own.is_news(waiting)
        if is_news:
            waiting, items = self._shown(own, waiting, has_view=has_view)
            is_news = own.is_news(waiting)
        ended = self.ended(own)
        if ended.games and not is_news:
            is_news = True
            waiting, items = self._shown(own, waiting, has_view=has_view)
        cursor = ended.cursor.with_marks(map(turn_mark, waiting))
        return Turns(
            now=own.now,
            caller=own.reader,
            known=own.known.marks,
            is_news=is_news,
            answer=TurnsAnswer(
                items=tuple(items) if is_news else (),
                ended=tuple(EndedGame(game.id, game.result) for game in ended.games),
                unchanged=since is not None and not is_news,
                cursor=cursor.text,
            ),
        )

    def own_games(
        self,
        credentials: Credentials | Remembered,
        given: TurnsCursor | None,
        extra: Sequence[Command] = (),
    ) -> OwnGames:
        """Return a player's games in play, and settle a few of them that are due.

        Positions are read only of the games to settle. `given` is the cursor that the client sent;
        the extra commands are sent in the first round trip.

        Raises `Problem` (``invalid_token``).
        """
        reader = credentials.player_id
        playing, open_ = (unfinished_page(reader, [each], MAX_TURNS) for each in (PLAYING, OPEN))
        find_ended = [] if given is None else [_find_ended(reader, given)]
        commands = [*playing.first_commands, *open_.first_commands, *extra, *find_ended]
        reading = self.store.read(reader, extra=commands)
        self.players.authenticate(reading, credentials)
        known = _known(given, reading.now)
        # Read the ended games after those in play: otherwise a game that ends between the two
        # reads would be in neither list.
        can_use_reply = known is given and not reading.extra[0]
        starting = self._starting(open_, reading)
        games, due, settled = self._in_play(playing, reading, starting)
        return OwnGames(
            reader=reader,
            known=known,
            now=reading.now,
            games=games,
            due=due,
            settled=settled,
            extra=reading.extra[2 : 2 + len(extra)],
            ended_reply=reading.extra[-1] if can_use_reply else None,
        )

    def _starting(self, page: Page, reading: Reading) -> list[Game]:
        """Return the open games of a page that are to start, as their deadline has passed."""
        found, _ = self.indexes.page(page, reading.now, reading.extra[1:2])
        return [each.game for each in found if is_due(each.game, reading.now)]

    def _in_play(
        self, page: Page, reading: Reading, starting: list[Game]
    ) -> tuple[list[Game], list[Game], dict[str, StoredGame]]:
        """Return the games of a page, those that stay due, and those that were settled."""
        now = reading.now
        listed, _ = self.indexes.page(page, now, reading.extra[:1])
        found = [each.game for each in listed]
        ids = some_due(self.transactions, [*found, *starting], now)
        settled = {each.game.id: each for each in settled_games(self.transactions, ids, now)}
        games = [game for game in found if not is_due(game, now)]
        games += [each.game for each in settled.values() if each.game.status == PLAYING]
        due = [game for game in found if is_due(game, now) and game.id not in settled]
        return games, due, settled

    def positions(self, own: OwnGames, waiting: Sequence[Game]) -> list[StoredGame]:
        """Return games with their positions, longest waiting first, if they still wait then."""
        ids = [game.id for game in waiting]
        found = [own.settled[each] for each in ids if each in own.settled]
        others = [each for each in ids if each not in own.settled]
        found += settled_games(self.transactions, others, own.now)
        still = [each for each in found if own.is_waiting(each.game)]
        return sorted(still, key=lambda each: _waits_since(each.game))

    def ended(self, own: OwnGames) -> Ended:
        """Return the player's ended games that are news."""
        reply = own.ended_reply
        if reply is None:
            (reply,) = self.store.client.execute([_find_ended(own.reader, own.known)])
        found = read_entries(reply)
        entries = EndedEntries(self._ended_games(own.reader, found), own.known, own.now)
        new = entries.new()
        shown = [game for game, _ in new[:MAX_ENDED]]
        if len(new) > MAX_ENDED:
            return Ended(shown, entries, new[MAX_ENDED - 1][1], has_more=True)
        if len(found) == _max_entries(own.known):
            return Ended(shown, entries, found[-1][1], has_more=True)
        return Ended(shown, entries, own.now, has_more=False)

    def _ended_games(
        self, reader: str, entries: Sequence[tuple[str, int]]
    ) -> list[tuple[Game, int]]:
        """Return those of a player's index entries that are true, with their games."""
        games = self.store.games([game_id for game_id, _ in entries])
        found = ((games.get(game_id), at) for game_id, at in entries)
        return [
            (game, at)
            for game, at in found
            if game is not None and game.has_ended and reader in game.participants()
        ]

    def _shown(
        self, own: OwnGames, waiting: Sequence[Game], *, has_view: bool
    ) -> tuple[list[Game], list[Raw]]:
        """Return the games that wait, each with its answer."""
        if not has_view:
            return [*waiting], [game_without_view(each, own.reader) for each in waiting]

        def answer(stored: StoredGame) -> tuple[Game, Raw]:
            pause()
            return stored.game, game_answer(stored, stored.game.audience_of(own.reader))

        positions = self.positions(own, waiting)
        with long_work():
            answers = list(each_readable(positions, lambda each: each.game.id, answer))
        return [game for game, _ in answers], [shown for _, shown in answers]


def would_be_news(game: Game, reader: str, marks: AbstractSet[bytes]) -> bool:
    """Return whether a turn or an end of a game is news to a client that knows these marks."""
    if game.has_ended:
        return reader in game.participants() and end_mark(game) not in marks
    return is_waiting_for(game, reader) and turn_mark(game) not in marks


def is_waiting_for(game: Game, player_id: str) -> bool:
    """Return whether a game waits for a player."""
    return game.status == PLAYING and game.seat_of(player_id) in game.to_move


def _waits_since(game: Game) -> int:
    return game.turn_started_at or 0


def _known(given: TurnsCursor | None, now: int) -> TurnsCursor:
    """Return what the client knows, by the cursor that it sent."""
    if given is None:
        return TurnsCursor(now - ENDED_SHOWN_MS, frozenset())
    if given.since > now:
        # The store's clock was set back: games that end from now on have times before the cursor's.
        return given._replace(since=now - COMMIT_MS)
    return given


def _find_ended(caller: str, known: TurnsCursor) -> Command:
    return ended_command(caller, known.since, _max_entries(known))


def _max_entries(known: TurnsCursor) -> int:
    # The games that the client was told are among the entries.
    return MAX_ENDED + len(known.marks)
