"""The nearest known name to one that does not exist, for the texts of problems."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

MAX_LENGTH = 20
"""Of longer names the beginning is quoted and compared: they may be a token or a ticket, and the
comparison takes quadratic time."""

MAX_COMPARED = 5
"""How many wrong names of one object or query are compared."""


def unknown_names(kind: str, names: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Return a text for each name that does not exist.

    >>> unknown_names("member", ["crad"], ["card", "type"])
    {'crad': "There is no member 'crad' here, only: card, type. Did you mean 'card'?"}
    """
    allowed = f"only: {', '.join(sorted(known))}" if known else "and no other. Remove it"
    return {
        name: f"There is no {kind} {quoted(name)} here, {allowed}."
        + (_suggestion(name, known) if index < MAX_COMPARED else "")
        for index, name in enumerate(names)
    }


def quoted(name: str) -> str:
    """Return a name of the client in quotes, shortened."""
    return repr(shortened(name))


def shortened(name: str) -> str:
    """Return a name of the client, or the beginning of a long one."""
    return name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH]}…"


def _suggestion(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name[:MAX_LENGTH].lower(), known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
