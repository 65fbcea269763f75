"""From the address of a store to the link to it, and to the connections that hear of news.

| REDIS_URL | what it is |
| --- | --- |
| `redis://`, `unix://`, `rediss://` (with TLS) | one server |
| `redis+sentinel://HOST:PORT,HOST:PORT/NAME` | the master of this name, as the Sentinels say |
| `redis+cluster://HOST:PORT,HOST:PORT` | the cluster that these are nodes of |

The last two have their `rediss+…` too. User and password are those of the servers that have the
keys. What else redis-py can be told about a connection is told in the query, as there; what is
said of TLS is for Sentinels too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast
from urllib.parse import SplitResult, unquote, urlsplit

from redis import ResponseError
from redis.backoff import ConstantBackoff
from redis.cluster import ClusterNode, NodesManager
from redis.connection import (
    AbstractConnection,
    ConnectionInterface,
    ConnectionPool,
    parse_url,
)
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool

from api.config.settings import Settings, SettingsError
from api.storage.client import Connections, FairClient, Replicas, ServerClient, StoreClient
from api.storage.cluster import ClusterClient, Topology
from api.storage.pubsub import Places

SENTINEL_PORT = 26379
CLUSTER_PORT = 6379

CHANNELS_AT_ONCE = 500

NEVER = Retry(ConstantBackoff(0), 0)
"""What is tried again is `api.storage.client`'s to say."""


class SentinelConnections(SentinelConnectionPool, Connections):
    """Connections to the master that the Sentinels name."""


class OnePlace:
    """The one server, whichever it is (see `api.storage.pubsub.Places`)."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    def of(self, channel: str) -> str:
        """Where a channel is heard."""
        return ""

    def refresh(self) -> None:
        """Nothing moves."""

    def open(self, place: str) -> ConnectionInterface:
        """A new connection, open. Raises `RedisError`."""
        return _opened(self._pool)

    def subscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that subscribe."""
        return _many_at_once("SUBSCRIBE", channels)

    def unsubscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that unsubscribe."""
        return _many_at_once("UNSUBSCRIBE", channels)

    def learn(self, error: ResponseError) -> bool:
        """There are no other commands."""
        return False


class NodePlaces:
    """The nodes of a cluster: a channel is heard where a key of its name would be.

    Before version 7 it is heard everywhere, and with the old commands.
    """

    def __init__(self, topology: Topology, pool: Callable[..., ConnectionPool]) -> None:
        self._topology = topology
        self._pool = pool
        self._is_sharded = True

    def of(self, channel: str) -> str:
        """The name of the node where a channel is heard now. Raises `RedisError`."""
        return self._topology.node(channel).name

    def refresh(self) -> None:
        """A node is not what it was. Raises `RedisError`."""
        self._topology.refresh()

    def open(self, place: str) -> ConnectionInterface:
        """A new connection to a node, open. Raises `RedisError`."""
        host, _, port = place.rpartition(":")
        return _opened(self._pool(host=host, port=int(port)))

    def subscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that subscribe."""
        if self._is_sharded:
            # One command is for one slot.
            return [("SSUBSCRIBE", each) for each in channels]
        return _many_at_once("SUBSCRIBE", channels)

    def unsubscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that unsubscribe."""
        if self._is_sharded:
            return [("SUNSUBSCRIBE", each) for each in channels]
        return _many_at_once("UNSUBSCRIBE", channels)

    def learn(self, error: ResponseError) -> bool:
        """Whether the node is an old one, and only now known to be."""
        is_old = self._is_sharded and "unknown command" in str(error).lower()
        self._is_sharded = self._is_sharded and not is_old
        return is_old


def _opened(pool: ConnectionPool) -> ConnectionInterface:
    """A new connection that waits without end for what comes, but not for being opened.

    A server that stands still takes connections too: its system does so for it.
    """
    connection = cast("AbstractConnection", pool.make_connection())
    connection.connect()
    connection.update_current_socket_timeout(None)
    return connection


def _many_at_once(command: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (command, *channels[at : at + CHANNELS_AT_ONCE])
        for at in range(0, len(channels), CHANNELS_AT_ONCE)
    ]


def connect(settings: Settings) -> tuple[StoreClient, Places]:
    """The link to the store, and where news are heard; nothing is opened before it is needed."""
    if settings.redis_url is None:
        raise SettingsError(
            "REDIS_URL is not set. Set it, or use `ludotheque serve`, "
            "which starts a server of its own."
        )
    timeout = settings.redis_timeout_seconds
    replicas = Replicas(settings.wait_replicas, int(timeout * 1000))
    asking: dict[str, Any] = {
        "max_connections": settings.redis_connections,
        "timeout": timeout,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        # Its answers are the same in all versions of all servers.
        "protocol": 2,
        "health_check_interval": 0,
    }
    # What waits for replicas is answered when they have it, or the time for that is up.
    waiting = {**asking, "socket_timeout": timeout + (timeout if replicas.number else 0)}
    url = urlsplit(settings.redis_url)
    kind = url.scheme.partition("+")[2]

    def single(make: Callable[[dict[str, Any]], ConnectionPool]) -> FairClient:
        # One trip is made at a time; a second connection is for what is sent anew.
        shared = make({**asking, "max_connections": 2})
        return FairClient(ServerClient(shared, make(waiting), replicas, timeout))

    if kind == "cluster":
        named = addresses(url, CLUSTER_PORT)
        topology = Topology(partial(_nodes, url, named, asking), named, timeout)
        node = partial(_node_pool, _options(url))
        cluster = ClusterClient(
            topology,
            lambda host, port: single(partial(node, host=host, port=port)),
            timeout,
            waits_for_replicas=replicas.number > 0,
        )
        return cluster, NodePlaces(topology, partial(node, asking))
    make = (
        partial(_sentinel_pool, url) if kind == "sentinel" else partial(_pool, settings.redis_url)
    )
    return single(make), OnePlace(make(asking))


def addresses(url: SplitResult, port: int) -> list[tuple[str, int]]:
    """The hosts and ports that an address names. Raises `ValueError`."""
    hosts = url.netloc.rpartition("@")[2].split(",")
    split = [urlsplit(f"//{host}") for host in hosts]
    if not all(each.hostname for each in split):
        raise ValueError("a host has no name")
    return [(cast("str", each.hostname), each.port or port) for each in split]


def _options(url: SplitResult) -> dict[str, Any]:
    """How one server of several is connected to, but for its host and port."""
    credentials, at, _ = url.netloc.rpartition("@")
    scheme = url.scheme.partition("+")[0]
    options: dict[str, Any] = parse_url(f"{scheme}://{credentials}{at}host?{url.query}")
    del options["host"]
    return options


def _pool(url: str, options: dict[str, Any]) -> ConnectionPool:
    return Connections.from_url(url, **options, retry=NEVER)


def _node_pool(
    of_url: dict[str, Any], options: dict[str, Any], host: str, port: int
) -> ConnectionPool:
    return Connections(**{**of_url, **options}, retry=NEVER, host=host, port=port)


def _sentinel_pool(url: SplitResult, options: dict[str, Any]) -> ConnectionPool:
    name, _, db = url.path.strip("/").partition("/")
    of_server = _options(url)
    tls = of_server.pop("connection_class", None) is not None
    watching = addresses(url, SENTINEL_PORT)
    own = {
        "username": of_server.pop("sentinel_username", None),
        "password": of_server.pop("sentinel_password", None),
        "ssl": tls,
        **{key: value for key, value in of_server.items() if key.startswith("ssl_")},
        # All of them together may take as long as the master itself.
        "socket_timeout": options["socket_connect_timeout"] / len(watching),
        "socket_connect_timeout": options["socket_connect_timeout"] / len(watching),
        "retry": NEVER,
    }
    sentinel = Sentinel(watching, sentinel_kwargs=own)
    return SentinelConnections(  # type: ignore[no-untyped-call]
        unquote(name),
        sentinel,
        **options,
        **of_server,
        ssl=tls,
        db=int(db or 0),
        retry=NEVER,
    )


def _nodes(url: SplitResult, named: list[tuple[str, int]], options: dict[str, Any]) -> NodesManager:
    """The nodes of a cluster, looked for at once.

    Of redis-py's cluster this part alone is needed. The whole one asks some master for its
    commands at the start, even one that stands still.
    """
    return NodesManager(
        startup_nodes=[ClusterNode(*each) for each in named],
        from_url=True,
        connection_pool_class=Connections,
        # Whoever meets a slot that nobody has is told so; the other slots go on.
        require_full_coverage=False,
        **{**_options(url), **options},
    )
