"""The moves and the option of Mit List und Tücke, as request bodies have them."""

from __future__ import annotations

from api.web.schemas.cards import PlayCardSchema, card, some
from api.web.schemas.fields import Boolean, Choice, Constant, RequestSchema, described
from engine.mit_list_und_tuecke import COLOR


class TakeCardsSchema(RequestSchema):
    """As the high seat of Mit List und Tücke, take cards out of the trick, in any order."""

    type = Constant("take")
    cards = some(card(), "The cards to take: two of four, three of five or six.")


class KeepColorsSchema(RequestSchema):
    """Choose the two colours of Mit List und Tücke that will score, in any order."""

    type = Constant("keep")
    colors = some(Choice(COLOR), "The two colours.")


MOVES = {"play": PlayCardSchema, "take": TakeCardsSchema, "keep": KeepColorsSchema}
OPTIONS = {
    "open_piles": Boolean(
        metadata=described("Of mit-list-und-tuecke: show every face-up pile in full.")
    )
}
