"""Players and tokens on the wire."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import Schema, fields

from api.schemas.fields import BodySchema, Choice, Name, described


class PlayerKind(StrEnum):
    """Who plays: a person or a program."""

    HUMAN = "human"
    BOT = "bot"


class NewPlayerBodySchema(BodySchema):
    """A player to be."""

    name = Name(
        required=True,
        metadata=described("What others see: 1 to 40 characters, no control characters."),
    )
    kind = Choice(PlayerKind, required=True)


class PlayerSchema(Schema):
    """A player."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    kind = Choice(PlayerKind, required=True)


class PlayerWithTokenSchema(PlayerSchema):
    """A new player, with the token that proves who is calling. It is shown this once."""

    token = fields.String(required=True)


class TokenSchema(Schema):
    """A new token. The old one ends when this one is first used, at the latest in ten minutes."""

    token = fields.String(required=True)
