"""Subscriptions follow their channels, on nodes in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import gevent
import pytest
from gevent.queue import Queue
from redis import ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.storage import pubsub
from api.storage.connect import ClusterNodes
from api.storage.pubsub import Listener, Subscriptions

UNKNOWN = ResponseError("unknown command 'SSUBSCRIBE'")


class FakeConnection:
    """A connection to a node that confirms subscriptions."""

    def __init__(self, node: str, *, is_old: bool) -> None:
        self.node = node
        self.is_old = is_old
        self.is_open = True
        self.was_used_after_closing = False
        self.sent: list[tuple[str, ...]] = []
        self.replies: Queue = Queue()

    def pack_commands(self, commands: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return list(commands)

    def send_packed_command(self, command: list[tuple[str, ...]]) -> None:
        self.was_used_after_closing |= not self.is_open
        self.sent += command
        for name, *channels in command:
            if self.is_old and name.startswith("SS"):
                self.replies.put(UNKNOWN)
            elif name == "PING":
                self.replies.put([b"pong", b""])
            else:
                for channel in channels:
                    self.push(name.lower(), channel)

    def push(self, kind: str, channel: str) -> None:
        self.replies.put([kind.encode(), channel.encode(), b""])

    def read_response(self) -> Any:
        reply = self.replies.get()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def disconnect(self, *args: Any) -> None:
        self.is_open = False
        self.replies.put(RedisConnectionError("closed"))


class FakeNodes(ClusterNodes):
    """Nodes of a cluster: where each channel is now, and the connections that were opened."""

    def __init__(self, *, are_old: bool = False) -> None:
        self._is_sharded = True
        self.are_old = are_old
        self.now: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self.connections: list[FakeConnection] = []

    def node_of(self, channel: str) -> str:
        gevent.sleep(0)  # the topology may have to be loaded
        return self.known[channel]

    def refresh(self) -> None:
        self.known = dict(self.now)

    def connect(self, node: str) -> Any:
        self.connections.append(FakeConnection(node, is_old=self.are_old))
        return self.connections[-1]


class World:
    """Subscriptions on such nodes, and what they report."""

    def __init__(self, nodes: FakeNodes) -> None:
        self.nodes = nodes
        self.heard: list[tuple[str, bool]] = []
        self.lost: list[str] = []
        self.when_lost: Callable[[], None] = list
        self.subscriptions = Subscriptions(
            nodes, lambda channel, confirmed: self.heard.append((channel, confirmed)), self._lose
        )
        self.greenlet = gevent.spawn(self.subscriptions.run)

    def _lose(self, channels: Iterable[str]) -> None:
        self.lost += channels
        self.when_lost()

    def place(self, **nodes: str) -> None:
        """Have channels at nodes; the subscriptions know it after a refresh."""
        self.nodes.now.update(nodes)

    def subscribe(self, *channels: str) -> None:
        self.nodes.refresh()
        for channel in channels:
            self.subscriptions.subscribe(channel)
        settle()

    def connection(self, node: str) -> FakeConnection:
        """The last connection to a node."""
        return [each for each in self.nodes.connections if each.node == node][-1]


def settle() -> None:
    """Let all greenlets run until they wait."""
    for _ in range(20):
        gevent.sleep(0)


@pytest.fixture
def make_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    monkeypatch.setattr(pubsub, "PAUSE_SECONDS", 0)
    worlds: list[World] = []

    def make(*, are_old: bool = False) -> World:
        worlds.append(World(FakeNodes(are_old=are_old)))
        return worlds[-1]

    yield make
    for each in worlds:
        each.greenlet.kill()
        for connection in each.nodes.connections:
            connection.disconnect()
    gevent.sleep(0)


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world()


def subscribed(connection: FakeConnection) -> list[Sequence[str]]:
    return [command for command in connection.sent if "SUBSCRIBE" in command[0]]


def test_messages_of_each_node_are_heard_after_the_confirmations(world: World) -> None:
    world.place(a="one", b="two")
    world.subscribe("a", "b")
    world.connection("one").push("smessage", "a")
    world.connection("two").push("smessage", "b")
    settle()
    assert sorted(world.heard[:2]) == [("a", True), ("b", True)]
    assert sorted(world.heard[2:]) == [("a", False), ("b", False)]
    assert world.lost == []


def test_a_channel_that_moves_to_another_node_is_followed(world: World) -> None:
    world.place(a="one", b="one")
    world.subscribe("a", "b")
    world.heard.clear()
    world.place(a="two")
    # A node pushes this when the slot of a channel has moved away.
    world.connection("one").push("sunsubscribe", "a")
    settle()
    assert world.lost == ["a"]
    assert subscribed(world.connection("two")) == [("SSUBSCRIBE", "a")]
    assert world.heard == [("a", True)]
    world.connection("two").push("smessage", "a")
    world.connection("one").push("smessage", "b")
    settle()
    assert sorted(world.heard[1:]) == [("a", False), ("b", False)]


def test_a_channel_that_moves_and_is_no_longer_wanted_is_not_followed(world: World) -> None:
    world.place(a="one")
    world.subscribe("a")
    world.place(a="two")
    world.connection("one").push("sunsubscribe", "a")
    world.subscriptions.unsubscribe("a")
    settle()
    assert [each.node for each in world.nodes.connections] == ["one"]


def test_the_confirmation_of_an_unsubscription_is_not_taken_for_a_move(world: World) -> None:
    world.place(a="one")
    world.subscribe("a")
    world.subscriptions.unsubscribe("a")
    settle()
    assert subscribed(world.connection("one")) == [("SSUBSCRIBE", "a"), ("SUNSUBSCRIBE", "a")]
    assert world.lost == []


def test_the_channels_of_a_lost_connection_are_subscribed_to_where_they_are_now(
    world: World,
) -> None:
    world.place(a="one", b="one", c="two")
    world.subscribe("a", "b", "c")
    first = world.connection("one")
    world.place(b="two")
    first.disconnect()
    settle()
    assert sorted(world.lost) == ["a", "b"]
    assert subscribed(world.connection("one")) == [("SSUBSCRIBE", "a")]
    assert world.connection("one") is not first
    assert subscribed(world.connection("two")) == [("SSUBSCRIBE", "c"), ("SSUBSCRIBE", "b")]


def test_a_channel_without_a_node_keeps_no_other_from_being_heard(world: World) -> None:
    channels = "abcdefgh"
    world.place(**dict.fromkeys(channels, "one"))
    world.subscribe("lost", *channels)
    assert sorted(channel for channel, _ in world.heard) == list(channels)
    world.place(lost="one")
    settle()
    assert ("lost", True) in world.heard


def test_a_connection_on_which_nothing_arrives_between_two_checks_is_replaced(
    world: World,
) -> None:
    world.place(a="one")
    world.subscribe("a")
    first = world.connection("one")
    world.subscriptions.check()
    settle()
    assert ("PING",) in first.sent
    world.subscriptions.check()
    assert first.is_open, "its reply to the PING has arrived"
    world.subscriptions.check()
    assert not first.is_open
    settle()
    assert world.lost == ["a"]
    assert subscribed(world.connection("one")) == [("SSUBSCRIBE", "a")]
    assert world.connection("one") is not first


def test_a_cluster_without_sharded_channels_is_subscribed_to_with_the_old_commands(
    make_world: Callable[..., World],
) -> None:
    world = make_world(are_old=True)
    world.place(a="one")
    world.subscribe("a")
    assert subscribed(world.connection("one")) == [("SSUBSCRIBE", "a"), ("SUBSCRIBE", "a")]
    assert world.heard == [("a", True)]


def test_a_late_confirmation_of_an_unsubscription_does_not_disturb_the_new_subscription(
    world: World,
) -> None:
    world.place(a="one")
    world.subscribe("a")
    world.subscriptions.unsubscribe("a")
    world.place(a="two")
    world.subscribe("a")
    assert subscribed(world.connection("one"))[-1] == ("SUNSUBSCRIBE", "a")
    assert subscribed(world.connection("two")) == [("SSUBSCRIBE", "a")]
    assert world.lost == []


def test_a_channel_that_is_unsubscribed_from_before_it_has_a_node_is_not_subscribed_to(
    world: World,
) -> None:
    world.place(a="one", b="one")
    world.nodes.refresh()
    world.subscriptions.subscribe("a")
    world.subscriptions.unsubscribe("a")
    settle()
    assert world.nodes.connections == []
    world.subscriptions.subscribe("a")
    world.subscriptions.subscribe("b")
    gevent.sleep(0)  # the nodes are being looked up
    world.subscriptions.unsubscribe("a")
    world.subscriptions.unsubscribe("b")
    settle()
    assert len(world.nodes.connections) <= 1
    assert all(subscribed(each) == [] for each in world.nodes.connections)


def test_a_channel_that_is_unsubscribed_from_after_its_connection_is_lost_is_left_out(
    world: World,
) -> None:
    world.place(a="one", b="one")
    world.subscribe("a", "b")
    world.when_lost = lambda: world.subscriptions.unsubscribe("a")
    world.connection("one").disconnect()
    settle()
    assert subscribed(world.connection("one")) == [("SSUBSCRIBE", "b")]


def test_nothing_is_sent_on_a_connection_that_a_check_has_closed(world: World) -> None:
    world.place(a="one", b="one")
    world.subscribe("a")
    first = world.connection("one")
    first.push = lambda kind, channel: None  # type: ignore[method-assign]
    world.subscriptions.check()
    world.subscriptions.check()
    world.subscribe("b")
    assert not first.is_open
    assert not first.was_used_after_closing
    assert sorted(subscribed(world.connection("one"))) == [("SSUBSCRIBE", "a"), ("SSUBSCRIBE", "b")]


@pytest.mark.parametrize(
    ("steps", "sent"),
    [
        (("subscribe", "unsubscribe"), ("SUNSUBSCRIBE", "a")),
        (("unsubscribe", "subscribe"), ("SSUBSCRIBE", "a")),
    ],
)
def test_of_changes_that_are_not_sent_yet_the_last_one_counts(
    steps: tuple[str, ...], sent: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = FakeNodes()
    listener = Listener(nodes, "one", lambda channel, confirmed: None, lambda channel: None)
    for step in steps:
        getattr(listener, step)("a")
    running = gevent.spawn(listener.run)
    settle()
    assert nodes.connections[0].sent == [sent]
    running.kill()
