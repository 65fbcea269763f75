"""The connection to Redis or Valkey.

One pool a worker, bounded, with short timeouts and one retry: a server that is away must fail
a request within a bounded time, not hang it. A retry is safe since a commit carries its own
random id (see `api.store`).
"""

from __future__ import annotations

from collections.abc import Callable

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.connection import BlockingConnectionPool, ConnectionInterface, ConnectionPool
from redis.retry import Retry

from api.settings import Settings, SettingsError

RETRIES = 1
RETRY_PAUSE_SECONDS = 0.05


def connect(settings: Settings) -> Redis:
    """A client of the store; it opens connections only when it needs them."""
    if settings.redis_url is None:
        raise SettingsError(
            "REDIS_URL is not set. Set it, or use `ludotheque serve`, "
            "which starts a server of its own."
        )
    timeout = settings.redis_timeout_seconds
    pool = BlockingConnectionPool.from_url(
        settings.redis_url,
        max_connections=settings.redis_connections,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(ConstantBackoff(RETRY_PAUSE_SECONDS), RETRIES),
        health_check_interval=0,
    )
    return Redis(connection_pool=pool)


def listener(settings: Settings) -> Callable[[], ConnectionInterface]:
    """Makes the connection that notifications come in on: one that waits without end."""
    assert settings.redis_url is not None
    pool = ConnectionPool.from_url(
        settings.redis_url,
        protocol=2,
        socket_timeout=None,
        socket_connect_timeout=settings.redis_timeout_seconds,
        retry=Retry(ConstantBackoff(0), 0),
        health_check_interval=0,
    )
    return pool.make_connection
