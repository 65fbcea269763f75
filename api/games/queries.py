"""Queries: lists of games, and the events, the record and the presence of one game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from msgspec import Raw

from api.concurrency.single_flight import SingleFlight
from api.concurrency.time_slices import long_work, pause
from api.games.answers import (
    EventPage,
    GamePage,
    GameRecord,
    MadeMove,
    PresenceAnswer,
    RunOutCountdown,
    SeatPresence,
)
from api.games.cursors import EventsCursor, page_cursor, read_page_cursor
from api.games.players import Credentials, Players
from api.games.representations import game_summary, item_answers
from api.games.rulesets import no_such_ruleset
from api.games.seats import has_free_seat
from api.games.settling import each_readable, settled_games, some_due
from api.games.transactions import LoadedGame, Transactions
from api.model.events import BY_CLOCK
from api.model.game import NOT_A_MOVE, OPEN, Game, HistoryItem, digest, timestamp
from api.problems.problem import FieldError, Problem
from api.storage.games import GameDocument
from api.storage.indexes import (
    Cursor,
    Entry,
    Indexes,
    Page,
    any_game,
    invitations_page,
    lobby,
    of_player,
)
from api.storage.store import Store
from engine.registry import RULESETS


class OwnGamesStatus(StrEnum):
    """Which of the caller's games to list: those of a status, or its invitations."""

    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    INVITED = "invited"


class LobbyFilter(NamedTuple):
    """The public games that a caller wants to see; None means any."""

    status: str | None = None
    ruleset: str | None = None
    seat_count: int | None = None
    free_seats: bool = False

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The indexes that have all these games."""
        return lobby(self.ruleset, OPEN if self.free_seats else self.status)

    def filter_for(self, reader: str | None) -> Callable[[Game], bool]:
        """Return the condition that the games of the indexes must meet besides."""
        if self.seat_count is None and not self.free_seats:
            return any_game
        return LobbyCondition(self, reader if self.free_seats else None)


@dataclass(frozen=True)
class LobbyCondition:
    """What a caller wants of public games; the caller only matters for free seats."""

    wanted: LobbyFilter
    reader: str | None

    def __call__(self, game: Game) -> bool:
        """Return whether a game meets the condition."""
        wanted = self.wanted
        return (
            wanted.seat_count in (None, game.seat_count)
            and wanted.status in (None, game.status)
            and (not wanted.free_seats or has_free_seat(game, self.reader))
        )


class Queries:
    """Answers questions about games."""

    def __init__(
        self, transactions: Transactions, store: Store, indexes: Indexes, players: Players
    ) -> None:
        self.transactions = transactions
        self.store = store
        self.indexes = indexes
        self.players = players
        self._readers = Counter[Page]()
        self._reads = SingleFlight[tuple[list[GameDocument], Cursor | None]]()

    # --- Lists of games ----------------------------------------------------------------

    def public_games(
        self,
        credentials: Credentials | None,
        wanted: LobbyFilter,
        cursor: str | None,
        limit: int,
    ) -> GamePage:
        """Return a page of the public games, newest first.

        Raises `Problem` (``invalid_request``, ``invalid_token``).
        """
        ruleset = wanted.ruleset
        if ruleset is not None and ruleset not in RULESETS:
            at = FieldError(no_such_ruleset(ruleset), parameter="ruleset")
            raise Problem("invalid_request", at.detail, errors=(at,))
        reader = None if credentials is None else credentials.player_id
        after, accepts = read_page_cursor(cursor), wanted.filter_for(reader)
        return self._page(credentials, Page(wanted.entries, after, limit, accepts))

    def own_games(
        self, credentials: Credentials, status: str | None, cursor: str | None, limit: int
    ) -> GamePage:
        """Return a page of the games that the caller hosts or has a seat in.

        With the status `INVITED`, return the open games in which a seat is only reserved for it.

        Raises `Problem` (``invalid_token``, ``invalid_request``).
        """
        caller, after = credentials.player_id, read_page_cursor(cursor)
        if status == OwnGamesStatus.INVITED:
            return self._page(credentials, invitations_page(caller, after, limit))
        return self._page(credentials, Page(of_player(caller, status), after, limit))

    def _page(self, credentials: Credentials | None, page: Page) -> GamePage:
        reader = None if credentials is None else credentials.player_id
        now, found, following = self._read_page(page, credentials)
        games = self._settled(page, found, now)

        def summary(found: GameDocument) -> Raw:
            pause()
            return game_summary(found, reader)

        with long_work():
            items = tuple(each_readable(games, lambda found: found.game.id, summary))
        return GamePage(items, None if following is None else page_cursor(following))

    def _read_page(
        self, page: Page, credentials: Credentials | None
    ) -> tuple[int, list[GameDocument], Cursor | None]:
        """Return the time, and the games of a page with the cursor of the next one.

        The first of concurrent requests for the same page reads the caller and the page at once;
        the others share reads of the page, each of which began after they came.

        Raises `Problem` (``invalid_token``).
        """
        reader = None if credentials is None else credentials.player_id
        is_first = page not in self._readers
        self._readers[page] += 1
        try:
            query = self.indexes.query(page) if is_first else None
            reading = self.store.read(reader, extra=query.commands if query else ())
            if credentials is not None:
                self.players.authenticate(reading, credentials)
            if query is not None:
                found = self.indexes.read_page(query, reading.now, reading.extra)
            else:
                # Of no caller: others must not wait in the queue of one with many requests.
                found = self._reads.run_fresh(
                    page, lambda: Context().run(self._read_shared, page, reading.now)
                )
        finally:
            self._readers[page] -= 1
            if not self._readers[page]:
                del self._readers[page]
        return reading.now, *found

    def _read_shared(self, page: Page, now: int) -> tuple[list[GameDocument], Cursor | None]:
        query = self.indexes.query(page)
        replies = self.store.client.execute(query.commands, keep_errors=True)
        return self.indexes.read_page(query, now, replies)

    def _settled(self, page: Page, games: list[GameDocument], now: int) -> list[GameDocument]:
        """Return the games of a page, with some due ones settled.

        The others are returned as they are; later requests settle them. A game that does not belong
        to the page after that is left out.
        """
        ids = some_due(self.transactions, [each.game for each in games], now)
        if not ids:
            return games
        settled = {each.game.id: each for each in settled_games(self.transactions, ids, now)}
        current = [settled.get(each.game.id, each) for each in games]
        return [
            each
            for each in current
            if each.game.id not in settled or (page.includes(each.game) and page.accepts(each.game))
        ]

    # --- Events of a game --------------------------------------------------------------

    def load_with_events(
        self, credentials: Credentials | None, game_id: str, since: EventsCursor, limit: int
    ) -> LoadedGame:
        """Load a game for a caller, and what `events` needs in the same round trip."""
        query = self.store.history_query(game_id, *_range(since, limit))
        loaded = self.transactions.load(credentials, game_id, extra_commands=query.commands)
        if not loaded.extra_answers:
            return loaded
        return replace(loaded, extra_answers=(), history=(query, loaded.extra_answers))

    def events(self, loaded: LoadedGame, since: EventsCursor, limit: int) -> EventPage:
        """Return the events after a cursor, as the caller is told them.

        They are taken from what was read with the game, if anything was. The page is a
        `reset` if the store has lost what the cursor names, or the game as it was loaded.
        """
        game = loaded.game
        items = self._items_after(loaded, since, limit)
        if items is None:
            return EventPage((), EventsCursor.after(game).text, False, game.status, True)
        after = EventsCursor(since.version + len(items), game.revision)
        answers = item_answers(items, loaded.seat)
        return EventPage(answers, after.text, after.version < game.version, game.status, False)

    def _items_after(
        self, loaded: LoadedGame, since: EventsCursor, limit: int
    ) -> Sequence[HistoryItem] | None:
        """Return the items after a cursor. None if a failover has lost a revision of the game.

        It is the one of the cursor, or the one that was loaded if the items were read later.
        """
        game, seen = loaded.game, since.revision
        if seen.number > game.version:
            return None
        if seen.number == game.version and not seen.is_same(game.revision):
            return None
        if since.version == game.version:
            return []
        if loaded.history is not None:
            part = self.store.read_history(game, *loaded.history)
        else:
            part = self.store.history_part(game, *_range(since, limit))
        last = min(since.version + limit, game.version)
        items = part.items[: last - since.version]
        # An item without an id is in the middle of a commit, so it is not the one seen either.
        if seen.number and seen.id and part.seen_id != seen.id:
            return None
        if len(items) < last - since.version:
            return None
        if last == game.version and items and game.version_id not in ("", items[-1].version_id):
            return None
        return items

    # --- Presence ----------------------------------------------------------------------

    def presence(self, loaded: LoadedGame) -> PresenceAnswer:
        """Return when the player of each seat was last seen."""
        playing = [
            record.player.id if record.player is not None and record.house is None else None
            for record in loaded.game.seats
        ]
        ids = [player_id for player_id in playing if player_id is not None]
        seen = dict(zip(ids, self.store.last_seen(ids), strict=True))
        return PresenceAnswer(
            tuple(
                SeatPresence(seat, timestamp(at) if player_id and (at := seen[player_id]) else None)
                for seat, player_id in enumerate(playing)
            )
        )

    # --- Record ------------------------------------------------------------------------

    def record(self, loaded: LoadedGame) -> GameRecord:
        """Return the deal, the moves and the result of a game that was started and has ended.

        Raises `Problem` (``game_not_over``, ``record_not_found``, ``game_not_found``).
        """
        require_record(loaded)
        game = loaded.game
        deal, items = self.store.deal_and_items(loaded.stored)
        if deal is None:
            raise Problem("game_not_found")  # the game has expired since it was read
        entries = map(_record_entry, items)
        return GameRecord(
            ruleset=game.ruleset,
            seat_count=game.seat_count,
            options=game.options,
            deal=deal.deal,
            deal_text=deal.deal_text,
            deal_sha256=digest(deal.deal_text),
            moves=tuple(entry for entry in entries if entry is not None),
            result=game.result,
        )


def require_record(loaded: LoadedGame) -> None:
    """Raise `Problem` (``game_not_over``, ``record_not_found``) if a game has no record."""
    if not loaded.game.has_ended:
        raise Problem("game_not_over")
    if loaded.game.started_at is None:
        raise Problem("record_not_found")


def _range(since: EventsCursor, limit: int) -> tuple[int, int, int]:
    """Return the versions to read after a cursor: from, to, and the one that the cursor names.

    The latter is 0 if its id is unknown.
    """
    number, id_ = since.revision
    return since.version + 1, since.version + limit, number if id_ else 0


def _record_entry(item: HistoryItem) -> MadeMove | RunOutCountdown | None:
    """Return a move or the end of a countdown as the record has it, None for any other item."""
    at = timestamp(item.at)
    if item.move != NOT_A_MOVE and item.seat is not None:
        return MadeMove(item.seat, item.move, item.turn, at, item.by)
    return RunOutCountdown(item.turn, at) if item.by == BY_CLOCK else None
