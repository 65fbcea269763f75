"""The request body of an analysis."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, ValidationError

from api.concurrency.time_slices import long_work
from api.games.answers import DEALS
from api.web.schemas import unions
from api.web.schemas.cards import seat
from api.web.schemas.fields import (
    BodySchema,
    Boolean,
    CachedUnion,
    Constant,
    Integer,
    Length,
    Nested,
    Object,
    Range,
    RequestSchema,
    Text,
    described,
    listed,
)
from api.web.schemas.unions import ChosenOptionsSchema
from engine.published import MAX_SEATS, MIN_SEATS, PUBLISHED_AS

MAX_MOVES = 2000
"""More moves than a game can have."""


class SeatMoveSchema(RequestSchema):
    """A seat's move."""

    class Meta:
        unknown = EXCLUDE

    type = Constant("move")
    seat = seat("The seat that moves.", required=True)
    move = unions.move("The move.", required=True)


class CountdownEndSchema(RequestSchema):
    """The end of a countdown."""

    class Meta:
        unknown = EXCLUDE

    type = Constant("countdown_ran_out")


class AnalysedMove(CachedUnion):
    """A seat's move or the end of a countdown; the other members of a record are ignored."""

    MEMBERS = ("type", "seat", "move", "expire")

    def __init__(self) -> None:
        super().__init__(
            "AnalysedMove",
            "type",
            {"move": SeatMoveSchema, "countdown_ran_out": CountdownEndSchema},
            "A seat's move, or the end of a countdown.",
        )

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a move, which the cache has without its time."""
        if isinstance(value, dict):
            value = {name: value[name] for name in self.MEMBERS if name in value}
        return super().deserialize(value, *args, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, dict) and self.tag not in value:
            value = _tagged(value)
        return super()._deserialize(value, attr, data, **kwargs)


def _tagged(value: dict[str, Any]) -> dict[str, Any]:
    """Return a move of a record of 0.1 with its type; these had `expire` instead of types."""
    if "move" in value and "expire" in value:
        raise ValidationError(
            "has `expire` and a move; it must be a seat's move or the end of a countdown."
        )
    if "move" in value:
        return {**value, "type": "move"}
    return {"type": "countdown_ran_out"} if value.get("expire") is True else value


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
        validate=Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Within the ruleset's `seat_counts`."),
    )
    options = Nested(
        ChosenOptionsSchema,
        metadata=described(
            "Options of this ruleset; a missing option has the default value of the ruleset."
        ),
    )
    deal = Object(
        required=True,
        metadata=described(
            "The deal, as a record of this ruleset has it.", **{PUBLISHED_AS: DEALS}
        ),
    )
    moves = listed(
        AnalysedMove(),
        "The moves from the start of the game; all of them or only the first ones.",
        validate=Length(max=MAX_MOVES),
    )
    trace = Boolean(
        metadata=described(
            "Whether to return the position before each move in `steps`; absent means false."
        )
    )
    seat = seat(
        "With `trace`: the seat whose view of the table each step has; absent means a spectator's."
    )
