"""Tea Time on the wire: its move, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields

from api.web.schemas.cards import by_seat, seat, some
from api.web.schemas.fields import Choice, Constant, Pattern, described, listed, number

CARDS = 60
MAX_ROUNDS = 5
MAX_ROWS = 4
TAKEN = 3
"""How many cards a turn takes at most."""


class TeaTimeLayout(StrEnum):
    """How the faces of a new grid alternate in Tea Time."""

    ROWS = "rows"
    CHECKERBOARD = "checkerboard"


class TeaTimeCard(StrEnum):
    """A face of a character's card, or the Alice card (`tea-time`)."""

    HATTER_NORMAL = "hatter-normal"
    HATTER_MIRROR = "hatter-mirror"
    CAT_NORMAL = "cat-normal"
    CAT_MIRROR = "cat-mirror"
    RABBIT_NORMAL = "rabbit-normal"
    RABBIT_MIRROR = "rabbit-mirror"
    CATERPILLAR_NORMAL = "caterpillar-normal"
    CATERPILLAR_MIRROR = "caterpillar-mirror"
    QUEEN_NORMAL = "queen-normal"
    QUEEN_MIRROR = "queen-mirror"
    DODO_NORMAL = "dodo-normal"
    DODO_MIRROR = "dodo-mirror"
    ALICE = "tea-time"


class TeaTimeCharacter(StrEnum):
    """Who is on both sides of a card of Tea Time."""

    HATTER = "hatter"
    CAT = "cat"
    RABBIT = "rabbit"
    CATERPILLAR = "caterpillar"
    QUEEN = "queen"
    DODO = "dodo"


class TeaTimePhase(StrEnum):
    """Where in a game of Tea Time we are."""

    PLAY = "play"
    FINISHED = "finished"


def cell(description: str | None = None, **kwargs: Any) -> fields.String:
    """A cell of the grid."""
    return fields.String(
        validate=Pattern(r"^[a-z][1-9]$", error="Not a cell: cells are named like a1."),
        metadata=described(
            description or "Column letter and row number; `a1` is top left.", examples=["a1"]
        ),
        **kwargs,
    )


def faces(description: str, *, least: int | None = None, most: int | None = None) -> Any:
    """A list of cards with the face that shows."""
    return listed(Choice(TeaTimeCard), description, least=least, most=most)


def grid() -> fields.List[Any]:
    """The grid, row by row."""
    row = listed(Choice(TeaTimeCard, allow_none=True), "A row, from the left.", least=4, most=5)
    return listed(
        row, "Rows of cells, top row first; null for an empty cell.", least=3, most=MAX_ROWS
    )


class PickCellsSchema(Schema):
    """Take one to three cards of Tea Time's grid that lie side by side, in any order."""

    type = Constant("pick")
    cells = some(cell(), "The cells to empty, one to three in a line.")


class GridLaidSchema(Schema):
    """A round of Tea Time begins with a new grid."""

    type = Constant("grid_laid")
    round = number("The round that begins, from 1.", 1, MAX_ROUNDS)
    grid = grid()
    pile_size = number("How many cards are left for later rounds.", 0, CARDS)


class CardsPickedSchema(Schema):
    """A seat took cards from the grid; `cancelled` has both cards of each pair that went out."""

    type = Constant("cards_picked")
    seat = seat("Who took them.", "tea-time")
    cells = listed(cell(), "The cells that it emptied.", least=1, most=TAKEN)
    cards = faces("What lay there, cell by cell.", least=1, most=TAKEN)
    cancelled = faces(
        "The cards that cancelled each other, pair by pair: one that the seat had, one taken.",
        most=2 * TAKEN,
    )


class AliceLaidSchema(Schema):
    """The holder of Alice laid her into the cell that it emptied."""

    type = Constant("alice_laid")
    seat = seat("Who had her.", "tea-time")
    cell = cell("Where she lies: column letter and row number.", required=True)


class TeaTimeTableSchema(Schema):
    """What everybody sees of Tea Time."""

    ruleset = Constant("tea-time")
    phase = Choice(TeaTimePhase, required=True, metadata=described("Where in the game we are."))
    round = number("The present round, from 1.", 1, MAX_ROUNDS)
    rounds = number("How many rounds the game has.", 3, MAX_ROUNDS)
    turn_in_round = number("The present turn of the round, from 1.", 1)
    max_cards = number("How many cards may be taken now; 0 when the game is over.", 0, TAKEN)
    grid = grid()
    alice_holder = seat(
        "The seat that has Alice; null while she lies in the grid.", "tea-time", allow_none=True
    )
    collections = by_seat(
        faces("What a seat has collected.", most=CARDS),
        "By seat: its cards, character by character.",
        "tea-time",
    )
    out = listed(
        Choice(TeaTimeCharacter),
        "The cards that cancelled each other and are out of the game, by who is on them.",
        most=CARDS,
    )
    pile_size = number("How many cards are left for later rounds.", 0, CARDS)


class TeaTimePreviewSchema(Schema):
    """What taking cards now would do."""

    ruleset = Constant("tea-time")
    cancelled = faces("The cards that would cancel each other, pair by pair.", most=2 * TAKEN)
    cards = faces("What you would then have of each character that is touched.", most=CARDS)


MOVES = {"pick": PickCellsSchema}
EVENTS = {
    "grid_laid": GridLaidSchema,
    "cards_picked": CardsPickedSchema,
    "alice_laid": AliceLaidSchema,
}
OPTIONS = {
    "grid": Choice(
        TeaTimeLayout, metadata=described("Of tea-time: how the faces of a new grid alternate.")
    )
}
TABLE = TeaTimeTableSchema
PREVIEW = TeaTimePreviewSchema
