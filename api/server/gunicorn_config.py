"""How gunicorn runs the service: for `ludotheque serve` and for the gunicorn command alike.

Used as `gunicorn --config python:api.server.gunicorn_config 'api:create_app()'`. What can be chosen
comes from `api.config.settings`; the rest is decided here, with the reason.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from api.config import capacity
from api.config.capacity import Capacity
from api.config.settings import Settings
from api.observability import multiprocess
from api.observability.addresses import Proxies
from api.server.connection_limits import ConnectionLimits
from api.server.log_format import LOGS

_settings = Settings.from_environment()
# In the master, for its workers: by itself a process often may open no more than 1024 files.
capacity.allow(capacity.needed(_settings))
_capacity = Capacity.of(_settings, capacity.available())
_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host

bind = f"{_host}:{_settings.port}"
workers = _settings.web_concurrency
worker_class = "api.server.worker.Worker"
worker_connections = _capacity.connections
loglevel = _settings.log_level
# The service's own lines of the log, in the same form as gunicorn's.
logger_class = LOGS[_settings.log_format]
# Nor does gunicorn write of requests: `api.web.middleware` does, without queries, which hold
# tickets.
accesslog = None

# Seconds that an idle connection is kept, and that a request's line and headers may take.
keepalive = 5
# Whose X-Forwarded-Proto is believed: the same who are believed in X-Forwarded-For.
forwarded_allow_ips = ",".join(map(str, _settings.trusted_proxies or ()))
# Proxies are believed in nothing else: what their clients send in a header SCRIPT_NAME or
# PATH_INFO would replace the path that they are asked for, and have decided upon.
forwarder_headers = ""
# Seconds that the master leaves workers to end by themselves: what they take, and a little more.
graceful_timeout = _settings.stop_delay_seconds + _settings.grace_seconds + 2
# The master imports nothing of the service, so that gevent patches before anything is loaded.
preload_app = False

# Nobody manages the service over gunicorn's control socket, so it opens none.
control_socket_disable = True
# The workers' heartbeat is a file's time stamp: in memory, it waits for no disk.
worker_tmp_dir = "/dev/shm" if os.access(Path("/dev/shm"), os.W_OK | os.X_OK) else None


def on_starting(server: Any) -> None:
    """In the master, before there are workers: a place for their counts, and what is short."""
    if short := _capacity.falls_short_of(_settings):
        server.log.warning(
            "A worker holds %d connections here, so %s (to hold %d takes a limit of %d open files, "
            "and no address has more than half)",
            _capacity.connections,
            ", ".join(short),
            capacity.MOST_CONNECTIONS,
            capacity.needed(_settings),
        )
    if _settings.metrics == "on":
        multiprocess.begin()


def pre_fork(server: Any, worker: Any) -> None:
    """In the master: a number for the worker that is about to be made."""
    worker.number = multiprocess.free_number({each.number for each in server.WORKERS.values()})


def post_fork(server: Any, worker: Any) -> None:
    """In a new worker: let it see what it was sent before it could listen (`api.server.worker`)."""
    worker.early_signals = server.SIG_QUEUE
    worker.stop_delay = _settings.stop_delay_seconds
    worker.grace = _settings.grace_seconds
    worker.limits = ConnectionLimits(
        _capacity.connections_per_address, Proxies(_settings.trusted_proxies or ())
    )
    multiprocess.join(worker.number)


def pre_request(worker: Any, request: Any) -> None:
    """Log nothing: gunicorn's own hook logs the path at the level debug, which may hold a token."""


def post_worker_init(worker: Any) -> None:
    """In a worker that has loaded the application: count what never gets to it.

    What is there now is there to stay: else the collector would look through all of it again and
    again, for tens of milliseconds.
    """
    from api.observability import metrics  # noqa: PLC0415 (after gevent has patched)

    worker.count_malformed = metrics.request_malformed
    worker.count_refused_connection = metrics.connection_refused
    gc.collect()
    gc.freeze()


def child_exit(server: Any, worker: Any) -> None:
    """In the master: a worker has ended, however."""
    multiprocess.forget(worker.number)


def on_exit(server: Any) -> None:
    """In the master, at the end."""
    multiprocess.end()
