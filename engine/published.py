"""How the members of structs are described in the published schema."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Meta, Struct

PUBLISHED_AS = "published_as"
"""The key of `Meta.extra` under which `published_as` keeps its first argument."""


class NamedUnion(NamedTuple):
    """One of several structs, published as a component of this name.

    Structs with a tag are told apart by it; the document then names the tag as discriminator.
    """

    name: str
    variants: tuple[type[Struct], ...]
    description: str


def described(description: str, **more: Any) -> Meta:
    """Annotate a member with its meaning; `more` is for `msgspec.Meta`, for example `ge`."""
    return Meta(description=description, **more)


def published_as(schema: Any, description: str | None = None) -> Meta:
    """Annotate a member whose published schema is that of something else.

    `schema` is a type that msgspec knows, a `NamedUnion`, or the name of a component. It is for
    JSON that was encoded before (`msgspec.Raw`), for texts out of a closed set, and for unions.
    It only describes: nothing is checked when a value is decoded.
    """
    return Meta(description=description, extra={PUBLISHED_AS: schema})
