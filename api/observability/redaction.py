"""Exceptions and paths described for the log without the secrets that they may hold.

The type of an exception and the places it came through are logged, but not its message: it may
quote data that could not be read, such as a hand, a token or a body. A path may hold a token, a
ticket or an invite.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

FRAMES = 20
"""Only the innermost places of a traceback are described."""

ROOT = Path(__file__).resolve().parents[2]


class LoggableError(Exception):
    """An exception whose message holds no secret and no data of a player, and may be logged."""


LOGGABLE = (LoggableError, ImportError)

SHOWN_CHARACTERS = 15
"""The most characters of a path, besides known words, that are shown: no secret is shorter than 16.

The shortest ones are a METRICS_TOKEN, with at least 16 characters, and an invite, with 22.
"""

SHOWN_SEGMENTS = 8

_HARMLESS = re.compile(r"[A-Za-z0-9._~-]*")
"""What breaks neither a line nor a terminal."""


def describe(error: BaseException) -> list[dict[str, Any]]:
    """Describe an exception and its causes, the last one first: each with its type and places."""
    return [_describe_one(each) for each in _chain(error)]


def reason(error: BaseException) -> str:
    """Describe an exception and its causes in a few words.

    >>> reason(OSError(2, "No such file or directory", "secret.txt"))
    'FileNotFoundError: No such file or directory'
    """
    return ", from ".join(
        type(each).__name__ + (f": {message}" if (message := _loggable_message(each)) else "")
        for each in _chain(error)
    )


def shown_path(path: str, words: Collection[str]) -> str:
    """Return a path for the log. Segments that could be, or be part of, a secret become "…".

    `words` are the segments of the service's own routes, which are always shown.

    >>> shown_path("/v1/game/60303ae22b998861bce3b28f33eec1be/movs", {"v1", "games", "moves"})
    '/v1/game/…/movs'
    """
    left = SHOWN_CHARACTERS
    shown = []
    first, *segments = path.split("/", SHOWN_SEGMENTS + 1)
    for segment in segments[:SHOWN_SEGMENTS]:
        if segment in words:
            shown.append(segment)
        elif len(segment) <= left and _HARMLESS.fullmatch(segment):
            left -= len(segment)
            shown.append(segment)
        else:
            shown.append("…")
    if first or len(segments) > SHOWN_SEGMENTS:
        shown.append("…")
    return "/" + "/".join(shown)


def _describe_one(error: BaseException) -> dict[str, Any]:
    kind = type(error)
    described: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__qualname__}"}
    if message := _loggable_message(error):
        described["message"] = message
    frames = traceback.StackSummary.extract(
        traceback.walk_tb(error.__traceback__), lookup_lines=False
    )
    described["at"] = [
        f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames[-FRAMES:]
    ]
    return described


def _loggable_message(error: BaseException) -> str:
    """Return the part of an exception's message that cannot hold a secret."""
    if isinstance(error, LOGGABLE):
        return str(error)
    # The system's message, without the name of the file.
    return str(error.strerror or "") if isinstance(error, OSError) else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Return the exception, its cause, the cause of that, and so on, each once."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        is_hidden = following.__suppress_context__
        following = following.__cause__ or (None if is_hidden else following.__context__)


def _short(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(ROOT):
        return str(path.relative_to(ROOT))
    return filename.rpartition("site-packages/")[2]
