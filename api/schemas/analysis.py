"""Analysis on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate, validates_schema

from api.schemas import unions
from api.schemas.cards import MAX_SEATS, MIN_SEATS
from api.schemas.fields import BodySchema, Boolean, Integer, Text, described, listed, nullable
from api.schemas.games import DealSchema
from api.schemas.unions import OptionsSchema, ResultSchema

MAX_MOVES = 2000
"""More than any game here can have."""


class AnalysedMoveSchema(Schema):
    """A seat's move, or `expire: true` where a countdown ran out."""

    class Meta:
        unknown = EXCLUDE

    seat = Integer(validate=validate.Range(min=0, max=MAX_SEATS - 1))
    move = unions.move()
    expire = Boolean(validate=validate.Equal(True))

    @validates_schema
    def check_members(self, data: dict[str, Any], **kwargs: Any) -> None:
        """Either a countdown ran out, or a seat made a move."""
        if data.get("expire"):
            return
        missing = {name for name in ("seat", "move") if name not in data}
        if missing:
            raise ValidationError(
                {name: ["Missing data for required field."] for name in sorted(missing)}
            )


class AnalysisBodySchema(BodySchema):
    """A deal and moves; a record can be sent as it is."""

    class Meta:
        unknown = EXCLUDE

    max_bytes = 256 * 1024  # a record of a whole game is to be analysed as it is

    ruleset = Text(required=True)
    seat_count = Integer(required=True, validate=validate.Range(min=MIN_SEATS, max=MAX_SEATS))
    options = fields.Nested(OptionsSchema)
    deal = fields.Nested(DealSchema, required=True)
    moves = listed(fields.Nested(AnalysedMoveSchema), validate=validate.Length(max=MAX_MOVES))
    trace = Boolean(metadata=described("Whether to tell of every position on the way."))


class StepSchema(Schema):
    """A position before a move."""

    to_move = listed(Integer())
    legal_moves = listed(listed(unions.move()), metadata=described("By seat."))


class AnalysisSchema(StepSchema):
    """What follows from the deal and the moves."""

    views = listed(unions.table(), metadata=described("By seat."))
    spectator = unions.table(required=True)
    events = listed(unions.event())
    result = nullable(fields.Nested, ResultSchema)
    steps = fields.List(fields.Nested(StepSchema), metadata=described("Only with `trace`."))
