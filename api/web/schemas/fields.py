"""Fields of request schemas: strict scalars, player names, choices, lists and unions.

An error says what is wrong with the value and what is allowed. It lacks its subject, the member or
parameter: `api.web.problem_responses`, which knows where the value stood, makes the sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, cast

import msgspec
from marshmallow import RAISE, Schema, ValidationError, fields, validate

from api.concurrency.time_slices import pause
from api.model.game import MAX_NAME_LENGTH
from api.problems.nearest import unknown_names
from api.problems.quoting import quoted
from api.web.openapi.structs import choice_of
from engine.published import NamedChoice
from engine.registry import read_move
from engine.ruleset import Move, UnknownMove

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader represents exactly."""


REQUIRED = "is missing, but required."


def errors_of(kind: str) -> dict[str, Any]:
    """Return the errors of a field whose values must be of this kind."""
    return {
        "required": REQUIRED,
        "null": f"is null; it must be {kind}.",
        "invalid": f"is {{input}}; it must be {kind}.",
    }


class RequestSchema(Schema):
    """An object in a request. Null stands for an absent member; unknown members are refused."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.error_messages |= {"type": "is not an object, but must be one."}

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Accept null for each member that may be absent: many serializers write it."""
        field_obj.allow_none = field_obj.allow_none or not field_obj.required

    def load(self, data: Any, **how: Any) -> Any:
        """Read an object, without the nulls that stand for absent members."""
        if isinstance(data, dict) and None in data.values():
            data = {name: data[name] for name in data if not self._is_absent(name, data[name])}
        try:
            return super().load(data, **how)
        except ValidationError as error:
            # marshmallow's frame holds the error: together, they would keep the whole request until
            # the next garbage collection.
            error.__traceback__ = None
            raise

    def _is_absent(self, name: str, value: Any) -> bool:
        return value is None and name in self.fields and not self.fields[name].required

    def handle_error(self, error: ValidationError, data: Any, **_: Any) -> None:
        """Say of each unknown member which members there are, and which may be meant."""
        if self.unknown == RAISE and isinstance(data, dict):
            unknown = [name for name in data if name not in self.fields]
            messages = unknown_names("member", unknown, self.fields)
            cast("dict[str, Any]", error.messages).update(
                {name: [message] for name, message in messages.items()}
            )


class QuerySchema(RequestSchema):
    """The query of a request, in which there is no null."""

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Leave the parameter as it is declared."""


class BodySchema(RequestSchema):
    """A request body."""

    max_bytes = 64 * 1024
    """The largest size of the body in bytes."""


class Integer(fields.Integer):
    """A JSON integer: not a string, boolean or fraction."""

    default_error_messages = errors_of("an integer")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.make_error("invalid", input=quoted(value))
        return value


class QueryInteger(fields.Integer):
    """An integer in a query, in ASCII digits."""

    default_error_messages = errors_of("an integer, in digits")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= 16):
            raise self.make_error("invalid", input=quoted(value))
        return int(text)


class QueryBoolean(fields.Boolean):
    """A boolean in a query: `true` or `false`."""

    default_error_messages = errors_of("true or false")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise self.make_error("invalid", input=quoted(value))
        return bool(value == "true")


class Boolean(fields.Boolean):
    """A JSON boolean: not a string or number."""

    default_error_messages = errors_of("true or false")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=quoted(value))
        return value


class Text(fields.String):
    """Text that can be encoded as UTF-8."""

    default_error_messages = errors_of("a string")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise self.make_error("invalid", input=quoted(value))
        try:
            value.encode()
        except UnicodeEncodeError:
            message = "has half of a surrogate pair; it must be Unicode text."
            raise ValidationError(message) from None
        return value


class Name(Text):
    """A displayed name, normalised (NFC), without control, format or only invisible characters.

    White space and marks of direction at its ends are removed: clients add them unseen.
    """

    MAX_LENGTH = MAX_NAME_LENGTH
    MAX_INPUT_LENGTH = 4 * MAX_LENGTH
    """The largest length in code points before normalisation, which takes quadratic time."""

    REFUSED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
    JOINERS = frozenset("\u200c\u200d")
    """Format characters that some scripts and emoji need; all others are refused."""

    FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,30}\U000e007f")
    """An emoji of a flag, as England's: a black flag and a region, in tag characters."""

    ENDS = re.compile(r"^[\s\u061c\u200e\u200f]+|[\s\u061c\u200e\u200f]+\Z")

    INVISIBLE = frozenset({"Cf", "Mn", "Me", "Zs"})
    BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
    """Characters of a letter or symbol category that are blank."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=Length(1, self.MAX_LENGTH), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text) > self.MAX_INPUT_LENGTH:
            raise ValidationError(
                f"has {len(text)} characters; at most {self.MAX_LENGTH} are allowed."
            )
        name = self.ENDS.sub("", unicodedata.normalize("NFC", text))
        for character in self.FLAG.sub("", name):
            if unicodedata.category(character) in self.REFUSED and character not in self.JOINERS:
                raise ValidationError(
                    f"has the character U+{ord(character):04X}; control and format characters "
                    "are not allowed."
                )
        if name and all(self._is_invisible(character) for character in name):
            raise ValidationError("has only invisible characters; at least one must be visible.")
        return name

    def _is_invisible(self, character: str) -> bool:
        category = unicodedata.category(character)
        return category in self.INVISIBLE or character in self.BLANK_LETTERS


class Range(validate.Range):
    """The bounds of a number."""

    def __call__(self, value: Any) -> Any:
        """Return the number if it is within the bounds."""
        if value < self.min or (self.max is not None and value > self.max):
            allowed = f"at least {self.min}"
            if self.max is not None:
                allowed = f"from {self.min} to {self.max}"
            raise ValidationError(f"is {quoted(value)}; it must be {allowed}.")
        return value


class Length(validate.Length):
    """The bounds of the length of a text or list."""

    def __call__(self, value: Any) -> Any:
        """Return the text or list if its length is within the bounds."""
        length, fewest, most = len(value), self.min or 0, self.max
        if most is not None and not fewest <= length <= most:
            units = "characters" if isinstance(value, str) else "items"
            allowed = f"{fewest} to {most}" if fewest else f"at most {most}"
            raise ValidationError(f"has {length} {units}; {allowed} are allowed.")
        return value


class Pattern(validate.Regexp):
    """A pattern that must match the whole text; `$` alone would allow a trailing line break.

    `error` says what is allowed.
    """

    def __call__(self, value: Any) -> Any:
        """Return the text if it matches."""
        if self.regex.fullmatch(value) is None:
            raise ValidationError(f"is {quoted(value)}; {self.error}")
        return value


class Constant(Text):
    """The tag of a variant, a constant text."""

    def __init__(self, value: str) -> None:
        super().__init__(
            required=True,
            validate=validate.Equal(value),
            metadata=described(f"Always `{value}`; tells the variants apart."),
        )

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the tag as it is: the union has chosen the variant by it."""
        return value


class Choice(fields.Field[Any]):
    """One of a closed set of texts, published as a component."""

    def __init__(self, choice: NamedChoice | type[Enum], **kwargs: Any) -> None:
        self.choice = choice if isinstance(choice, NamedChoice) else choice_of(choice)
        kind = f"one of: {', '.join(self.choice.values)}"
        super().__init__(error_messages=errors_of(kind), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or value not in self.choice.values:
            raise self.make_error("invalid", input=quoted(value))
        return value


class Union(fields.Field[Any]):
    """One of several schemas with a discriminating tag, published as a component."""

    default_error_messages = errors_of("an object")

    def __init__(
        self,
        name: str,
        tag: str,
        variants: Mapping[str, type[Schema]],
        description: str,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.union_name = name
        self.description = description
        self.tag = tag
        self.variants = {value: schema() for value, schema in variants.items()}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise self.make_error("invalid", input=quoted(value))
        if self.tag not in value:
            raise ValidationError({self.tag: [REQUIRED]})
        tag = value[self.tag]
        variant = self.variants.get(tag) if isinstance(tag, str) else None
        if variant is None:
            known = ", ".join(self.variants)
            raise ValidationError({self.tag: [f"is {quoted(tag)}; it must be one of: {known}."]})
        return variant.load(value)


class List(fields.List[Any]):
    """A list that is refused before its items are read if it is too long.

    Reading stops after `MAX_MISTAKES` wrong items.
    """

    default_error_messages = errors_of("an array")

    MAX_MISTAKES = 20

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid", input=quoted(value))
        for validator in self.validators:
            if isinstance(validator, Length):
                validator(value)
        items: list[Any] = []
        mistakes: dict[int, Any] = {}
        for index, each in enumerate(value):
            pause()
            try:
                items.append(self.inner.deserialize(each, **kwargs))
            except ValidationError as error:
                mistakes[index] = error.messages
                if len(mistakes) == self.MAX_MISTAKES:
                    break
        if mistakes:
            raise ValidationError(mistakes)
        return items


class Nested(fields.Nested):
    """An object within an object."""

    default_error_messages = errors_of("an object")


class Object(fields.Field[Any]):
    """A JSON object that is checked where it is used."""

    default_error_messages = errors_of("an object")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise self.make_error("invalid", input=quoted(value))
        return value


def listed(inner: fields.Field[Any], description: str, **kwargs: Any) -> List:
    """Return a required list.

    `uniqueItems` is not published: generators make sets of such lists, which have no order.
    """
    return List(inner, required=True, metadata=described(description), **kwargs)


def described(description: str, **metadata: Any) -> dict[str, Any]:
    """Return the metadata that publishes a description."""
    return {"description": description, **metadata}


class CachedUnion(Union):
    """A union with few different values. Reading is cached by the encoded value.

    Clients write the same value in the same form. What is read is shared: it must not be changed.
    """

    CACHE_SIZE = 4096
    MAX_CACHED_LENGTH = 300
    """In bytes: the cache of a field takes at most about two megabytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = lru_cache(self.CACHE_SIZE)(self._read)

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what is read from a value."""
        try:
            text = msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError, RecursionError):
            # It is missing, or no JSON.
            return super().deserialize(value, *args, **kwargs)
        if len(text) > self.MAX_CACHED_LENGTH:
            return super().deserialize(value, *args, **kwargs)
        return self._known(text)

    def _read(self, text: bytes) -> Any:
        return super().deserialize(msgspec.json.decode(text))


class MoveField(CachedUnion):
    """A move of any game, read into the engine's type.

    With `must_be_known`, a type that no game has is refused.
    """

    def __init__(self, *args: Any, must_be_known: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._must_be_known = must_be_known

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Move:
        tag = value.get(self.tag) if isinstance(value, dict) else None
        if isinstance(tag, str) and tag not in self.variants and not self._must_be_known:
            # Only the game knows which types of move are possible now.
            try:
                return UnknownMove(Text().deserialize(tag))
            except ValidationError as error:
                raise ValidationError({self.tag: error.messages}) from None
        return read_move(super()._deserialize(value, attr, data, **kwargs))
