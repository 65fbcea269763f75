"""The one subscription of a worker: which channels are wanted, and what was heard on them.

It holds one plain connection, which has no timeout, and connects again when that is lost. A
confirmed subscription is told like a message: whoever waits has to look, since before it nothing
was heard. It knows nothing of what the channels are for.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Any, Protocol

import gevent
from gevent.event import Event
from redis import RedisError

log = logging.getLogger("ludotheque")

PAUSE_SECONDS = 0.1
"""Between two attempts to connect."""

CHANNELS_AT_ONCE = 500


class Connection(Protocol):
    """What is needed of a connection of redis-py's."""

    def connect(self) -> None:
        """Open it."""

    def disconnect(self) -> None:
        """Close it."""

    def send_command(self, *args: Any) -> None:
        """Send a command."""

    def read_response(self) -> Any:
        """Wait for what comes next."""


class Subscription:
    """Hears what is published on the wanted channels.

    `heard(channel, is_confirmation)` is called for each message and each confirmation, `lost()`
    when the connection is.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        heard: Callable[[str, bool], None],
        lost: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._heard = heard
        self._lost = lost
        self._wanted: set[str] = set()
        self._new: set[str] = set()
        self._dropped: set[str] = set()
        self._changed = Event()
        self._connection: Connection | None = None
        self._is_alive = True
        self._is_ping_due = False

    def want(self, channel: str) -> None:
        """Subscribe to a channel."""
        self._wanted.add(channel)
        self._new.add(channel)
        self._dropped.discard(channel)
        self._changed.set()

    def drop(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self._wanted.discard(channel)
        self._new.discard(channel)
        self._dropped.add(channel)
        self._changed.set()

    def check(self) -> None:
        """Called now and then: a connection on which nothing came since the last time is dead."""
        connection = self._connection
        if connection is None:
            return
        if self._is_alive:
            # Only one greenlet writes, and it alone may use the connection besides the reader.
            self._is_alive, self._is_ping_due = False, True
            self._changed.set()
        else:
            self._connection = None
            with contextlib.suppress(RedisError, OSError):
                connection.disconnect()

    def run(self) -> None:
        """Hear, for ever."""
        while True:
            try:
                self._hear()
            except (RedisError, OSError) as error:
                log.warning("notifications are interrupted: %s", type(error).__name__)
            except Exception:
                log.exception("notifications are interrupted")
            self._lost()
            gevent.sleep(PAUSE_SECONDS)

    def _hear(self) -> None:
        connection = self._connect()
        connection.connect()
        self._connection, self._is_alive = connection, True
        self._new, self._dropped = set(self._wanted), set()
        self._changed.set()
        sender = gevent.spawn(self._send, connection)
        try:
            while True:
                self._take(connection.read_response())
        finally:
            self._connection = None
            sender.kill()
            connection.disconnect()

    def _send(self, connection: Connection) -> None:
        """Tell the server of changes, many in one command."""
        try:
            while True:
                self._changed.wait()
                if self._connection is not connection:
                    return  # given up: to send would open it again, with nobody to read
                self._changed.clear()
                if self._is_ping_due:
                    self._is_ping_due = False
                    connection.send_command("PING")
                dropped, self._dropped = self._dropped, set()
                new, self._new = self._new, set()
                for command, channels in (("UNSUBSCRIBE", dropped), ("SUBSCRIBE", new)):
                    names = sorted(channels)
                    for at in range(0, len(names), CHANNELS_AT_ONCE):
                        connection.send_command(command, *names[at : at + CHANNELS_AT_ONCE])
        except (RedisError, OSError):
            connection.disconnect()

    def _take(self, answer: Any) -> None:
        self._is_alive = True
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list) and answer[0] in (b"message", b"subscribe"):
            self._heard(answer[1].decode(), answer[0] == b"subscribe")
