"""What the games have in common on the wire: seats, cards, and playing a card."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from api.schemas.fields import Constant, Integer, Pattern, described, listed
from engine.registry import RULESETS

CARD_PATTERN = r"^[a-z]{1,16}-[0-9]{1,2}$"
MAX_NAMED = 20
"""More than any move can name."""

MIN_SEATS = min(ruleset.min_seats for ruleset in RULESETS.values())
MAX_SEATS = max(ruleset.max_seats for ruleset in RULESETS.values())


def card(**kwargs: Any) -> fields.String:
    """A card by its name."""
    return fields.String(
        validate=Pattern(CARD_PATTERN, error="Not a card: cards are named like red-7."),
        metadata=described("A card, `color-value`.", example="red-7"),
        **kwargs,
    )


def seat(**kwargs: Any) -> Integer:
    """A seat by its number."""
    return Integer(required=True, validate=validate.Range(min=0, max=MAX_SEATS - 1), **kwargs)


def cards(**kwargs: Any) -> fields.List[Any]:
    """A list of cards that is always there."""
    return listed(card(), **kwargs)


def some(inner: fields.Field[Any]) -> fields.List[Any]:
    """What a move names, in any order. How many it takes is a matter of the rules."""
    return listed(inner, validate=validate.Length(max=MAX_NAMED))


def by_seat(inner: fields.Field[Any], description: str = "By seat.") -> fields.List[Any]:
    """A list with an entry for each seat."""
    return listed(inner, metadata=described(description))


class PlaySchema(Schema):
    """Play a hand card."""

    type = Constant("play")
    card = card(required=True)


class CardPlayedSchema(Schema):
    """A seat played a card."""

    type = Constant("card_played")
    seat = seat()
    card = card(required=True)
