"""The request body of an analysis."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, ValidationError, fields, validate

from api.concurrency.time_slices import long_work
from api.web.schemas import unions
from api.web.schemas.cards import seat
from api.web.schemas.fields import (
    BodySchema,
    Boolean,
    Either,
    Integer,
    RequestSchema,
    Text,
    described,
    listed,
)
from api.web.schemas.games import DealSchema
from api.web.schemas.unions import ChosenOptionsSchema
from engine.published import MAX_SEATS, MIN_SEATS

MAX_MOVES = 2000
"""More moves than a game can have."""


class SeatMoveSchema(RequestSchema):
    """A seat's move."""

    class Meta:
        unknown = EXCLUDE

    seat = seat("The seat that moves.", required=True)
    move = unions.move("The move.", required=True)


class CountdownEndSchema(RequestSchema):
    """The end of a countdown."""

    class Meta:
        unknown = EXCLUDE

    expire = Boolean(
        required=True,
        validate=validate.Equal(True),
        metadata=described("Always true; tells it apart from a move."),
    )


class AnalysedMove(Either):
    """A seat's move or the end of a countdown; the other members of a record are ignored."""

    def __init__(self) -> None:
        super().__init__(
            "AnalysedMove",
            (SeatMoveSchema, CountdownEndSchema),
            "A seat's move, or `expire: true` where a countdown ran out.",
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise ValidationError("Not an object.")
        move, end = self.variants
        if "expire" not in value:
            return move.load(value)
        if "seat" in value and "move" in value:
            raise ValidationError("Either a seat's move, or a countdown that ran out.")
        return end.load(value)


class AnalysisBodySchema(BodySchema):
    """A deal and moves. A record is a valid body."""

    class Meta:
        unknown = EXCLUDE

    max_bytes = 256 * 1024  # the record of a whole game fits

    def load(self, data: Any, **how: Any) -> Any:
        """Read the body in time slices, as it may hold a whole game."""
        with long_work():
            return super().load(data, **how)

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
    deal = fields.Nested(
        DealSchema,
        required=True,
        metadata=described(
            "The deal: everything that chance decides, in the form of a record of this ruleset."
        ),
    )
    moves = listed(
        AnalysedMove(),
        "The moves from the start of the game; all of them or only the first ones.",
        validate=validate.Length(max=MAX_MOVES),
    )
    trace = Boolean(
        metadata=described(
            "Whether to return the position before each move in `steps`; absent means false."
        )
    )
