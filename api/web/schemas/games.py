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
from api.web.schemas.unions import OptionsSchema
from engine.published import MAX_SEATS, MIN_SEATS

MAX_TURNS_CURSOR = 3000
"""Longer than a cursor with the marks of the most games that it can remember."""


class NewGameBodySchema(BodySchema):
    """A game to be."""

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
        OptionsSchema,
        metadata=described("Options of this ruleset; those not given are as the ruleset says."),
    )
    visibility = Choice(
        Visibility,
        metadata=described("Whom the game exists for; absent means public."),
    )
    take_seat = Boolean(metadata=described("Whether you sit down at once; absent means true."))
    house = List(
        Text(validate=validate.Length(max=40)),
        validate=validate.Length(max=MAX_SEATS - 1),
        metadata=described(
            "A level for each house player, of the ruleset's `house_levels`; they get the last "
            "seats. Absent means none; at least one seat is left for a player."
        ),
    )
    players = List(
        Text(allow_none=True, validate=validate.Length(max=64), metadata={"pattern": ID}),
        validate=validate.Length(max=MAX_SEATS),
        metadata=described(
            "Player ids by seat, for whom the seats are reserved; null for anybody, as are the "
            "seats after the list's end."
        ),
    )
    turn_seconds = Integer(
        validate=validate.Range(min=5, max=604800),
        metadata=described(
            "How many seconds a turn may take, before the house makes the move; absent means "
            "86400, a day."
        ),
    )


class JoinBodySchema(BodySchema):
    """Which seat to take; all of it may be left out."""

    seat = Integer(
        validate=validate.Range(min=0, max=MAX_SEATS - 1),
        metadata=described("Absent means any free seat."),
    )
    invite = Text(
        validate=validate.Length(max=64),
        metadata=described("What opens a private game, as its host was told."),
    )


class MoveBodySchema(BodySchema):
    """A move, and the turn that it answers."""

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
        metadata=described("`next` of the page before; absent for the first."),
    )
    limit = QueryInteger(
        load_default=50,
        validate=validate.Range(min=1, max=100),
        metadata=described("How many games at most."),
    )


class LobbyQuerySchema(PageQuerySchema):
    """A page of the public games."""

    ruleset = Text(metadata=described("Only games of this ruleset."))


def wait() -> QueryInteger:
    """Return a field for the seconds that a request may wait for news."""
    return QueryInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_WAIT_SECONDS),
        metadata=described("Seconds to wait until there is something new."),
    )


class EventsQuerySchema(Schema):
    """Which part of a game's history."""

    since = QueryInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_INTEGER),
        metadata=described("The version that you have; what came after it is answered."),
    )
    limit = QueryInteger(
        load_default=500,
        validate=validate.Range(min=1, max=500),
        metadata=described("How many items at most."),
    )
    wait = wait()


class StreamQuerySchema(Schema):
    """Who opens a stream without a header."""

    ticket = Text(
        validate=validate.Length(max=100),
        metadata=described("Of createStreamTicket, instead of a token."),
    )


class LegalMovesQuerySchema(Schema):
    """How much is told of the legal moves."""

    previews = QueryBoolean(
        load_default=False, metadata=described("Whether to tell what each move would do.")
    )


class TurnsQuerySchema(Schema):
    """What the caller has been told already."""

    since = Text(
        validate=validate.Length(max=MAX_TURNS_CURSOR),
        metadata=described("`cursor` of the answer before; absent the first time."),
    )
    wait = wait()


class DealSchema(Schema):
    """All that chance decided in a game; its members depend on the ruleset."""

    class Meta:
        unknown = "include"
