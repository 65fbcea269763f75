"""Tea Time on the wire: its move, events, table and preview."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields

from api.schemas.cards import by_seat, seat, some
from api.schemas.fields import Choice, Constant, Integer, Pattern, described, listed, nullable


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


def cell(**kwargs: Any) -> fields.String:
    """A cell of the grid."""
    return fields.String(
        validate=Pattern(r"^[a-z][1-9]$", error="Not a cell: cells are named like a1."),
        metadata=described("Column letter and row number; `a1` is top left.", example="a1"),
        **kwargs,
    )


def faces(**kwargs: Any) -> fields.List[Any]:
    """A list of cards with the face that shows."""
    return listed(Choice(TeaTimeCard), **kwargs)


def grid() -> fields.List[Any]:
    """The grid, row by row."""
    return listed(
        listed(Choice(TeaTimeCard, allow_none=True)),
        metadata=described("Rows of cells, top row first; null for an empty cell."),
    )


class PickCellsSchema(Schema):
    """Take one to three cards of Tea Time's grid that lie side by side, in any order."""

    type = Constant("pick")
    cells = some(cell())


class GridLaidSchema(Schema):
    """A round of Tea Time begins with a new grid."""

    type = Constant("grid_laid")
    round = Integer(required=True)
    grid = grid()
    pile_size = Integer(required=True)


class CardsPickedSchema(Schema):
    """A seat took cards from the grid; `cancelled` has both cards of each pair that went out."""

    type = Constant("cards_picked")
    seat = seat()
    cells = listed(cell())
    cards = faces()
    cancelled = faces()


class AliceLaidSchema(Schema):
    """The holder of Alice laid her into the cell that it emptied."""

    type = Constant("alice_laid")
    seat = seat()
    cell = cell(required=True)


class TeaTimeTableSchema(Schema):
    """What everybody sees of Tea Time."""

    ruleset = Constant("tea-time")
    phase = Choice(TeaTimePhase, required=True)
    round = Integer(required=True)
    rounds = Integer(required=True)
    turn_in_round = Integer(required=True, metadata=described("From 1."))
    max_cards = Integer(required=True, metadata=described("How many may be taken now."))
    grid = grid()
    alice_holder = nullable(Integer, metadata=described("A seat; null while she is in the grid."))
    collections = by_seat(faces())
    out = listed(Choice(TeaTimeCharacter), metadata=described("The cards that were cancelled."))
    pile_size = Integer(required=True)


class TeaTimePreviewSchema(Schema):
    """What taking cards now would do."""

    ruleset = Constant("tea-time")
    cancelled = faces(metadata=described("The cards that would cancel each other."))
    cards = faces(metadata=described("What you would then have of each character that is touched."))


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
