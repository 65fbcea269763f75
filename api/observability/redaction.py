"""Exceptions described for the log without the data that they are about.

The type of an exception and the places it came through are logged, but not its message: it may
quote data that could not be read, such as a hand, a token or a body.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FRAMES = 20
"""Only the innermost places of a traceback are described."""

ROOT = Path(__file__).resolve().parents[2]


class LoggableError(Exception):
    """An exception whose message holds no secret and no data of a player, and may be logged."""


LOGGABLE = (LoggableError, ImportError)


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
