"""JSON schemas of marshmallow schemas: extends apispec's converter.

Adds named choices, unions with a discriminator and constant tags, and passes structs on to
`api.web.openapi.structs`.
"""

from __future__ import annotations

from typing import Annotated, Any

from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from api.games.answers import AnyBreakdown
from api.web.openapi.structs import (
    Answer,
    StructSchemas,
    choice_schema,
    first_line,
)
from api.web.schemas import unions
from api.web.schemas.fields import BodySchema, Choice, Union
from engine.published import PUBLISHED_AS, published_as


class Converter(OpenAPIConverter):
    """Converts marshmallow schemas, for requests, and structs, for answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        components = self.spec.components
        # Answers contain moves and options in the same form as requests.
        elsewhere = {
            "Move": lambda: self.field2property(unions.move()),
            "GameOptions": lambda: self.resolve_nested_schema(unions.GameOptionsSchema),
            # The engine declares results, and does not know its games there.
            "Breakdown": lambda: self._structs.schema(AnyBreakdown),
        }
        self._structs: StructSchemas = StructSchemas(
            components.schemas, components.schema, elsewhere
        )

    def resolve_nested_schema(self, schema: Any) -> Any:
        """Return the schema of a response or of a nested object, usually a reference."""
        if isinstance(schema, Answer):
            return self._structs.schema(schema.struct)
        return super().resolve_nested_schema(schema)  # type: ignore[no-untyped-call]

    def field2property(self, field: fields.Field[Any]) -> dict[str, Any]:
        """Return the schema of a field."""
        if isinstance(field, Choice):
            return self._choice(field)
        if isinstance(field, Union):
            return self._union(field)
        published = field.metadata.get(PUBLISHED_AS)
        if published is not None:
            meaning = published_as(published, field.metadata.get("description"))
            return _nullable(self._structs.schema(Annotated[Any, meaning]), field)
        property_: dict[str, Any] = super().field2property(field)
        if len(property_.get("enum", ())) == 1:
            # A constant: the tag of a variant, or a flag that is always true.
            (property_["const"],) = property_.pop("enum")
        return property_

    def _choice(self, field: Choice) -> dict[str, Any]:
        return self._reference(field.choice.name, choice_schema(field.choice), field)

    def _union(self, field: Union) -> dict[str, Any]:
        mapping = {
            value: self.resolve_nested_schema(schema)["$ref"]
            for value, schema in field.variants.items()
        }
        schema = {
            "oneOf": [{"$ref": reference} for reference in mapping.values()],
            "discriminator": {"propertyName": field.tag, "mapping": mapping},
            "description": field.description,
        }
        return self._reference(field.union_name, schema, field)

    def _reference(
        self, name: str, schema: dict[str, Any], field: fields.Field[Any]
    ) -> dict[str, Any]:
        if name not in self.spec.components.schemas:
            self.spec.components.schema(name, schema)
        reference = _nullable({"$ref": f"#/components/schemas/{name}"}, field)
        description = field.metadata.get("description")
        return {**reference, "description": description} if description else reference

    def schema2jsonschema(self, schema: Schema) -> dict[str, Any]:
        """Return a schema's JSON Schema, described by the first line of its docstring."""
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        described["description"] = first_line(type(schema))
        if not isinstance(schema, BodySchema) and described.get("additionalProperties") is False:
            # Only request bodies are closed. Moves, options and deals are in answers too, which
            # may get more members.
            del described["additionalProperties"]
        return described


def _nullable(schema: dict[str, Any], field: fields.Field[Any]) -> dict[str, Any]:
    """Return a reference, with null beside it if the field accepts null."""
    if not field.allow_none:
        return schema
    others = {name: value for name, value in schema.items() if name != "$ref"}
    return {"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}], **others}


class Plugin(MarshmallowPlugin):
    """The marshmallow plugin of apispec with this converter."""

    Converter = Converter
