"""What the members of structs mean, in the published schema. Nothing here checks a value.

A member of an answer is declared once, with its type and its meaning:

    hand_sizes: Annotated[tuple[int, ...], by_seat("By seat: how many cards it holds.")]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Meta, Struct

PUBLISHED_AS = "published_as"
"""The key of `Meta.extra` under which `published_as` keeps its first argument."""

MIN_SEATS, MAX_SEATS = 2, 6
"""The least and the largest number of seats, over all games."""


class NamedUnion(NamedTuple):
    """One of several structs, published as a component of this name.

    Structs with a tag are told apart by it; the document then names the tag as discriminator.
    """

    name: str
    """The component's name."""

    variants: tuple[type[Struct], ...]
    """The structs, in the order of the document."""

    description: str
    """What it is, in a sentence."""

    @property
    def tags(self) -> list[Any]:
        """The tag of each variant; None for a variant without one."""
        return [variant.__struct_config__.tag for variant in self.variants]


class NamedChoice(NamedTuple):
    """One of a closed set of texts, published as a component of this name."""

    name: str
    """The component's name."""

    values: tuple[str, ...]
    """The texts, in the order of the document."""

    description: str
    """What it is, in a sentence."""


class NamedScalar(NamedTuple):
    """A text or a number that is published as a component of this name."""

    name: str
    """The component's name."""

    schema: Any
    """Its JSON Schema: the type and what it is bounded by."""

    description: str
    """What it is, in a sentence."""


def described(description: str, **keywords: Any) -> Meta:
    """Annotate a member with its meaning, and with keywords of JSON Schema, as `minimum`."""
    return Meta(extra_json_schema={"description": description, **keywords})


def bounded(**keywords: Any) -> Meta:
    """Annotate a type with keywords of JSON Schema alone, as `minimum`."""
    return Meta(extra_json_schema=keywords)


def by_seat(description: str, *, least: int = MIN_SEATS, most: int = MAX_SEATS) -> Meta:
    """Annotate a list with one entry for each seat."""
    return described(description, minItems=least, maxItems=most)


def published_as(schema: Any, description: str | None = None) -> Meta:
    """Annotate a member whose published schema is that of something else.

    `schema` is a type that msgspec knows, a `NamedUnion`, a `NamedChoice`, a `NamedScalar`, or the
    name of a component. It is for JSON that was encoded before (`msgspec.Raw`), for texts out of a
    closed set, for unions, and for texts and numbers that have a name.
    """
    return Meta(description=description, extra={PUBLISHED_AS: schema})
