"""The services of one application, and how they hang together."""

from __future__ import annotations

from dataclasses import dataclass

from api.accounts import DAY_MS, Accounts
from api.connection import connect
from api.game.desk import Desk
from api.game.moves import Moves
from api.game.reading import Reading
from api.game.tables import Tables
from api.indexes import Indexes
from api.settings import Settings
from api.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """What the views call."""

    store: Store
    accounts: Accounts
    desk: Desk
    tables: Tables
    moves: Moves
    reading: Reading


def make_services(settings: Settings) -> Services:
    """The services with these settings; nothing is connected to before it is needed."""
    redis = connect(settings)
    store = Store(redis)
    accounts = Accounts(store, settings)
    unfinished_ms = int(settings.open_game_days * DAY_MS)
    ended_ms = int(settings.finished_game_days * DAY_MS)
    indexes = Indexes(redis, store, life_ms=unfinished_ms + ended_ms, ended_life_ms=ended_ms)
    desk = Desk(store, indexes, accounts, settings)
    return Services(
        store=store,
        accounts=accounts,
        desk=desk,
        tables=Tables(desk),
        moves=Moves(desk),
        reading=Reading(desk, store, indexes, accounts),
    )
