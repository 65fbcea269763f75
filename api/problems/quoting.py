"""Values of a request as the text of an error quotes them: in one line, shortened."""

from __future__ import annotations

import json
from typing import Any

MAX_QUOTED = 24
"""In characters. Less than a token's secret, which is therefore never quoted as a whole."""


def quoted(value: Any) -> str:
    """Return a JSON value as the text of an error quotes it; an array or object only by its type.

    >>> quoted("red 7"), quoted(None), quoted([1])
    ('"red 7"', 'null', 'an array')
    """
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str):
        return json.dumps(shortened(value), ensure_ascii=False)
    return shortened(json.dumps(value))


def shortened(text: str) -> str:
    """Return the beginning of a text, as valid Unicode.

    >>> shortened("a" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    beginning = text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"
    return beginning.encode("utf-8", "replace").decode()
