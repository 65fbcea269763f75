"""Request bodies and queries about games and moves."""

from __future__ import annotations

import contextlib
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.live import MAX_WAIT_SECONDS
from api.model.game import GameStatus, Visibility
from api.web.schemas import unions
from api.web.schemas.fields import (
    ID,
    MAX_INTEGER,
    BodySchema,
    Boolean,
    Choice,
    Integer,
    List,
    QueryBoolean,
    QueryInteger,
    Text,
    described,
)
from api.web.schemas.unions import ChosenOptionsSchema
from engine.published import MAX_SEATS, MIN_SEATS

MAX_TURNS_CURSOR = 3000
"""Longer than a cursor with the marks of the most games that it can remember."""


class NewGameBodySchema(BodySchema):
    """A new game."""

    ruleset = Text(
        required=True,
        metadata=described("The id of a ruleset, of listRulesets.", examples=["parade"]),
    )
    seat_count = Integer(
        required=True,
        validate=validate.Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Within the ruleset's `seat_counts`."),
    )
    options = fields.Nested(
        ChosenOptionsSchema,
        metadata=described(
            "Options of this ruleset; a missing option has the default value of the ruleset."
        ),
    )
    visibility = Choice(
        Visibility,
        metadata=described("Who can see the game; absent means public."),
    )
    take_seat = Boolean(
        metadata=described("Whether you take a seat immediately; absent means true.")
    )
    house = List(
        Text(validate=validate.Length(max=40)),
        validate=validate.Length(max=MAX_SEATS - 1),
        metadata=described(
            "A level of `house_levels` for each house player; house players get the last seats. "
            "Absent means no house players; at least one seat must be left for a player."
        ),
    )
    players = List(
        Text(allow_none=True, validate=validate.Length(max=64), metadata={"pattern": ID}),
        validate=validate.Length(max=MAX_SEATS),
        metadata=described(
            "By seat: the id of the player for whom the seat is reserved; null if any player may "
            "take it, as for the seats after the end of the list."
        ),
    )
    turn_seconds = Integer(
        validate=validate.Range(min=5, max=604800),
        metadata=described(
            "How many seconds a turn may take before the house makes the move; absent means 86400 "
            "(one day)."
        ),
    )


class JoinBodySchema(BodySchema):
    """Which seat to take. All members are optional."""

    seat = Integer(
        validate=validate.Range(min=0, max=MAX_SEATS - 1),
        metadata=described("Absent means any free seat."),
    )
    invite = Text(
        validate=validate.Length(max=64),
        metadata=described("The invite of a private game, from its host."),
    )


class MoveBodySchema(BodySchema):
    """A move and its turn."""

    turn = Integer(
        required=True,
        validate=validate.Range(min=1, max=MAX_INTEGER),
        metadata=described("The game's `turn` at which you decided on this move."),
    )
    move = unions.move("The move, one of the game's `legal_moves`.", required=True)

    def load(self, data: Any, **how: Any) -> Any:
        """Read a body; skip marshmallow's bookkeeping if both members are there and valid."""
        if isinstance(data, dict) and data.keys() == self.fields.keys():
            with contextlib.suppress(ValidationError):
                return {name: self.fields[name].deserialize(data[name]) for name in data}
        return super().load(data, **how)


class PageQuerySchema(Schema):
    """A page of a list."""

    status = Choice(GameStatus, metadata=described("Only games with this status."))
    cursor = Text(
        validate=validate.Length(max=100),
        metadata=described("`next` of the previous page; absent for the first page."),
    )
    limit = QueryInteger(
        load_default=50,
        validate=validate.Range(min=1, max=100),
        metadata=described("The largest number of games."),
    )


class LobbyQuerySchema(PageQuerySchema):
    """A page of the public games."""

    ruleset = Text(metadata=described("Only games of this ruleset."))


def wait() -> WaitSeconds:
    """Return a field for the seconds that a request may wait for news."""
    return WaitSeconds(
        load_default=0,
        validate=validate.Range(min=0),
        metadata=described(
            f"How many seconds to wait for news; more than {MAX_WAIT_SECONDS} count as "
            f"{MAX_WAIT_SECONDS}."
        ),
    )


class WaitSeconds(QueryInteger):
    """The seconds that a request waits, as in the header Prefer: the service may wait less."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        return min(super()._deserialize(value, attr, data, **kwargs), MAX_WAIT_SECONDS)


class EventsQuerySchema(Schema):
    """Which part of a game's history."""

    since = QueryInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_INTEGER),
        metadata=described("The version that you have; only later items are returned."),
    )
    limit = QueryInteger(
        load_default=500,
        validate=validate.Range(min=1, max=500),
        metadata=described("The largest number of items."),
    )
    wait = wait()


class StreamQuerySchema(Schema):
    """The query of a stream that is opened without an Authorization header."""

    ticket = Text(
        validate=validate.Length(max=100),
        metadata=described("A ticket of createStreamTicket, instead of a token."),
    )


class LegalMovesQuerySchema(Schema):
    """How much is told of the legal moves."""

    previews = QueryBoolean(
        load_default=False, metadata=described("Whether to return what each move would do.")
    )


class TurnsQuerySchema(Schema):
    """What the caller has been told already."""

    since = Text(
        validate=validate.Length(max=MAX_TURNS_CURSOR),
        metadata=described("`cursor` of the previous answer; absent the first time."),
    )
    wait = wait()


class DealSchema(Schema):
    """Everything that chance decided in a game. Its members depend on the ruleset."""

    class Meta:
        unknown = "include"
