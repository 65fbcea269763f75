"""What is counted and measured, for Prometheus: one function for each thing that can happen.

Callers say what happened; names, labels and how the workers' counts are put together are this
module's business. No label holds anything that a stranger chose, so there is a bounded number of
them. A commit that was made is counted at most once; one whose answer got lost may be missing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    values,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.config.rate_policies import POLICIES
from api.model.game import CANCELLED, FINISHED, NOT_A_MOVE, Game, HistoryItem
from api.observability import context, multiprocess
from api.storage.errors import Unreadable, is_full

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_directory = multiprocess.directory()
if _directory is not None:
    # Where the library looks for it, and how it tells workers apart: not by their process id.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_directory)
    values.ValueClass = values.MultiProcessValue(multiprocess.number)  # type: ignore[no-untyped-call]

# When a count began is known to nobody who counts with others.
disable_created_metrics()  # type: ignore[no-untyped-call]
_registry = CollectorRegistry()

_REQUESTS = Counter(
    "ludotheque_requests",
    "Requests answered, by method, route and status.",
    ("method", "route", "status"),
    registry=_registry,
)
_REQUEST_SECONDS = Histogram(
    "ludotheque_request_duration_seconds",
    "How long requests took that waited for nothing, by method and route.",
    ("method", "route"),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=_registry,
)
_WAIT_SECONDS = Histogram(
    "ludotheque_wait_duration_seconds",
    "How long requests took that waited for something to happen: polls and streams, by route.",
    ("route",),
    buckets=(0.1, 0.5, 1, 5, 10, 20, 30, 60, 300, 1800, 7200),
    registry=_registry,
)
_WAITERS = Gauge(
    "ludotheque_waiters",
    "Polls and streams that wait now.",
    multiprocess_mode="livesum",
    registry=_registry,
)
_WORKERS = Gauge(
    "ludotheque_workers",
    "Worker processes.",
    multiprocess_mode="livesum",
    registry=_registry,
)
_MOVES = Counter(
    "ludotheque_moves",
    "Moves committed, by ruleset and by whom: player, house or clock.",
    ("ruleset", "by"),
    registry=_registry,
)
_GAMES = Counter(
    "ludotheque_games",
    "What became of games, by ruleset: created, started, finished, cancelled.",
    ("ruleset", "event"),
    registry=_registry,
)
_CONFLICTS = Counter(
    "ludotheque_commit_conflicts",
    "Commits that another request came before, and that were decided again.",
    registry=_registry,
)
_STORE_ERRORS = Counter(
    "ludotheque_store_errors",
    "Failures of the store, by kind: connection, timeout, full or other.",
    ("kind",),
    registry=_registry,
)
_RATE_LIMITED = Counter(
    "ludotheque_rate_limited",
    "Requests refused since there were too many, by limit.",
    ("limit",),
    registry=_registry,
)
_WAITS_REFUSED = Counter(
    "ludotheque_waits_refused",
    "Polls that were answered at once and streams that were refused as too many waited, by whose "
    "places were taken: the worker's, the strangers', the address's or the player's.",
    ("places",),
    registry=_registry,
)
_CONNECTIONS_REFUSED = Counter(
    "ludotheque_connections_refused",
    "Connections closed at once as their address had too many.",
    registry=_registry,
)

# So that they are there, at zero, before the first.
for _kind in ("connection", "timeout", "full", "other"):
    _STORE_ERRORS.labels(_kind)
for _policy in POLICIES:
    _RATE_LIMITED.labels(_policy.name)
for _places in ("worker", "strangers", "address", "player"):
    _WAITS_REFUSED.labels(_places)

# The children are kept: looking one up takes longer than counting.
_request_counter = cache(_REQUESTS.labels)
_request_seconds = cache(_REQUEST_SECONDS.labels)
_wait_seconds = cache(_WAIT_SECONDS.labels)
_moves = cache(_MOVES.labels)
_games = cache(_GAMES.labels)


def worker_started() -> None:
    """This worker is there."""
    _WORKERS.set(1)


def request_answered(trace: context.RequestContext, status: int, seconds: float) -> None:
    """A request was answered, to the last byte."""
    method = trace.known_method
    _request_counter(method, trace.route, status).inc()
    if trace.has_waited:
        _wait_seconds(trace.route).observe(seconds)
    else:
        _request_seconds(method, trace.route).observe(seconds)


def request_refused(status: int) -> None:
    """What came could not be read as a request, and was answered with this status."""
    _request_counter("other", context.UNMATCHED, status).inc()


def committed(before: Game | None, after: Game, items: Iterable[HistoryItem]) -> None:
    """A change of a game was committed."""
    for item in items:
        if item.move != NOT_A_MOVE:
            _moves(after.ruleset, str(item.by)).inc()
    if before is None:
        _games(after.ruleset, "created").inc()
    if after.started_at is not None and (before is None or before.started_at is None):
        _games(after.ruleset, "started").inc()
    if after.status in (FINISHED, CANCELLED) and (before is None or before.status != after.status):
        _games(after.ruleset, after.status).inc()


def commit_conflicted() -> None:
    """Another request came before a commit."""
    _CONFLICTS.inc()


def store_failed(error: RedisError | Unreadable) -> None:
    """The store failed, or has something else under a key than it should."""
    if isinstance(error, RedisTimeoutError):
        kind = "timeout"
    elif isinstance(error, RedisConnectionError):
        kind = "connection"
    elif is_full(error):
        kind = "full"
    else:
        kind = "other"
    _STORE_ERRORS.labels(kind).inc()


@contextlib.contextmanager
def unless_full() -> Iterator[None]:
    """Leave a block whose change a full store refuses, and count that; a later request makes it."""
    try:
        yield
    except RedisError as error:
        if not is_full(error):
            raise
        store_failed(error)


def rate_limited(limit: str) -> None:
    """A request was refused by this limit: one of a few names of ours."""
    _RATE_LIMITED.labels(limit).inc()


def wait_began() -> None:
    """A poll or a stream has taken a place."""
    _WAITERS.inc()


def wait_ended() -> None:
    """A poll or a stream has given its place back."""
    _WAITERS.dec()


def wait_refused(places: str) -> None:
    """A poll or a stream got no place: those of the worker, of strangers, … were taken."""
    _WAITS_REFUSED.labels(places).inc()


def connection_refused() -> None:
    """A connection was closed at once, as its address had too many."""
    _CONNECTIONS_REFUSED.inc()


class _Lobby(Collector):
    """The games in the lobby, as they were just counted."""

    def __init__(self, games: dict[str, int]) -> None:
        self.games = games

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "ludotheque_lobby_games",
            "Public games in the store, by status, with some that have just changed or expired. "
            "The same from every instance: take the maximum, not the sum.",
            labels=("status",),
        )
        for status, number in self.games.items():
            family.add_metric((status,), number)
        yield family


class _StoreFull(Collector):
    """Whether the store is full, as it has just said."""

    def __init__(self, store_full: bool) -> None:
        self.store_full = store_full

    def collect(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily(
            "ludotheque_store_full",
            "1 while the store says that its memory or its disk is full, 0 while it does not. "
            "The same from every instance: take the maximum, not the sum.",
            value=self.store_full,
        )


def exposition(lobby: dict[str, int] | None, store_full: bool | None) -> bytes:
    """All that was counted, by all workers, in Prometheus' text format.

    `lobby` says how many public games there are by status, `store_full` whether the store refuses
    changes; None if the store did not answer.
    """
    registry = _registry
    if _directory is not None:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(_directory))  # type: ignore[no-untyped-call]
    asked = CollectorRegistry()
    if lobby is not None:
        asked.register(_Lobby(lobby))
    if store_full is not None:
        asked.register(_StoreFull(store_full))
    return generate_latest(registry) + generate_latest(asked)
