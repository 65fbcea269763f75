"""The client of a cluster, on nodes in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import gevent
import pytest
from gevent.event import Event
from redis import RedisError
from redis.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    AuthenticationError,
    MovedError,
    RedisClusterException,
    SlotNotCoveredError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.storage import cluster as module
from api.storage.client import Command, Script
from api.storage.cluster import ClusterClient, Topology
from api.storage.errors import PoolExhausted
from api.storage.fair_client import FairClient

ONE, TWO = ClusterNode("one", 1), ClusterNode("two", 2)
A, B, C = (Command(key, ("GET", key)) for key in "abc")


class FakeManager:
    """What redis-py knows of a cluster: the nodes of the keys a and b; the slot of c is free."""

    def __init__(self) -> None:
        self.nodes = {key_slot(b"a"): ONE, key_slot(b"b"): TWO}
        self.startup_nodes = self.nodes_cache = {ONE.name: ONE, TWO.name: TWO}
        self.moved: dict[int, ClusterNode] = {}
        self.loads: list[Any] = []
        self.failure: Exception | None = None
        self.go_on = Event()
        self.go_on.set()

    def get_node_from_slot(self, slot: int) -> ClusterNode:
        if slot not in self.nodes:
            raise SlotNotCoveredError("not covered")
        return self.nodes[slot]

    def get_nodes_by_server_type(self, server_type: str) -> list[ClusterNode]:
        return list(dict.fromkeys(self.nodes.values()))

    def get_node(self, host: str = "", port: int = 0, node_name: str = "") -> ClusterNode | None:
        return self.nodes_cache.get(node_name or f"{host}:{port}")

    def initialize(self, **options: Any) -> None:
        self.loads.append(options)
        self.go_on.wait()
        if self.failure is not None:
            raise self.failure
        self.nodes |= self.moved


class FakeNode:
    """The client of one node. An exception in `replies` is the reply to the next command."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failure: Exception | None = None
        self.replies: list[Any] = []
        self.sent: list[Command] = []

    def execute(self, commands: Sequence[Command], **options: bool) -> list[Any]:
        self.sent += commands
        if self.failure is not None:
            raise self.failure
        return [self.replies.pop(0) if self.replies else self.name for _ in commands]


class World:
    """A cluster of two nodes and its client."""

    def __init__(self) -> None:
        self.manager = FakeManager()
        self.one, self.two = FakeNode("one"), FakeNode("two")
        self.topology = Topology(
            lambda: cast("NodesManager", self.manager), [("one", 1), ("seed", 9)], 1.0
        )
        self.client = ClusterClient(
            self.topology,
            lambda host, port: cast("FairClient", getattr(self, host)),
            0.1,
            waits_for_replicas=False,
        )


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    return World()


def test_commands_go_to_the_nodes_of_their_keys_and_replies_come_in_order(world: World) -> None:
    assert world.client.execute([B, A, B]) == ["two", "one", "two"]
    assert world.one.sent == [A]
    assert world.manager.loads == []


@pytest.mark.parametrize("failure", [RedisTimeoutError("late"), RedisConnectionError("refused")])
def test_a_node_that_fails_fails_only_the_commands_that_need_it(
    world: World, failure: Exception
) -> None:
    world.one.failure = failure
    assert world.client.execute([A, B], keep_errors=True) == [failure, "two"]
    # The others are not sent again, and the failed node is asked last for the topology.
    assert world.two.sent == [B]
    assert len(world.one.sent) > 1
    assert world.manager.loads[0]["last_failed_node_name"] == ONE.name
    assert world.manager.loads[0]["additional_startup_nodes_info"] == [("seed", 9)]
    with pytest.raises(type(failure)):
        world.client.execute([A, B])


def test_a_slot_without_a_node_fails_only_the_commands_about_it(world: World) -> None:
    uncovered, reply = world.client.execute([C, B], keep_errors=True)
    assert reply == "two"
    assert isinstance(uncovered, RedisConnectionError)
    assert world.two.sent == [B]


def test_a_key_that_has_moved_is_found_on_its_new_node(world: World) -> None:
    slot = key_slot(b"a")
    world.one.replies = [MovedError(f"{slot} two:2")]
    world.manager.moved = {slot: TWO}
    assert world.client.execute([A]) == ["two"]
    assert len(world.manager.loads) == 1


def test_a_command_about_a_slot_on_the_move_is_sent_where_its_node_says(world: World) -> None:
    script = Script("return 1", "sha").call("a")
    world.one.replies = [AskError(f"{key_slot(b'a')} two:2")]
    world.two.replies = ["OK", 1]
    assert world.client.execute([script]) == [1]
    assert [each.words for each in world.two.sent] == [("ASKING",), ("EVAL", "return 1", 1, "a")]
    assert world.manager.loads == []


def test_an_exhausted_pool_says_nothing_of_the_topology(world: World) -> None:
    world.one.replies = [PoolExhausted("no connection is free")]
    assert world.client.execute([A]) == ["one"]
    assert world.manager.loads == []


def test_the_topology_is_loaded_once_for_all_requests_even_if_the_first_is_given_up(
    world: World,
) -> None:
    world.client.execute([A])
    world.manager.go_on.clear()
    requests = [gevent.spawn(world.topology.refresh) for _ in range(5)]
    gevent.sleep(0)
    requests.pop(0).kill()
    world.manager.go_on.set()
    gevent.joinall(requests, raise_error=True)
    assert len(world.manager.loads) == 1
    world.topology.refresh()
    assert len(world.manager.loads) == 2


def test_a_request_waits_for_the_topology_until_its_own_deadline(world: World) -> None:
    world.client.execute([A])
    world.manager.go_on.clear()
    with pytest.raises(RedisTimeoutError):
        world.topology.refresh(deadline=0.0)
    world.manager.go_on.set()
    world.topology.refresh()
    assert len(world.manager.loads) == 1


def test_a_topology_that_no_node_reports_is_not_asked_for_again_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RELOAD_PAUSE_SECONDS", 0.05)
    world.client.execute([A])
    world.manager.failure = RedisClusterException("no node can be reached")
    for _ in range(3):
        with pytest.raises(RedisError, match="no node can be reached"):
            world.topology.refresh()
    assert len(world.manager.loads) == 1
    gevent.sleep(0.06)
    with pytest.raises(RedisError):
        world.topology.refresh()
    gevent.sleep(0.06)
    world.manager.failure = None
    world.topology.refresh()
    assert len(world.manager.loads) == 3


def test_a_topology_that_no_node_reports_has_the_reason_of_the_last_node(world: World) -> None:
    world.client.execute([A])
    refused = AuthenticationError("invalid username-password pair")
    world.manager.failure = RedisClusterException(f"no node can be reached: {refused}")
    world.manager.failure.__cause__ = refused
    with pytest.raises(AuthenticationError, match="invalid username"):
        world.topology.refresh()


def test_all_masters_are_asked_and_one_that_is_none_any_more_is_asked_again(world: World) -> None:
    ok = [[b"master"], b"cluster_state:ok", "INFO"]
    world.one.replies = [[b"slave"], *ok[1:], *ok]
    world.two.replies = ok + ok
    assert world.client.execute_on_all("INFO") == {"one:1": "INFO", "two:2": "INFO"}
    assert len(world.manager.loads) == 1
    world.one.replies, world.two.replies = [*ok[:1], b"cluster_state:fail", "INFO"] * 99, ok * 99
    with pytest.raises(RedisError):
        world.client.execute_on_all("INFO")


def test_the_client_of_a_node_that_has_left_is_dropped(world: World) -> None:
    made: list[str] = []

    def connect(host: str, port: int) -> FairClient:
        made.append(host)
        return cast("FairClient", getattr(world, host))

    client = ClusterClient(world.topology, connect, 0.1, waits_for_replicas=False)
    client.execute([A])
    world.manager.nodes_cache = {TWO.name: TWO}
    client.execute([B])
    client.execute([A])
    client.execute([A])
    assert made == ["one", "two", "one"]
