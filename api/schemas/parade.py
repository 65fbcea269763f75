"""Parade on the wire: its moves, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields, validate

from api.schemas.fields import (
    Boolean,
    Choice,
    Constant,
    Integer,
    Pattern,
    described,
    listed,
    nullable,
)

CARD_PATTERN = r"^[a-z]{1,16}-[0-9]{1,2}$"


def card(**kwargs: Any) -> fields.String:
    """A card by its name."""
    return fields.String(
        validate=Pattern(CARD_PATTERN, error="Not a card: cards are named like red-7."),
        metadata=described("A card, `color-value`.", example="red-7"),
        **kwargs,
    )


def seat() -> Integer:
    """A seat by its number."""
    return Integer(required=True, validate=validate.Range(min=0, max=5))


def hand_of_cards() -> fields.List[str]:
    """Cards."""
    return listed(card())


class PlaySchema(Schema):
    """Play a hand card."""

    type = Constant("play")
    card = card(required=True)


class DiscardSchema(Schema):
    """Throw two hand cards away at the end of Parade, in any order."""

    type = Constant("discard")
    cards = listed(card(), validate=validate.Length(equal=2))


class CardPlayedSchema(Schema):
    """A seat played a card."""

    type = Constant("card_played")
    seat = seat()
    card = card(required=True)


class CardsCollectedSchema(Schema):
    """Cards left the parade for a seat's collection."""

    type = Constant("cards_collected")
    seat = seat()
    cards = hand_of_cards()


class CardDrawnSchema(Schema):
    """A seat drew a card; `card` is null to all but its owner."""

    type = Constant("card_drawn")
    seat = seat()
    card = card(required=True, allow_none=True)
    pile_size = Integer(required=True)


class LastRoundCause(StrEnum):
    """Why Parade's last round began: all six colours, an empty pile, or both at once."""

    COLORS = "colors"
    PILE = "pile"
    BOTH = "both"


class LastRoundStartedSchema(Schema):
    """After this seat's turn, every seat has one more."""

    type = Constant("last_round_started")
    seat = seat()
    cause = Choice(LastRoundCause, required=True)


class CardsDiscardedSchema(Schema):
    """A seat threw two cards away; `cards` is null to all but itself."""

    type = Constant("cards_discarded")
    seat = seat()
    cards = listed(card(), allow_none=True)


class HandsLaidDownSchema(Schema):
    """All have discarded; the two cards left in each hand join the seat's collection."""

    type = Constant("hands_laid_down")
    cards = listed(listed(card()), metadata=described("By seat."))


class ParadePhase(StrEnum):
    """Where in a game of Parade we are."""

    PLAY = "play"
    LAST_ROUND = "last_round"
    DISCARD = "discard"
    FINISHED = "finished"


class ParadeTableSchema(Schema):
    """What a seat or a spectator sees of Parade."""

    ruleset = Constant("parade")
    phase = Choice(ParadePhase, required=True)
    parade = listed(card(), metadata=described("Front first."))
    collections = listed(listed(card()), metadata=described("By seat."))
    pile_size = Integer(required=True)
    hand_sizes = listed(Integer(), metadata=described("By seat."))
    hand = listed(
        card(), allow_none=True, metadata=described("Your own cards; null for a spectator.")
    )
    has_discarded = listed(Boolean(), metadata=described("By seat."))
    discard = listed(
        card(), allow_none=True, metadata=described("The two cards that you threw away.")
    )
    last_turns_left = nullable(
        Integer, metadata=described("Turns still to play in the last round, null before it.")
    )


class ParadePreviewSchema(Schema):
    """What a card played now would do."""

    ruleset = Constant("parade")
    collected = listed(card(), metadata=described("The cards that would leave the parade."))


MOVES = {"play": PlaySchema, "discard": DiscardSchema}
EVENTS = {
    "card_played": CardPlayedSchema,
    "cards_collected": CardsCollectedSchema,
    "card_drawn": CardDrawnSchema,
    "last_round_started": LastRoundStartedSchema,
    "cards_discarded": CardsDiscardedSchema,
    "hands_laid_down": HandsLaidDownSchema,
}
