"""What the moves of several games share: seats, cards, and the move that plays a card."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from api.web.schemas.fields import Constant, Integer, Pattern, RequestSchema, described, listed
from engine.published import MAX_SEATS

CARD_PATTERN = r"^[a-z]{1,16}-[0-9]{1,2}$"
MAX_NAMED = 20
"""More cards or cells than any move can name."""


def card(description: str = "A card, `color-value`.", **kwargs: Any) -> fields.String:
    """Return a field for the name of a card."""
    return fields.String(
        validate=Pattern(CARD_PATTERN, error="Not a card: cards are named like red-7."),
        metadata=described(description, examples=["red-7"]),
        **kwargs,
    )


def seat(description: str, **kwargs: Any) -> Integer:
    """Return a field for the number of a seat."""
    return Integer(
        validate=validate.Range(min=0, max=MAX_SEATS - 1),
        metadata=described(description),
        **kwargs,
    )


def some(inner: fields.Field[Any], description: str) -> fields.List[Any]:
    """Return a list of what a move names, in any order; the rules decide how many."""
    return listed(inner, description, validate=validate.Length(max=MAX_NAMED))


class PlaySchema(RequestSchema):
    """Play a hand card."""

    type = Constant("play")
    card = card("The card to play, of your hand.", required=True)
