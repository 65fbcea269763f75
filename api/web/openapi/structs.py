"""JSON schemas of msgspec structs: the struct of an answer is the only declaration of its members.

A member is described in its annotation (`engine.published`). Structs, enums, named choices and
named unions become components; the first line of the docstring is their description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec import inspect as types

from engine.published import PUBLISHED_AS, NamedChoice, NamedScalar, NamedUnion

JsonSchema = dict[str, Any]


class Answer(NamedTuple):
    """A struct, or one of several, as the schema of a response.

    flask-smorest would instantiate the bare class.
    """

    struct: type[msgspec.Struct] | NamedUnion


class StructSchemas:
    """Generates the schemas of structs and registers each component once.

    `components` holds the registered components by name, and `register` adds one. `elsewhere` has
    the components that are not declared as structs: a function that registers the component if
    necessary and returns a reference to it, by the name that `published_as` uses.
    """

    def __init__(
        self,
        components: Mapping[str, JsonSchema],
        register: Callable[[str, JsonSchema], Any],
        elsewhere: Mapping[str, Callable[[], JsonSchema]],
    ) -> None:
        self._components = components
        self._register = register
        self._elsewhere = elsewhere
        self._declarations: dict[str, object] = {}

    def schema(self, type_: Any) -> JsonSchema:
        """Return the schema of a type, which is a reference if the type is a component."""
        if isinstance(type_, NamedUnion):
            return self._component(type_.name, type_, lambda: self._union(type_))
        return self._schema(types.type_info(type_))

    def _schema(
        self, node: types.Type, keywords: JsonSchema | None = None, *, is_nullable: bool = False
    ) -> JsonSchema:
        keywords = dict(keywords or {})
        extra: JsonSchema = {}
        while isinstance(node, types.Metadata):
            # The member's own keywords replace the type's.
            keywords = {**(node.extra_json_schema or {}), **keywords}
            extra = {**(node.extra or {}), **extra}
            node = node.type
        name = keywords.pop("title", None)
        published = extra.get(PUBLISHED_AS)
        reference = self._reference(node if published is None else published, name)
        if reference is not None:
            return self._referring(reference, keywords, is_nullable=is_nullable)
        if published is not None:
            return self._schema(types.type_info(published), keywords, is_nullable=is_nullable)
        if isinstance(node, types.UnionType):
            # The one union without a name is that of a type and null.
            (inner,) = (each for each in node.types if not isinstance(each, types.NoneType))
            return self._schema(inner, keywords, is_nullable=node.includes_none)
        schema = self._plain(node, keywords)
        if is_nullable:
            schema["type"] = [schema["type"], "null"]
        return schema

    def _reference(self, declared: Any, name: str | None) -> JsonSchema | None:
        """Return a reference to a component, or None if the type is not published as one."""
        if isinstance(declared, str):
            return self._elsewhere[declared]()
        if isinstance(declared, types.StructType):
            return self._component(
                name or _name(declared.cls), declared.cls, lambda: self._struct(declared)
            )
        if isinstance(declared, NamedUnion):
            return self._component(declared.name, declared, lambda: self._union(declared))
        if isinstance(declared, NamedScalar):
            return self._component(declared.name, declared, lambda: scalar_schema(declared))
        if isinstance(declared, types.EnumType):
            declared = choice_of(declared.cls)
        if isinstance(declared, NamedChoice):
            return self._component(name or declared.name, declared, lambda: choice_schema(declared))
        return None

    def _plain(self, node: types.Type, keywords: JsonSchema) -> JsonSchema:
        """Return the schema of a type that is not published as a component."""
        if isinstance(node, types.BoolType):
            return {"type": "boolean", **keywords}
        if isinstance(node, types.IntType):
            return {"type": "integer", **_with_first(keywords, "minimum", "maximum")}
        if isinstance(node, types.StrType):
            return {"type": "string", **keywords}
        if isinstance(node, types.VarTupleType):
            items = self._schema(node.item_type)
            return {"type": "array", **_with_first(keywords, "description"), "items": items}
        if isinstance(node, types.AnyType):
            return keywords
        raise TypeError(f"No schema is known for members of this type: {node}")

    def _struct(self, node: types.StructType) -> JsonSchema:
        properties = {}
        if node.tag_field is not None:
            properties[node.tag_field] = {
                "type": "string",
                "description": f"Always `{node.tag}`; tells the variants apart.",
                "const": node.tag,
            }
        properties |= {each.encode_name: self._schema(each.type) for each in node.fields}
        fields = msgspec.structs.fields(node.cls)
        optional = {each.encode_name for each in fields if each.default is UNSET}
        return {
            "type": "object",
            "properties": properties,
            "required": sorted(properties.keys() - optional),
            "description": first_line(node.cls),
        }

    def _union(self, union: NamedUnion) -> JsonSchema:
        references = [self.schema(variant) for variant in union.variants]
        tag_field = union.variants[0].__struct_config__.tag_field
        # Without a tag, a value may fit several variants, as later versions may add members.
        schema: JsonSchema = {"anyOf" if tag_field is None else "oneOf": references}
        if tag_field is not None:
            mapping = {
                tag: reference["$ref"]
                for tag, reference in zip(union.tags, references, strict=True)
            }
            schema["discriminator"] = {"propertyName": tag_field, "mapping": mapping}
        return {**schema, "description": union.description}

    def _component(
        self, name: str, declaration: object, make: Callable[[], JsonSchema]
    ) -> JsonSchema:
        """Return a reference to a component; generate and register the component if it is new."""
        if self._declarations.setdefault(name, declaration) != declaration:
            raise ValueError(f"Two declarations would be published as {name}.")
        if name not in self._components:
            self._register(name, make())
        return {"$ref": f"#/components/schemas/{name}"}

    def _referring(
        self, reference: JsonSchema, keywords: JsonSchema, *, is_nullable: bool
    ) -> JsonSchema:
        """Return a reference with the keywords, which stand before a reference to an object."""
        component = self._components[reference["$ref"].rpartition("/")[2]]
        if is_nullable:
            reference = {"anyOf": [reference, {"type": "null"}]}
        is_object = component.get("type") == "object"
        return {**keywords, **reference} if is_object else {**reference, **keywords}


def _name(struct: type) -> str:
    """Return the name under which a struct is published.

    >>> class GameAnswer: ...
    >>> _name(GameAnswer)
    'Game'
    """
    return struct.__name__.removesuffix("Answer").removesuffix("Body")


def _with_first(schema: JsonSchema, *names: str) -> JsonSchema:
    """Return a schema with these keywords first; the order of the document is kept stable."""
    return {**{name: schema[name] for name in names if name in schema}, **schema}


def choice_of(enum: type[Enum]) -> NamedChoice:
    """Return the values of an enum of texts as a choice under the enum's name."""
    values = tuple(member.value for member in enum)
    return NamedChoice(enum.__name__, values, first_line(enum))


def choice_schema(choice: NamedChoice) -> JsonSchema:
    """Return the schema of the component of a choice."""
    return {"type": "string", "enum": list(choice.values), "description": choice.description}


def scalar_schema(scalar: NamedScalar) -> JsonSchema:
    """Return the schema of the component of a text or a number that has a name."""
    return {**scalar.schema, "description": scalar.description}


def first_line(documented: type) -> str:
    """Return the first line of a docstring, which is published as a description."""
    return (documented.__doc__ or "").strip().splitlines()[0]
