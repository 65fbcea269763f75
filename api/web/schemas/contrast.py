"""The moves and options of Contrast, as request bodies have them."""

from __future__ import annotations

from api.web.schemas.fields import (
    Boolean,
    Choice,
    Constant,
    Integer,
    Length,
    List,
    Range,
    RequestSchema,
    Text,
    described,
)
from engine.contrast import (
    MAX_COUNTDOWN_SECONDS,
    MAX_PICTURE_LENGTH,
    MIN_PILE_SIZE,
    PICTURES,
    SYMBOL,
    TAKEN_OUT,
)

FEWEST_PICTURES = min(TAKEN_OUT.values()) + MIN_PILE_SIZE
"""The least number for six seats; fewer seats need more pictures."""


class ChooseSymbolSchema(RequestSchema):
    """Lay a symbol card of Contrast face down, this symbol towards the picture."""

    type = Constant("choose")
    symbol = Choice(
        SYMBOL,
        required=True,
        metadata=described("The symbol that fits the picture, on a card of your hand."),
    )


class StartCountdownSchema(RequestSchema):
    """Start Contrast's countdown on the one seat that has not laid a card."""

    type = Constant("count")


MOVES = {"choose": ChooseSymbolSchema, "count": StartCountdownSchema}
OPTIONS = {
    "expert": Boolean(metadata=described("Of contrast: three symbol cards lie in each row.")),
    "countdown_seconds": Integer(
        validate=Range(min=1, max=MAX_COUNTDOWN_SECONDS),
        metadata=described("Of contrast: how many seconds a seat that is counted on has."),
    ),
    "pictures": List(
        Text(validate=Length(min=1, max=MAX_PICTURE_LENGTH)),
        validate=Length(max=len(PICTURES)),
        metadata=described(
            "Of contrast: the pictures to play with, different plain names or https addresses.",
            minItems=FEWEST_PICTURES,
        ),
    ),
}
