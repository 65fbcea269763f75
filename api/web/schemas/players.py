"""The request body of a new player."""

from __future__ import annotations

from api.model.game import PlayerKind
from api.web.schemas.fields import BodySchema, Choice, Name, described


class NewPlayerBodySchema(BodySchema):
    """A player to be."""

    max_bytes = 4 * 1024

    name = Name(
        required=True,
        metadata=described(
            "What others see: 1 to 40 characters, counted after normalisation (NFC) and without "
            "spaces and marks of direction at its ends; no control characters, and not only "
            "invisible ones."
        ),
    )
    kind = Choice(
        PlayerKind,
        required=True,
        metadata=described("Whether the player is a person or a program."),
    )
