"""What the games have in common on the wire: seats, cards, and playing a card."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from api.web.schemas.fields import Constant, Integer, Pattern, described, listed
from engine.registry import RULESETS

CARD_PATTERN = r"^[a-z]{1,16}-[0-9]{1,2}$"
MAX_NAMED = 20
"""More than any move can name."""

MIN_SEATS = min(ruleset.min_seats for ruleset in RULESETS.values())
MAX_SEATS = max(ruleset.max_seats for ruleset in RULESETS.values())


def card(description: str = "A card, `color-value`.", **kwargs: Any) -> fields.String:
    """A card by its name."""
    return fields.String(
        validate=Pattern(CARD_PATTERN, error="Not a card: cards are named like red-7."),
        metadata=described(description, examples=["red-7"]),
        **kwargs,
    )


def seat(description: str = "The seat, from 0.", of: str | None = None, **kwargs: Any) -> Integer:
    """A seat by its number, of a ruleset or of any."""
    seats = MAX_SEATS if of is None else RULESETS[of].max_seats
    kwargs.setdefault("required", True)
    return Integer(
        validate=validate.Range(min=0, max=seats - 1), metadata=described(description), **kwargs
    )


def cards(
    description: str,
    *,
    least: int | None = None,
    most: int | None = None,
    allow_none: bool = False,
) -> fields.List[Any]:
    """A list of cards that is always there."""
    return listed(card(), description, least=least, most=most, allow_none=allow_none)


def some(inner: fields.Field[Any], description: str) -> fields.List[Any]:
    """What a move names, in any order. How many it takes is a matter of the rules."""
    return listed(inner, description, validate=validate.Length(max=MAX_NAMED))


def by_seat(
    inner: fields.Field[Any], description: str = "By seat.", of: str | None = None
) -> fields.List[Any]:
    """A list with an entry for each seat, of a ruleset or of any."""
    least = MIN_SEATS if of is None else RULESETS[of].min_seats
    most = MAX_SEATS if of is None else RULESETS[of].max_seats
    return listed(inner, description, least=least, most=most)


class PlaySchema(Schema):
    """Play a hand card."""

    type = Constant("play")
    card = card("The card to play, of your hand.", required=True)


class CardPlayedSchema(Schema):
    """A seat played a card."""

    type = Constant("card_played")
    seat = seat("Who played.")
    card = card("The card, which all see.", required=True)
