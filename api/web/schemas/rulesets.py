"""The catalogue of games on the wire."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import Schema, fields

from api.web.schemas.fields import Choice, described, listed, number, text


class OptionType(StrEnum):
    """What an option's value is: `strings` is a list of texts, `string` one of its choices."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    STRING = "string"
    STRINGS = "strings"


class RulesetOptionSchema(Schema):
    """A choice that whoever creates a game may make."""

    name = text("The member of `options` that makes the choice.")
    type = Choice(OptionType, required=True, metadata=described("What a value may be."))
    # Of any type: of a union of texts, numbers and lists openapi-generator makes a Java class that
    # does not compile.
    default = fields.Raw(
        required=True,
        allow_none=True,
        metadata=described(
            "What holds if the option is not given, a value of its `type`; null if then nothing "
            "does."
        ),
    )
    description = text("What it changes, for people.")
    minimum = number(
        "The least value, or the fewest texts; null where there is no such bound.", allow_none=True
    )
    maximum = number(
        "The greatest value, or the most texts; null where there is no such bound.",
        allow_none=True,
    )
    choices = listed(
        fields.String(),
        "The values that there are; null if the option is no choice between texts.",
        allow_none=True,
    )


class ComponentSchema(Schema):
    """A kind of thing in the box."""

    kind = text("What sort of thing it is, as `card`.")
    name = text("As moves, tables and events name it.")
    count = number("How many of it there are.", 1)
    color = text("A card's colour; null for what has none.", allow_none=True)
    value = number("A card's value; null for what has none.", allow_none=True)
    parts = listed(
        fields.String(), "What is on it: its symbols or its two faces, by name; mostly nothing."
    )


class MoveTypeSchema(Schema):
    """A type of move of a game."""

    type = text("The `type` of such a move.")
    description = text("What it does, for people.")
