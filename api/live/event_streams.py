"""Streams: a game as Server-Sent Events, for one audience, and the tickets that open them.

A stream tells everything once, in order, whenever it is opened again with the id of what came
last. It ends when the game has, or when whoever opened it may not see it like this any more. It
waits as polls do, and renders what others of the same audience need only once.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterator
from typing import Any

import gevent
import msgspec
from redis import RedisError

from api.games.answers import StreamEnd, StreamUpdate, TicketAnswer
from api.games.players import Credentials, Remembered
from api.games.queries import Queries
from api.games.representations import game_answer
from api.games.transactions import LoadedGame, exists_for
from api.live.hub import PAUSE_SECONDS, Hub, Shared, Waiter
from api.live.long_polls import is_over
from api.live.quota import Quota, Slot
from api.model.game import Game, Revision, digest, timestamp
from api.observability import metrics
from api.problems.problem import Problem
from api.storage.errors import log_unreadable
from api.storage.games import Snapshot
from api.storage.players import Ticket

log = logging.getLogger("ludotheque")

PING_SECONDS = 15.0
"""After so long without an event a comment is sent, so that both sides know of each other."""

CHECK_SECONDS = 30.0
"""How often it is asked whether the token still is one, however much happens."""

ITEMS_AT_ONCE = 500

LONGEST_PAUSE_SECONDS = 5.0
PATIENCE_SECONDS = 60.0
"""How long it is tried to read what happened, ever less often, before the stream ends."""

RETRY = b"retry: 1000\n\n"
PING = b": ping\n\n"

_ID = re.compile(r"([0-9]{1,15})(-end)?")


class EventStreams:
    """Opens streams, and makes the tickets for them."""

    def __init__(self, hub: Hub, quota: Quota, reader: Queries) -> None:
        self.hub = hub
        self.quota = quota
        self.queries = reader
        self.transactions = hub.transactions
        self.store = reader.store

    def create_ticket(
        self, credentials: Credentials | None, game_id: str
    ) -> tuple[int, TicketAnswer]:
        """A ticket for this game as the caller sees it, and the time (ms).

        Raises `Problem` (``missing_token``, ``invalid_token``, ``game_not_found``).
        """
        loaded = self.transactions.load(credentials, game_id)
        assert credentials is not None
        ticket = secrets.token_urlsafe(32)
        place = loaded.game.participation_of(loaded.reader)
        holder = Ticket(game_id, credentials.player_id, credentials.secret_hash, place)
        life_ms = self.transactions.retention.ticket
        self.store.add_ticket(digest(ticket), holder, life_ms)
        return loaded.now, TicketAnswer(ticket, timestamp(loaded.now + life_ms))

    def open(
        self,
        credentials: Credentials | None,
        ticket: str | None,
        game_id: str,
        last_id: str | None,
    ) -> EventStream:
        """The stream of a game for a caller, or the holder of a ticket, who has seen `last_id`.

        Raises `Problem` (``invalid_token``, ``invalid_ticket``, ``game_not_found``,
        ``too_many_waiting``).
        """
        shown: Credentials | Remembered | None = credentials
        if ticket is None:
            loaded = self.transactions.load(credentials, game_id, anonymous=True)
        else:
            loaded, shown = self._admit(ticket, game_id)
        stream = EventStream(self, loaded, shown, last_id)
        if not stream.is_done:
            stream.take_place()
        return stream

    def _admit(self, ticket: str, game_id: str) -> tuple[LoadedGame, Remembered]:
        """Who holds a ticket, before its game. Raises `Problem`."""
        holder = self.store.ticket(digest(ticket))
        if holder is None or holder.game_id != game_id:
            raise Problem("invalid_ticket")
        shown = Remembered(holder.player_id, holder.secret_hash)
        try:
            loaded = self.transactions.load(shown, game_id)
        except Problem as problem:
            if problem.code == "invalid_token":
                raise Problem("invalid_ticket") from None
            raise
        if loaded.game.participation_of(loaded.reader) != holder.participation:
            raise Problem("invalid_ticket")
        return loaded, shown


class EventStream:
    """One open stream. It holds a place until it is closed."""

    def __init__(
        self,
        streams: EventStreams,
        loaded: LoadedGame,
        shown: Credentials | Remembered | None,
        last_id: str | None,
    ) -> None:
        self.now = loaded.now
        self.hub = streams.hub
        self.queries = streams.queries
        self._places = streams.quota
        self._taken: Slot | None = None
        self._game_id = loaded.game.id
        self._caller = loaded.caller
        self._player_id = loaded.reader
        self._place = loaded.game.participation_of(loaded.reader)
        self._shown = shown
        self._is_doubted = False
        self._first: Shared | None = Shared(Snapshot(loaded.now, loaded.stored))
        self._seen, has_end = _read_id(last_id)
        is_same = self._seen is not None and self._seen.number == loaded.game.version
        self.is_done = has_end and is_over(loaded.game) and is_same

    def take_place(self) -> None:
        """Take a place among those who wait. Raises `Problem` (``too_many_waiting``)."""
        self._taken = self._places.take(self._player_id)
        if self._taken is None:
            raise Problem("too_many_waiting")

    def close(self) -> None:
        """Give the place back; as often as one likes."""
        if self._taken is not None:
            self._taken.give_back()

    # --- What is sent --------------------------------------------------------------------------

    def parts(self) -> Iterator[bytes]:
        """What is sent, as it comes. It ends with what keeps it from being told."""
        yield RETRY
        try:
            yield from self._events()
        # The headers have long been sent: whoever opens it again is told the problem.
        except RedisError as error:
            metrics.store_failed(error)
            log.warning("a stream was given up: %s", type(error).__name__)
        except Exception as error:
            log_unreadable(self._game_id, error)

    def _events(self) -> Iterator[bytes]:
        with self.hub.waiter() as waiter:
            for shared in self._looks(waiter):
                if shared is None:
                    yield PING
                    continue
                game = shared.game
                if game is None or not self._may_see(game):
                    return
                yield from self._news(shared, game)
                if is_over(game):
                    yield _end(game)
                    return

    def _looks(self, waiter: Waiter) -> Iterator[Shared | None]:
        """The game as it is and whenever it is another; None when it is time for a ping."""
        topic = self.hub.game(self._game_id, is_well=True)
        waiter.watch(topic, lambda _: True)
        if self._player_id is not None:
            waiter.watch(self.hub.player(self._player_id), self._doubt)
        last, self._first = self._first, None
        assert last is not None
        yield last
        ping_at = time.monotonic() + PING_SECONDS
        check_at = time.monotonic() + CHECK_SECONDS
        while not self.hub.is_stopping:
            if time.monotonic() >= check_at:
                self._is_doubted = True
                check_at = time.monotonic() + CHECK_SECONDS
            if self._is_doubted and not self._is_still_valid():
                return
            if topic.fault is not None:
                return
            look = topic.look
            if look is not None and look.mark != last.mark:
                if look.is_newer(last.now, last.mark.version or 0):
                    last = look
                    yield last
                    ping_at = time.monotonic() + PING_SECONDS
                    continue
                self.hub.doubt(topic)
            if time.monotonic() >= ping_at:
                yield None
                ping_at = time.monotonic() + PING_SECONDS
            else:
                waiter.wait(min(ping_at, check_at) - time.monotonic())

    def _news(self, shared: Shared, game: Game) -> Iterator[bytes]:
        """What the reader lacks of this.

        The game as a whole if it cannot go on from what the reader has: of which there was
        nothing, or which a failover of the store has lost. Raises `RedisError` if the store fails
        for too long.
        """
        began = ping_at = time.monotonic()
        pause = PAUSE_SECONDS
        while not self.hub.is_stopping and not _has_all(self._seen, game):
            try:
                update = None if self._seen is None else self._update(shared, self._seen)
            except RedisError:
                now = time.monotonic()
                if now - began > PATIENCE_SECONDS:
                    raise
                if now >= ping_at:
                    # Else it would not be noticed that nobody listens any more.
                    yield PING
                    ping_at = now + PING_SECONDS
                gevent.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                continue
            began, pause = time.monotonic(), PAUSE_SECONDS
            if update is None:
                self._seen = game.revision
                yield self._snapshot(shared, game)
            else:
                self._seen, told = update
                yield told

    def _visit(self, shared: Shared) -> LoadedGame:
        assert shared.found is not None
        return LoadedGame(shared.now, self._caller, shared.found)

    def _snapshot(self, shared: Shared, game: Game) -> bytes:
        return _event("snapshot", str(game.version), self._game(shared))

    def _update(self, shared: Shared, seen: Revision) -> tuple[Revision, bytes] | None:
        """What came after a version, or the first part of it, and up to which version.

        None if that version is not what it was.
        """
        loaded = self._visit(shared)

        def make() -> tuple[Revision, bytes] | None:
            page = self.queries.events_after(loaded, seen, ITEMS_AT_ONCE)
            if page is None:
                return None
            update = StreamUpdate(self._game(shared), page.items)
            # In the middle of what one commit brought, a version has no id.
            last = Revision(page.version, "") if page.more else loaded.game.revision
            return last, _event("update", str(page.version), update)

        return shared.once(("update", seen, loaded.audience), make)

    def _game(self, shared: Shared) -> msgspec.Raw:
        loaded = self._visit(shared)
        return game_answer(loaded.stored, loaded.audience)

    # --- Who may see it ------------------------------------------------------------------------

    def _doubt(self, _: Any) -> bool:
        """Something happened to the player: perhaps its token has ended."""
        self._is_doubted = True
        return True

    def _may_see(self, game: Game) -> bool:
        return (
            exists_for(game, self._caller) and game.participation_of(self._player_id) == self._place
        )

    def _is_still_valid(self) -> bool:
        """Whether who opened the stream could open it now."""
        if self._shown is None:
            return True
        try:
            reading = self.queries.store.read(self._shown.player_id)
            self.queries.players.authenticate(reading, self._shown)
        except Problem:
            return False
        except RedisError:
            gevent.sleep(PAUSE_SECONDS)
            return True
        self._is_doubted = False
        return True


def _read_id(text: str | None) -> tuple[Revision | None, bool]:
    """The version of an event's id, and whether it is that of the end."""
    match = None if text is None else _ID.fullmatch(text.strip())
    return (None, False) if match is None else (Revision(int(match[1]), ""), match[2] is not None)


def _has_all(seen: Revision | None, game: Game) -> bool:
    if seen is None or seen.number != game.version:
        return False
    return "" in (seen.id, game.version_id) or seen.id == game.version_id


def _end(game: Game) -> bytes:
    # An id of its own: whoever got the last update, but not this, is to get it later.
    return _event("end", f"{game.version}-end", StreamEnd(game.id, game.status, game.result))


def _event(name: str, id_: str, data: Any) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (
        name.encode(),
        id_.encode(),
        msgspec.json.encode(data),
    )
