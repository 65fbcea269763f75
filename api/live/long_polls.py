"""Long polls: an answer as soon as there is news for whoever asks, at the latest in time.

Whoever asks says what it has; if there is anything newer, whatever happened in between, it is
answered at once. A wait ends with an answer whatever happens to the store, in the worst case with
what was there when it began. How answers are rendered, and what they hold, is others' business.
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
from api.games.answers import EventPage
from api.games.players import Credentials
from api.games.queries import Queries
from api.games.transactions import LoadedGame, exists_for
from api.games.turns import TurnQueries, Turns
from api.live.hub import PAUSE_SECONDS, RECHECK_SECONDS, Hub, PlayerTopic, Shared, Waiter
from api.live.quota import Quota
from api.model.game import ENDED, Game
from api.problems.problem import Problem
from api.storage.errors import Unreadable
from api.storage.games import StoredGame

Answer = TypeVar("Answer")
Enough = Callable[[Game], bool]


class Polled(NamedTuple):
    """What a poll ended with: the game as it is then, and the look that others share."""

    loaded: LoadedGame
    look: Shared | None = None
    is_over_cap: bool = False

    def once(self, what: Hashable, make: Callable[[LoadedGame], Answer]) -> Answer:
        """What `make` makes of it, made once for all of the same audience."""
        if self.look is None:
            return make(self.loaded)
        return self.look.once((what, self.loaded.audience), lambda: make(self.loaded))


class PolledEvents(NamedTuple):
    """The answer to a poll of a game's events, and the time of it (ms)."""

    now: int
    page: EventPage
    is_over_cap: bool


class PolledTurns(NamedTuple):
    """The answer to a poll of a player's turns, and the time of it (ms)."""

    now: int
    answer: Raw
    is_over_cap: bool


def is_over(game: Game) -> bool:
    """Whether nothing will ever happen in a game again."""
    return game.status in ENDED


class LongPolls:
    """Waits for those who ask."""

    def __init__(self, hub: Hub, quota: Quota, reader: Queries, turns: TurnQueries) -> None:
        self.hub = hub
        self.quota = quota
        self.queries = reader
        self.turn_queries = turns
        self._looks = SingleFlight[Turns]()

    # --- One game ----------------------------------------------------------------------------

    def game(self, loaded: LoadedGame, seconds: int, enough: Enough) -> Polled:
        """The game once it is `enough`, or when the time is up.

        Raises `Problem` (``game_not_found``) if it is gone, or exists for the caller no more, and
        whatever keeps it from being read.
        """
        if seconds == 0 or enough(loaded.game) or is_over(loaded.game):
            return Polled(loaded)
        with self._place(loaded.reader) as has_place:
            if not has_place:
                return Polled(loaded, is_over_cap=True)
            return self._wait(loaded, time.monotonic() + seconds, enough)

    def _wait(self, loaded: LoadedGame, until: float, enough: Enough) -> Polled:
        def wants(game: Game | None) -> bool:
            return game is None or is_over(game) or enough(game)

        with self.hub.waiter() as waiter:
            topic = self.hub.game(loaded.game.id, is_well=True)
            waiter.watch(topic, wants)
            while (left := until - time.monotonic()) > 0 and not self.hub.is_stopping:
                if topic.fault is not None:
                    # What was kept of those who were told before would only grow.
                    raise topic.fault.with_traceback(None)
                look = topic.look
                if look and wants(look.game):
                    if look.is_newer(loaded.now, loaded.game.version):
                        return Polled(self._seen(loaded, look.found), look)
                    self.hub.doubt(topic)
                waiter.wait(left)
            return Polled(self._finally(loaded))

    def _finally(self, loaded: LoadedGame) -> LoadedGame:
        """What is there when the time is up: nobody leaves without having looked."""
        try:
            (look,) = self.hub.store.snapshots([loaded.game.id])
        except RedisError:
            return self._later(loaded)
        if isinstance(look, Unreadable):
            raise look
        self.hub.see_clock(look.now)
        return self._seen(loaded, look.found)

    def _seen(self, loaded: LoadedGame, found: StoredGame | None) -> LoadedGame:
        if found is None or not exists_for(found.game, loaded.caller):
            raise Problem("game_not_found")
        return LoadedGame(self.hub.now(), loaded.caller, found)

    def _later(self, loaded: LoadedGame) -> LoadedGame:
        """What was there at the beginning, and is there now that the time is up."""
        return LoadedGame(max(self.hub.now(), loaded.now), loaded.caller, loaded.stored)

    def until_changed(self, loaded: LoadedGame, seconds: int) -> Polled:
        """The game once it is not what it is, or when the time is up."""

        def enough(game: Game) -> bool:
            return (game.version, game.commit) != (loaded.game.version, loaded.game.commit)

        return self.game(loaded, seconds, enough)

    def events(self, loaded: LoadedGame, since: int, limit: int, seconds: int) -> PolledEvents:
        """What happened in a game after a version, once there is something."""

        def enough(game: Game) -> bool:
            return game.version != since

        def page(of: LoadedGame) -> EventPage:
            return self.queries.events(of, since, limit)

        until = time.monotonic() + seconds
        polled = self.game(loaded, seconds, enough)
        while True:
            try:
                made = polled.once(("events", since, limit), page)
                return PolledEvents(polled.loaded.now, made, polled.is_over_cap)
            except RedisError:
                # The store failed just after it told of something.
                if polled.look is None:
                    raise
                gevent.sleep(PAUSE_SECONDS)
                if time.monotonic() > until:
                    polled = Polled(self._later(loaded))

    # --- A player's turns ---------------------------------------------------------------------

    def turns(
        self, credentials: Credentials | None, since: str | None, seconds: int
    ) -> PolledTurns:
        """The games that wait for the caller, once there is one that it has not seen."""
        look = self._look_for_turns(credentials, since)
        first = look()
        if seconds == 0 or first.is_news:
            return PolledTurns(first.now, first.rendered, False)
        self.hub.see_clock(first.now)
        until = time.monotonic() + seconds
        with self._place(first.caller) as has_place:
            if not has_place:
                return PolledTurns(first.now, first.rendered, True)
            with self.hub.waiter() as waiter:
                topic = self.hub.player(first.caller)
                waiter.watch(topic, lambda _: True)
                last = first
                watched: set[str] = set()
                while until > time.monotonic() and not self.hub.is_stopping:
                    try:
                        is_told = self._watch_games(waiter, topic, watched, first, until)
                        last = look()
                    except RedisError:
                        gevent.sleep(PAUSE_SECONDS)
                        continue
                    if last.is_news:
                        return PolledTurns(last.now, last.rendered, False)
                    left = until - time.monotonic()
                    waiter.wait(left if is_told else min(left, RECHECK_SECONDS))
                # As it is now: a game that waited for the caller may wait no more.
                with suppress(RedisError):
                    last = look()
                return PolledTurns(max(self.hub.now(), last.now), last.rendered, False)

    def _look_for_turns(
        self, credentials: Credentials | None, since: str | None
    ) -> Callable[[], Turns]:
        """Looks for a caller's turns: many who ask the same when they are woken look once."""
        if credentials is None:
            return lambda: self.turn_queries.turns(credentials, since)
        asked = (credentials.player_id, credentials.secret_hash, since)
        return lambda: self._looks.run_fresh(
            asked, lambda: self.turn_queries.turns(credentials, since)
        )

    def _watch_games(
        self, waiter: Waiter, topic: PlayerTopic, watched: set[str], turns: Turns, until: float
    ) -> bool:
        """Watch all games that may concern the player; whatever is read after this is complete.

        Whether we shall be told of what happens there. If not, as it cannot be listened to now,
        somebody has to look now and then.
        """

        def wants(game: Game | None) -> bool:
            return game is not None and turns.would_be_news(game)

        until = min(until, time.monotonic() + RECHECK_SECONDS)
        topic.ready.wait(max(until - time.monotonic(), 0))
        new = [self.hub.game(game_id) for game_id in self.hub.games_of(topic) - watched]
        for game in new:
            waiter.watch(game, wants)
            watched.add(game.id)
        for game in new:
            game.ready.wait(max(until - time.monotonic(), 0))
        return topic.ready.is_set() and all(self.hub.game(each).ready.is_set() for each in watched)

    @contextmanager
    def _place(self, player_id: str | None) -> Iterator[bool]:
        place = self.quota.take(player_id)
        try:
            yield place is not None
        finally:
            if place is not None:
                place.give_back()
