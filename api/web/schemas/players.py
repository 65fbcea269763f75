"""Players and tokens on the wire."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import Schema

from api.web.schemas.fields import BodySchema, Choice, Name, described, identifier, text

TOKEN = r"^[0-9a-f]{32}\.[A-Za-z0-9_-]{43}$"


class PlayerKind(StrEnum):
    """Who plays: a person or a program."""

    HUMAN = "human"
    BOT = "bot"


class NewPlayerBodySchema(BodySchema):
    """A player to be."""

    max_bytes = 4 * 1024

    name = Name(
        required=True,
        metadata=described(
            "What others see: 1 to 40 characters, counted after normalisation (NFC) and without "
            "spaces at its ends; no control characters, and not only invisible ones."
        ),
    )
    kind = Choice(
        PlayerKind, required=True, metadata=described("Whether a person or a program plays.")
    )


class PlayerSchema(Schema):
    """A player."""

    id = identifier("The player's id. Anybody may know it: it proves nothing.")
    name = text(
        "What the player is called. Names need not be different.",
        minLength=1,
        maxLength=Name.MAX_LENGTH,
    )
    kind = Choice(
        PlayerKind, required=True, metadata=described("Whether a person or a program plays.")
    )


class PlayerWithTokenSchema(PlayerSchema):
    """A new player, with the token that proves who is calling. It is shown this once."""

    token = text(
        "To be sent as `Authorization: Bearer TOKEN`. A secret: whoever has it is this player.",
        pattern=TOKEN,
    )


class TokenSchema(Schema):
    """A new token. The old one ends when this one is first used, at the latest in ten minutes."""

    token = text("To be sent from now on, instead of the old one.", pattern=TOKEN)
