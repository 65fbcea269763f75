"""Single commits to a store, without the transaction that makes and prepares them."""

from __future__ import annotations

from collections.abc import Iterable

from api.model.game import Game
from api.storage.client import execute_with
from api.storage.errors import readable
from api.storage.games import Change, Commit, GameStore
from api.storage.indexes import Indexes
from api.storage.store import Store


def commit(store: GameStore, before: Game | None, change: Change, ttl_ms: int) -> bool:
    """Write a change; whether it was written. Raises its error."""
    (outcome,) = store.commit_all([Commit(before, change, 0, ttl_ms)])
    written: bool = readable(outcome)
    return written


def index_before(indexes: Indexes, before: Game | None, after: Game, now: int) -> None:
    """Write the entries that a commit is about to make true. Raises its error."""
    (error,) = indexes.before_commits([Commit(before, Change(game=after), now, 0)])
    readable(error)


def index_after(indexes: Indexes, before: Game | None, after: Game, now: int) -> None:
    """Remove the entries that a commit has made false. Raises its error."""
    (error,) = indexes.after_commits([Commit(before, Change(game=after), now, 0)])
    readable(error)


def announce(store: Store, player_ids: Iterable[str]) -> None:
    """Wake the waiting requests of these players."""
    execute_with(store.client, (), [store.announcement(player_ids)])
