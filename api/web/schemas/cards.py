"""The parts that moves of several games share: seats, cards, and the move that plays a card."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from api.web.schemas.fields import (
    Constant,
    Integer,
    Length,
    Pattern,
    Range,
    RequestSchema,
    Text,
    listed,
)
from engine.published import MAX_SEATS, PUBLISHED_AS
from engine.ruleset import CARD, SEAT_NUMBER

MAX_NAMED = 20
"""More cards or cells than any move can name."""


def card(description: str | None = None, **kwargs: Any) -> Text:
    """Return a field for the name of a card."""
    return Text(
        validate=Pattern(CARD.schema["pattern"], error="cards are named like red-7."),
        metadata={"description": description, PUBLISHED_AS: CARD},
        **kwargs,
    )


def seat(description: str, **kwargs: Any) -> Integer:
    """Return a field for the number of a seat."""
    return Integer(
        validate=Range(min=0, max=MAX_SEATS - 1),
        metadata={"description": description, PUBLISHED_AS: SEAT_NUMBER},
        **kwargs,
    )


def some(inner: fields.Field[Any], description: str) -> fields.List[Any]:
    """Return a field for the cards or cells of a move, in any order; the rules decide how many."""
    return listed(inner, description, validate=Length(max=MAX_NAMED))


class PlayCardSchema(RequestSchema):
    """Play a hand card."""

    type = Constant("play")
    card = card("The card to play, of your hand.", required=True)
