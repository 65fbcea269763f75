"""The metrics for Prometheus: one function for each event that is counted or measured.

Callers pass plain values. Names, labels and how the counts of the workers are summed are known here
alone. No label holds a value that a client chose, so the number of series is bounded. A commit is
counted at most once; a commit whose answer was lost may be missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
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
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from api.observability import multiprocess, restarts
from api.observability.context import UNMATCHED

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

STORE_ERROR_KINDS = ("connection", "timeout", "full", "other")
QUOTAS = ("worker", "strangers", "address", "player")

_directory = multiprocess.directory()
if _directory is not None:
    # The library finds the directory here. It tells workers apart by this number instead of their
    # process ids.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_directory)
    values.ValueClass = values.MultiProcessValue(multiprocess.number)  # type: ignore[no-untyped-call]

# The library does not support the time of creation for counts of several processes.
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
    "Duration of requests that did not wait for an event, by method and route.",
    ("method", "route"),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=_registry,
)
_WAIT_SECONDS = Histogram(
    "ludotheque_wait_duration_seconds",
    "Duration of requests that waited for an event (long polls and streams), by route.",
    ("route",),
    buckets=(0.1, 0.5, 1, 5, 10, 20, 30, 60, 300, 1800, 7200),
    registry=_registry,
)
_WAITERS = Gauge(
    "ludotheque_waiters",
    "Long polls and streams that wait now.",
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
    "Moves committed, by ruleset and by the mover: player, house or clock.",
    ("ruleset", "by"),
    registry=_registry,
)
_GAMES = Counter(
    "ludotheque_games",
    "Games created, started, finished or cancelled, by ruleset and event.",
    ("ruleset", "event"),
    registry=_registry,
)
_CONFLICTS = Counter(
    "ludotheque_commit_conflicts",
    "Commits that conflicted with another request's and were retried.",
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
    "Requests refused by a rate limit, by limit.",
    ("limit",),
    registry=_registry,
)
_WAITS_REFUSED = Counter(
    "ludotheque_waits_refused",
    "Long polls answered at once and streams refused because a quota was used up, by quota: of the "
    "worker, of strangers together, of an address or of a player.",
    ("quota",),
    registry=_registry,
)
_CONNECTIONS_REFUSED = Counter(
    "ludotheque_connections_refused",
    "Connections closed at once because their address had CONNECTIONS_PER_ADDRESS.",
    registry=_registry,
)

# Export the series with value 0 before the first event.
for _kind in STORE_ERROR_KINDS:
    _STORE_ERRORS.labels(_kind)
for _quota in QUOTAS:
    _WAITS_REFUSED.labels(_quota)

# The series are cached: the library takes longer to look one up than to count.
_request_counter = cache(_REQUESTS.labels)
_request_seconds = cache(_REQUEST_SECONDS.labels)
_wait_seconds = cache(_WAIT_SECONDS.labels)
_moves = cache(_MOVES.labels)
_games = cache(_GAMES.labels)


def worker_started() -> None:
    """Count this worker."""
    _WORKERS.set(1)


def rate_limits_set(limits: Iterable[str]) -> None:
    """Export the series of these rate limits with value 0 before the first event."""
    for limit in limits:
        _RATE_LIMITED.labels(limit)


def request_answered(
    method: str, route: str, status: int, seconds: float, *, has_waited: bool
) -> None:
    """Count and measure an answered request. `method` is a known one or `other`."""
    _request_counter(method, route, status).inc()
    if has_waited:
        _wait_seconds(route).observe(seconds)
    else:
        _request_seconds(method, route).observe(seconds)


def request_malformed(status: int) -> None:
    """Count input that could not be read as a request, by the status of the answer."""
    _request_counter("other", UNMATCHED, status).inc()


def move_committed(ruleset: str, by: str) -> None:
    """Count a move. `by` is player, house or clock."""
    _moves(ruleset, by).inc()


def game_changed(ruleset: str, event: str) -> None:
    """Count a game that was created, started, finished or cancelled."""
    _games(ruleset, event).inc()


def commit_conflicted() -> None:
    """Count a commit that another request's commit preceded."""
    _CONFLICTS.inc()


def store_failed(kind: str) -> None:
    """Count a failure of the store. `kind` is one of `STORE_ERROR_KINDS`."""
    _STORE_ERRORS.labels(kind).inc()


def rate_limited(limit: str) -> None:
    """Count a request that this rate limit refused."""
    _RATE_LIMITED.labels(limit).inc()


def wait_began() -> None:
    """Count a long poll or a stream that waits."""
    _WAITERS.inc()


def wait_ended() -> None:
    """Count a long poll or a stream that waits no more."""
    _WAITERS.dec()


def wait_refused(quota: str) -> None:
    """Count a long poll or a stream that this quota refused (see `QUOTAS`)."""
    _WAITS_REFUSED.labels(quota).inc()


def connection_refused() -> None:
    """Count a connection that was closed at once because its address had too many."""
    _CONNECTIONS_REFUSED.inc()


class _OfStore(Collector):
    """What was just read from the store, as far as it is known."""

    def __init__(self, lobby: dict[str, int] | None, store_full: bool | None) -> None:
        self.lobby = lobby
        self.store_full = store_full

    def collect(self) -> Iterable[GaugeMetricFamily]:
        if self.lobby is not None:
            family = GaugeMetricFamily(
                "ludotheque_lobby_games",
                "Public games in the store, by status. Games that have just changed or expired may "
                "count wrongly. Every instance exports the same value: take the maximum, not the "
                "sum.",
                labels=("status",),
            )
            for status, number in self.lobby.items():
                family.add_metric((status,), number)
            yield family
        if self.store_full is not None:
            yield GaugeMetricFamily(
                "ludotheque_store_full",
                "1 while the store's memory or disk is full, else 0. Every instance exports the "
                "same value: take the maximum, not the sum.",
                value=self.store_full,
            )


class _OfMaster(Collector):
    """What the master has counted."""

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(
            "ludotheque_embedded_store_restarts",
            "Restarts of the embedded Valkey, by cause: killed by a signal, exited by itself, or "
            "its supervisor ended.",
            labels=("cause",),
        )
        for cause, number in restarts.counts().items():
            family.add_metric((cause,), number)
        yield family


def exposition(lobby: dict[str, int] | None, store_full: bool | None) -> bytes:
    """Return the metrics of all workers in Prometheus' text format.

    `lobby` is the number of public games by status, `store_full` whether the store refuses
    changes. None if the store did not answer: then these metrics are left out.
    """
    counted: Collector = _registry
    if _directory is not None:
        counted = MultiProcessCollector(None, str(_directory))  # type: ignore[no-untyped-call]
    others = (_OfMaster(), _OfStore(lobby, store_full))
    return generate_latest(counted) + b"".join(map(generate_latest, others))
