"""Event streams: a game as Server-Sent Events for one audience, and the tickets that open them.

A stream sends every event once and in order, also when the client opens it again with the id of the
last event that it received. Ids are cursors of the game's events. The stream ends when the game
ends, or when the caller may not see the game in this way any more. Streams of the same audience
share what is rendered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gevent
import msgspec
from redis import RedisError

from api.concurrency.waits import Wait
from api.games.answers import EndReason, StreamEnd, StreamUpdate, TicketAnswer
from api.games.cursors import EventsCursor, find_events_cursor
from api.games.players import Credentials, Remembered
from api.games.queries import Queries
from api.games.representations import game_answer
from api.games.transactions import LoadedGame, exists_for
from api.live.hub import PAUSE_SECONDS, Hub
from api.live.quota import Quota
from api.live.server_sent_events import PING, event
from api.live.streaming import (
    CHECK_SECONDS,
    PING_SECONDS,
    Attempts,
    OpenStream,
    StreamSteps,
)
from api.live.tickets import Tickets
from api.live.topics import SharedSnapshot, Waiter
from api.model.game import NULL, Game
from api.problems.problem import Problem
from api.storage.errors import log_unreadable

ITEMS_AT_ONCE = 500
"""History items in one event."""

END = "-end"
"""The ending of the id of an `end` event, so that it is sent to a client that has only the last
update.
"""


class EventStreams:
    """Opens event streams, and creates the tickets for them."""

    def __init__(self, hub: Hub, quota: Quota, tickets: Tickets, queries: Queries) -> None:
        self.hub = hub
        self.quota = quota
        self.tickets = tickets
        self.queries = queries
        self.transactions = hub.transactions

    def create_ticket(self, credentials: Credentials, game_id: str) -> TicketAnswer:
        """Create a ticket for a game as the caller sees it now.

        Raises `Problem` (``invalid_token``, ``game_not_found``).
        """
        loaded = self.transactions.load(credentials, game_id)
        participation = loaded.game.participation_of(loaded.reader)
        return self.tickets.create(credentials, loaded.now, game_id, participation)

    def open(
        self,
        credentials: Credentials | None,
        ticket: str | None,
        game_id: str,
        last_id: str | None,
    ) -> EventStream:
        """Open the stream of a game, with a token, a ticket or neither, after the event `last_id`.

        Raises `Problem` (``invalid_token``, ``invalid_ticket``, ``game_not_found``,
        ``too_many_waiting``, ``stopping``).
        """
        if self.hub.is_stopping:
            raise Problem("stopping")
        proof: Credentials | Remembered | None = credentials
        if ticket is None:
            loaded = self.transactions.load(credentials, game_id)
        else:
            loaded, proof = self._load_with_ticket(ticket, game_id)
        stream = EventStream(self, loaded, proof, last_id)
        if not stream.is_done:
            stream.take_slot()
        return stream

    def _load_with_ticket(self, secret: str, game_id: str) -> tuple[LoadedGame, Remembered]:
        """Load a game for the player with a ticket. Raises `Problem`."""
        ticket = self.tickets.find(secret, game_id)
        proof = Remembered(ticket.player_id, ticket.secret_hash)
        try:
            loaded = self.transactions.load(proof, game_id)
        except Problem as problem:
            if problem.code == "invalid_token":
                raise Problem("invalid_ticket") from None
            raise
        if loaded.game.participation_of(loaded.reader) != ticket.participation:
            raise Problem("invalid_ticket")
        return loaded, proof


class EventStream(OpenStream):
    """One open stream of a game. Close it to release its slot.

    `is_done` tells that the client has received all events, so that there is nothing to send.
    """

    def __init__(
        self,
        streams: EventStreams,
        loaded: LoadedGame,
        proof: Credentials | Remembered | None,
        last_id: str | None,
    ) -> None:
        super().__init__(streams.quota, loaded.reader)
        self.hub = streams.hub
        self.queries = streams.queries
        self._game_id = loaded.game.id
        self._caller = loaded.caller
        self._participation = loaded.game.participation_of(loaded.reader)
        self._status = loaded.game.status
        self._proof = proof
        self._must_check_token = False
        self._first: SharedSnapshot | None = SharedSnapshot(loaded.now, loaded.stored)
        last_id = (last_id or "").strip()
        self._sent = find_events_cursor(last_id.removesuffix(END))
        has_end = last_id.endswith(END)
        self.is_done = has_end and loaded.game.has_ended and self._has_all_of(loaded.game)

    # --- What is sent --------------------------------------------------------------------

    def _events(self) -> StreamSteps:
        with self.hub.waiter() as waiter:
            for snapshot in self._snapshots(waiter):
                if isinstance(snapshot, Wait):
                    yield snapshot
                    continue
                if snapshot is None:
                    yield PING
                    continue
                game = snapshot.game
                if game is None:
                    return
                reason = self._reason_to_end(game)
                if reason is not None:
                    yield event("end", self._end(game, reason))
                    return
                yield from self._catch_up(snapshot, game)
                # At a stop, the client may lack events before the end.
                if game.has_ended and self._has_all_of(game):
                    end = self._end(game, EndReason.ENDED)
                    yield event("end", end, EventsCursor.after(game).text + END)
                    return
                self._status = game.status

    def _snapshots(self, waiter: Waiter) -> Iterator[SharedSnapshot | Wait | None]:
        """Yield the game now and after each change, None when a ping is due, and the waits."""
        topic = self.hub.game_topic(self._game_id, was_just_read=True)
        waiter.watch(topic, lambda _: True)
        if self._player_id is not None:
            waiter.watch(self.hub.player_topic(self._player_id), self._on_player_news)
        last, self._first = self._first, None
        assert last is not None
        yield last
        ping_at = time.monotonic() + PING_SECONDS
        check_at = time.monotonic() + CHECK_SECONDS
        while not self.hub.is_stopping:
            if time.monotonic() >= check_at:
                self._must_check_token = True
                check_at = time.monotonic() + CHECK_SECONDS
            if self._must_check_token and not self._is_token_valid():
                return
            if topic.fault is not None:
                return
            snapshot = topic.snapshot
            if snapshot is not None and snapshot.fingerprint != last.fingerprint:
                if snapshot.is_newer(last.now, last.fingerprint.version or 0):
                    last = snapshot
                    yield last
                    ping_at = time.monotonic() + PING_SECONDS
                    continue
                self.hub.read_again_later(topic)
            if time.monotonic() >= ping_at:
                yield None
                ping_at = time.monotonic() + PING_SECONDS
            else:
                yield from waiter.wait(min(ping_at, check_at) - time.monotonic())

    def _catch_up(self, snapshot: SharedSnapshot, game: Game) -> StreamSteps:
        """Yield what the client lacks of a game.

        That is the whole game if the client has received nothing, or a version that a failover of
        the store has lost. Raises `RedisError` if the store fails for too long.
        """
        attempts = Attempts()
        while not self.hub.is_stopping and not self._has_all_of(game):
            try:
                update = None if self._sent is None else self._update(snapshot, self._sent)
            except RedisError as error:
                yield from attempts.failed(error)
                continue
            attempts.succeeded()
            if update is None:
                self._sent = EventsCursor.after(game)
                yield event("snapshot", self._game(snapshot), self._sent.text)
            else:
                self._sent, text = update
                yield text

    def _log_failure(self, error: Exception) -> None:
        log_unreadable(self._game_id, error)

    def _loaded(self, snapshot: SharedSnapshot) -> LoadedGame:
        assert snapshot.stored is not None
        return LoadedGame(snapshot.now, self._caller, snapshot.stored)

    def _has_all_of(self, game: Game) -> bool:
        return self._sent is not None and self._sent.knows_all_of(game)

    def _update(
        self, snapshot: SharedSnapshot, sent: EventsCursor
    ) -> tuple[EventsCursor, bytes] | None:
        """Return the event with the items after a cursor, and the cursor that it leads to.

        Return None if the store has lost what the cursor names.
        """
        loaded = self._loaded(snapshot)

        def make() -> tuple[EventsCursor, bytes] | None:
            page = self.queries.events(loaded, sent, ITEMS_AT_ONCE)
            if page.reset:
                return None
            update = StreamUpdate(self._game(snapshot), page.items)
            last = EventsCursor(sent.version + len(page.items), loaded.game.revision)
            return last, event("update", update, page.cursor)

        return snapshot.once(("update", sent, loaded.audience), make)

    def _game(self, snapshot: SharedSnapshot) -> msgspec.Raw:
        loaded = self._loaded(snapshot)
        return game_answer(loaded.stored, loaded.audience)

    # --- Whether the caller may see it -----------------------------------------------------

    def _on_player_news(self, _: Any) -> bool:
        """The player's token may have been replaced."""
        self._must_check_token = True
        return True

    def _reason_to_end(self, game: Game) -> EndReason | None:
        """Return why the caller may not see the game in this way any more, None if it may."""
        if not exists_for(game, self._caller):
            return EndReason.LEFT
        before, now = self._participation, game.participation_of(self._player_id)
        if now == before:
            return None
        if now.seat is not None:
            return EndReason.SEAT_CHANGED
        is_absent = self._player_id in game.players() and now.times_left == before.times_left
        return EndReason.TIME if is_absent else EndReason.LEFT

    def _end(self, game: Game, reason: EndReason) -> StreamEnd:
        """Return the data of the last event: nothing that any caller would not be told."""
        if exists_for(game, self._caller):
            return StreamEnd(game.id, game.status, game.result, reason)
        return StreamEnd(game.id, self._status, NULL, reason)

    def _is_token_valid(self) -> bool:
        """Return whether the stream could be opened now; also True while the store fails."""
        if self._proof is None:
            return True
        try:
            reading = self.queries.store.read(self._proof.player_id)
            self.queries.players.authenticate(reading, self._proof)
        except Problem:
            return False
        except RedisError:
            gevent.sleep(PAUSE_SECONDS)
            return True
        self._must_check_token = False
        return True
