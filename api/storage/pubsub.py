"""The subscriptions of a worker: which channels are wanted, and what was heard on them.

There is a line to each place where channels are heard: one for a single server, one for each node
of a cluster that has any. A line is one plain connection, which has no timeout. When it is lost,
or a channel has moved, it is asked again where the channels are, and other lines are opened. A
confirmed subscription is told like a message: whoever waits has to look, since before it nothing
was heard. Nothing here knows what the channels are for.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import gevent
from gevent.event import Event
from redis import RedisError, ResponseError

log = logging.getLogger("ludotheque")

PAUSE_SECONDS = 0.1
"""Between two attempts to connect."""

MESSAGES = (b"message", b"smessage")
CONFIRMATIONS = (b"subscribe", b"ssubscribe")
MOVED_AWAY = b"sunsubscribe"


class Connection(Protocol):
    """What is needed of a connection of redis-py's."""

    def disconnect(self, *args: Any) -> None:
        """Close it."""

    def send_packed_command(self, command: Any) -> None:
        """Send commands."""

    def pack_commands(self, commands: Iterable[Any]) -> Any:
        """Commands as they are sent."""

    def read_response(self) -> Any:
        """Wait for what comes next."""


class Places(Protocol):
    """Where channels are heard (see `api.storage.connect`)."""

    def subscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that subscribe to channels of one place."""

    def unsubscribe(self, channels: Sequence[str]) -> list[tuple[str, ...]]:
        """The commands that unsubscribe from them."""

    def learn(self, error: ResponseError) -> bool:
        """A command was refused; whether there now are others to try instead."""

    def of(self, channel: str) -> str:
        """Where a channel is heard now. Raises `RedisError`."""

    def refresh(self) -> None:
        """Something is not where it was thought to be. Raises `RedisError`."""

    def open(self, place: str) -> Connection:
        """A new connection to a place, open, that waits without end for what comes.

        Raises `RedisError` after a bounded time.
        """


class Subscriptions:
    """Hears what is published on the wanted channels, wherever that is.

    `heard(channel, is_confirmation)` is called for each message and each confirmation,
    `lost(channels)` when nothing is heard on some any more.
    """

    def __init__(
        self,
        places: Places,
        heard: Callable[[str, bool], None],
        lost: Callable[[Iterable[str]], None],
    ) -> None:
        self._places = places
        self._heard = heard
        self._lost = lost
        self._at: dict[str, str] = {}
        self._homeless: set[str] = set()
        self._lines: dict[str, Line] = {}
        self._changed = Event()
        self._is_interrupted = False

    def want(self, channel: str) -> None:
        """Subscribe to a channel."""
        self._homeless.add(channel)
        self._changed.set()

    def drop(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self._homeless.discard(channel)
        line = self._lines.get(self._at.pop(channel, ""))
        if line is not None:
            line.drop(channel)

    def check(self) -> None:
        """Called now and then: a line on which nothing came since the last time is dead."""
        for line in list(self._lines.values()):
            line.check()

    def run(self) -> None:
        """Find the place of each channel, for ever."""
        while True:
            self._changed.wait()
            self._changed.clear()
            while self._homeless:
                try:
                    self._find_places()
                except Exception as error:  # it goes on, whatever happens
                    self._note_interruption(error)
                    gevent.sleep(PAUSE_SECONDS)
                    self._refresh()

    def _find_places(self) -> None:
        for channel in list(self._homeless):
            place = self._places.of(channel)
            # Asking may have taken a while.
            if channel in self._homeless:
                self._homeless.discard(channel)
                self._at[channel] = place
                self._line(place).want(channel)

    def _line(self, place: str) -> Line:
        line = self._lines.get(place)
        if line is None:
            line = self._lines[place] = Line(self._places, place, self._note_heard, self._moved)
            gevent.spawn(self._keep, line)
        return line

    def _keep(self, line: Line) -> None:
        """Hear on a line until it is lost."""
        try:
            line.hear()
        except (RedisError, OSError) as error:
            self._note_interruption(error)
        except Exception:
            log.exception("notifications are interrupted")
        del self._lines[line.place]
        self._tell_lost(line.wanted)
        gevent.sleep(PAUSE_SECONDS)
        self._refresh()
        self._find_again([each for each in line.wanted if self._at.get(each) == line.place])

    def _tell_lost(self, channels: Iterable[str]) -> None:
        # Whatever comes of it: the channels are yet to be found again.
        try:
            self._lost(channels)
        except Exception:
            log.exception("nobody could be told that notifications are interrupted")

    def _note_interruption(self, error: Exception) -> None:
        """Say so once, however often it is tried again until something is heard."""
        if not self._is_interrupted:
            log.warning("notifications are interrupted: %s", type(error).__name__)
        self._is_interrupted = True

    def _note_heard(self, channel: str, is_confirmation: bool) -> None:
        if self._is_interrupted:
            log.info("notifications are heard again")
        self._is_interrupted = False
        self._heard(channel, is_confirmation)

    def _moved(self, channel: str) -> None:
        """The place of a channel hears of it no more."""
        if channel in self._at:
            self._tell_lost([channel])
            gevent.spawn(self._follow, channel)

    def _follow(self, channel: str) -> None:
        gevent.sleep(PAUSE_SECONDS)
        self._refresh()
        self._find_again([channel] if channel in self._at else [])

    def _find_again(self, channels: list[str]) -> None:
        for channel in channels:
            del self._at[channel]
        self._homeless.update(channels)
        self._changed.set()

    def _refresh(self) -> None:
        # Whatever comes of it, here as well.
        with contextlib.suppress(Exception):
            self._places.refresh()


class Line:
    """One connection, from opening it until it is lost, and what is wanted to be heard on it."""

    def __init__(
        self,
        places: Places,
        place: str,
        heard: Callable[[str, bool], None],
        moved: Callable[[str], None],
    ) -> None:
        self.place = place
        self.wanted: set[str] = set()
        self._places = places
        self._heard = heard
        self._moved = moved
        self._new: set[str] = set()
        self._dropped: set[str] = set()
        self._changed = Event()
        self._connection: Connection | None = None
        self._is_alive = True
        self._is_ping_due = False

    def want(self, channel: str) -> None:
        """Subscribe to a channel."""
        self.wanted.add(channel)
        self._new.add(channel)
        self._dropped.discard(channel)
        self._changed.set()

    def drop(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self.wanted.discard(channel)
        self._new.discard(channel)
        self._dropped.add(channel)
        self._changed.set()

    def check(self) -> None:
        """See `Subscriptions.check`."""
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

    def hear(self) -> None:
        """Hear until the connection is lost, which raises `RedisError` or `OSError`."""
        connection = self._places.open(self.place)
        self._connection, self._is_alive = connection, True
        sender = gevent.spawn(self._send, connection)
        try:
            while True:
                self._take(_answer(connection))
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
                connection.send_packed_command(connection.pack_commands(self._changes()))
        except (RedisError, OSError):
            pass
        finally:
            # Whatever was not said is said on the next one.
            connection.disconnect()

    def _changes(self) -> list[tuple[str, ...]]:
        commands: list[tuple[str, ...]] = [("PING",)] if self._is_ping_due else []
        dropped, self._dropped = self._dropped, set()
        new, self._new = self._new, set()
        self._is_ping_due = False
        commands += self._places.unsubscribe(sorted(dropped)) if dropped else []
        commands += self._places.subscribe(sorted(new)) if new else []
        return commands

    def _take(self, answer: Any) -> None:
        self._is_alive = True
        if isinstance(answer, ResponseError) and self._places.learn(answer):
            # Its servers have no such command: said again in the words that they know.
            self._new |= self.wanted
            self._changed.set()
        elif isinstance(answer, Exception):
            raise answer
        elif isinstance(answer, list) and answer[0] in MESSAGES + CONFIRMATIONS:
            self._heard(answer[1].decode(), answer[0] in CONFIRMATIONS)
        elif isinstance(answer, list) and answer[0] == MOVED_AWAY:
            channel = answer[1].decode()
            if channel in self.wanted:
                self.wanted.discard(channel)
                self._moved(channel)


def _answer(connection: Connection) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error
