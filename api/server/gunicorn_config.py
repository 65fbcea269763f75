"""The configuration of gunicorn, for `ludotheque serve` and for the gunicorn command alike.

Use it as `gunicorn --config python:api.server.gunicorn_config 'api:create_app()'`. The operator's
choices come from `api.config.settings`; everything else is decided here, with the reason.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from api.config import capacity
from api.config.capacity import Capacity
from api.config.settings import Settings
from api.observability import lifecycle, multiprocess
from api.observability.addresses import Proxies
from api.server.connection_limits import ConnectionLimits
from api.server.log_format import LOGS

_settings = Settings.from_environment()
# In the master, for its workers: the default limit is often 1024 open files.
capacity.allow(capacity.needed(_settings))
_capacity = Capacity.of(_settings, capacity.available())
_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host

bind = f"{_host}:{_settings.port}"
workers = _settings.web_concurrency
worker_class = "api.server.worker.Worker"
worker_connections = _capacity.connections
loglevel = _settings.log_level
# One format for the log lines of gunicorn and of the service.
logger_class = LOGS[_settings.log_format]
# `api.web.middleware` logs requests instead, without their queries, which hold tickets.
accesslog = None

# gunicorn would use the parser gunicorn_h1c if it is installed. That one answers 400 to an unknown
# transfer coding instead of 501, and 431 to a long request line instead of 414.
http_parser = "python"
keepalive = _settings.keep_alive_seconds
# Believe X-Forwarded-Proto of the same proxies as X-Forwarded-For.
forwarded_allow_ips = ",".join(map(str, _settings.trusted_proxies or ()))
# Ignore the headers SCRIPT_NAME and PATH_INFO: a client could send them through a proxy to replace
# the path that the proxy has checked.
forwarder_headers = ""
# Seconds until the master kills workers that do not stop: a little more than they may take.
graceful_timeout = _settings.stop_delay_seconds + _settings.grace_seconds + 2
# Workers load the application, so that gevent has patched the standard library before.
preload_app = False

# gunicorn would send a file past `RequestReader`, and so before the head of its answer.
sendfile = False

# The service is not managed over gunicorn's control socket.
control_socket_disable = True
# The workers' heartbeat is the time stamp of a file: in memory, it does not wait for a disk.
worker_tmp_dir = "/dev/shm" if os.access(Path("/dev/shm"), os.W_OK | os.X_OK) else None


def on_starting(server: Any) -> None:
    """Create the directory of the metrics, and warn of settings that cannot take effect."""
    if short := _capacity.falls_short_of(_settings):
        server.log.warning(
            "A worker can hold %d connections, one address half of them, so %s. Raise the limit of "
            "open files to %d for %d connections",
            _capacity.connections,
            ", ".join(short),
            capacity.needed(_settings),
            capacity.MAX_CONNECTIONS,
        )
    if _settings.metrics == "on":
        try:
            multiprocess.begin()
        except OSError as error:
            server.log.warning(
                "Each worker reports only its own metrics, as there is no room for those of all "
                "(%s): make room in /dev/shm or TMPDIR and start the service again",
                error.strerror,
            )


def pre_fork(server: Any, worker: Any) -> None:
    """Give the next worker its number. Called in the master."""
    worker.number = multiprocess.free_number({each.number for each in server.WORKERS.values()})


def post_fork(server: Any, worker: Any) -> None:
    """Give a new worker its settings, and the signals that it could not handle yet."""
    worker.early_signals = server.SIG_QUEUE
    worker.stop_delay = _settings.stop_delay_seconds
    worker.grace = _settings.grace_seconds
    worker.limits = ConnectionLimits(
        _capacity.connections_per_address,
        _capacity.connections_before_idle_close,
        Proxies(_settings.trusted_proxies or ()),
    )
    multiprocess.join(worker.number)


def pre_request(worker: Any, request: Any) -> None:
    """Log nothing. gunicorn's default hook logs the path, which may hold a token."""


def post_request(worker: Any, request: Any, environ: Any, response: Any) -> None:
    """Give the worker the response, which it completes if the application's body may wait."""
    worker.note_response(response)


def post_worker_init(worker: Any) -> None:
    """Let a worker that has loaded the application count what the application never sees.

    One of them also checks the store, before it serves. The objects that exist now will stay.
    Without the freeze, each full garbage collection would take tens of milliseconds to look through
    them. With 10,000 waiting clients, it takes hundreds, so it is rare: requests leave no cycles
    that outlive the collections of younger objects. Every third collection includes the middle
    generation. If that were rarer, it would hold the objects of all clients that began to wait
    within some seconds, and take 70 ms.
    """
    from api.observability import metrics  # noqa: PLC0415 (after gevent has patched)

    worker.count_malformed = metrics.request_malformed
    worker.count_refused_connection = metrics.connection_refused
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 1, 15_000)
    if worker.number == 0:
        lifecycle.start_in_one_worker()


def child_exit(server: Any, worker: Any) -> None:
    """Remove the gauges of a worker that has ended. Called in the master."""
    multiprocess.forget(worker.number)


def on_exit(server: Any) -> None:
    """Remove the directory of the metrics."""
    multiprocess.end()
