"""The services of one application, and how they hang together."""

from __future__ import annotations

from dataclasses import dataclass

from api.config import capacity
from api.config.capacity import Capacity
from api.config.rate_policies import POLICIES
from api.config.settings import Settings
from api.games.moves import Moves
from api.games.players import Accounts
from api.games.queries import Reader
from api.games.seat_limits import Sittings
from api.games.tables import Tables
from api.games.transactions import Desk
from api.live.event_streams import Streams
from api.live.hub import Hub
from api.live.long_polls import Polls
from api.live.quota import Places
from api.model.retention import Lives
from api.observability.exposition import Exposition
from api.observability.lifecycle import when_stopping
from api.ratelimit.limiter import Limiter
from api.storage.connect import connect
from api.storage.games import Store
from api.storage.indexes import Indexes


@dataclass(frozen=True, slots=True)
class Services:
    """What the views call."""

    store: Store
    accounts: Accounts
    desk: Desk
    tables: Tables
    moves: Moves
    reader: Reader
    polls: Polls
    streams: Streams
    limiter: Limiter
    exposition: Exposition


def make_services(settings: Settings) -> Services:
    """The services with these settings; nothing is connected to before it is needed."""
    link, news = connect(settings)
    lives = Lives.of(settings)
    store = Store(link)
    accounts = Accounts(store, lives)
    indexes = Indexes(link, store, lives)
    desk = Desk(store, indexes, accounts, lives)
    reader = Reader(desk, store, indexes, accounts)
    hub = Hub(store, indexes, desk, news)
    when_stopping(hub.stop)
    room = Capacity.of(settings, capacity.available())
    places = Places(room.waiters, settings.waiters_per_player, room.waiters_per_address)
    policies = POLICIES if settings.rate_limits is None else settings.rate_limits
    limiter = Limiter(link, policies)
    return Services(
        store=store,
        accounts=accounts,
        desk=desk,
        tables=Tables(desk, Sittings(limiter)),
        moves=Moves(desk),
        reader=reader,
        polls=Polls(hub, places, reader),
        streams=Streams(hub, places, reader),
        limiter=limiter,
        exposition=Exposition(indexes.lobby_sizes, store.is_full),
    )
