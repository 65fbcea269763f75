"""The services of one application and their dependencies."""

from __future__ import annotations

from dataclasses import dataclass

from api.config import capacity
from api.config.capacity import Capacity
from api.config.rate_policies import POLICIES
from api.config.settings import Settings
from api.games.creation import GameCreation
from api.games.moves import Moves
from api.games.players import Players
from api.games.queries import Queries
from api.games.seat_limits import SeatLimits
from api.games.tables import Tables
from api.games.transactions import Transactions
from api.games.turns import TurnQueries
from api.live.event_streams import EventStreams
from api.live.hub import Hub
from api.live.long_polls import LongPolls
from api.live.quota import Quota
from api.model.retention import Retention
from api.observability.exposition import Exposition
from api.observability.lifecycle import when_stopping
from api.ratelimit.limiter import Limiter
from api.storage.connect import connect
from api.storage.games import Store
from api.storage.indexes import Indexes


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the views call."""

    store: Store
    players: Players
    transactions: Transactions
    tables: Tables
    creation: GameCreation
    moves: Moves
    queries: Queries
    long_polls: LongPolls
    event_streams: EventStreams
    limiter: Limiter
    exposition: Exposition


def make_services(settings: Settings) -> Services:
    """Make the services with these settings. Connections are opened on first use."""
    client, news = connect(settings)
    retention = Retention.of(settings)
    store = Store(client)
    players = Players(store, retention)
    indexes = Indexes(client, store, retention)
    transactions = Transactions(store, indexes, players, retention)
    queries = Queries(store, indexes, players)
    turns = TurnQueries(transactions, store, indexes, players)
    hub = Hub(store, indexes, transactions, news)
    when_stopping(hub.stop)
    room = Capacity.of(settings, capacity.available())
    quota = Quota(room.waiters, settings.waiters_per_player, room.waiters_per_address)
    policies = POLICIES if settings.rate_limits is None else settings.rate_limits
    limiter = Limiter(client, policies)
    tables = Tables(transactions, SeatLimits(limiter))
    return Services(
        store=store,
        players=players,
        transactions=transactions,
        tables=tables,
        creation=GameCreation(transactions, tables),
        moves=Moves(transactions),
        queries=queries,
        long_polls=LongPolls(hub, quota, queries, turns),
        event_streams=EventStreams(hub, quota, queries),
        limiter=limiter,
        exposition=Exposition(indexes.lobby_sizes, store.is_full),
    )
