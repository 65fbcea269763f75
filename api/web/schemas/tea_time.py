"""The move and the option of Tea Time, as request bodies have them."""

from __future__ import annotations

from api.web.schemas.cards import some
from api.web.schemas.fields import Choice, Constant, Pattern, RequestSchema, Text, described
from engine.published import PUBLISHED_AS, NamedChoice
from engine.tea_time import CELL, Layout

LAYOUT = NamedChoice(
    "TeaTimeLayout",
    tuple(layout.value for layout in Layout),
    "How the faces of a new grid alternate in Tea Time.",
)


class PickCellsSchema(RequestSchema):
    """Take one to three cards of Tea Time's grid that lie side by side, in any order."""

    type = Constant("pick")
    cells = some(
        Text(
            validate=Pattern(CELL.schema["pattern"], error="cells are named like a1."),
            metadata={PUBLISHED_AS: CELL},
        ),
        "The cells to empty, one to three in a line.",
    )


MOVES = {"pick": PickCellsSchema}
OPTIONS = {
    "grid": Choice(
        LAYOUT, metadata=described("Of tea-time: how the faces of a new grid alternate.")
    )
}
