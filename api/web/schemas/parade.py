"""Parade on the wire: its moves, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema
from marshmallow.fields import Field

from api.web.schemas.cards import CardPlayedSchema, PlaySchema, by_seat, card, cards, seat, some
from api.web.schemas.fields import Choice, Constant, described, flag, number

CARDS = 66
HAND = 5
PILE = CARDS - 2 * HAND - 6
"""What two seats leave of the cards at the start, and nobody more."""


class DiscardSchema(Schema):
    """Throw two hand cards away at the end of Parade, in any order."""

    type = Constant("discard")
    cards = some(card(), "The two cards to throw away, of your hand.")


class CardsCollectedSchema(Schema):
    """Cards left the parade for a seat's collection."""

    type = Constant("cards_collected")
    seat = seat("Who takes them.")
    cards = cards("The cards, in the order in which they stood.", least=1, most=CARDS)


class CardDrawnSchema(Schema):
    """A seat drew a card; `card` is null to all but its owner."""

    type = Constant("card_drawn")
    seat = seat("Who drew.")
    card = card("The card; null unless the seat is yours.", required=True, allow_none=True)
    pile_size = number("How many cards are left to draw.", 0, PILE)


class LastRoundCause(StrEnum):
    """Why Parade's last round began: all six colours, an empty pile, or both at once."""

    COLORS = "colors"
    PILE = "pile"
    BOTH = "both"


class LastRoundStartedSchema(Schema):
    """After this seat's turn, every seat has one more."""

    type = Constant("last_round_started")
    seat = seat("Who brought it about.")
    cause = Choice(LastRoundCause, required=True, metadata=described("Why it began."))


class CardsDiscardedSchema(Schema):
    """A seat threw two cards away; `cards` is null to all but itself."""

    type = Constant("cards_discarded")
    seat = seat("Who threw them away.")
    cards = cards("The two cards; null unless the seat is yours.", least=2, most=2, allow_none=True)


class HandsLaidDownSchema(Schema):
    """All have discarded; the two cards left in each hand join the seat's collection."""

    type = Constant("hands_laid_down")
    cards = by_seat(cards("The two cards of a seat.", least=2, most=2), "By seat.", "parade")


class ParadePhase(StrEnum):
    """Where in a game of Parade we are."""

    PLAY = "play"
    LAST_ROUND = "last_round"
    DISCARD = "discard"
    FINISHED = "finished"


class ParadeTableSchema(Schema):
    """What a seat or a spectator sees of Parade."""

    ruleset = Constant("parade")
    phase = Choice(ParadePhase, required=True, metadata=described("Where in the game we are."))
    parade = cards("The cards that parade, front first.", least=1, most=CARDS)
    collections = by_seat(
        cards("What a seat has collected.", most=CARDS),
        "By seat: the cards before it, in the order in which they came.",
        "parade",
    )
    pile_size = number("How many cards are left to draw.", 0, PILE)
    hand_sizes = by_seat(number(maximum=HAND), "By seat: how many cards it holds.", "parade")
    hand = cards("Your own; null for a spectator.", most=HAND, allow_none=True)
    has_discarded = by_seat(flag(), "By seat: whether it has thrown two cards away.", "parade")
    discard = cards(
        "The two cards that you threw away; null before, and for a spectator.",
        least=2,
        most=2,
        allow_none=True,
    )
    last_turns_left = number(
        "Turns still to play in the last round; null before it.", 0, 6, allow_none=True
    )


class ParadePreviewSchema(Schema):
    """What a card played now would do."""

    ruleset = Constant("parade")
    collected = cards("The cards that would leave the parade, for your collection.", most=CARDS)


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
