"""The client of a Redis or Valkey cluster.

redis-py knows which node has which key. This module sends commands to the nodes that have their
keys, to all at once, and retries until the timeout when a node has moved its slots, has failed or
is being replaced by its replica. Each node has a client of its own with limits for each caller, so
a node that does not reply delays only the requests that need it.

redis-py's `RedisCluster` asks the nodes of a pipeline one after another, without a common deadline:
while one of three nodes stands still, a request to two of them fails after 6.2 s, and here after
the timeout of 2 s with the replies of the other node. Two commands take 235 µs of worker time, and
here 96 µs.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

import gevent
from redis import RedisError
from redis.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    ReadOnlyError,
    SlotNotCoveredError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.storage.client import Command
from api.storage.errors import UNREACHABLE, PoolExhausted, raise_errors
from api.storage.fair_client import FairClient

Result = TypeVar("Result")

PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 0.4

RELOAD_PAUSE_SECONDS = 0.5
"""How long the topology is not loaded again after no node could report it."""

RETRYABLE = (MovedError, AskError, ClusterDownError, TryAgainError, ReadOnlyError, *UNREACHABLE)


class Topology:
    """Which node has which key. Loaded on first use, and again when it was wrong.

    `seeds` are the configured nodes, which are asked as well if no known node replies. Loading can
    take long when nodes do not reply. So it is done once for all requests that need it, each of
    which waits until a deadline of its own, or for `timeout` seconds. After a failure it is not
    done again at once.
    """

    def __init__(
        self,
        connect: Callable[[], NodesManager],
        seeds: Sequence[tuple[str, int]],
        timeout: float,
    ) -> None:
        self._connect = connect
        self._seeds = list(seeds)
        self._timeout = timeout
        self._nodes: NodesManager | None = None
        self._loading: gevent.Greenlet | None = None
        self._no_load_before = 0.0

    def node(self, key: str, deadline: float | None = None) -> ClusterNode:
        """Return the node that has a key. Raises `RedisError`."""
        try:
            return self._loaded(deadline).get_node_from_slot(key_slot(key.encode()))
        except SlotNotCoveredError as error:
            # redis-py does not derive it from its `RedisError`.
            raise RedisConnectionError(str(error)) from error

    def masters(self, deadline: float | None = None) -> list[ClusterNode]:
        """Return all nodes that have keys. Raises `RedisError`."""
        masters = list(self._loaded(deadline).get_nodes_by_server_type("primary"))
        if not masters:
            raise RedisConnectionError("no node of the cluster has keys")
        return masters

    def find(self, name: str) -> ClusterNode | None:
        """Return the node of this name (``HOST:PORT``), None if it is not known now."""
        return self._loaded(None).get_node(node_name=name)

    def refresh(self, failed: ClusterNode | None = None, deadline: float | None = None) -> None:
        """Load the topology again; a failed node is asked last. Raises `RedisError`."""
        now = time.monotonic()
        loading = self._loading
        if loading is None or (loading.ready() and now >= self._no_load_before):
            # In a greenlet of its own, so that a request that is given up does not stop it.
            loading = self._loading = gevent.spawn(self._load, failed)
        loading.join(self._timeout if deadline is None else max(deadline - now, 0))
        if not loading.ready():
            raise RedisTimeoutError("the cluster does not report its topology in time")
        if loading.value is not None:
            # Without the traceback of earlier requests, which would grow each time.
            raise loading.value.with_traceback(None)

    def _loaded(self, deadline: float | None) -> NodesManager:
        if self._nodes is None:
            self.refresh(None, deadline)
        if self._nodes is None:
            raise RedisConnectionError("the topology of the cluster is not known yet")
        return self._nodes

    def _load(self, failed: ClusterNode | None) -> Exception | None:
        """Load the topology, and return the error if that fails."""
        try:
            if self._nodes is None:
                self._nodes = self._connect()
            else:
                known = {*self._nodes.startup_nodes, *self._nodes.nodes_cache}
                self._nodes.initialize(
                    additional_startup_nodes_info=[
                        (host, port) for host, port in self._seeds if f"{host}:{port}" not in known
                    ],
                    disconnect_startup_nodes_pools=False,
                    last_failed_node_name=None if failed is None else failed.name,
                )
        except Exception as error:
            self._no_load_before = time.monotonic() + RELOAD_PAUSE_SECONDS
            if isinstance(error, RedisError):
                return error
            if isinstance(error.__cause__, RedisError):
                # Why the last node could not be asked: its address is wrong, or the password.
                return error.__cause__
            # Nodes without slots, or that do not know each other yet, send replies that redis-py
            # does not expect.
            return RedisConnectionError(str(error))
        return None


class ClusterClient:
    """The client of a cluster (see `api.storage.client.StoreClient`).

    `connect` returns the client of one node, by host and port.
    """

    publish = "SPUBLISH"

    def __init__(
        self,
        topology: Topology,
        connect: Callable[[str, int], FairClient],
        timeout: float,
        *,
        waits_for_replicas: bool,
    ) -> None:
        self._topology = topology
        self._connect = connect
        self._timeout = timeout
        self._clients: dict[str, FairClient] = {}
        self.waits_for_replicas = waits_for_replicas

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        """See `StoreClient`."""
        deadline = time.monotonic() + self._timeout
        pause = PAUSE_SECONDS
        replies: list[Any] = [None] * len(commands)
        remaining = list(range(len(commands)))
        while True:
            new = self._attempt([commands[at] for at in remaining], deadline, durable=durable)
            for at, reply in zip(remaining, new, strict=True):
                replies[at] = reply
            remaining = [at for at in remaining if isinstance(replies[at], RETRYABLE)]
            if not remaining or time.monotonic() + pause >= deadline:
                return replies if keep_errors else raise_errors(replies)
            time.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        """See `StoreClient`."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                return self._execute_on_masters(words, deadline)
            except RETRYABLE:
                self._refresh(None, deadline)
                if time.monotonic() + PAUSE_SECONDS >= deadline:
                    raise
            time.sleep(PAUSE_SECONDS)

    def servers(self) -> Sequence[FairClient]:
        """See `StoreClient`."""
        return [self._client(node) for node in self._topology.masters()]

    def _execute_on_masters(self, words: Sequence[Any], deadline: float) -> dict[str, Any]:
        """Return the reply of each node that has keys, by its name (HOST:PORT).

        Raises `RedisError` if a node is not a master now, or if it serves no keys because slots
        are not covered.
        """
        commands = [Command("", each) for each in (("ROLE",), ("CLUSTER", "INFO"), tuple(words))]
        masters = self._topology.masters(deadline)
        by_node = run_all([partial(self._execute_on, node, commands) for node in masters])
        for role, state, _ in map(raise_errors, by_node):
            if role[0] != b"master":
                raise RedisConnectionError("a node is not a master any more")
            if b"cluster_state:ok" not in state:
                raise ClusterDownError("a node serves no keys")
        return {node.name: reply for node, (_, _, reply) in zip(masters, by_node, strict=True)}

    def _attempt(self, commands: Sequence[Command], deadline: float, *, durable: bool) -> list[Any]:
        """Return the replies of the nodes that have the keys, errors among them.

        After an error that a retry may solve, the topology is loaded again.
        """
        replies: list[Any] = [None] * len(commands)
        by_node: dict[ClusterNode, list[int]] = defaultdict(list)
        for at, command in enumerate(commands):
            try:
                by_node[self._topology.node(command.key, deadline)].append(at)
            except RedisError as error:
                replies[at] = error
        node_replies = run_all(
            [
                partial(self._execute_on, node, [commands[at] for at in indexes], durable=durable)
                for node, indexes in by_node.items()
            ]
        )
        failed: ClusterNode | None = None
        for (node, indexes), of_node in zip(by_node.items(), node_replies, strict=True):
            for at, reply in zip(indexes, of_node, strict=True):
                replies[at] = reply
                failed = node if isinstance(reply, UNREACHABLE) else failed
        # An exhausted pool says nothing of the node.
        wrong = [each for each in replies if isinstance(each, RETRYABLE)]
        if not all(isinstance(each, PoolExhausted) for each in wrong):
            self._refresh(failed, deadline)
        return replies

    def _execute_on(
        self, node: ClusterNode, commands: Sequence[Command], *, durable: bool = False
    ) -> list[Any]:
        """Return the replies of a node, errors among them.

        A command about a slot that is being moved to another node is sent there if the node asks
        for it.
        """
        replies = self._send(node, commands, durable=durable)
        for index, reply in enumerate(replies):
            if isinstance(reply, AskError) and not isinstance(reply, MovedError):
                target = self._topology.find(ClusterNode(reply.host, reply.port).name)
                if target is not None:
                    # With its source: a retry for an unknown script would lack ASKING.
                    redirected = [Command("", ("ASKING",)), commands[index].with_source()]
                    replies[index] = self._send(target, redirected, durable=durable)[1]
        return replies

    def _send(self, node: ClusterNode, commands: Sequence[Command], *, durable: bool) -> list[Any]:
        try:
            return self._client(node).execute(commands, durable=durable, keep_errors=True)
        except RedisError as error:
            return [error] * len(commands)

    def _client(self, node: ClusterNode) -> FairClient:
        client = self._clients.get(node.name)
        if client is None:
            # Drop the clients of nodes that have left the cluster.
            self._clients = {
                name: each for name, each in self._clients.items() if self._topology.find(name)
            }
            client = self._clients[node.name] = self._connect(node.host, node.port)
        return client

    def _refresh(self, failed: ClusterNode | None, deadline: float) -> None:
        # If no node replies, the next attempt raises the error.
        with contextlib.suppress(RedisError):
            self._topology.refresh(failed, deadline)


def run_all(functions: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run functions that wait for I/O concurrently, and return their results."""
    if not functions:
        return []
    *others, own = functions
    # In the context of this request, so that they count for its caller.
    greenlets = [gevent.spawn(copy_context().run, function) for function in others]
    result = own()
    gevent.joinall(greenlets, raise_error=True)
    return [*[each.value for each in greenlets], result]
