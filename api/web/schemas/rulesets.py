"""The catalogue of games on the wire."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import Schema, fields

from api.web.schemas.fields import Choice, described, listed, number, part, text


class SeatCountsSchema(Schema):
    """For how many seats a game is."""

    minimum = number("The fewest seats.", 1)
    maximum = number("The most seats.", 1)


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


class RulesetSchema(Schema):
    """A game of the catalogue."""

    ruleset = text("Its id, to be named in createGame.")
    title = text("What the game is called.")
    seat_counts = part(SeatCountsSchema, "For how many it is.")
    options = listed(
        fields.Nested(RulesetOptionSchema),
        "What may be chosen when a game is created; empty if nothing.",
    )
    components = listed(fields.Nested(ComponentSchema), "Everything in the box.", least=1)
    move_types = listed(fields.Nested(MoveTypeSchema), "The moves that there are.", least=1)
    house_levels = listed(
        fields.String(), "The levels at which the house plays it, the plainest first.", least=1
    )
    rules = text("The rules for players as Markdown, with rulings, in `Content-Language`.")


class RulesetPageSchema(Schema):
    """All games of the catalogue."""

    items = listed(fields.Nested(RulesetSchema), "The games.", least=1)
