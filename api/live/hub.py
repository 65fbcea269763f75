"""The hub: who waits for which games and players, and who is to be woken when.

One of it in a worker, with one subscription to each. A signal (a message, a deadline, a
connection that is back, a look taken now and then) marks a game as stale; all that are stale are
looked at in one round trip, what the clock demands is committed, and only then is woken who waits
for what is there now. Whoever waits shares that one look. The hub renders nothing and answers
nobody.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Iterable
from types import TracebackType
from typing import Any, TypeVar

import gevent
from gevent.event import Event
from gevent.lock import Semaphore
from redis import RedisError

from api.concurrency.single_flight import SingleFlight
from api.games.progress import is_due
from api.games.transactions import FULL_SECONDS, Transactions
from api.model.game import Game
from api.observability import metrics
from api.observability.context import note_wait
from api.storage.errors import Unreadable, is_full, log_unreadable
from api.storage.games import Fingerprint, Snapshot, game_channel
from api.storage.indexes import Indexes
from api.storage.players import player_channel
from api.storage.pubsub import ChannelNodes, Subscriptions
from api.storage.store import Store

log = logging.getLogger("ludotheque")

RECHECK_SECONDS = 3.0
"""How long a lost notification can go unnoticed."""

LINGER_SECONDS = 5.0
"""How long a subscription outlives the last who waits: most come again at once."""

PAUSE_SECONDS = 0.1
"""Before the store is asked again after it failed."""

LOOKED_AT_ONCE = 100
SETTLED_AT_ONCE = 2
"""Of many games that are due in one moment the others wait: each begins with work that is not
interrupted, and together that would keep the worker from everything else.
"""

CHECKED_AT_ONCE = 200
WOKEN_AT_ONCE = 25
"""A crowd is woken in parts, so that others get their turn in between."""

FIRST_RETRY_SECONDS = 1.0
LAST_RETRY_SECONDS = 300.0
"""Before a game is looked at again that cannot be read or go on: longer from time to time."""

EARLY_MS = 5
"""A deadline is looked at a little after it, as clocks go differently."""

UNDER_WAY_MS = 5000
"""Longer than two looks at the same game can be under way."""

MAX_WATCHED = 300
"""So many games of a player are watched, its own first: more than it has places."""

Value = TypeVar("Value")
Wants = Callable[[Game | None], bool]


class Shared:
    """One look at a game, and what was made of it for whoever asked first."""

    __slots__ = ("_made", "_making", "found", "now")

    def __init__(self, look: Snapshot) -> None:
        self.now, self.found = look
        self._made: dict[Hashable, Any] = {}
        self._making = SingleFlight[Any]()

    @property
    def game(self) -> Game | None:
        """The game, None if it has expired."""
        return None if self.found is None else self.found.game

    @property
    def mark(self) -> Fingerprint:
        """What was looked at."""
        game = self.game
        return Fingerprint(None, None) if game is None else Fingerprint(game.version, game.commit)

    def is_newer(self, now: int, version: int) -> bool:
        """Whether this is newer than what was seen at a time (ms).

        A lower version is older, as both may have been under way at once; but if it is still
        there a while later, the store has lost something.
        """
        has_more = self.game is not None and self.game.version > version
        return has_more or self.now > now + UNDER_WAY_MS

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` makes, made once for all who ask with this key."""
        if key not in self._made:
            self._made[key] = self._making.run(key, make)
        made: Value = self._made[key]
        return made


class Topic:
    """A game or a player that somebody waits for, and those who do."""

    __slots__ = ("channel", "id", "left_at", "ready", "waiters")

    def __init__(self, channel: str, id_: str) -> None:
        self.channel = channel
        self.id = id_
        self.waiters: dict[Waiter, Wants] = {}
        self.ready = Event()
        self.left_at = time.monotonic()


class GameTopic(Topic):
    """A game: the last look at it, its deadline's timer, whether it is being settled.

    `fault` is why it cannot be looked at or go on, if so; it is set aside for `retry_pause`
    seconds, until `retry_at`.
    """

    __slots__ = (
        "fault",
        "is_doubted",
        "is_settling",
        "look",
        "retry_at",
        "retry_pause",
        "timer",
    )

    def __init__(self, game_id: str) -> None:
        super().__init__(game_channel(game_id), game_id)
        self.look: Shared | None = None
        self.timer: Any = None
        self.is_settling = False
        self.is_doubted = False
        self.fault: Exception | None = None
        self.retry_pause = 0.0
        self.retry_at = 0.0

    @property
    def is_set_aside(self) -> bool:
        """Whether it is too early to look again."""
        return self.fault is not None and time.monotonic() < self.retry_at


class PlayerTopic(Topic):
    """A player: the games that may concern it, as they were last read."""

    __slots__ = ("games",)

    def __init__(self, player_id: str) -> None:
        super().__init__(player_channel(player_id), player_id)
        self.games: frozenset[str] | None = None


class Waiter:
    """One request that waits. Use it in a `with`, or close it."""

    __slots__ = ("_event", "_hub", "_topics")

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._event = Event()
        self._topics: list[Topic] = []

    def watch(self, topic: Topic, wants: Wants) -> None:
        """From now on, be woken by what happens there if it is wanted."""
        topic.waiters[self] = wants
        self._topics.append(topic)

    def wake(self) -> None:
        """There is something to look at."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Until woken, or so long; what woke before counts too."""
        if not self._hub.is_stopping:
            self._event.wait(max(seconds, 0))
        self._event.clear()

    def close(self) -> None:
        """Wait no more."""
        for topic in self._topics:
            topic.waiters.pop(self, None)
            topic.left_at = time.monotonic()
        self._topics.clear()
        self._hub.waiters.discard(self)

    def __enter__(self) -> Waiter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Hub:
    """Wakes who waits. Its greenlets start with the first who does."""

    def __init__(
        self, store: Store, indexes: Indexes, transactions: Transactions, places: ChannelNodes
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.transactions = transactions
        self.waiters: set[Waiter] = set()
        self.is_stopping = False
        self._subscriptions = Subscriptions(places, self._heard, self._lost)
        self._topics: dict[str, Topic] = {}
        self._stale: dict[str, GameTopic] = {}
        self._has_stale = Event()
        self._greenlets: list[gevent.Greenlet] = []
        self._settling = Semaphore(SETTLED_AT_ONCE)
        self._clock = 0.0

    # --- For those who wait --------------------------------------------------------------

    def waiter(self) -> Waiter:
        """Somebody who is going to wait."""
        if not self._greenlets:
            tasks = (self._subscriptions.run, self._look_for_ever, self._recheck_for_ever)
            self._greenlets = [gevent.spawn(task) for task in tasks]
        note_wait()
        waiter = Waiter(self)
        self.waiters.add(waiter)
        return waiter

    def game(self, game_id: str, *, is_well: bool = False) -> GameTopic:
        """The topic of a game; `is_well`: whoever asks has just read it."""
        topic = self._topics.get(game_channel(game_id))
        if topic is None:
            topic = self._add(GameTopic(game_id))
        assert isinstance(topic, GameTopic)
        if is_well:
            topic.fault = None
        if topic.look is None and topic.ready.is_set() and not topic.is_set_aside:
            self._mark_stale(topic)
        return topic

    def doubt(self, topic: GameTopic) -> None:
        """The last look may be older than what somebody has seen, or the store has lost that.

        If it is the same a while later, it is the latter.
        """
        if not topic.is_doubted:
            topic.is_doubted = True
            gevent.spawn_later(UNDER_WAY_MS / 1000, self._look_again, topic)

    def player(self, player_id: str) -> PlayerTopic:
        """The topic of a player."""
        topic = self._topics.get(player_channel(player_id))
        if topic is None:
            topic = self._add(PlayerTopic(player_id))
        assert isinstance(topic, PlayerTopic)
        return topic

    def games_of(self, topic: PlayerTopic) -> frozenset[str]:
        """The ids of the games that may concern a player. Raises `RedisError`."""
        (games,) = self.indexes.unfinished([topic.id], MAX_WATCHED)
        self._note(topic, games)
        return games

    def now(self) -> int:
        """The store's time (ms), as far as can be told without asking."""
        return int(self._clock + time.monotonic() * 1000)

    def see_clock(self, now: int) -> None:
        """The store's time has just been read."""
        self._clock = now - time.monotonic() * 1000

    def stop(self) -> None:
        """Nobody waits any more."""
        self.is_stopping = True
        for topic in self._topics.values():
            topic.ready.set()
        for waiter in list(self.waiters):
            waiter.wake()

    # --- What was heard ------------------------------------------------------------------

    def _add(self, topic: Topic) -> Topic:
        self._topics[topic.channel] = topic
        self._subscriptions.subscribe(topic.channel)
        return topic

    def _heard(self, channel: str, is_confirmation: bool) -> None:
        topic = self._topics.get(channel)
        if topic is None:
            return
        if is_confirmation:
            topic.ready.set()
        if isinstance(topic, GameTopic):
            self._mark_stale(topic)
        else:
            self._wake_all(topic)

    def _lost(self, channels: Iterable[str]) -> None:
        """A connection was lost: what was confirmed is so no more."""
        for channel in channels:
            if channel in self._topics:
                self._topics[channel].ready.clear()

    def _mark_stale(self, topic: GameTopic) -> None:
        if not topic.waiters:
            # Whoever comes next has to look first.
            topic.look = None
        self._stale[topic.channel] = topic
        self._has_stale.set()

    def _look_again(self, topic: GameTopic) -> None:
        topic.is_doubted = False
        self._mark_stale(topic)

    # --- Looking ---------------------------------------------------------------------------

    def _look_for_ever(self) -> None:
        while True:
            self._has_stale.wait()
            self._has_stale.clear()
            while self._stale:
                batch = [self._stale.pop(channel) for channel in list(self._stale)[:LOOKED_AT_ONCE]]
                for topic in batch:
                    if not topic.waiters:
                        topic.look = None
                try:
                    self._look_at([topic for topic in batch if topic.waiters])
                except Exception as error:
                    self._failed("a look", error)
                    for topic in batch:
                        self._stale[topic.channel] = topic
                    gevent.sleep(PAUSE_SECONDS)

    def _look_at(self, topics: list[GameTopic]) -> None:
        if not topics:
            return
        looks = self.store.snapshots([topic.id for topic in topics])
        for topic, look in zip(topics, looks, strict=True):
            try:
                self._take(topic, look)
            except Exception as error:
                # Whatever it is, it is this game's, and nobody else is to wait for it.
                self._set_aside(topic, error)

    def _take(self, topic: GameTopic, look: Snapshot | Unreadable) -> None:
        if isinstance(look, Unreadable):
            raise look
        self.see_clock(look.now)
        if look.found is not None and is_due(look.found.game, look.now):
            if not topic.is_settling:
                topic.is_settling = True
                gevent.spawn(self._settle, topic, look)
        else:
            self._show(topic, look)

    def _set_aside(self, topic: GameTopic, error: Exception) -> None:
        """A game cannot be looked at or go on: whoever waits for it is told, others are not."""
        if topic.fault is None:
            log_unreadable(topic.id, error)
        topic.fault = error
        pause = max(2 * topic.retry_pause, FIRST_RETRY_SECONDS)
        topic.retry_pause = min(pause, LAST_RETRY_SECONDS)
        topic.retry_at = time.monotonic() + topic.retry_pause
        topic.look = None
        self._set_timer(topic, None)
        self._wake_all(topic)

    def _settle(self, topic: GameTopic, look: Snapshot) -> None:
        try:
            with self._settling:
                self._settle_now(topic, look)
        except RedisError as error:
            self._failed("a deadline", error)
            gevent.sleep(FULL_SECONDS if is_full(error) else PAUSE_SECONDS)
            self._mark_stale(topic)
        except Exception as error:
            self._set_aside(topic, error)
        finally:
            topic.is_settling = False

    def _settle_now(self, topic: GameTopic, look: Snapshot) -> None:
        assert look.found is not None
        settled = self.transactions.settle(look.found, look.now)
        if settled is not None and (
            topic.look is None or topic.look.mark.version == look.found.game.version
        ):
            self._show(topic, Snapshot(look.now, settled))
        else:
            # Somebody else has settled it, or has looked meanwhile and may have seen more.
            self._mark_stale(topic)

    def _show(self, topic: GameTopic, look: Snapshot) -> None:
        """Let those who wait for a game have what was found."""
        topic.look = Shared(look)
        game = topic.look.game
        self._set_timer(topic, game)
        wanting = [waiter for waiter, wants in topic.waiters.items() if wants(game)]
        topic.fault, topic.retry_pause = None, 0.0
        if len(wanting) <= WOKEN_AT_ONCE:
            _wake(wanting)
        else:
            gevent.spawn(_wake, wanting)

    def _set_timer(self, topic: GameTopic, game: Game | None) -> None:
        if topic.timer is not None:
            topic.timer.kill(block=False)
            topic.timer = None
        if game is not None and game.deadline is not None:
            wait = max(game.deadline - self.now(), 0) + EARLY_MS
            topic.timer = gevent.spawn_later(wait / 1000, self._mark_stale, topic)

    def _note(self, topic: PlayerTopic, games: frozenset[str]) -> None:
        """Whose games are not what they were has to look."""
        if topic.games is not None and topic.games != games:
            self._wake_all(topic)
        topic.games = games

    def _wake_all(self, topic: Topic) -> None:
        _wake([waiter for waiter, wants in topic.waiters.items() if wants(None)])

    # --- Looking again, now and then --------------------------------------------------------

    def _recheck_for_ever(self) -> None:
        while True:
            begin = time.monotonic()
            try:
                self._recheck_all(begin)
            except Exception as error:
                self._failed("a check", error)
            gevent.sleep(max(begin + RECHECK_SECONDS - time.monotonic(), PAUSE_SECONDS))

    def _recheck_all(self, begin: float) -> None:
        self._forget_the_left()
        self._subscriptions.check()
        topics = list(self._topics.values())
        parts = [topics[at : at + CHECKED_AT_ONCE] for at in range(0, len(topics), CHECKED_AT_ONCE)]
        for number, part in enumerate(parts):
            try:
                self._recheck([topic for topic in part if topic.waiters])
            except Exception as error:
                # The other parts are to have their look all the same.
                self._failed("a check", error)
            # Spread over the time that there is, so that nobody notices.
            until = begin + RECHECK_SECONDS * (number + 1) / len(parts)
            gevent.sleep(max(until - time.monotonic(), 0.001))

    def _recheck(self, topics: list[Topic]) -> None:
        games = [
            topic for topic in topics if isinstance(topic, GameTopic) and not topic.is_set_aside
        ]
        players = [topic for topic in topics if isinstance(topic, PlayerTopic)]
        if games:
            for game, mark in zip(
                games, self.store.fingerprints([each.id for each in games]), strict=True
            ):
                if game.look is None or game.look.mark != mark:
                    self._mark_stale(game)
        if players:
            found = self.indexes.unfinished([each.id for each in players], MAX_WATCHED)
            for player, ids in zip(players, found, strict=True):
                self._note(player, ids)

    def _forget_the_left(self) -> None:
        before = time.monotonic() - LINGER_SECONDS
        for topic in list(self._topics.values()):
            if not topic.waiters and topic.left_at < before:
                del self._topics[topic.channel]
                self._subscriptions.unsubscribe(topic.channel)
                if isinstance(topic, GameTopic):
                    self._set_timer(topic, None)

    def _failed(self, what: str, error: Exception) -> None:
        if isinstance(error, RedisError):
            metrics.store_failed(error)
            if is_full(error):
                # It is tried again until there is room: a line each time would flood the log.
                return
            log.warning("%s at games that are waited for failed: %s", what, type(error).__name__)
        else:
            log.error("%s at games that are waited for failed", what, exc_info=error)


def _wake(waiters: list[Waiter]) -> None:
    for number, waiter in enumerate(waiters, 1):
        waiter.wake()
        if number % WOKEN_AT_ONCE == 0:
            gevent.sleep(0)
