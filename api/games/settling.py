"""Settling of due games for a list: a few games for each request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from redis import RedisError

from api.games.progress import is_due
from api.games.transactions import Transactions
from api.model.game import Game
from api.problems.problem import Problem
from api.storage.errors import log_unreadable
from api.storage.games import StoredGame

Source = TypeVar("Source")
Made = TypeVar("Made")

MAX_SETTLED = 4
"""Due games that one request settles; the next request settles others."""


def some_due(transactions: Transactions, games: Iterable[Game], now: int) -> list[str]:
    """Return the ids of the due games that a request settles.

    They are chosen at random, so that games which cannot be settled do not keep the others from it.
    """
    due = [game.id for game in games if is_due(game, now)]
    return transactions.rng.sample(due, min(len(due), MAX_SETTLED))


def settled_games(transactions: Transactions, ids: Sequence[str], now: int) -> Iterator[StoredGame]:
    """Yield the games of these ids, settled if they are due, by this request or another."""

    def settle(stored: StoredGame) -> StoredGame | None:
        if not is_due(stored.game, now):
            return stored
        settled = transactions.settle_unless_full(stored, now)
        return settled or transactions.store.read(None, stored.game.id).stored

    stored = [
        each for each in transactions.store.games_with_state(ids).values() if each is not None
    ]
    for each in each_readable(stored, lambda found: found.game.id, settle):
        if each is not None:
            yield each


def each_readable(
    games: Iterable[Source], game_id: Callable[[Source], str], make: Callable[[Source], Made]
) -> Iterator[Made]:
    """Yield what `make` makes of each game. Log and leave out a game that it fails for.

    A state that can be decoded may still be one that the ruleset cannot play.
    """
    for game in games:
        try:
            yield make(game)
        except (RedisError, Problem):
            raise
        except Exception as error:
            log_unreadable(game_id(game), error)
