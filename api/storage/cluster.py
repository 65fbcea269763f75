"""The link to a Redis or Valkey cluster.

Which node has which key is redis-py's to know; here commands are sent to the nodes that have
their keys, all at once, and again when a node has moved its slots, has failed or is being
replaced by its replica, until the time is up. To each node there is a link of its own, of which
every caller has a share, so that one that stands still keeps nobody waiting who needs the others.
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

from api.storage.client import UNREACHABLE, Command, FairClient, PoolExhausted, refuse_errors

Answer = TypeVar("Answer")

PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.4

IN_VAIN_SECONDS = 0.5
"""So long nobody asks again who has which key after nobody could say."""

PASSING = (MovedError, AskError, ClusterDownError, TryAgainError, ReadOnlyError, *UNREACHABLE)
"""What is worth asking again after."""


class Topology:
    """Which node has which key. Loaded when it is first needed, and again when it was wrong.

    `named`: the nodes that were named to us, to be asked if none that was found answers. That
    may take long when many do not answer, so it is done once for all who need it, each of whom
    waits no longer than until a time of its own, or for its `patience` (s); and when it was in
    vain it is not done again at once.
    """

    def __init__(
        self,
        connect: Callable[[], NodesManager],
        named: Sequence[tuple[str, int]],
        patience: float,
    ) -> None:
        self._connect = connect
        self._named = list(named)
        self._patience = patience
        self._nodes: NodesManager | None = None
        self._loading: gevent.Greenlet | None = None
        self._in_vain: RedisError | None = None
        self._in_vain_until = 0.0

    def node(self, key: str, until: float | None = None) -> ClusterNode:
        """The node that has a key. Raises `RedisError`."""
        nodes = self._known(until)
        try:
            return nodes.get_node_from_slot(key_slot(key.encode()))
        except SlotNotCoveredError as error:
            raise _as_redis_error(error) from error

    def masters(self, until: float | None = None) -> list[ClusterNode]:
        """All nodes that have keys. Raises `RedisError`."""
        masters = list(self._known(until).get_nodes_by_server_type("primary"))
        if not masters:
            raise RedisConnectionError("no node of the cluster has keys")
        return masters

    def has(self, name: str) -> bool:
        """Whether a node of this name was found when it was last looked for."""
        return self._nodes is not None and self._nodes.get_node(node_name=name) is not None

    def node_at(self, host: str, port: int) -> ClusterNode | None:
        """The node at this address, if it is known."""
        return self._known(None).get_node(host=host, port=port)

    def refresh(self, failed: ClusterNode | None = None, until: float | None = None) -> None:
        """Ask the cluster again, at last the node that has failed. Raises `RedisError`."""
        self._load(None if failed is None else failed.name, until)

    def _known(self, until: float | None) -> NodesManager:
        if self._nodes is None:
            self._load(None, until)
        if self._nodes is None:
            raise RedisConnectionError("nobody has said yet who has which key")
        return self._nodes

    def _load(self, failed: str | None, until: float | None) -> None:
        """Wait for the loading that is under way, or else a new one."""
        now = time.monotonic()
        if self._in_vain is not None and now < self._in_vain_until:
            # What was kept of those who were told before would only grow.
            raise self._in_vain.with_traceback(None)
        if self._loading is None:
            # Of its own: no request that is given up takes it along.
            self._loading = gevent.spawn(self._load_for_all, failed)
        loading = self._loading
        loading.join(self._patience if until is None else max(until - now, 0))
        if not loading.ready():
            raise RedisTimeoutError("the cluster does not say in time who has which key")
        if loading.value is not None:
            raise loading.value.with_traceback(None)

    def _load_for_all(self, failed: str | None) -> RedisError | None:
        """Load; why it was in vain."""
        why: RedisError | None = None
        try:
            self._load_now(failed)
        except Exception as error:
            # Nodes that know of no slots, or not yet of each other, say much that redis-py
            # does not expect.
            why = _as_redis_error(error)
        self._in_vain = why
        self._in_vain_until = time.monotonic() + IN_VAIN_SECONDS
        self._loading = None
        return why

    def _load_now(self, failed: str | None) -> None:
        if self._nodes is None:
            self._nodes = self._connect()
            return
        known = {*self._nodes.startup_nodes, *self._nodes.nodes_cache}
        self._nodes.initialize(
            additional_startup_nodes_info=[
                (host, port) for host, port in self._named if f"{host}:{port}" not in known
            ],
            disconnect_startup_nodes_pools=False,
            last_failed_node_name=failed,
        )


class ClusterClient:
    """The link to a cluster (see `api.storage.client.Link`).

    `server` makes the link to one of its nodes.
    """

    publish = "SPUBLISH"

    def __init__(
        self,
        topology: Topology,
        server: Callable[[str, int], FairClient],
        timeout: float,
        *,
        waits_for_replicas: bool,
    ) -> None:
        self._topology = topology
        self._server = server
        self._timeout = timeout
        self._links: dict[str, FairClient] = {}
        self.waits_for_replicas = waits_for_replicas

    def ask(
        self, commands: Sequence[Command], *, durable: bool = False, apart: bool = False
    ) -> list[Any]:
        """See `api.storage.client.Link`."""
        until = time.monotonic() + self._timeout
        pause = PAUSE_SECONDS
        answers: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        while True:
            found = self._try([commands[at] for at in left], until, durable=durable)
            for at, answer in zip(left, found, strict=True):
                answers[at] = answer
            left = [at for at in left if isinstance(answers[at], PASSING)]
            if not left:
                return refuse_errors(answers, apart=apart)
            if time.monotonic() + pause >= until:
                raise answers[left[0]]
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def everywhere(self, *words: Any) -> list[Any]:
        """See `api.storage.client.Link`."""
        until = time.monotonic() + self._timeout
        while True:
            try:
                return self._ask_masters(words, until)
            except PASSING:
                self._refresh(None, until)
                if time.monotonic() + PAUSE_SECONDS >= until:
                    raise
            time.sleep(PAUSE_SECONDS)

    def _ask_masters(self, words: Sequence[Any], until: float) -> list[Any]:
        """The answer of each node that has keys.

        Raises `RedisError` if one is no master now, or serves no keys as slots have no node.
        """
        asked = [Command("", each) for each in (("ROLE",), ("CLUSTER", "INFO"), tuple(words))]
        masters = self._topology.masters(until)
        found = at_once([partial(self._answers, node, asked) for node in masters])
        for role, state, _ in map(refuse_errors, found):
            if role[0] != b"master":
                raise RedisConnectionError("a node is no master any more")
            if b"cluster_state:ok" not in state:
                raise ClusterDownError("a node serves no keys")
        return [answer for _, _, answer in found]

    def _try(self, commands: Sequence[Command], until: float, *, durable: bool) -> list[Any]:
        """The answers of the nodes that have the keys, errors among them.

        After one that asking again may mend, the nodes are looked for anew.
        """
        by_node: dict[ClusterNode, list[int]] = defaultdict(list)
        try:
            for at, command in enumerate(commands):
                by_node[self._topology.node(command.key, until)].append(at)
        except RedisError as error:
            self._refresh(None, until)
            return [error] * len(commands)
        found = at_once(
            [
                partial(self._answers, node, [commands[at] for at in places], durable=durable)
                for node, places in by_node.items()
            ]
        )
        answers: list[Any] = [None] * len(commands)
        for places, of_node in zip(by_node.values(), found, strict=True):
            for at, answer in zip(places, of_node, strict=True):
                answers[at] = answer
        self._look_through(list(by_node), found, until)
        return answers

    def _look_through(
        self, nodes: Sequence[ClusterNode], found: Sequence[Sequence[Any]], until: float
    ) -> None:
        """Look for the nodes anew, if one has failed or has not what it was asked for."""
        failed: ClusterNode | None = None
        is_wrong = False
        for node, answers in zip(nodes, found, strict=True):
            for answer in answers:
                # A connection that is not free says nothing of the node.
                if isinstance(answer, PASSING) and not isinstance(answer, PoolExhausted):
                    is_wrong = True
                    failed = node if isinstance(answer, UNREACHABLE) else failed
        if is_wrong:
            self._refresh(failed, until)

    def _answers(
        self, node: ClusterNode, commands: Sequence[Command], *, durable: bool = False
    ) -> list[Any]:
        """The answers of a node, errors among them, if need be of that which a slot moves to."""
        answers = self._at(node, commands, durable=durable)
        for at, answer in enumerate(answers):
            if isinstance(answer, AskError) and not isinstance(answer, MovedError):
                there = self._topology.node_at(answer.host, answer.port)
                if there is not None:
                    # Its source goes along: else with a second attempt ASKING would be missing.
                    asked = [Command("", ("ASKING",)), commands[at].with_source()]
                    answers[at] = self._at(there, asked, durable=durable)[1]
        return answers

    def _at(self, node: ClusterNode, commands: Sequence[Command], *, durable: bool) -> list[Any]:
        try:
            return self._link(node).answers(commands, durable=durable)
        except (RedisError, OSError) as error:
            return [_as_redis_error(error)] * len(commands)

    def _link(self, node: ClusterNode) -> FairClient:
        client = self._links.get(node.name)
        if client is None:
            # Those to nodes that have gone for good are not kept.
            self._links = {name: of for name, of in self._links.items() if self._topology.has(name)}
            client = self._links[node.name] = self._server(node.host, node.port)
        return client

    def _refresh(self, failed: ClusterNode | None, until: float) -> None:
        # It may be that no node answers: then the next attempt says so.
        with contextlib.suppress(RedisError):
            self._topology.refresh(failed, until)


def at_once(acts: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """What some functions return, each of which may have to wait."""
    if not acts:
        return []
    *others, own = acts
    # For the same caller, each in a context of its own.
    greenlets = [gevent.spawn(copy_context().run, act) for act in others]
    answer = own()
    gevent.joinall(greenlets, raise_error=True)
    return [*[each.value for each in greenlets], answer]


def _as_redis_error(error: Exception) -> RedisError:
    """What redis-py raises of a cluster that cannot be reached is not always a `RedisError`."""
    if isinstance(error, RedisError):
        return error
    made = RedisConnectionError(str(error))
    made.__cause__ = error
    return made
