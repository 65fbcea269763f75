"""The nearest known name to one that does not exist, for the texts of problems."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

MAX_LENGTH = 40
"""How much of a name is compared, which takes quadratic time."""

MAX_COMPARED = 5
"""How many wrong names of one object or query are compared."""


def unknown_names(kind: str, names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return for each name that does not exist what an error says of it.

    >>> unknown_names("member", ["crad"], ["card", "type"])
    {'crad': 'is unknown; the members here are: card, type. Did you mean `card`?'}
    """
    allowed = f"the {kind}s here are: {', '.join(known)}" if known else f"there is no {kind} here"
    return {
        name: f"is unknown; {allowed}." + (_suggestion(name, known) if index < MAX_COMPARED else "")
        for index, name in enumerate(names)
    }


def _suggestion(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name[:MAX_LENGTH].lower(), known, n=1)
    return f" Did you mean `{near[0]}`?" if near else ""
