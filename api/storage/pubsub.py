"""A worker's subscriptions to channels.

There is one connection without a timeout to each node where channels are heard: one to a single
server, or one to each node of a cluster that has any. When a connection is lost or a channel moves,
the nodes of its channels are looked up again, and the channels are subscribed to there. A confirmed
subscription is reported like a message: messages before it were missed, so the waiters must read.
This module does not know what the channels are for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import gevent
from gevent.event import Event
from redis import RedisError, ResponseError
from redis.connection import ConnectionInterface

from api.observability.logger import log

PAUSE_SECONDS = 0.1
"""Between two attempts to connect."""

MESSAGES = (b"message", b"smessage")
CONFIRMATIONS = (b"subscribe", b"ssubscribe")
MOVED_AWAY = b"sunsubscribe"
"""Sent by a node when the slot of a channel moves to another node (or after our SUNSUBSCRIBE)."""


class ChannelNodes(Protocol):
    """The nodes where channels are heard (see `api.storage.connect`)."""

    def node_of(self, channel: str) -> str:
        """Return the name of the node where a channel is heard now. Raises `RedisError`."""

    def refresh(self) -> None:
        """Look up the nodes again, after one was wrong. Raises `RedisError`."""

    def connect(self, node: str) -> ConnectionInterface:
        """Open a new connection to a node, on which reading has no timeout.

        Raises `RedisError` after a bounded time.
        """

    def commands(self, name: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the commands that SUBSCRIBE to channels of one node, or UNSUBSCRIBE from them."""

    def fall_back(self, error: ResponseError) -> bool:
        """Return whether other commands are to be used from now on, as these were refused."""


class Subscriptions:
    """Keeps the subscriptions to a set of channels, wherever they are heard.

    `on_message(channel, is_confirmation)` is called for each message and each confirmation,
    `on_lost(channels)` when channels are not heard any more.
    """

    def __init__(
        self,
        nodes: ChannelNodes,
        on_message: Callable[[str, bool], None],
        on_lost: Callable[[Iterable[str]], None],
    ) -> None:
        self._nodes = nodes
        self._on_message = on_message
        self._on_lost = on_lost
        self._node_of: dict[str, str] = {}
        self._unassigned: set[str] = set()
        self._listeners: dict[str, Listener] = {}
        self._changed = Event()
        self._is_interrupted = False

    def subscribe(self, channel: str) -> None:
        """Subscribe to a channel, as soon as that is possible."""
        self._unassigned.add(channel)
        self._changed.set()

    def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self._unassigned.discard(channel)
        listener = self._listeners.get(self._node_of.pop(channel, ""))
        if listener is not None:
            listener.unsubscribe(channel)

    def check(self) -> None:
        """Close connections that are dead. Call this at regular intervals.

        A connection is dead on which nothing arrived since the last call, not even the reply to
        the PING that this sends.
        """
        for listener in list(self._listeners.values()):
            listener.check()

    def run(self) -> None:
        """Assign channels to nodes, forever."""
        while True:
            self._changed.wait()
            self._changed.clear()
            while self._unassigned:
                try:
                    self._assign()
                except Exception as error:  # no error may end the subscriptions
                    self._note_interruption(error)
                    gevent.sleep(PAUSE_SECONDS)
                    self._refresh()

    def _assign(self) -> None:
        """Assign all channels whose nodes are known; raise the error of the last other one."""
        failure: Exception | None = None
        for channel in list(self._unassigned):
            try:
                node = self._nodes.node_of(channel)
            except Exception as error:
                failure = error
                continue
            # The lookup may have taken a while, and the channel may not be wanted any more.
            if channel in self._unassigned:
                self._unassigned.discard(channel)
                self._node_of[channel] = node
                self._listener(node).subscribe(channel)
        if failure is not None:
            raise failure

    def _listener(self, node: str) -> Listener:
        listener = self._listeners.get(node)
        if listener is None:
            listener = Listener(self._nodes, node, self._heard, self._moved)
            self._listeners[node] = listener
            gevent.spawn(self._listen, listener)
        return listener

    def _listen(self, listener: Listener) -> None:
        """Run a listener until its connection is lost, then assign its channels again."""
        try:
            listener.run()
        except (RedisError, OSError) as error:
            self._note_interruption(error)
        except Exception:
            log.exception("notifications are interrupted")
        del self._listeners[listener.node]
        self._report_lost(listener.channels)
        gevent.sleep(PAUSE_SECONDS)
        self._refresh()
        self._reassign([c for c in listener.channels if self._node_of.get(c) == listener.node])

    def _report_lost(self, channels: Iterable[str]) -> None:
        # The channels must be assigned again, even if this fails.
        try:
            self._on_lost(channels)
        except Exception:
            log.exception("lost subscriptions could not be reported")

    def _note_interruption(self, error: Exception) -> None:
        """Log an interruption once, however many attempts to connect fail."""
        if not self._is_interrupted:
            log.warning("notifications are interrupted: %s", type(error).__name__)
        self._is_interrupted = True

    def _heard(self, channel: str, is_confirmation: bool) -> None:
        if self._is_interrupted:
            log.info("notifications are heard again")
        self._is_interrupted = False
        self._on_message(channel, is_confirmation)

    def _moved(self, channel: str) -> None:
        """Follow a channel that its node does not have any more."""
        if channel in self._node_of:
            self._report_lost([channel])
            gevent.spawn(self._follow, channel)

    def _follow(self, channel: str) -> None:
        gevent.sleep(PAUSE_SECONDS)
        self._refresh()
        self._reassign([channel] if channel in self._node_of else [])

    def _reassign(self, channels: list[str]) -> None:
        for channel in channels:
            del self._node_of[channel]
        self._unassigned.update(channels)
        self._changed.set()

    def _refresh(self) -> None:
        # If this fails, the next attempt to assign channels fails or refreshes again.
        with contextlib.suppress(Exception):
            self._nodes.refresh()


class Listener:
    """One connection to a node, and the channels that are to be heard on it."""

    def __init__(
        self,
        nodes: ChannelNodes,
        node: str,
        on_message: Callable[[str, bool], None],
        on_moved: Callable[[str], None],
    ) -> None:
        self.node = node
        self.channels: set[str] = set()
        self._nodes = nodes
        self._on_message = on_message
        self._on_moved = on_moved
        self._to_subscribe: set[str] = set()
        self._to_unsubscribe: set[str] = set()
        self._changed = Event()
        self._connection: ConnectionInterface | None = None
        self._is_alive = True
        self._is_ping_due = False

    def subscribe(self, channel: str) -> None:
        """Subscribe to a channel."""
        self.channels.add(channel)
        self._to_subscribe.add(channel)
        self._to_unsubscribe.discard(channel)
        self._changed.set()

    def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self.channels.discard(channel)
        self._to_subscribe.discard(channel)
        self._to_unsubscribe.add(channel)
        self._changed.set()

    def check(self) -> None:
        """See `Subscriptions.check`."""
        connection = self._connection
        if connection is None:
            return
        if self._is_alive:
            # The sender pings, as no other greenlet may write to the connection.
            self._is_alive, self._is_ping_due = False, True
            self._changed.set()
        else:
            self._connection = None
            with contextlib.suppress(RedisError, OSError):
                connection.disconnect()

    def run(self) -> None:
        """Listen until the connection is lost, which raises `RedisError` or `OSError`."""
        connection = self._nodes.connect(self.node)
        self._connection, self._is_alive = connection, True
        sender = gevent.spawn(self._send, connection)
        try:
            while True:
                self._handle(_read(connection))
        finally:
            self._connection = None
            sender.kill()
            connection.disconnect()

    def _send(self, connection: ConnectionInterface) -> None:
        """Send changes of the subscriptions, many in one write."""
        try:
            while True:
                self._changed.wait()
                if self._connection is not connection:
                    return  # closed by `check`; sending would open it again without a reader
                self._changed.clear()
                connection.send_packed_command(connection.pack_commands(self._commands()))
        except (RedisError, OSError):
            pass  # the channels are subscribed to on the next connection
        finally:
            connection.disconnect()

    def _commands(self) -> list[tuple[str, ...]]:
        commands: list[tuple[str, ...]] = [("PING",)] if self._is_ping_due else []
        old, self._to_unsubscribe = self._to_unsubscribe, set()
        new, self._to_subscribe = self._to_subscribe, set()
        self._is_ping_due = False
        commands += self._nodes.commands("UNSUBSCRIBE", sorted(old))
        commands += self._nodes.commands("SUBSCRIBE", sorted(new))
        return commands

    def _handle(self, reply: Any) -> None:
        self._is_alive = True
        if isinstance(reply, ResponseError) and self._nodes.fall_back(reply):
            self._to_subscribe |= self.channels
            self._changed.set()
        elif isinstance(reply, Exception):
            raise reply
        elif isinstance(reply, list) and reply[0] in MESSAGES + CONFIRMATIONS:
            self._on_message(reply[1].decode(), reply[0] in CONFIRMATIONS)
        elif isinstance(reply, list) and reply[0] == MOVED_AWAY:
            channel = reply[1].decode()
            if channel in self.channels:
                self.channels.discard(channel)
                self._on_moved(channel)


def _read(connection: ConnectionInterface) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error
