"""From REDIS_URL to a store client, and to the nodes where channels are heard.

| REDIS_URL | store |
| --- | --- |
| `redis://`, `unix://`, `rediss://` (with TLS) | one server |
| `redis+sentinel://HOST:PORT,HOST:PORT/NAME` | the master of this name, as the Sentinels report |
| `redis+cluster://HOST:PORT,HOST:PORT` | the cluster that these nodes belong to |

The last two exist with TLS as well (`rediss+…`). User and password are those of the servers that
have the keys. Options of redis-py's connections can be set in the query; those about TLS also apply
to the connections to Sentinels.
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
from api.storage.client import Replicas, ServerClient, StoreClient
from api.storage.cluster import ClusterClient, Topology
from api.storage.fair_client import FairClient
from api.storage.pubsub import ChannelNodes

SENTINEL_PORT = 26379
SERVER_PORT = 6379

MAX_CHANNELS = 500
"""How many channels one command subscribes to or unsubscribes from."""

NO_RETRY = Retry(ConstantBackoff(0), 0)
"""Retries are up to `api.storage.client`."""


class SingleNode:
    """All channels are heard on the one server, or the current master."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    def node_of(self, channel: str) -> str:
        """See `ChannelNodes`."""
        return ""

    def refresh(self) -> None:
        """Do nothing: channels do not move."""

    def connect(self, node: str) -> ConnectionInterface:
        """See `ChannelNodes`."""
        return _open(self._pool)

    def commands(self, name: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """See `ChannelNodes`."""
        return _in_chunks(name, channels)

    def fall_back(self, error: ResponseError) -> bool:
        """Return False: there are no other commands."""
        return False


class ClusterNodes:
    """A channel is heard on the node of a cluster that would have a key of the same name.

    Before Redis 7 a channel is heard on every node, with the commands of a single server.
    """

    def __init__(self, topology: Topology, pool: Callable[..., ConnectionPool]) -> None:
        self._topology = topology
        self._pool = pool
        self._is_sharded = True

    def node_of(self, channel: str) -> str:
        """See `ChannelNodes`."""
        return self._topology.node(channel).name

    def refresh(self) -> None:
        """See `ChannelNodes`."""
        self._topology.refresh()

    def connect(self, node: str) -> ConnectionInterface:
        """See `ChannelNodes`."""
        host, _, port = node.rpartition(":")
        return _open(self._pool(host=host, port=int(port)))

    def commands(self, name: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """See `ChannelNodes`."""
        if self._is_sharded:
            # One command for each channel: all channels of a command must be in one slot.
            return [(f"S{name}", each) for each in channels]
        return _in_chunks(name, channels)

    def fall_back(self, error: ResponseError) -> bool:
        """Return whether the error shows for the first time that the cluster is an old one."""
        is_old = self._is_sharded and "unknown command" in str(error).lower()
        self._is_sharded = self._is_sharded and not is_old
        return is_old


def _open(pool: ConnectionPool) -> ConnectionInterface:
    """Open a new connection. Only opening it has a timeout, not waiting for messages."""
    connection = cast("AbstractConnection", pool.make_connection())
    connection.connect()
    connection.update_current_socket_timeout(None)
    return connection


def _in_chunks(command: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (command, *channels[at : at + MAX_CHANNELS]) for at in range(0, len(channels), MAX_CHANNELS)
    ]


def connect(settings: Settings) -> tuple[StoreClient, ChannelNodes]:
    """Return a store client and the nodes of its channels. Connections are opened on first use."""
    if settings.redis_url is None:
        raise SettingsError(
            "REDIS_URL is not set. Set it, or use `ludotheque serve`, "
            "which starts a server of its own."
        )
    timeout = settings.redis_timeout_seconds
    replicas = Replicas(settings.wait_replicas, int(timeout * 1000))
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        # The version whose replies are the same on all servers.
        "protocol": 2,
        "health_check_interval": 0,
    }
    # WAIT replies after its own timeout at the latest.
    wait_options = {**options, "socket_timeout": timeout + (timeout if replicas.number else 0)}
    url = urlsplit(settings.redis_url)
    kind = url.scheme.partition("+")[2]

    def server_client(make_pool: Callable[[dict[str, Any]], ConnectionPool]) -> FairClient:
        connection = make_pool(options).make_connection()
        pool = make_pool({**wait_options, "max_connections": settings.redis_connections})
        return FairClient(ServerClient(connection, pool, replicas, timeout))

    if kind == "cluster":
        seeds = addresses(url, SERVER_PORT)
        topology = Topology(partial(_nodes_manager, url, seeds, options), seeds, timeout)
        node_pool = partial(_node_pool, _server_options(url))
        cluster = ClusterClient(
            topology,
            lambda host, port: server_client(partial(node_pool, host=host, port=port)),
            timeout,
            waits_for_replicas=replicas.number > 0,
        )
        return cluster, ClusterNodes(topology, partial(node_pool, options))
    make_pool = (
        partial(_sentinel_pool, url) if kind == "sentinel" else partial(_pool, settings.redis_url)
    )
    return server_client(make_pool), SingleNode(make_pool(options))


def store_name(redis_url: str) -> str:
    """Return the name of a store for the log: its hosts and ports, without a secret.

    >>> store_name("rediss://:secret@cache/0?ssl_ca_certs=/etc/ssl/ours.pem")
    'the store at cache:6379'
    >>> store_name("redis+sentinel://:secret@watch-a,watch-b:5000/games/0")
    'the master games of the Sentinels at watch-a:26379, watch-b:5000'
    """
    url = urlsplit(redis_url)
    if url.scheme == "unix":
        return f"the store at {unquote(url.path)}"
    kind = url.scheme.partition("+")[2]
    default_port = SENTINEL_PORT if kind == "sentinel" else SERVER_PORT
    if kind:
        pairs = addresses(url, default_port)
    else:
        # redis-py takes a missing host for this machine.
        pairs = [(url.hostname or "localhost", url.port or default_port)]
    hosts = ", ".join(
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in pairs
    )
    if kind == "sentinel":
        name = unquote(url.path.strip("/").partition("/")[0])
        return f"the master {name} of the Sentinels at {hosts}"
    return f"the {kind or 'store'} at {hosts}"


def addresses(url: SplitResult, default_port: int) -> list[tuple[str, int]]:
    """Return the hosts and ports of an address. Raises `ValueError`."""
    hosts = url.netloc.rpartition("@")[2].split(",")
    split = [urlsplit(f"//{host}") for host in hosts]
    if not all(each.hostname for each in split):
        raise ValueError("a host has no name")
    return [(cast("str", each.hostname), each.port or default_port) for each in split]


def _server_options(url: SplitResult) -> dict[str, Any]:
    """Return the options that an address sets for each of its servers, without host and port."""
    credentials, at, _ = url.netloc.rpartition("@")
    scheme = url.scheme.partition("+")[0]
    options: dict[str, Any] = parse_url(f"{scheme}://{credentials}{at}host?{url.query}")
    del options["host"]
    return options


def _pool(url: str, options: dict[str, Any]) -> ConnectionPool:
    return ConnectionPool.from_url(url, **options, retry=NO_RETRY)


def _node_pool(
    server_options: dict[str, Any], options: dict[str, Any], host: str, port: int
) -> ConnectionPool:
    return ConnectionPool(**{**server_options, **options}, retry=NO_RETRY, host=host, port=port)


def _sentinel_pool(url: SplitResult, options: dict[str, Any]) -> ConnectionPool:
    name, _, db = url.path.strip("/").partition("/")
    server_options = _server_options(url)
    tls = server_options.pop("connection_class", None) is not None
    sentinels = addresses(url, SENTINEL_PORT)
    # All Sentinels together may take as long as the master itself.
    timeout = options["socket_connect_timeout"] / len(sentinels)
    sentinel_options = {
        "username": server_options.pop("sentinel_username", None),
        "password": server_options.pop("sentinel_password", None),
        "ssl": tls,
        **{key: value for key, value in server_options.items() if key.startswith("ssl_")},
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "retry": NO_RETRY,
    }
    return SentinelConnectionPool(
        unquote(name),
        Sentinel(sentinels, sentinel_kwargs=sentinel_options),
        **options,
        **server_options,
        ssl=tls,
        db=int(db or 0),
        retry=NO_RETRY,
    )


def _nodes_manager(
    url: SplitResult, seeds: list[tuple[str, int]], options: dict[str, Any]
) -> NodesManager:
    """Ask the seed nodes for the nodes of a cluster.

    Only this part of redis-py's cluster client is used: the whole client asks some master for its
    commands when it starts, even a master that does not reply.
    """
    return NodesManager(
        startup_nodes=[ClusterNode(*each) for each in seeds],
        from_url=True,
        # A command for an uncovered slot fails; commands for other slots still work.
        require_full_coverage=False,
        **{**_server_options(url), **options},
    )
