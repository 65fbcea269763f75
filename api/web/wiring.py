"""The services of one application and their dependencies."""

from __future__ import annotations

from dataclasses import dataclass

from api.config import capacity
from api.config.capacity import Capacity
from api.config.rate_policies import POLICIES
from api.config.settings import Settings
from api.games.creation import GameCreation
from api.games.matching import Matching
from api.games.move_batches import MoveBatches
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
from api.live.tickets import Tickets
from api.live.turn_streams import TurnStreams
from api.model.retention import DAY_MS, HOUR_MS, MINUTE_MS, Retention
from api.observability import metrics
from api.observability.lifecycle import in_one_worker, on_stop
from api.ratelimit.limiter import Limiter
from api.storage.connect import connect, store_name
from api.storage.health import StoreHealth
from api.storage.indexes import Indexes
from api.storage.store import Store
from api.storage.watch import StoreWatch
from api.web.metrics_page import MetricsPage
from api.web.rate_limits import RateLimits


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the views call."""

    store: Store
    health: StoreHealth
    players: Players
    transactions: Transactions
    tables: Tables
    creation: GameCreation
    matching: Matching
    moves: Moves
    move_batches: MoveBatches
    queries: Queries
    long_polls: LongPolls
    event_streams: EventStreams
    rate_limits: RateLimits
    turn_streams: TurnStreams
    metrics_page: MetricsPage


def make_services(settings: Settings) -> Services:
    """Make the services with these settings. Connections are opened on first use."""
    client, news = connect(settings)
    retention = make_retention(settings)
    health = StoreHealth(client)
    if settings.redis_url is not None:
        name = store_name(settings.redis_url)
        in_one_worker(StoreWatch(health, name, settings.wait_replicas).start)
    store = Store(client, settings.stored_format)
    players = Players(store, retention)
    indexes = Indexes(client, store, retention)
    transactions = Transactions(store, indexes, players, retention)
    queries = Queries(transactions, store, indexes, players)
    turns = TurnQueries(transactions, store, indexes, players)
    hub = Hub(store, indexes, transactions, news)
    on_stop(hub.stop)
    room = Capacity.of(settings, capacity.available())
    quota = Quota(room.waiters, settings.waiters_per_player, room.waiters_per_address)
    tickets = Tickets(store, retention)
    metrics.rate_limits_set(each.name for each in POLICIES)
    policies = POLICIES if settings.rate_limits is None else settings.rate_limits
    limiter = Limiter(client, policies)
    tables = Tables(transactions, SeatLimits(limiter))
    creation = GameCreation(transactions, tables)
    moves = Moves(transactions)
    return Services(
        store=store,
        health=health,
        players=players,
        transactions=transactions,
        tables=tables,
        creation=creation,
        matching=Matching(transactions, tables, creation, limiter),
        moves=moves,
        move_batches=MoveBatches(moves),
        queries=queries,
        long_polls=LongPolls(hub, quota, queries, turns),
        event_streams=EventStreams(hub, quota, tickets, queries),
        turn_streams=TurnStreams(hub, quota, tickets, turns),
        rate_limits=RateLimits(limiter, players),
        metrics_page=MetricsPage(indexes.lobby_sizes, health.is_full),
    )


def make_retention(settings: Settings) -> Retention:
    """Return how long records are kept with these settings."""
    return Retention(
        player=int(settings.player_days * DAY_MS),
        unused_player=int(settings.unused_player_minutes * MINUTE_MS),
        unfinished=int(settings.open_game_days * DAY_MS),
        finished=int(settings.finished_game_days * DAY_MS),
        cancelled=int(settings.cancelled_game_hours * HOUR_MS),
        request=int(settings.idempotency_hours * HOUR_MS),
        ticket=int(settings.ticket_hours * HOUR_MS),
    )
