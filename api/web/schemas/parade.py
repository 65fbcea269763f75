"""The moves and options of Parade, as request bodies have them."""

from __future__ import annotations

from typing import Any

from marshmallow.fields import Field

from api.web.schemas.cards import PlayCardSchema, card, some
from api.web.schemas.fields import Constant, RequestSchema


class DiscardCardsSchema(RequestSchema):
    """Throw two hand cards away at the end of Parade, in any order."""

    type = Constant("discard")
    cards = some(card(), "The two cards to throw away, of your hand.")


MOVES = {"play": PlayCardSchema, "discard": DiscardCardsSchema}
OPTIONS: dict[str, Field[Any]] = {}
