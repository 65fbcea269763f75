"""The watch of a player's games: a waiter that is woken by news of any of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from api.live.hub import RECHECK_SECONDS, Hub
from api.live.topics import GameTopic, Waiter
from api.model.game import Game


class PlayerWatch:
    """Wakes a waiter when a game that `is_news` is true for concerns a player."""

    def __init__(
        self, hub: Hub, waiter: Waiter, player_id: str, is_news: Callable[[Game], bool]
    ) -> None:
        self._hub = hub
        self._waiter = waiter
        self._is_news = is_news
        self._topic = hub.player_topic(player_id)
        self._games: dict[str, GameTopic] = {}
        waiter.watch(self._topic, lambda _: True)

    def renew(self, seconds: float) -> bool:
        """Watch the games that concern the player now; return whether notifications are heard.

        Waits at most for so many seconds for the confirmation of subscriptions. A read after this
        misses no news. If notifications are not heard now, the caller has to read again from time
        to time.

        Raises `RedisError`.
        """
        until = time.monotonic() + min(seconds, RECHECK_SECONDS)
        self._topic.ready.wait(max(until - time.monotonic(), 0))
        ids = self._hub.read_games_of(self._topic)
        for game_id in self._games.keys() - ids:
            # It ended, or the player left it: the next read tells what there is to tell.
            self._waiter.leave(self._games.pop(game_id))
        new = [self._hub.game_topic(game_id) for game_id in ids - self._games.keys()]
        for topic in new:
            self._waiter.watch(topic, self._condition)
            self._games[topic.id] = topic
        for topic in new:
            topic.ready.wait(max(until - time.monotonic(), 0))
        return self._topic.ready.is_set() and all(
            topic.ready.is_set() for topic in self._games.values()
        )

    def _condition(self, game: Game | None) -> bool:
        return game is not None and self._is_news(game)
