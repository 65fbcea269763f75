"""Counts failures of the store by their kind, for the metrics."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.observability import metrics
from api.storage.client import Unreadable, is_full


def count_failure(error: RedisError | Unreadable) -> None:
    """Count a failure of the store, or a key that holds another type than it should."""
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

    For changes that a later request makes as well.
    """
    try:
        yield
    except RedisError as error:
        if not is_full(error):
            raise
        count_failure(error)
