"""Mit List und Tücke on the wire: its moves, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields

from api.schemas.cards import CardPlayedSchema, PlaySchema, by_seat, card, cards, seat, some
from api.schemas.fields import Boolean, Choice, Constant, Integer, described, listed, nullable


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


def colors(**kwargs: Any) -> fields.List[Any]:
    """Colours."""
    return listed(Choice(MitListColor), **kwargs)


class TakeSchema(Schema):
    """As the high seat of Mit List und Tücke, take cards out of the trick, in any order."""

    type = Constant("take")
    cards = some(card())


class KeepSchema(Schema):
    """Choose the two colours of Mit List und Tücke that will score, in any order."""

    type = Constant("keep")
    colors = some(Choice(MitListColor))


class CountsSchema(Schema):
    """The numbers of cards that a round's points come from."""

    largest = Integer(required=True)
    second = Integer(required=True)
    rest = Integer(required=True)


class RoundStartedSchema(Schema):
    """A round began; `hand` is your own, null for a spectator."""

    type = Constant("round_started")
    round = Integer(required=True)
    dealer = seat()
    leader = seat()
    hand = cards(allow_none=True)


class TrickCompletedSchema(Schema):
    """Every seat has played; `low` is null if the whole trick is of the led colour."""

    type = Constant("trick_completed")
    high = seat()
    low = seat(allow_none=True)


class CardsTakenSchema(Schema):
    """A seat took cards, in the order in which they were played; with null they are discarded."""

    type = Constant("cards_taken")
    seat = seat(allow_none=True)
    cards = cards()


class ColorsKeptSchema(Schema):
    """A seat chose the two colours that will score."""

    type = Constant("colors_kept")
    seat = seat()
    colors = colors()


class RoundScoredSchema(Schema):
    """A round is over; `early` if a seat could not play."""

    type = Constant("round_scored")
    round = Integer(required=True)
    early = Boolean(required=True)
    scores = by_seat(Integer())
    counts = by_seat(fields.Nested(CountsSchema))


class PlayedCardSchema(Schema):
    """A card of the trick, and who played it."""

    seat = seat()
    card = card(required=True)


class MitListPileSchema(Schema):
    """A face-up pile: its top card; all cards, bottom first, only with open piles."""

    color = Choice(MitListColor, required=True)
    top = card(required=True)
    cards = cards(allow_none=True)


class MitListFaceDownSchema(Schema):
    """A face-down pile: whether there is one; its size only with open piles."""

    any = Boolean(required=True)
    size = nullable(Integer)


class MitListTableSchema(Schema):
    """What a seat or a spectator sees of Mit List und Tücke."""

    ruleset = Constant("mit-list-und-tuecke")
    phase = Choice(MitListPhase, required=True)
    round = Integer(required=True)
    rounds = Integer(required=True)
    dealer = seat()
    hand = cards(allow_none=True, metadata=described("Your own; null for a spectator."))
    hand_sizes = by_seat(Integer())
    leader = seat()
    trick = listed(fields.Nested(PlayedCardSchema), metadata=described("In the order played."))
    led_color = Choice(MitListColor, required=True, allow_none=True)
    high = nullable(Integer, metadata=described("A seat, once the trick is complete."))
    low = nullable(Integer, metadata=described("A seat, once the trick is complete."))
    tricks_played = Integer(required=True, metadata=described("In this round."))
    piles = by_seat(listed(fields.Nested(MitListPileSchema)))
    face_down = by_seat(fields.Nested(MitListFaceDownSchema))
    kept = by_seat(
        fields.List(Choice(MitListColor), allow_none=True), "By seat: two colours, or null."
    )
    round_scores = listed(
        listed(Integer()), metadata=described("For each round played, a list by seat.")
    )


class MitListPreviewSchema(Schema):
    """What playing or taking cards now would do."""

    ruleset = Constant("mit-list-und-tuecke")
    led_color = Choice(
        MitListColor,
        required=True,
        allow_none=True,
        metadata=described("Of a card played: the colour that is then led."),
    )
    high = nullable(
        Integer, metadata=described("Of a card that completes the trick: the high seat.")
    )
    low = nullable(Integer, metadata=described("Of a card that completes the trick: the low seat."))
    rest_to = nullable(
        Integer, metadata=described("Of cards taken: who gets the rest, null if it is discarded.")
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
