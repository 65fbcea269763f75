"""How gunicorn runs the service: for `ludotheque serve` and for the gunicorn command alike.

Used as `gunicorn --config python:api.gunicorn_config 'api:create_app()'`. What can be chosen
comes from `api.settings`; the rest is decided here, with the reason.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from api.callers import Proxies
from api.settings import Settings

_settings = Settings.from_environment()
_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host

bind = f"{_host}:{_settings.port}"
workers = _settings.web_concurrency
worker_class = "api.worker.Worker"
# Each of them may be a long poll, at some 25 kB.
worker_connections = 10_000
loglevel = _settings.log_level
# No access log: a stream's address holds a ticket.
accesslog = None

# Seconds that an idle connection is kept, and that a request's line and headers may take.
keepalive = 5
# Seconds that requests in flight have to finish when the service stops.
graceful_timeout = 10
# Whose X-Forwarded-Proto is believed: the same who are believed in X-Forwarded-For.
forwarded_allow_ips = ",".join(map(str, _settings.trusted_proxies or ()))
# The master imports nothing of the service, so that gevent patches before anything is loaded.
preload_app = False

# Nobody manages the service over gunicorn's control socket, so it opens none.
control_socket_disable = True
# The workers' heartbeat is a file's time stamp: in memory, it waits for no disk.
worker_tmp_dir = "/dev/shm" if os.access(Path("/dev/shm"), os.W_OK | os.X_OK) else None


def post_fork(server: Any, worker: Any) -> None:
    """In a new worker: let it see what it was sent before it could listen (`api.worker`)."""
    worker.heard = server.SIG_QUEUE
    worker.proxies = Proxies(_settings.trusted_proxies or ())
    worker.connections_per_address = _settings.connections_per_address
