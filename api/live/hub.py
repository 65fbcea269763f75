"""The hub: reads the games that have waiters when they change, and wakes the waiters.

Each worker has one hub, which subscribes once to each game or player that has waiters. A message,
a deadline, a confirmed subscription or a recheck marks a game as stale. All stale games are read in
one round trip, and due games are settled. Then the hub wakes the waiters that want the new
snapshot, which they share. Games that could not be read are read again apart from the others, as
their node of a cluster may not reply for long. The hub renders no answers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import gevent
from gevent.lock import Semaphore
from redis import RedisError

from api.games.progress import is_due
from api.games.transactions import FULL_SECONDS, Transactions
from api.live.topics import (
    IN_FLIGHT_MS,
    GameTopic,
    PlayerTopic,
    ReadQueue,
    SharedSnapshot,
    Topic,
    Waiter,
)
from api.model.game import Game
from api.observability.context import current
from api.observability.logger import log
from api.storage.errors import count_failure, is_full, log_unreadable, readable
from api.storage.games import Snapshot, game_channel
from api.storage.indexes import Indexes
from api.storage.players import player_channel
from api.storage.pubsub import ChannelNodes, Subscriptions
from api.storage.store import Store

RECHECK_SECONDS = 3.0
"""Time between two rechecks of a game: the longest delay of news after a lost notification."""

LINGER_SECONDS = 5.0
"""How long a subscription outlives its last waiter: most clients wait again at once."""

PAUSE_SECONDS = 0.1
"""Pause before the store is used again after it failed."""

READ_BATCH = 100
"""Games that are read in one round trip."""

MAX_SETTLING = 2
"""Games that are settled at the same time.

The first time slice of settling a game comes at once; for many games together it would keep the
worker from other requests.
"""

RECHECK_BATCH = 200
"""Games and players that are rechecked in one round trip."""

WAKE_BATCH = 25
"""Waiters that are woken before other greenlets get their turn."""

MIN_RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 300.0
"""Bounds of the pause before a faulty game is read again; each pause is twice the last one."""

DEADLINE_MARGIN_MS = 5
"""Delay after a deadline before the game is read, since the clocks may differ."""

MAX_WATCHED = 300
"""Games of one player that are watched, those it plays or hosts first.

Only seat reservations can make them more.
"""


class Hub:
    """Wakes waiters. Its greenlets start with the first waiter."""

    def __init__(
        self, store: Store, indexes: Indexes, transactions: Transactions, nodes: ChannelNodes
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.transactions = transactions
        self.waiters: set[Waiter] = set()
        self.is_stopping = False
        self._subscriptions = Subscriptions(nodes, self._on_message, self._on_lost)
        self._topics: dict[str, Topic] = {}
        self._stale = ReadQueue()
        self._failed = ReadQueue()
        self._greenlets: list[gevent.Greenlet] = []
        self._settling = Semaphore(MAX_SETTLING)
        self._clock_offset = 0.0

    # --- For requests --------------------------------------------------------------------

    def waiter(self) -> Waiter:
        """Return a new waiter for the current request."""
        if not self._greenlets:
            tasks = (
                self._subscriptions.run,
                self._read_stale_games,
                self._read_failed_games,
                self._recheck_for_ever,
            )
            self._greenlets = [gevent.spawn(task) for task in tasks]
        current().has_waited = True
        waiter = Waiter(self.waiters)
        if self.is_stopping:
            waiter.stop()
        return waiter

    def game_topic(self, game_id: str, *, was_just_read: bool = False) -> GameTopic:
        """Return the topic of a game. `was_just_read`: the request has just read the game."""
        topic = self._topics.get(game_channel(game_id))
        if topic is None:
            topic = self._add(GameTopic(game_id))
        assert isinstance(topic, GameTopic)
        if was_just_read:
            topic.fault = None
        if topic.snapshot is None and topic.ready.is_set() and not topic.is_set_aside:
            self._mark_stale(topic)
        return topic

    def player_topic(self, player_id: str) -> PlayerTopic:
        """Return the topic of a player."""
        topic = self._topics.get(player_channel(player_id))
        if topic is None:
            topic = self._add(PlayerTopic(player_id))
        assert isinstance(topic, PlayerTopic)
        return topic

    def read_games_of(self, topic: PlayerTopic) -> frozenset[str]:
        """Return the ids of a player's unfinished games. Raises `RedisError`."""
        (reply,) = self.indexes.unfinished([topic.id], MAX_WATCHED)
        games: frozenset[str] = readable(reply)
        self._note_games(topic, games)
        return games

    def read_again_later(self, topic: GameTopic) -> None:
        """Read a game again after some time, as its snapshot is older than what a waiter has seen.

        If the game is the same then, a failover of the store has lost the newer version.
        """
        if not topic.will_read_again:
            topic.will_read_again = True
            gevent.spawn_later(IN_FLIGHT_MS / 1000, self._read_again, topic)

    def now(self) -> int:
        """Return an estimate of the store's time in ms, without a round trip."""
        return int(self._clock_offset + time.monotonic() * 1000)

    def set_clock(self, now: int) -> None:
        """Note the store's time (ms), which has just been read."""
        self._clock_offset = now - time.monotonic() * 1000

    def stop(self) -> None:
        """End all waits, also those that begin later."""
        self.is_stopping = True
        for topic in self._topics.values():
            topic.ready.set()
        for waiter in list(self.waiters):
            waiter.stop()

    # --- Notifications -------------------------------------------------------------------

    def _add(self, topic: Topic) -> Topic:
        self._topics[topic.channel] = topic
        self._subscriptions.subscribe(topic.channel)
        return topic

    def _on_message(self, channel: str, is_confirmation: bool) -> None:
        topic = self._topics.get(channel)
        if topic is None:
            return
        if is_confirmation:
            topic.ready.set()
        if isinstance(topic, GameTopic):
            self._mark_stale(topic)
        else:
            self._wake_all(topic)

    def _on_lost(self, channels: Iterable[str]) -> None:
        """Note that messages on these channels are lost until the next confirmation."""
        for channel in channels:
            if channel in self._topics:
                self._topics[channel].ready.clear()

    def _mark_stale(self, topic: GameTopic) -> None:
        if not topic.waiters:
            # The next waiter must not be shown an outdated snapshot.
            topic.snapshot = None
        self._stale.add(topic)

    def _read_again(self, topic: GameTopic) -> None:
        topic.will_read_again = False
        self._mark_stale(topic)

    # --- Reading and settling ------------------------------------------------------------

    def _read_stale_games(self) -> None:
        while True:
            self._read(self._stale.take(READ_BATCH))

    def _read_failed_games(self) -> None:
        while True:
            batch = self._failed.take(READ_BATCH)
            gevent.sleep(PAUSE_SECONDS)
            self._read(batch)

    def _read(self, batch: list[GameTopic]) -> None:
        """Read some games. Those that cannot be read now become failed games."""
        try:
            failed = self._read_now(batch)
        except Exception as error:
            failed = dict.fromkeys(batch, error)
        if failed:
            _log_failure("reading", next(iter(failed.values())))
        for topic in failed:
            self._failed.add(topic)

    def _read_now(self, batch: list[GameTopic]) -> dict[GameTopic, Exception]:
        """Read the games that have waiters, and return the errors of those whose node fails."""
        topics = [topic for topic in batch if topic.waiters]
        for topic in batch:
            if not topic.waiters:
                topic.snapshot = None
        failed: dict[GameTopic, Exception] = {}
        snapshots = self.store.snapshots([topic.id for topic in topics]) if topics else []
        for topic, snapshot in zip(topics, snapshots, strict=True):
            try:
                self._accept(topic, readable(snapshot))
            except RedisError as error:
                failed[topic] = error
            except Exception as error:
                # The error concerns this game only; the waiters of others must not be delayed.
                self._set_aside(topic, error)
        return failed

    def _accept(self, topic: GameTopic, snapshot: Snapshot) -> None:
        self.set_clock(snapshot.now)
        if snapshot.stored is not None and is_due(snapshot.stored.game, snapshot.now):
            if not topic.is_settling:
                topic.is_settling = True
                gevent.spawn(self._settle, topic, snapshot)
        else:
            self._show(topic, snapshot)

    def _set_aside(self, topic: GameTopic, error: Exception) -> None:
        """Wake the waiters of a faulty game, and do not read the game for some time."""
        if topic.fault is None:
            log_unreadable(topic.id, error)
        topic.fault = error
        pause = max(2 * topic.retry_pause, MIN_RETRY_SECONDS)
        topic.retry_pause = min(pause, MAX_RETRY_SECONDS)
        topic.retry_at = time.monotonic() + topic.retry_pause
        topic.snapshot = None
        self._set_timer(topic, None)
        self._wake_all(topic)

    def _settle(self, topic: GameTopic, snapshot: Snapshot) -> None:
        try:
            with self._settling:
                self._settle_now(topic, snapshot)
        except RedisError as error:
            _log_failure("settling", error)
            gevent.sleep(FULL_SECONDS if is_full(error) else PAUSE_SECONDS)
            self._mark_stale(topic)
        except Exception as error:
            self._set_aside(topic, error)
        finally:
            topic.is_settling = False

    def _settle_now(self, topic: GameTopic, snapshot: Snapshot) -> None:
        assert snapshot.stored is not None
        settled = self.transactions.settle(snapshot.stored, snapshot.now)
        shown = topic.snapshot
        is_newest = shown is None or shown.fingerprint.version == snapshot.stored.game.version
        if settled is not None and is_newest:
            self._show(topic, Snapshot(snapshot.now, settled))
        else:
            # Another request has changed the game, and its snapshot may be shown already.
            self._mark_stale(topic)

    def _show(self, topic: GameTopic, snapshot: Snapshot) -> None:
        """Give a snapshot to the waiters of a game."""
        topic.snapshot = SharedSnapshot(snapshot.now, snapshot.stored)
        topic.fault, topic.retry_pause = None, 0.0
        game = topic.snapshot.game
        self._set_timer(topic, game)
        woken = [waiter for waiter, condition in topic.waiters.items() if condition(game)]
        if len(woken) <= WAKE_BATCH:
            _wake(woken)
        else:
            gevent.spawn(_wake, woken)

    def _set_timer(self, topic: GameTopic, game: Game | None) -> None:
        if topic.timer is not None:
            topic.timer.kill(block=False)
            topic.timer = None
        if game is not None and game.deadline is not None:
            wait_ms = max(game.deadline - self.now(), 0) + DEADLINE_MARGIN_MS
            topic.timer = gevent.spawn_later(wait_ms / 1000, self._mark_stale, topic)

    def _note_games(self, topic: PlayerTopic, games: frozenset[str]) -> None:
        if topic.games is not None and topic.games != games:
            self._wake_all(topic)
        topic.games = games

    def _wake_all(self, topic: Topic) -> None:
        _wake([waiter for waiter, condition in topic.waiters.items() if condition(None)])

    # --- Rechecking ----------------------------------------------------------------------

    def _recheck_for_ever(self) -> None:
        while True:
            begin = time.monotonic()
            try:
                self._recheck_all(begin)
            except Exception as error:
                _log_failure("rechecking", error)
            gevent.sleep(max(begin + RECHECK_SECONDS - time.monotonic(), PAUSE_SECONDS))

    def _recheck_all(self, begin: float) -> None:
        self._drop_unused_topics()
        self._subscriptions.check()
        topics = list(self._topics.values())
        batches = [topics[at : at + RECHECK_BATCH] for at in range(0, len(topics), RECHECK_BATCH)]
        for number, batch in enumerate(batches, 1):
            try:
                self._recheck([topic for topic in batch if topic.waiters])
            except Exception as error:
                # The other batches are rechecked all the same.
                _log_failure("rechecking", error)
            # Spread the batches evenly over the time between two rechecks.
            until = begin + RECHECK_SECONDS * number / len(batches)
            gevent.sleep(max(until - time.monotonic(), 0.001))

    def _recheck(self, topics: list[Topic]) -> None:
        games = [
            topic for topic in topics if isinstance(topic, GameTopic) and not topic.is_set_aside
        ]
        players = [topic for topic in topics if isinstance(topic, PlayerTopic)]
        if games:
            fingerprints = self.store.fingerprints([each.id for each in games])
            for game, fingerprint in zip(games, fingerprints, strict=True):
                # A game whose node fails now is rechecked later.
                if isinstance(fingerprint, RedisError):
                    continue
                if game.snapshot is None or game.snapshot.fingerprint != fingerprint:
                    self._mark_stale(game)
        if players:
            unfinished = self.indexes.unfinished([each.id for each in players], MAX_WATCHED)
            for player, ids in zip(players, unfinished, strict=True):
                if not isinstance(ids, RedisError):
                    self._note_games(player, ids)

    def _drop_unused_topics(self) -> None:
        before = time.monotonic() - LINGER_SECONDS
        for topic in list(self._topics.values()):
            if not topic.waiters and topic.left_at < before:
                del self._topics[topic.channel]
                self._subscriptions.unsubscribe(topic.channel)
                if isinstance(topic, GameTopic):
                    self._set_timer(topic, None)


def _log_failure(action: str, error: Exception) -> None:
    if not isinstance(error, RedisError):
        log.error("%s games with waiters failed", action, exc_info=error)
        return
    count_failure(error)
    # Settling is tried again until the store has room: a line each time would flood the log.
    if not is_full(error):
        log.warning("%s games with waiters failed: %s", action, type(error).__name__)


def _wake(waiters: list[Waiter]) -> None:
    for number, waiter in enumerate(waiters, 1):
        waiter.wake()
        if number % WAKE_BATCH == 0:
            gevent.sleep(0)
