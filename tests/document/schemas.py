"""Compare schemas: can a reader of one schema read all that a writer of the other may write?

For a request the writer is the released document, as its clients still send what it allows, and
the reader is the new document. For a response it is the other way round. So one comparison finds
both kinds of breaks: in requests, a newly required member, a tighter bound, a removed variant; in
responses, a member that may now be missing or null, a new value in a closed set.

It supports the parts of JSON Schema that this project publishes, and raises for others. It
ignores the names of components, descriptions and examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

SAID_ONLY = {
    *("description", "title", "example", "examples", "default", "deprecated", "discriminator"),
    *("readOnly", "writeOnly"),
}
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
EQUAL = ("pattern", "format", "uniqueItems", "multipleOf", "contentMediaType")
KNOWN = {
    *(*SAID_ONLY, *LEAST, *MOST, *EQUAL, "$ref", "type", "enum", "const", "items", "properties"),
    *("required", "additionalProperties", "oneOf", "anyOf"),
}


class Comparison:
    """Compares schemas of two documents."""

    def __init__(self, writer: Schema, reader: Schema, *, is_request: bool) -> None:
        self.writer = writer
        self.reader = reader
        self.is_request = is_request
        self._seen: set[tuple[str, str]] = set()

    def breaks(self, written: Schema, read: Schema, where: str) -> Iterator[str]:
        """Yield what `written` allows and a reader of `read` does not expect."""
        pair = written.get("$ref", ""), read.get("$ref", "")
        if all(pair):
            if pair in self._seen:
                return
            self._seen.add(pair)
        known = list(alternatives(self.reader, read))
        for each in alternatives(self.writer, written):
            yield from self._alternative(each, known, where)

    def _alternative(self, written: Schema, known: list[Schema], where: str) -> Iterator[str]:
        fitting = [each for each in known if _has_type_of(each, written)]
        tag = _tag(written, fitting)
        if tag is not None:
            fitting = [each for each in fitting if _constant(each, tag) == _constant(written, tag)]
            where = f"{where}[{_constant(written, tag)}]"
        if not fitting:
            yield f"{where}: {_kind(written)} is {self._unexpected}"
        elif len(fitting) == 1:
            yield from self._values(written, fitting[0], where)
        elif all(any(True for _ in self._values(written, each, where)) for each in fitting):
            yield f"{where}: no variant is as {_kind(written)} was"

    @property
    def _unexpected(self) -> str:
        return "no longer taken" if self.is_request else "new in answers"

    def _values(self, written: Schema, read: Schema, where: str) -> Iterator[str]:
        yield from self._closed_set(written, read, where)
        for name in LEAST:
            if name in read and written.get(name, float("-inf")) < read[name]:
                yield f"{where}: {name} {read[name]}, {self._than(written.get(name))}"
        for name in MOST:
            if name in read and written.get(name, float("inf")) > read[name]:
                yield f"{where}: {name} {read[name]}, {self._than(written.get(name))}"
        for name in EQUAL:
            if read.get(name) and read[name] != written.get(name):
                yield f"{where}: {name} {read[name]}, {self._than(written.get(name))}"
        if "items" in read:
            yield from self.breaks(written.get("items", {}), read["items"], f"{where}[]")
        if read.get("type") == "object":
            yield from self._members(written, read, where)

    def _than(self, other: Any) -> str:
        said = "anything" if other is None else other
        return f"where it was {said}" if self.is_request else f"and now {said}"

    def _closed_set(self, written: Schema, read: Schema, where: str) -> Iterator[str]:
        allowed, possible = _closed(read), _closed(written)
        if allowed is None:
            return
        if possible is None:
            yield f"{where}: only {', '.join(map(str, allowed))} {self._than(None)}"
            return
        for value in possible:
            if value not in allowed:
                yield f"{where}: the value {value} is {self._unexpected}"

    def _members(self, written: Schema, read: Schema, where: str) -> Iterator[str]:
        ours, theirs = written.get("properties", {}), read.get("properties", {})
        others = read.get("additionalProperties", True)
        for name, schema in ours.items():
            if name in theirs:
                yield from self.breaks(schema, theirs[name], f"{where}.{name}")
            elif others is False or self.is_request:
                yield f"{where}.{name} is {self._unexpected}"
        for name in read.get("required", ()):
            if name not in written.get("required", ()):
                yield f"{where}.{name} {self._is_not_sure(name in ours)}"
        if not self.is_request:
            for name in theirs:
                if name not in ours and name not in read.get("required", ()):
                    yield f"{where}.{name} {self._is_not_sure(False)}"
        if isinstance(others, dict):
            more = written.get("additionalProperties", {})
            yield from self.breaks(more if isinstance(more, dict) else {}, others, f"{where}.*")
        elif others is False and written.get("additionalProperties", True) is not False:
            yield f"{where}: further members are {self._unexpected}"

    def _is_not_sure(self, exists: bool) -> str:
        if self.is_request:
            return "is required now"
        return "may be missing now" if exists else "is gone"


def alternatives(document: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a schema, each of one type, with references resolved.

    >>> list(alternatives({}, {"anyOf": [{"type": ["string", "null"]}, {"const": 1}]}))
    [{'type': 'string'}, {'type': 'null'}, {'const': 1, 'type': 'integer'}]
    """
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"the comparison knows nothing of {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        yield from alternatives(document, resolve(document, schema["$ref"]))
    elif "oneOf" in schema or "anyOf" in schema:
        for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            yield from alternatives(document, each)
    else:
        types = schema.get("type", _types_of_values(schema))
        for each in types if isinstance(types, list) else [types]:
            values = _closed(schema)
            one = {name: part for name, part in schema.items() if name not in SAID_ONLY}
            if values is not None and isinstance(types, list):
                one["enum"] = [value for value in values if _type_of(value) == each]
            yield one if each is None else {**one, "type": each}


def resolve(document: Schema, reference: str) -> Any:
    """Return the component that a reference names."""
    part: Any = document
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part


def _types_of_values(schema: Schema) -> Any:
    values = _closed(schema)
    if values is None:
        return None
    types = sorted({_type_of(value) for value in values})
    return types[0] if len(types) == 1 else types


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names[type(value)]


def _closed(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _has_type_of(read: Schema, written: Schema) -> bool:
    """Whether values of `written` have a type that `read` allows."""
    known, given = read.get("type"), written.get("type")
    return known is None or known == given or (known == "number" and given == "integer")


def _constant(schema: Schema, name: str) -> Any:
    return schema.get("properties", {}).get(name, {}).get("const")


def _tag(written: Schema, known: list[Schema]) -> str | None:
    """Return the member that is a constant in each of these schemas, if there is one."""
    for name in written.get("properties", {}):
        if known and all(_constant(each, name) is not None for each in (written, *known)):
            return str(name)
    return None


def _kind(schema: Schema) -> str:
    closed = _closed(schema)
    return ", ".join(map(str, closed)) if closed else str(schema.get("type", "anything"))
