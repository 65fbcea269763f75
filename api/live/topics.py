"""Topics and waiters: what a request waits for, and how it is woken.

A topic is a game or a player that has waiters. All waiters of a game share the last snapshot of it
and what is rendered from that snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from gevent.event import Event

from api.concurrency.single_flight import SingleFlight
from api.concurrency.waits import Steps, Wait
from api.model.game import Game
from api.storage.games import Fingerprint, StoredGame, game_channel
from api.storage.players import player_channel

IN_FLIGHT_MS = 5000
"""Longer than two reads of the same game can be in flight at the same time."""

Value = TypeVar("Value")

Condition = Callable[[Game | None], bool]
"""Whether a waiter wants to be woken: for this game, or for news of another kind (None)."""


class SharedSnapshot:
    """A snapshot of a game, and what was rendered from it.

    `stored` is None if the game has expired; `now` is the store's time in ms.
    """

    __slots__ = ("_in_flight", "_results", "now", "stored")

    def __init__(self, now: int, stored: StoredGame | None) -> None:
        self.now = now
        self.stored = stored
        self._results: dict[Hashable, Any] = {}
        self._in_flight = SingleFlight[Any]()

    @property
    def game(self) -> Game | None:
        """The game without its state, None if it has expired."""
        return None if self.stored is None else self.stored.game

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the game's content."""
        game = self.game
        return Fingerprint(None, None) if game is None else Fingerprint(game.version, game.commit)

    def is_newer(self, now: int, version: int) -> bool:
        """Return whether this was read later than a version that was read at a time (ms).

        A snapshot with a lower version is usually older, since two reads may have been in flight.
        If the store still has it a while later, a failover has lost the higher version.
        """
        has_more = self.game is not None and self.game.version > version
        return has_more or self.now > now + IN_FLIGHT_MS

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the result of `make`, which is called once for all requests with this key."""
        if key not in self._results:
            self._results[key] = self._in_flight.run(key, make)
        result: Value = self._results[key]
        return result


class Topic:
    """A game or a player, and its waiters.

    `ready` is set while the subscription is confirmed; `left_at` is when the last waiter left.
    """

    __slots__ = ("channel", "id", "left_at", "ready", "waiters")

    def __init__(self, channel: str, id_: str) -> None:
        self.channel = channel
        self.id = id_
        self.waiters: dict[Waiter, Condition] = {}
        self.ready = Event()
        self.left_at = time.monotonic()


class GameTopic(Topic):
    """A game that has waiters.

    Attributes:
        snapshot: The last snapshot, None if the game has to be read first.
        timer: The greenlet that reads the game after its deadline.
        is_settling: Whether the hub is settling the game.
        will_read_again: Whether a later read is planned (see `Hub.read_again_later`).
        fault: The error that keeps the game from being read or settled.
        retry_pause: How long (s) a faulty game is not read.
        retry_at: Until when it is not read.
    """

    __slots__ = (
        "fault",
        "is_settling",
        "retry_at",
        "retry_pause",
        "snapshot",
        "timer",
        "will_read_again",
    )

    def __init__(self, game_id: str) -> None:
        super().__init__(game_channel(game_id), game_id)
        self.snapshot: SharedSnapshot | None = None
        self.timer: Any = None
        self.is_settling = False
        self.will_read_again = False
        self.fault: Exception | None = None
        self.retry_pause = 0.0
        self.retry_at = 0.0

    @property
    def is_set_aside(self) -> bool:
        """Whether the game is faulty and it is too early to read it again."""
        return self.fault is not None and time.monotonic() < self.retry_at


class ReadQueue:
    """Games that have to be read, each once, in the order in which they were added."""

    def __init__(self) -> None:
        self._topics: dict[GameTopic, None] = {}
        self._has_topics = Event()

    def add(self, topic: GameTopic) -> None:
        """Add a game, unless it is in the queue already."""
        self._topics[topic] = None
        self._has_topics.set()

    def take(self, number: int) -> list[GameTopic]:
        """Wait until there are games, and remove at most so many."""
        self._has_topics.wait()
        taken = list(self._topics)[:number]
        for topic in taken:
            del self._topics[topic]
        if not self._topics:
            self._has_topics.clear()
        return taken


class PlayerTopic(Topic):
    """A player with waiters, and the ids of the player's unfinished games, None if unread."""

    __slots__ = ("games",)

    def __init__(self, player_id: str) -> None:
        super().__init__(player_channel(player_id), player_id)
        self.games: frozenset[str] | None = None


class Waiter:
    """A request that waits for one or more topics. Use it in a `with`, or close it."""

    __slots__ = ("_all", "_event", "_is_stopped", "_topics")

    def __init__(self, all_waiters: set[Waiter]) -> None:
        self._all = all_waiters
        self._event = Event()
        self._is_stopped = False
        self._topics: list[Topic] = []
        all_waiters.add(self)

    def watch(self, topic: Topic, condition: Condition) -> None:
        """Be woken from now on by news of a topic that satisfy a condition."""
        topic.waiters[self] = condition
        self._topics.append(topic)

    def leave(self, topic: Topic) -> None:
        """Be woken no more by a topic."""
        topic.waiters.pop(self, None)
        topic.left_at = time.monotonic()
        self._topics.remove(topic)

    def wake(self) -> None:
        """End the present wait, or else the next one at once."""
        self._event.set()

    def stop(self) -> None:
        """End the present wait and every later one at once."""
        self._is_stopped = True
        self._event.set()

    def wait(self, seconds: float) -> Steps[bool]:
        """Wait until woken, at most for so long; return whether it was woken."""
        if not self._is_stopped and not self._event.is_set():
            yield Wait(self._event, max(seconds, 0))
        is_woken = self._is_stopped or self._event.is_set()
        self._event.clear()
        return is_woken

    def close(self) -> None:
        """Leave all topics."""
        for topic in [*self._topics]:
            self.leave(topic)
        self._all.discard(self)

    def __enter__(self) -> Waiter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
