"""Contrast on the wire: its moves, events and table."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields, validate

from api.schemas.cards import by_seat, seat
from api.schemas.fields import (
    Boolean,
    Choice,
    Constant,
    Integer,
    List,
    Text,
    described,
    listed,
    nullable,
)


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


def symbol(**kwargs: Any) -> Choice:
    """A symbol that may not be there."""
    return Choice(ContrastSymbol, required=True, **kwargs)


def choices() -> fields.List[Any]:
    """What each seat chose; null for one that was counted out."""
    return by_seat(
        Choice(ContrastSymbol, allow_none=True), "By seat; null for one that was counted out."
    )


def symbol_cards() -> fields.List[Any]:
    """Symbol cards by seat."""
    return by_seat(listed(Choice(ContrastSymbolCard)))


class ChooseSchema(Schema):
    """Lay a symbol card of Contrast face down, this symbol towards the picture."""

    type = Constant("choose")
    symbol = symbol()


class CountSchema(Schema):
    """Start Contrast's countdown on the one seat that has not laid a card."""

    type = Constant("count")


class PictureShownSchema(Schema):
    """The next picture lies face up."""

    type = Constant("picture_shown")
    picture = fields.String(required=True)
    pile_size = Integer(required=True)


class SymbolChosenSchema(Schema):
    """A seat laid a card; `symbol` is null to all but itself."""

    type = Constant("symbol_chosen")
    seat = seat()
    symbol = symbol(allow_none=True)


class CountdownStartedSchema(Schema):
    """The missing seat has until the deadline to lay a card."""

    type = Constant("countdown_started")
    by = seat()
    missing = seat()
    deadline = fields.String(required=True, allow_none=True, metadata={"format": "date-time"})


class SymbolsRevealedSchema(Schema):
    """All cards are turned over; `won` tells how many pictures each seat takes."""

    type = Constant("symbols_revealed")
    choices = choices()
    winning_symbol = symbol(allow_none=True)
    counted_out = nullable(Integer)
    won = by_seat(Integer())
    pile_size = Integer(required=True)
    box_size = Integer(required=True)


class RowsRefreshedSchema(Schema):
    """Each laid card went to the right end of its row, the leftmost card back to the hand."""

    type = Constant("rows_refreshed")
    rows = symbol_cards()
    hands = symbol_cards()


class CountdownSchema(Schema):
    """A running countdown; the game's `deadline` says when it runs out."""

    by = Integer(required=True)
    missing = Integer(required=True)


class LastTurnSchema(Schema):
    """How the last turn of Contrast came out."""

    choices = choices()
    winning_symbol = symbol(allow_none=True)
    counted_out = nullable(Integer)


class ContrastTableSchema(Schema):
    """What a seat or a spectator sees of Contrast."""

    ruleset = Constant("contrast")
    phase = Choice(ContrastPhase, required=True)
    picture = nullable(fields.String)
    pile_size = Integer(required=True, metadata=described("The picture that shows included."))
    box_size = Integer(required=True)
    rows = symbol_cards()
    hands = symbol_cards()
    scores = by_seat(Integer(), "By seat; with two seats the shared score, twice.")
    has_chosen = by_seat(Boolean())
    choice = symbol(allow_none=True, metadata=described("Your own."))
    countdown = nullable(fields.Nested, CountdownSchema)
    last_turn = nullable(fields.Nested, LastTurnSchema)


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
        metadata=described("Of contrast: how long a seat that is counted on has."),
    ),
    "pictures": List(
        Text(validate=validate.Length(min=1, max=200)),
        validate=validate.Length(max=74),
        metadata=described("Of contrast: different plain names or https addresses."),
    ),
}
TABLE = ContrastTableSchema
PREVIEW = None
