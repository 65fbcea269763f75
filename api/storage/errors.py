"""Errors of the store, how to tell them apart, and how to count them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from redis import RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.observability import metrics
from api.observability.logger import log

UNREACHABLE = (RedisConnectionError, RedisTimeoutError, OSError)
"""Errors of a connection, after which it is not known whether the server ran the commands."""


class Unreadable(Exception):
    """The data under one key is damaged, or was not written by this service.

    It is no `RedisError`: the store works, and a retry is of no use.
    """


class NewerFormat(Unreadable):
    """A game that a newer release wrote, and that this one must not touch."""


class UnsupportedFormat(Unreadable):
    """A game that an earlier release stored in a format that this release cannot play."""


class NotReplicated(RedisError):
    """The change was written, but fewer replicas than required have confirmed it in time."""


class PoolExhausted(RedisConnectionError):
    """All connections to a server were in use for too long, which says nothing of the server."""


def is_full(error: Exception) -> bool:
    """Return whether a server refused a change because its memory or its disk is full."""
    # MISCONF: the server could not write its file.
    return isinstance(error, OutOfMemoryError) or (
        isinstance(error, ResponseError) and "MISCONF " in str(error)
    )


def error_reply(error: ResponseError) -> ResponseError | Unreadable:
    """Return an error of the server as the reply to its command.

    It is `Unreadable` if the command was refused because its key holds data of another type.
    """
    # An error of a script has text before or after it, depending on the server.
    if "WRONGTYPE " not in str(error):
        return error
    unreadable = Unreadable()
    unreadable.__cause__ = error
    return unreadable


def readable(reply: Any) -> Any:
    """Return a reply, or raise it if it is an error."""
    if isinstance(reply, (RedisError, Unreadable)):
        raise reply
    return reply


def raise_errors(replies: list[Any]) -> list[Any]:
    """Return the replies, or raise the first that is an error."""
    return [readable(each) for each in replies]


def count_failure(error: RedisError | Unreadable) -> None:
    """Count a failure of the store in the metrics, by its kind."""
    if isinstance(error, RedisTimeoutError):
        kind = "timeout"
    elif isinstance(error, RedisConnectionError):
        kind = "connection"
    elif is_full(error):
        kind = "full"
    else:
        kind = "other"
    metrics.store_failed(kind)


@contextlib.contextmanager
def unless_full() -> Iterator[None]:
    """Leave the block if a full store refuses its change, and count that.

    Use it for changes that a later request makes as well.
    """
    try:
        yield
    except RedisError as error:
        if not is_full(error):
            raise
        count_failure(error)


def log_unreadable(game_id: str, error: Exception) -> None:
    """Log that a game cannot be read, with the traceback but without any of its data."""
    if isinstance(error, NewerFormat):
        log.warning("game %s was written by a newer release", game_id)
    elif isinstance(error, UnsupportedFormat):
        log.warning("game %s has a format of an earlier release that is not supported", game_id)
    else:
        log.error("game %s cannot be read", game_id, exc_info=error)
