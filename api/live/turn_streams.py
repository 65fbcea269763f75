"""A player's stream: turns, ends, starts and invitations of all its games as they come.

A stream tells all that is true and that the cursor with which it was opened does not know; each
event's id is the next such cursor. It ends when the player's token does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.games.answers import TicketAnswer
from api.games.cursors import TurnsCursor, find_turns_cursor
from api.games.players import Credentials, Remembered
from api.games.turn_news import News, ToldTurn, find_news, would_be_stream_news
from api.games.turns import TurnQueries, is_waiting_for
from api.live.hub import RECHECK_SECONDS, Hub
from api.live.player_watch import PlayerWatch
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
from api.live.topics import Waiter
from api.model.game import Game
from api.observability.logger import log
from api.problems.problem import Problem


class TurnStreams:
    """Opens players' streams, and creates the tickets for them."""

    def __init__(self, hub: Hub, quota: Quota, tickets: Tickets, turn_queries: TurnQueries) -> None:
        self.hub = hub
        self.quota = quota
        self.tickets = tickets
        self.turn_queries = turn_queries

    def create_ticket(self, credentials: Credentials) -> TicketAnswer:
        """Create a ticket for the caller's stream. Raises `Problem` (``invalid_token``)."""
        return self.tickets.create(credentials, self._authenticate(credentials))

    def open(
        self, credentials: Credentials | None, ticket: str | None, last_id: str | None
    ) -> TurnStream:
        """Open a player's stream, with its token or a ticket, after the event `last_id`.

        An id that is no cursor counts as none.

        Raises `Problem` (``missing_token``, ``invalid_token``, ``invalid_ticket``,
        ``too_many_waiting``, ``stopping``).
        """
        if self.hub.is_stopping:
            raise Problem("stopping")
        proof: Credentials | Remembered
        if ticket is not None:
            proof = self._proof_of(ticket)
        elif credentials is not None:
            self._authenticate(credentials)
            proof = credentials
        else:
            raise Problem("missing_token")
        known = None if last_id is None else find_turns_cursor(last_id.strip())
        stream = TurnStream(self, proof, known)
        stream.take_slot()
        return stream

    def _proof_of(self, secret: str) -> Remembered:
        ticket = self.tickets.find(secret)
        proof = Remembered(ticket.player_id, ticket.secret_hash)
        try:
            self._authenticate(proof)
        except Problem:
            raise Problem("invalid_ticket") from None
        return proof

    def _authenticate(self, proof: Credentials | Remembered) -> int:
        """Return the store's time. Raises `Problem` (``invalid_token``)."""
        reading = self.turn_queries.store.read(proof.player_id)
        self.turn_queries.players.authenticate(reading, proof)
        return reading.now


class TurnStream(OpenStream):
    """One open stream of a player. Close it to release its slot."""

    def __init__(
        self, streams: TurnStreams, proof: Credentials | Remembered, known: TurnsCursor | None
    ) -> None:
        super().__init__(streams.quota, proof.player_id)
        self.hub = streams.hub
        self.turn_queries = streams.turn_queries
        self._proof = proof
        self._known = known
        self._turns: Mapping[str, ToldTurn] = {}

    def _events(self) -> StreamSteps:
        with self.hub.waiter() as waiter:
            watch = PlayerWatch(self.hub, waiter, self._proof.player_id, self._would_be_news)
            attempts = Attempts()
            while not self.hub.is_stopping:
                try:
                    is_heard = watch.renew(RECHECK_SECONDS)
                    news = find_news(self.turn_queries, self._proof, self._known)
                except RedisError as error:
                    yield from attempts.failed(error)
                    continue
                except Problem:
                    return  # the token has expired
                attempts.succeeded()
                self.hub.set_clock(news.now)
                events = self._tell(news)
                yield from events
                # Only a yield notices a closed connection, so reads without events are paced.
                if not (events and news.has_more):
                    yield from self._wait(waiter, CHECK_SECONDS if is_heard else RECHECK_SECONDS)

    def _tell(self, news: News) -> list[bytes]:
        """Return the events, and remember that they are known."""
        parts = []
        with long_work():
            for name, data in news.events():
                parts.append(event(name, data, news.known.text))
                pause()
        self._known, self._turns = news.known, news.turns
        return parts

    def _wait(self, waiter: Waiter, seconds: float) -> StreamSteps:
        """Wait for news, at most for so many seconds, and yield pings that are due meanwhile."""
        until = time.monotonic() + seconds
        while not (yield from waiter.wait(min(until - time.monotonic(), PING_SECONDS))):
            yield PING
            if time.monotonic() >= until or self.hub.is_stopping:
                return

    def _would_be_news(self, game: Game) -> bool:
        if not is_waiting_for(game, self._proof.player_id):
            self._forget_turn(game)
        known = frozenset() if self._known is None else self._known.marks
        return would_be_stream_news(game, self._proof.player_id, known)

    def _forget_turn(self, after: Game) -> None:
        """Forget that the client knows the turn of a game before this version.

        If a failover loses the move, the same turn comes again, and the client is told it again.
        """
        turn = self._turns.get(after.id)
        # An older snapshot may come late.
        if turn is not None and self._known is not None and after.version > turn.version:
            self._known = self._known._replace(marks=self._known.marks - {turn.mark})

    def _log_failure(self, error: Exception) -> None:
        log.error("the stream of player %s failed", self._proof.player_id, exc_info=error)
