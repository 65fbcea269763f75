"""Contrast on the wire: its moves, events and table."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields, validate

from api.web.schemas.cards import by_seat, seat
from api.web.schemas.fields import (
    Boolean,
    Choice,
    Constant,
    Integer,
    List,
    Text,
    described,
    flag,
    listed,
    number,
    part,
    text,
    time,
)

PICTURES = 74
FEWEST_PICTURES = 16
"""So many a game for six needs; for fewer seats it takes more."""

PICTURE_LENGTH = 200


class ContrastSymbol(StrEnum):
    """A symbol of Contrast."""

    RED = "red"
    YELLOW = "yellow"
    BLUE = "blue"
    GREEN = "green"
    BIG = "big"
    SMALL = "small"
    HEAVY = "heavy"
    LIGHT = "light"
    FAT = "fat"
    THIN = "thin"
    ROUND = "round"
    SQUARE = "square"


class ContrastSymbolCard(StrEnum):
    """A symbol card of Contrast, by its two symbols."""

    RED_YELLOW = "red-yellow"
    BLUE_GREEN = "blue-green"
    BIG_SMALL = "big-small"
    HEAVY_LIGHT = "heavy-light"
    FAT_THIN = "fat-thin"
    ROUND_SQUARE = "round-square"


class ContrastPhase(StrEnum):
    """Where in a game of Contrast we are."""

    CHOOSE = "choose"
    FINISHED = "finished"


def symbol(description: str, **kwargs: Any) -> Choice:
    """A symbol, or perhaps none."""
    return Choice(ContrastSymbol, required=True, metadata=described(description), **kwargs)


def choices() -> fields.List[Any]:
    """What each seat chose."""
    return by_seat(
        Choice(ContrastSymbol, allow_none=True),
        "By seat: the symbol that it chose; null for one that was counted out.",
        "contrast",
    )


def rows() -> fields.List[Any]:
    """The rows before the seats."""
    row = listed(Choice(ContrastSymbolCard), "A row, from the left.", least=2, most=3)
    return by_seat(row, "By seat: the cards that lie before it and cannot be chosen.", "contrast")


def hands() -> fields.List[Any]:
    """The hands, which all may see."""
    hand = listed(Choice(ContrastSymbolCard), "A hand.", least=3, most=4)
    return by_seat(
        hand, "By seat: the cards that it holds, for all to see; one that is laid too.", "contrast"
    )


def counted_out() -> Any:
    """Who was left out."""
    return seat(
        "The seat that was counted out, having laid no card in time; null if there was none.",
        "contrast",
        allow_none=True,
    )


def pile_size(description: str, least: int = 0) -> Any:
    """How many pictures are left to play for."""
    return number(description, least, PICTURES)


class ChooseSchema(Schema):
    """Lay a symbol card of Contrast face down, this symbol towards the picture."""

    type = Constant("choose")
    symbol = symbol("The symbol that fits the picture, on a card of your hand.")


class CountSchema(Schema):
    """Start Contrast's countdown on the one seat that has not laid a card."""

    type = Constant("count")


class PictureShownSchema(Schema):
    """The next picture lies face up."""

    type = Constant("picture_shown")
    picture = text("The picture's name or address.", minLength=1, maxLength=PICTURE_LENGTH)
    pile_size = pile_size("How many pictures the pile has, this one included.", 1)


class SymbolChosenSchema(Schema):
    """A seat laid a card; `symbol` is null to all but itself."""

    type = Constant("symbol_chosen")
    seat = seat("Who laid it.", "contrast")
    symbol = symbol("The symbol; null unless the seat is yours.", allow_none=True)


class CountdownStartedSchema(Schema):
    """The missing seat has until the deadline to lay a card."""

    type = Constant("countdown_started")
    by = seat("Who counts.", "contrast")
    missing = seat("Who has not laid a card.", "contrast")
    deadline = time(
        "When the countdown runs out; null in an analysis, which has no clock.", allow_none=True
    )


class SymbolsRevealedSchema(Schema):
    """All cards are turned over; `won` tells how many pictures each seat takes."""

    type = Constant("symbols_revealed")
    choices = choices()
    winning_symbol = symbol("The symbol that wins; null if none does.", allow_none=True)
    counted_out = counted_out()
    won = by_seat(number(maximum=1), "By seat: what this turn adds to its score.", "contrast")
    pile_size = pile_size("How many pictures are left in the pile.")
    box_size = number("How many pictures are in the box.", 0, PICTURES)


class RowsRefreshedSchema(Schema):
    """Each laid card went to the right end of its row, the leftmost card back to the hand."""

    type = Constant("rows_refreshed")
    rows = rows()
    hands = hands()


class CountdownSchema(Schema):
    """A running countdown; the game's `deadline` says when it runs out."""

    by = seat("Who counts.", "contrast")
    missing = seat("Who has not laid a card.", "contrast")


class LastTurnSchema(Schema):
    """How the last turn of Contrast came out."""

    choices = choices()
    winning_symbol = symbol("The symbol that won; null if none did.", allow_none=True)
    counted_out = counted_out()


class ContrastTableSchema(Schema):
    """What a seat or a spectator sees of Contrast."""

    ruleset = Constant("contrast")
    phase = Choice(ContrastPhase, required=True, metadata=described("Where in the game we are."))
    picture = text(
        "The picture that all look at, by its name or address; null when the game is over.",
        allow_none=True,
        minLength=1,
        maxLength=PICTURE_LENGTH,
    )
    pile_size = pile_size("How many pictures the pile has, the one that shows included.")
    box_size = number("How many pictures are in the box.", 0, PICTURES)
    rows = rows()
    hands = hands()
    scores = by_seat(
        number(maximum=PICTURES), "By seat; with two seats the shared score, twice.", "contrast"
    )
    has_chosen = by_seat(flag(), "By seat: whether it has laid a card.", "contrast")
    choice = symbol(
        "The symbol that you have chosen; null before, and for a spectator.", allow_none=True
    )
    countdown = part(CountdownSchema, "The countdown that runs; null if none.", allow_none=True)
    last_turn = part(LastTurnSchema, "The turn before; null in the first.", allow_none=True)


MOVES = {"choose": ChooseSchema, "count": CountSchema}
EVENTS = {
    "picture_shown": PictureShownSchema,
    "symbol_chosen": SymbolChosenSchema,
    "countdown_started": CountdownStartedSchema,
    "symbols_revealed": SymbolsRevealedSchema,
    "rows_refreshed": RowsRefreshedSchema,
}
OPTIONS = {
    "expert": Boolean(metadata=described("Of contrast: three symbol cards lie in each row.")),
    "countdown_seconds": Integer(
        validate=validate.Range(min=1, max=86400),
        metadata=described("Of contrast: how many seconds a seat that is counted on has."),
    ),
    "pictures": List(
        Text(validate=validate.Length(min=1, max=PICTURE_LENGTH)),
        validate=validate.Length(max=PICTURES),
        metadata=described(
            "Of contrast: the pictures to play with, different plain names or https addresses.",
            minItems=FEWEST_PICTURES,
        ),
    ),
}
TABLE = ContrastTableSchema
PREVIEW = None
