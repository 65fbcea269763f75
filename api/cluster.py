"""The link to a Redis or Valkey cluster.

Which node has which key is redis-py's to know; here commands are sent to the nodes that have
their keys, all at once, and again when a node has moved its slots, has failed or is being
replaced by its replica, until the time is up.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import gevent
from redis import RedisError
from redis.cluster import ClusterNode, RedisCluster
from redis.connection import ConnectionPool
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    ReadOnlyError,
    RedisClusterException,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.link import (
    UNREACHABLE,
    Command,
    NoneIsFree,
    Replicas,
    borrowed,
    confirm,
    is_about_data,
    receive,
    refuse_errors,
    send,
    with_scripts,
)

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
    waits no longer than its `patience` (s); and when it was in vain it is not done again at once.
    """

    def __init__(
        self,
        connect: Callable[[], RedisCluster],
        named: Sequence[tuple[str, int]],
        patience: float,
    ) -> None:
        self._connect = connect
        self._named = list(named)
        self._patience = patience
        self._cluster: RedisCluster | None = None
        self._loading: gevent.Greenlet | None = None
        self._in_vain: RedisError | None = None
        self._in_vain_until = 0.0

    def node(self, key: str) -> ClusterNode:
        """The node that has a key. Raises `RedisError`."""
        with _as_redis_error():
            return cast("ClusterNode", self._known().get_node_from_key(key))

    def masters(self) -> list[ClusterNode]:
        """All nodes that have keys. Raises `RedisError`."""
        with _as_redis_error():
            return list(self._known().get_primaries())

    def pool(self, node: ClusterNode) -> ConnectionPool:
        """The connections to a node."""
        with _as_redis_error():
            return self._known().get_redis_connection(node).connection_pool

    def node_at(self, host: str, port: int) -> ClusterNode | None:
        """The node at this address, if it is known."""
        return cast("ClusterNode | None", self._known().get_node(host=host, port=port))

    def refresh(self, failed: ClusterNode | None = None) -> None:
        """Ask the cluster again, at last the node that has failed. Raises `RedisError`."""
        self._load(None if failed is None else failed.name)

    def _known(self) -> RedisCluster:
        if self._cluster is None:
            self._load(None)
        assert self._cluster is not None
        return self._cluster

    def _load(self, failed: str | None) -> None:
        """Wait for the loading that is under way, or else a new one."""
        if self._in_vain is not None and time.monotonic() < self._in_vain_until:
            # What was kept of those who were told before would only grow.
            raise self._in_vain.with_traceback(None)
        if self._loading is None:
            # Of its own: no request that is given up takes it along.
            self._loading = gevent.spawn(self._load_for_all, failed)
        loading = self._loading
        loading.join(self._patience)
        if not loading.ready():
            raise RedisTimeoutError("the cluster does not say in time who has which key")
        if loading.value is not None:
            raise loading.value

    def _load_for_all(self, failed: str | None) -> RedisError | None:
        """Load; why it was in vain."""
        why: RedisError | None = None
        try:
            with _as_redis_error():
                self._load_now(failed)
        except RedisError as error:
            why = error
        except OSError as error:
            why = RedisConnectionError(str(error))
        self._in_vain = why
        self._in_vain_until = time.monotonic() + IN_VAIN_SECONDS
        self._loading = None
        return why

    def _load_now(self, failed: str | None) -> None:
        if self._cluster is None:
            self._cluster = self._connect()
            return
        manager = self._cluster.nodes_manager
        known = {*manager.startup_nodes, *manager.nodes_cache}
        manager.initialize(
            additional_startup_nodes_info=[
                (host, port) for host, port in self._named if f"{host}:{port}" not in known
            ],
            disconnect_startup_nodes_pools=False,
            last_failed_node_name=failed,
        )


class ClusterLink:
    """The link to a cluster (see `api.link.Link`)."""

    publish = "SPUBLISH"

    def __init__(self, topology: Topology, replicas: Replicas, timeout: float) -> None:
        self._topology = topology
        self._replicas = replicas
        self._timeout = timeout
        self.waits_for_replicas = replicas.number > 0

    def ask(
        self, commands: Sequence[Command], *, durable: bool = False, apart: bool = False
    ) -> list[Any]:
        """See `api.link.Link`."""
        replicas = self._replicas if durable and self.waits_for_replicas else None
        until = time.monotonic() + self._timeout
        pause = PAUSE_SECONDS
        answers: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        while True:
            error = self._try(commands, left, answers, replicas)
            if error is None:
                return refuse_errors(answers, apart=apart)
            left = [at for at in left if _is_to_be_asked_again(answers[at])]
            if time.monotonic() + pause >= until:
                raise error
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def everywhere(self, *words: Any) -> list[Any]:
        """See `api.link.Link`."""
        until = time.monotonic() + self._timeout
        while True:
            error: RedisError | None = None
            answers: list[Any] = []
            try:
                answers = self._ask_masters(words)
            except PASSING as passing:
                error = passing if isinstance(passing, RedisError) else _unreachable(passing)
            if None not in answers and error is None:
                return answers
            if time.monotonic() + PAUSE_SECONDS >= until:
                raise error or RedisConnectionError("a node is no master any more")
            time.sleep(PAUSE_SECONDS)
            self._refresh(None)

    def _ask_masters(self, words: Sequence[Any]) -> list[Any]:
        """The answer of each node that has keys, None of one that is no master any more."""
        answers = []
        for node in self._topology.masters():
            with borrowed(self._topology.pool(node)) as connection:
                connection.send_command("ROLE")
                connection.send_command(*words)
                role, answer = connection.read_response(), connection.read_response()
                answers.append(answer if role[0] == b"master" else None)
        return answers

    def _try(
        self,
        commands: Sequence[Command],
        left: Sequence[int],
        answers: list[Any],
        replicas: Replicas | None,
    ) -> Exception | None:
        """Ask for the answers that are missing; the first error after which to ask again.

        Raises `RedisError` for one that asking again does not mend.
        """
        try:
            exchanges = self._exchanges(commands, left, replicas)
        except RedisError as error:
            for at in left:
                answers[at] = error
            self._refresh(None)
            return error
        with contextlib.ExitStack() as stack:
            # To all nodes first, so that they work at the same time.
            for each in exchanges:
                each.begin(stack, self._topology)
            for each in exchanges:
                for at, answer in zip(each.places, each.end(), strict=True):
                    answers[at] = answer
        return self._look_through(exchanges, commands, answers, replicas)

    def _exchanges(
        self, commands: Sequence[Command], left: Sequence[int], replicas: Replicas | None
    ) -> list[Exchange]:
        """The commands that are left, by the node that has their keys."""
        by_node = defaultdict(list)
        for at in left:
            by_node[self._topology.node(commands[at].key)].append(at)
        return [
            Exchange(node, [commands[at] for at in places], places, replicas)
            # All who need connections to several nodes take them in the same order, so that
            # nobody waits for one who waits for him.
            for node, places in sorted(by_node.items(), key=lambda each: each[0].name)
        ]

    def _look_through(
        self,
        exchanges: Sequence[Exchange],
        commands: Sequence[Command],
        answers: list[Any],
        replicas: Replicas | None,
    ) -> Exception | None:
        passing: Exception | None = None
        is_refreshed = False
        for each in exchanges:
            for at in each.places:
                answer = answers[at]
                if isinstance(answer, AskError) and not isinstance(answer, MovedError):
                    answers[at] = answer = self._ask_there(commands[at], answer, replicas)
                if not isinstance(answer, Exception) or is_about_data(answer):
                    continue
                if not isinstance(answer, PASSING):
                    raise answer
                if passing is None:
                    passing = answer
                if not isinstance(answer, NoneIsFree) and not is_refreshed:
                    is_refreshed = True
                    self._refresh(each.node if isinstance(answer, UNREACHABLE) else None)
        return passing

    def _ask_there(self, command: Command, error: AskError, replicas: Replicas | None) -> Any:
        """The answer of the node that a slot is just moving to."""
        node = self._topology.node_at(error.host, error.port)
        if node is None:
            return error
        # Its source goes along: with a second attempt ASKING would have to be sent again.
        asked = [Command(command.key, ("ASKING",)), command.with_source()]
        there = Exchange(node, asked, [0, 1], replicas)
        with contextlib.ExitStack() as stack:
            there.begin(stack, self._topology)
            return there.end()[1]

    def _refresh(self, failed: ClusterNode | None) -> None:
        # It may be that no node answers: then the next attempt says so.
        with contextlib.suppress(RedisError, OSError):
            self._topology.refresh(failed)


class Exchange:
    """Some commands for one node, from sending them to their answers, which may be errors."""

    def __init__(
        self,
        node: ClusterNode,
        commands: Sequence[Command],
        places: Sequence[int],
        replicas: Replicas | None,
    ) -> None:
        self.node = node
        self.places = places
        self._commands = list(commands)
        self._replicas = replicas
        if replicas is not None:
            self._commands.append(replicas.command(commands[0].key))
        self._connection: Any = None
        self._error: Exception | None = None

    def begin(self, stack: contextlib.ExitStack, topology: Topology) -> None:
        """Send them, on a connection that is borrowed until the stack ends."""
        try:
            self._connection = stack.enter_context(borrowed(topology.pool(self.node)))
            send(self._connection, self._commands)
        except UNREACHABLE as error:
            self._fail(error)

    def end(self) -> list[Any]:
        """The answers."""
        if self._error is None:
            try:
                answers = with_scripts(self._ask, self._commands)
            except UNREACHABLE as error:
                self._fail(error)
        if self._error is not None:
            return [self._error] * len(self.places)
        if self._replicas is not None and (why := _unconfirmed(answers.pop(), self._replicas)):
            # Of an answer that is an error already, nothing was written.
            return [each if isinstance(each, Exception) else why for each in answers]
        return answers

    def _ask(self, commands: Sequence[Command]) -> list[Any]:
        if commands is not self._commands:
            send(self._connection, commands)
        return [receive(self._connection) for _ in commands]

    def _fail(self, error: Exception) -> None:
        self._error = error
        if self._connection is not None:
            self._connection.disconnect()


def _is_to_be_asked_again(answer: Any) -> bool:
    return isinstance(answer, Exception) and not is_about_data(answer)


def _unconfirmed(answer: Any, replicas: Replicas) -> Exception | None:
    """Why it is not sure that the replicas have what was written."""
    try:
        (have_it,) = refuse_errors([answer])
        confirm(have_it, replicas)
    except RedisError as why:
        return why
    return None


@contextlib.contextmanager
def _as_redis_error() -> Iterator[None]:
    """redis-py's errors of a cluster that cannot be reached are no `RedisError`: make them one."""
    try:
        yield
    except (RedisClusterException, LookupError) as error:
        # Of a slot that nobody has, it looks for the node in an empty list.
        raise RedisConnectionError(str(error)) from error


def _unreachable(error: Exception) -> RedisError:
    return RedisConnectionError(str(error))
