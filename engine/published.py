"""How a member of a struct is published where its type in Python says less than its schema."""

from __future__ import annotations

from typing import Any

from msgspec import Meta

PUBLISHED_AS = "published_as"
"""The key of `Meta.extra` under which `published_as` keeps its first argument."""


def published_as(schema: Any, description: str | None = None) -> Meta:
    """Annotate a member whose published schema is that of another type.

    `schema` is a type that msgspec knows, or the name of a component of the published document.
    Used for JSON that was encoded before (`msgspec.Raw`), for texts out of a closed set, and for
    unions of all games. It only describes: nothing is checked when a value is decoded.
    """
    return Meta(description=description, extra={PUBLISHED_AS: schema})
