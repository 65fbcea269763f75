"""JSON schemas of marshmallow schemas: apispec's converter, and what it lacks.

Named enums, unions with a discriminator, constant tags.
"""

from __future__ import annotations

from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from api.web.openapi.structs import Answer, StructSchemas, choice_schema, first_line
from api.web.schemas import unions
from api.web.schemas.fields import BodySchema, Choice, Either, Union
from api.web.schemas.games import DealSchema


class Converter(OpenAPIConverter):
    """Marshmallow to JSON Schema, with names for enums and unions; and structs, for answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        components = self.spec.components
        # Answers have moves, options and deals as requests have them.
        elsewhere = {
            "Move": lambda: self.field2property(unions.move()),
            "Options": lambda: self.resolve_nested_schema(unions.OptionsSchema),
            "Deal": lambda: self.resolve_nested_schema(DealSchema),
        }
        self._structs = StructSchemas(components.schemas, components.schema, elsewhere)

    def resolve_nested_schema(self, schema: Any) -> Any:
        """Return the schema of a response or of a member, which is a reference for most."""
        if isinstance(schema, Answer):
            return self._structs.schema(schema.struct)
        return super().resolve_nested_schema(schema)  # type: ignore[no-untyped-call]

    def field2property(self, field: fields.Field[Any]) -> dict[str, Any]:
        """A field's schema."""
        if isinstance(field, Choice):
            return self._choice(field)
        if isinstance(field, Union):
            return self._union(field)
        if isinstance(field, Either):
            return self._either(field)
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

    def _either(self, field: Either) -> dict[str, Any]:
        variants = [self.resolve_nested_schema(each) for each in field.variants]
        schema = {"oneOf": variants, "description": field.description}
        return self._reference(field.union_name, schema, field)

    def _reference(
        self, name: str, schema: dict[str, Any], field: fields.Field[Any]
    ) -> dict[str, Any]:
        if name not in self.spec.components.schemas:
            self.spec.components.schema(name, schema)
        reference: dict[str, Any] = {"$ref": f"#/components/schemas/{name}"}
        if field.allow_none:
            reference = {"anyOf": [reference, {"type": "null"}]}
        description = field.metadata.get("description")
        return {**reference, "description": description} if description else reference

    def schema2jsonschema(self, schema: Schema) -> dict[str, Any]:
        """A schema's JSON Schema, with the first line of its docstring as its description."""
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        described["description"] = first_line(type(schema))
        if not isinstance(schema, BodySchema) and described.get("additionalProperties") is False:
            # Answers may get more members; only what is a request and nothing else is closed.
            del described["additionalProperties"]
        return described


class Plugin(MarshmallowPlugin):
    """apispec's marshmallow plugin, with our converter."""

    Converter = Converter
