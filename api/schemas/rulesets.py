"""The catalogue of games on the wire."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import Schema, fields

from api.schemas.fields import Choice, Integer, described, listed, nullable


class SeatCountsSchema(Schema):
    """For how many seats a game is."""

    minimum = Integer(required=True)
    maximum = Integer(required=True)


class OptionType(StrEnum):
    """What an option's value is: `strings` is a list of texts, `string` one of its choices."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    STRING = "string"
    STRINGS = "strings"


class RulesetOptionSchema(Schema):
    """A choice that whoever creates a game may make."""

    name = fields.String(required=True)
    type = Choice(OptionType, required=True)
    default = fields.Raw(required=True, allow_none=True)
    description = fields.String(required=True)
    minimum = nullable(Integer)
    maximum = nullable(Integer)
    choices = listed(fields.String(), allow_none=True)


class ComponentSchema(Schema):
    """A kind of thing in the box."""

    kind = fields.String(required=True)
    name = fields.String(required=True, metadata=described("As moves, tables and events name it."))
    count = Integer(required=True)
    color = nullable(fields.String)
    value = nullable(Integer)
    parts = listed(fields.String())


class MoveTypeSchema(Schema):
    """A type of move of a game."""

    type = fields.String(required=True)
    description = fields.String(required=True)


class RulesetSchema(Schema):
    """A game of the catalogue."""

    ruleset = fields.String(required=True, metadata=described("Its id."))
    title = fields.String(required=True)
    seat_counts = fields.Nested(SeatCountsSchema, required=True)
    options = listed(fields.Nested(RulesetOptionSchema))
    components = listed(fields.Nested(ComponentSchema))
    move_types = listed(fields.Nested(MoveTypeSchema))
    house_levels = listed(fields.String())
    rules = fields.String(required=True, metadata=described("The rules as Markdown, with rulings."))


class RulesetPageSchema(Schema):
    """All games of the catalogue."""

    items = listed(fields.Nested(RulesetSchema))
