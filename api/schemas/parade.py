"""Parade on the wire: its moves, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema
from marshmallow.fields import Field

from api.schemas.cards import CardPlayedSchema, PlaySchema, by_seat, card, cards, seat, some
from api.schemas.fields import Boolean, Choice, Constant, Integer, described, nullable


class DiscardSchema(Schema):
    """Throw two hand cards away at the end of Parade, in any order."""

    type = Constant("discard")
    cards = some(card())


class CardsCollectedSchema(Schema):
    """Cards left the parade for a seat's collection."""

    type = Constant("cards_collected")
    seat = seat()
    cards = cards()


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
    cards = cards(allow_none=True)


class HandsLaidDownSchema(Schema):
    """All have discarded; the two cards left in each hand join the seat's collection."""

    type = Constant("hands_laid_down")
    cards = by_seat(cards())


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
    parade = cards(metadata=described("Front first."))
    collections = by_seat(cards())
    pile_size = Integer(required=True)
    hand_sizes = by_seat(Integer())
    hand = cards(allow_none=True, metadata=described("Your own; null for a spectator."))
    has_discarded = by_seat(Boolean())
    discard = cards(allow_none=True, metadata=described("The two cards that you threw away."))
    last_turns_left = nullable(
        Integer, metadata=described("Turns still to play in the last round, null before it.")
    )


class ParadePreviewSchema(Schema):
    """What a card played now would do."""

    ruleset = Constant("parade")
    collected = cards(metadata=described("The cards that would leave the parade."))


MOVES = {"play": PlaySchema, "discard": DiscardSchema}
EVENTS = {
    "card_played": CardPlayedSchema,
    "cards_collected": CardsCollectedSchema,
    "card_drawn": CardDrawnSchema,
    "last_round_started": LastRoundStartedSchema,
    "cards_discarded": CardsDiscardedSchema,
    "hands_laid_down": HandsLaidDownSchema,
}
OPTIONS: dict[str, Field[Any]] = {}
TABLE = ParadeTableSchema
PREVIEW = ParadePreviewSchema
