"""Tickets: what opens one event stream in place of a token, for browsers."""

from __future__ import annotations

import secrets

from api.games.answers import TicketAnswer
from api.games.players import Credentials
from api.model.game import Participation, digest, timestamp
from api.model.retention import Retention
from api.problems.problem import Problem
from api.storage.players import Ticket
from api.storage.store import Store


class Tickets:
    """Creates tickets and finds what they are for."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self.store = store
        self.retention = retention

    def create(
        self,
        credentials: Credentials,
        now: int,
        game_id: str | None = None,
        participation: Participation | None = None,
    ) -> TicketAnswer:
        """Create a ticket for a game as its caller sees it, or for the caller's own stream.

        `now` is the store's time in ms.
        """
        secret = secrets.token_urlsafe(32)
        ticket = Ticket(game_id, credentials.player_id, credentials.secret_hash, participation)
        self.store.add_ticket(digest(secret), ticket, self.retention.ticket)
        return TicketAnswer(secret, timestamp(now + self.retention.ticket))

    def find(self, secret: str, game_id: str | None = None) -> Ticket:
        """Return a ticket for this game, or for a player's own stream.

        Raises `Problem` (``invalid_ticket``).
        """
        ticket = self.store.ticket(digest(secret))
        if ticket is None or ticket.game_id != game_id:
            raise Problem("invalid_ticket")
        return ticket
