"""`ludotheque serve`: gunicorn in this process, and the embedded Valkey if there is no REDIS_URL.

`serve` starts the embedded Valkey before the workers and stops it after them.
All choices are made in `api.server.gunicorn_config` and `api.config.settings`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gunicorn import systemd
from gunicorn.app import base
from gunicorn.arbiter import Arbiter

from api.config.settings import Settings
from api.server.valkey import EmbeddedError, EmbeddedValkey

BACKLOG = 2048
# The workers of a service that was killed release its address within a fraction of a second.
ADDRESS_SECONDS = 2.0
ADDRESS_POLL_SECONDS = 0.1
# The pages to open in a browser, by what they are. One that the application lacks is not named.
PAGES = (("table", "/play"), ("guide", "/guide"), ("reference", "/docs"))


class ServeError(Exception):
    """The service cannot start. The message is one line for the operator."""


def serve(settings: Settings) -> None:
    """Serve until told to stop by Ctrl-C or SIGTERM. A second Ctrl-C cuts requests off.

    Raises:
        ServeError: the address cannot be used.
        EmbeddedError: the embedded Valkey cannot run.
        SystemExit: gunicorn ends with it, in the workers too; 0 after an orderly stop.
    """
    with contextlib.ExitStack() as stack:
        valkey, data = None, None
        if settings.redis_url is None:
            valkey = EmbeddedValkey(settings.data_dir, settings.append_fsync)
            stack.enter_context(valkey)
            settings = dataclasses.replace(settings, redis_url=valkey.url)
            data = settings.data_dir.resolve()
        listener = listen(settings.host, settings.port)
        Master(Application(settings, listener, data), valkey).run()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`. Raises ServeError if that fails."""
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (socket.gaierror, UnicodeError):
        raise ServeError(f"HOST {host!r} is not an address of this machine") from None
    family, kind, protocol, _, address = found[0]
    deadline = time.monotonic() + ADDRESS_SECONDS
    while True:
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
            return listener
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise ServeError(_why_not(host, port, error)) from None
        time.sleep(ADDRESS_POLL_SECONDS)


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use: set PORT to another one"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"HOST {host!r} is not an address of this machine"
    return f"cannot listen on port {port} of {host}: {error.strerror}"


def url_of(listener: socket.socket) -> str:
    """Return the URL of a listener, as seen from this machine."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Application(base.Application):  # type: ignore[misc]
    """The application in gunicorn's form. Each worker creates its own.

    `data` is DATA_DIR, None for a store elsewhere.
    """

    def __init__(self, settings: Settings, listener: socket.socket, data: Path | None) -> None:
        self._settings = settings
        self._data = data
        self._url = url_of(listener)
        # gunicorn creates its own socket from the descriptor, and closes it.
        self._bind = f"fd://{listener.detach()}"
        super().__init__()

    def load_config(self) -> None:
        """Load `api.server.gunicorn_config`, with the address that is already taken."""
        self.load_config_from_module_name_or_filename("python:api.server.gunicorn_config")
        self.cfg.set("bind", self._bind)
        post_worker_init = self.cfg.post_worker_init

        def announce(worker: Any) -> None:
            post_worker_init(worker)
            self._announce(worker)

        self.cfg.set("post_worker_init", announce)

    def load(self) -> Any:
        """Return the WSGI application. gunicorn calls this in each worker."""
        from api import create_app  # noqa: PLC0415 (after gevent has patched)

        return create_app(self._settings)

    def _announce(self, worker: Any) -> None:
        # Once, as soon as the first worker answers requests.
        if worker.age != 1:
            return
        message = f"Ludothèque serves on {self._url}"
        if self._settings.log_format == "text":
            write_line("\n".join((message, *self._hints(worker.wsgi))))
        else:
            worker.log.info(message)

    def _hints(self, application: Any) -> Iterator[str]:
        """Return a line for each page to open, for the data, and for how to stop."""
        # An application of a test's own has no routes.
        url_map = getattr(application, "url_map", None)
        routes = {rule.rule for rule in url_map.iter_rules()} if url_map else set()
        for name, path in PAGES:
            if path in routes:
                yield f"  {name:<10} {self._url}{path}"
        if self._data is not None:
            yield f"  {'data':<10} {self._data}"
        elif self._settings.redis_url is not None:
            from api.storage.connect import store_name  # noqa: PLC0415 (after gevent has patched)

            yield f"  {'data':<10} {store_name(self._settings.redis_url)}"
        yield f"  {'stop':<10} Ctrl-C"


def write_line(text: str) -> None:
    """Write to standard output, unless it cannot be written, as on a full disk.

    Not with `print`: what its buffer could not write would fail again at the end of the process.
    """
    # None if the process was started without one: its descriptor may be another file's by now.
    if sys.stdout is not None:
        with contextlib.suppress(OSError):
            os.write(1, (text + "\n").encode(sys.stdout.encoding, errors="replace"))


class Master(Arbiter):  # type: ignore[misc]
    """gunicorn's master, which also restarts the supervisor of the embedded Valkey.

    Ctrl-C and the end of the terminal stop it as SIGTERM does. (gunicorn would cut off the requests
    in flight at Ctrl-C, and reload its configuration when the terminal ends.)
    """

    def __init__(self, app: Application, valkey: EmbeddedValkey | None) -> None:
        super().__init__(app)
        self._valkey = valkey

    def init_signals(self) -> None:
        """Handle signals as gunicorn does, but go on ignoring SIGHUP if started with nohup."""
        ignores_hangup = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        super().init_signals()
        if ignores_hangup:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def handle_int(self) -> None:
        """Stop at Ctrl-C. At a second one, while workers finish, gunicorn's `stop` ends at once."""
        raise StopIteration

    def handle_hup(self) -> None:
        """Stop when the terminal has closed."""
        raise StopIteration

    def handle_usr2(self) -> None:
        """Refuse to start a second master, which would need the same data directory."""
        self.log.warning("SIGUSR2 is not supported: stop the service and start it again")

    def reap_workers(self) -> None:
        """Reap the supervisor first: gunicorn drops the exit codes of children that it lacks."""
        if self._valkey is not None:
            self._valkey.reap_supervisor()
        super().reap_workers()

    def manage_workers(self) -> None:
        """Restart workers and a supervisor that have died, once a second and after each signal.

        Tell systemd's watchdog, if there is one, that the master does not hang.
        """
        systemd.sd_notify("WATCHDOG=1", self.log)
        self._watch_valkey()
        super().manage_workers()

    def _watch_valkey(self) -> None:
        if self._valkey is None:
            return
        for line in self._valkey.messages():
            self.log.warning("%s", line)
        try:
            self._valkey.restart_supervisor()
        except EmbeddedError as error:
            self.log.error("The embedded Valkey is down: %s", error)
