"""Long polls: requests that wait for news, at most for a given time.

A request says what the client knows already, so news that came between two requests is answered at
once. If the store fails during the wait, the answer is what was last read. If the game expires or
cannot be read any more, the answer is a problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

import gevent
from msgspec import Raw
from redis import RedisError

from api.concurrency.single_flight import SingleFlight
from api.concurrency.waits import Steps
from api.games.answers import EventPage
from api.games.cursors import EventsCursor
from api.games.players import Credentials
from api.games.queries import Queries
from api.games.transactions import LoadedGame, exists_for
from api.games.turns import TurnQueries, Turns
from api.live.hub import PAUSE_SECONDS, RECHECK_SECONDS, Hub
from api.live.player_watch import PlayerWatch
from api.live.quota import Quota
from api.live.topics import SharedSnapshot
from api.model.game import Game
from api.observability.context import current
from api.problems.problem import Problem
from api.storage.errors import readable
from api.storage.games import Snapshot, StoredGame

Answer = TypeVar("Answer")

Condition = Callable[[Game], bool]
"""Whether a game is news to the client."""


class Polled(NamedTuple):
    """The result of a poll of a game.

    Attributes:
        loaded: The game at the end of the wait.
        snapshot: The snapshot that the poll shares with others, if one ended it.
        is_over_quota: Whether the request could not wait, as there was no slot.
    """

    loaded: LoadedGame
    snapshot: SharedSnapshot | None = None
    is_over_quota: bool = False

    def once(self, key: Hashable, make: Callable[[LoadedGame], Answer]) -> Answer:
        """Return the result of `make`, which is called once for all polls of this audience."""
        if self.snapshot is None:
            return make(self.loaded)
        return self.snapshot.once((key, self.loaded.audience), lambda: make(self.loaded))


class PolledEvents(NamedTuple):
    """The result of a poll of a game's events."""

    page: EventPage
    is_over_quota: bool


class PolledTurns(NamedTuple):
    """The result of a poll of a player's turns."""

    answer: Raw
    is_over_quota: bool


class LongPolls:
    """Answers long polls."""

    def __init__(self, hub: Hub, quota: Quota, queries: Queries, turn_queries: TurnQueries) -> None:
        self.hub = hub
        self.quota = quota
        self.queries = queries
        self.turn_queries = turn_queries
        self._reads_of_turns = SingleFlight[Turns]()

    # --- One game ------------------------------------------------------------------------

    def game(self, loaded: LoadedGame, seconds: int, is_news: Condition) -> Steps[Polled]:
        """Wait until a game is news or has ended, at most for so many seconds.

        Raises `Unreadable` or another error that keeps the game from being read, and `Problem`
        (``game_not_found``) if it has expired or does not exist for the caller any more.
        """
        if seconds == 0 or is_news(loaded.game) or loaded.game.has_ended:
            return Polled(loaded)
        with self._slot(loaded.reader) as has_slot:
            if not has_slot:
                return Polled(loaded, is_over_quota=True)
            return (yield from self._wait(loaded, time.monotonic() + seconds, is_news))

    def _wait(self, loaded: LoadedGame, until: float, is_news: Condition) -> Steps[Polled]:
        def ends_wait(game: Game | None) -> bool:
            return game is None or game.has_ended or is_news(game)

        with self.hub.waiter() as waiter:
            topic = self.hub.game_topic(loaded.game.id, was_just_read=True)
            waiter.watch(topic, ends_wait)
            while (left := until - time.monotonic()) > 0 and not self.hub.is_stopping:
                if topic.fault is not None:
                    # All waiters raise the same error: do not collect their tracebacks in it.
                    raise topic.fault.with_traceback(None)
                snapshot = topic.snapshot
                if snapshot is not None and ends_wait(snapshot.game):
                    if snapshot.is_newer(loaded.now, loaded.game.version):
                        return Polled(self._with_game(loaded, snapshot.stored), snapshot)
                    self.hub.read_again_later(topic)
                yield from waiter.wait(left)
            return Polled(self._read(loaded))

    def _read(self, loaded: LoadedGame) -> LoadedGame:
        """Read the game once more at the end of the wait, as notifications may be lost."""
        try:
            (reply,) = self.hub.store.snapshots([loaded.game.id])
            snapshot: Snapshot = readable(reply)
        except RedisError:
            return self._unchanged(loaded)
        self.hub.set_clock(snapshot.now)
        return self._with_game(loaded, snapshot.stored)

    def _with_game(self, loaded: LoadedGame, stored: StoredGame | None) -> LoadedGame:
        if stored is None or not exists_for(stored.game, loaded.caller):
            raise Problem("game_not_found")
        return self._loaded_now(loaded, stored)

    def _unchanged(self, loaded: LoadedGame) -> LoadedGame:
        """Return the game as it was at the begin of the wait, with the time of its end."""
        return self._loaded_now(loaded, loaded.stored)

    def _loaded_now(self, loaded: LoadedGame, stored: StoredGame) -> LoadedGame:
        now = max(self.hub.now(), loaded.now)
        current().store_time = now
        return LoadedGame(now, loaded.caller, stored)

    def until_changed(self, loaded: LoadedGame, seconds: int) -> Steps[Polled]:
        """Wait until a game has changed in any way."""
        known = (loaded.game.version, loaded.game.commit)
        return (
            yield from self.game(loaded, seconds, lambda game: (game.version, game.commit) != known)
        )

    def events(
        self, loaded: LoadedGame, since: EventsCursor, limit: int, seconds: int
    ) -> Steps[PolledEvents]:
        """Wait until a game has more than the client knows, and return the events after `since`."""

        def page(of: LoadedGame) -> EventPage:
            return self.queries.events(of, since, limit)

        until = time.monotonic() + seconds
        polled = yield from self.game(loaded, seconds, lambda game: not since.knows_all_of(game))
        while True:
            try:
                events = polled.once(("events", since, limit), page)
                return PolledEvents(events, polled.is_over_quota)
            except RedisError:
                if polled.snapshot is None or self.hub.is_stopping:
                    raise
                # The store failed between the snapshot and the read of the events.
                gevent.sleep(PAUSE_SECONDS)
                if time.monotonic() > until:
                    polled = Polled(self._unchanged(loaded))

    # --- A player's turns ----------------------------------------------------------------

    def turns(
        self,
        credentials: Credentials,
        since: str | None,
        seconds: int,
        *,
        has_view: bool = True,
    ) -> Steps[PolledTurns]:
        """Wait until the caller's turns are news, at most for so many seconds.

        `since` is the cursor of an earlier answer. Raises `Problem` as `TurnQueries.turns`.
        """

        def read() -> Turns:
            # Once for all polls of the caller that are woken at the same time.
            key = (credentials.player_id, credentials.secret_hash, since, has_view)
            return self._reads_of_turns.run_fresh(
                key, lambda: self.turn_queries.turns(credentials, since, has_view=has_view)
            )

        first = read()
        if seconds == 0 or first.is_news:
            return self._polled(first)
        self.hub.set_clock(first.now)
        until = time.monotonic() + seconds
        with self._slot(first.caller) as has_slot:
            if not has_slot:
                return self._polled(first, is_over_quota=True)
            with self.hub.waiter() as waiter:
                watch = PlayerWatch(self.hub, waiter, first.caller, first.would_be_news)
                last = first
                while until > time.monotonic() and not self.hub.is_stopping:
                    try:
                        is_heard = watch.renew(until - time.monotonic())
                        last = read()
                    except RedisError:
                        gevent.sleep(PAUSE_SECONDS)
                        continue
                    if last.is_news:
                        return self._polled(last)
                    left = until - time.monotonic()
                    yield from waiter.wait(left if is_heard else min(left, RECHECK_SECONDS))
                # Read again: a game may have left the caller's list without waking this poll.
                with suppress(RedisError):
                    last = read()
                polled = self._polled(last)
                current().store_time = max(self.hub.now(), last.now)
                return polled

    def _polled(self, turns: Turns, *, is_over_quota: bool = False) -> PolledTurns:
        """Return the result of a poll. The turns may have been read for another request."""
        current().store_time = turns.now
        return PolledTurns(turns.rendered, is_over_quota)

    @contextmanager
    def _slot(self, player_id: str | None) -> Iterator[bool]:
        slot = self.quota.take(player_id)
        try:
            yield slot is not None
        finally:
            if slot is not None:
                slot.release()
