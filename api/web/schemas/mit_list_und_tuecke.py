"""Mit List und Tücke on the wire: its moves, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields

from api.web.schemas.cards import CardPlayedSchema, PlaySchema, by_seat, card, cards, seat, some
from api.web.schemas.fields import (
    Boolean,
    Choice,
    Constant,
    Integer,
    described,
    flag,
    listed,
    number,
)

CARDS = 84
HIGHEST = 21
"""So many cards a colour has with six seats."""

HAND = 14
ROUNDS = 6


class MitListColor(StrEnum):
    """A colour of Mit List und Tücke."""

    RED = "red"
    YELLOW = "yellow"
    BLUE = "blue"
    GREEN = "green"


class MitListPhase(StrEnum):
    """Where in a game of Mit List und Tücke we are."""

    PLAY = "play"
    TAKE = "take"
    KEEP = "keep"
    FINISHED = "finished"


def colors(description: str | None = None, **kwargs: Any) -> fields.List[Any]:
    """Two colours."""
    return listed(Choice(MitListColor), description, least=2, most=2, **kwargs)


def own_seat(description: str, **kwargs: Any) -> Integer:
    """A seat of this game."""
    return seat(description, "mit-list-und-tuecke", **kwargs)


def each_seat(inner: fields.Field[Any], description: str) -> fields.List[Any]:
    """A list with an entry for each seat of this game."""
    return by_seat(inner, description, "mit-list-und-tuecke")


class TakeSchema(Schema):
    """As the high seat of Mit List und Tücke, take cards out of the trick, in any order."""

    type = Constant("take")
    cards = some(card(), "The cards to take: two of four, three of five or six.")


class KeepSchema(Schema):
    """Choose the two colours of Mit List und Tücke that will score, in any order."""

    type = Constant("keep")
    colors = some(Choice(MitListColor), "The two colours.")


class CountsSchema(Schema):
    """The numbers of cards that a round's points come from."""

    largest = number("The cards of the larger face-up pile.", 0, HIGHEST)
    second = number("The cards of the other one.", 0, HIGHEST)
    rest = number("All other cards.", 0, CARDS)


class RoundStartedSchema(Schema):
    """A round began; `hand` is your own, null for a spectator."""

    type = Constant("round_started")
    round = number("The round, from 1.", 1, ROUNDS)
    dealer = own_seat("Who deals.")
    leader = own_seat("Who leads the first trick.")
    hand = cards(
        "The cards dealt to you; null for a spectator.", least=HAND, most=HAND, allow_none=True
    )


class TrickCompletedSchema(Schema):
    """Every seat has played; `low` is null if the whole trick is of the led colour."""

    type = Constant("trick_completed")
    high = own_seat("The high seat, which takes cards of its choice.")
    low = own_seat(
        "The low seat, which gets the rest; null if the whole trick is of the led colour.",
        allow_none=True,
    )


class CardsTakenSchema(Schema):
    """A seat took cards, in the order in which they were played; with null they are discarded."""

    type = Constant("cards_taken")
    seat = own_seat("Who took them; null if they are discarded.", allow_none=True)
    cards = cards("The cards, in the order in which they were played.", least=2, most=3)


class ColorsKeptSchema(Schema):
    """A seat chose the two colours that will score."""

    type = Constant("colors_kept")
    seat = own_seat("Who chose.")
    colors = colors("The two colours; the cards of the others are turned face down.")


class RoundScoredSchema(Schema):
    """A round is over; `early` if a seat could not play."""

    type = Constant("round_scored")
    round = number("The round that is over, from 1.", 1, ROUNDS)
    early = flag("Whether it ended because a seat could not play.")
    scores = each_seat(number(), "By seat: its points of this round.")
    counts = each_seat(fields.Nested(CountsSchema), "By seat: what the points come from.")


class PlayedCardSchema(Schema):
    """A card of the trick, and who played it."""

    seat = own_seat("Who played it.")
    card = card("The card.", required=True)


class MitListPileSchema(Schema):
    """A face-up pile: its top card; all cards, bottom first, only with open piles."""

    color = Choice(MitListColor, required=True, metadata=described("The colour of its cards."))
    top = card("The card on top.", required=True)
    cards = cards(
        "All its cards, bottom first; null unless piles are open.",
        least=1,
        most=HIGHEST,
        allow_none=True,
    )


class MitListFaceDownSchema(Schema):
    """A face-down pile: whether there is one; its size only with open piles."""

    any = flag("Whether any cards lie face down.")
    size = number("How many; null unless piles are open.", 0, CARDS, allow_none=True)


class MitListTableSchema(Schema):
    """What a seat or a spectator sees of Mit List und Tücke."""

    ruleset = Constant("mit-list-und-tuecke")
    phase = Choice(MitListPhase, required=True, metadata=described("Where in the game we are."))
    round = number("The present round, from 1.", 1, ROUNDS)
    rounds = number("How many rounds the game has: as many as seats.", 4, ROUNDS)
    dealer = own_seat("Who dealt this round.")
    hand = cards("Your own; null for a spectator.", most=HAND, allow_none=True)
    hand_sizes = each_seat(number(maximum=HAND), "By seat: how many cards it holds.")
    leader = own_seat("Who leads the trick on the table, or else the next one.")
    trick = listed(
        fields.Nested(PlayedCardSchema), "The trick on the table, in the order played.", most=6
    )
    led_color = Choice(
        MitListColor,
        required=True,
        allow_none=True,
        metadata=described("The colour that is led; null while no card is played."),
    )
    high = own_seat(
        "The high seat of a complete trick; null while the trick is not complete.", allow_none=True
    )
    low = own_seat(
        "The low seat of a complete trick; null while it is not complete, and if the whole trick "
        "is of the led colour.",
        allow_none=True,
    )
    tricks_played = number("How many tricks of this round are played and taken.", 0, HAND)
    piles = each_seat(
        listed(fields.Nested(MitListPileSchema), "A seat's piles.", most=4),
        "By seat: its face-up piles.",
    )
    face_down = each_seat(
        fields.Nested(MitListFaceDownSchema), "By seat: its cards of the colours not kept."
    )
    kept = each_seat(
        colors(required=False, allow_none=True),
        "By seat: the two colours that score; null while it has not chosen.",
    )
    round_scores = listed(
        each_seat(number(), "By seat: its points."),
        "The points of each round that is over.",
        most=ROUNDS,
    )


class MitListPreviewSchema(Schema):
    """What playing or taking cards now would do."""

    ruleset = Constant("mit-list-und-tuecke")
    led_color = Choice(
        MitListColor,
        required=True,
        allow_none=True,
        metadata=described("Of a card played: the colour that is then led; else null."),
    )
    high = own_seat(
        "Of a card that completes the trick: the high seat; else null.", allow_none=True
    )
    low = own_seat(
        "Of a card that completes the trick: the low seat; null if there is none, and else.",
        allow_none=True,
    )
    rest_to = own_seat(
        "Of cards taken: who gets the rest; null if it is discarded, and else.", allow_none=True
    )


MOVES = {"play": PlaySchema, "take": TakeSchema, "keep": KeepSchema}
EVENTS = {
    "card_played": CardPlayedSchema,
    "round_started": RoundStartedSchema,
    "trick_completed": TrickCompletedSchema,
    "cards_taken": CardsTakenSchema,
    "colors_kept": ColorsKeptSchema,
    "round_scored": RoundScoredSchema,
}
OPTIONS = {
    "open_piles": Boolean(
        metadata=described("Of mit-list-und-tuecke: show every face-up pile in full.")
    )
}
TABLE = MitListTableSchema
PREVIEW = MitListPreviewSchema
