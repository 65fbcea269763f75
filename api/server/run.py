"""The service as one program: gunicorn in this process, and the embedded Valkey if need be.

`serve` does what `ludotheque serve` promises: one address taken, one server for all workers,
started before them and ended after them. It decides nothing that `api.server.gunicorn_config` or
`api.config.settings` decide.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import signal
import socket
import time
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from api.config.settings import Settings
from api.server.valkey import EmbeddedError, EmbeddedValkey

BACKLOG = 2048
# Workers of a service that was killed hear of it within a fraction of a second, and let go.
ADDRESS_SECONDS = 2.0
ADDRESS_POLL_SECONDS = 0.1


class ServeError(Exception):
    """The service cannot start. The message is one line for the person who started it."""


def serve(settings: Settings) -> None:
    """Serve until told to stop, by Ctrl-C or SIGTERM; a second Ctrl-C does not wait.

    Raises:
        ServeError: the address or the data directory cannot be had.
        SystemExit: how gunicorn ends, in the workers too; 0 after an orderly stop.
    """
    with contextlib.ExitStack() as stack:
        valkey = None
        try:
            if settings.redis_url is None:
                valkey = EmbeddedValkey(settings.data_dir, settings.append_fsync)
                stack.enter_context(valkey)
            listener = listen(settings.host, settings.port)
            if valkey is not None:
                valkey.start()
                settings = dataclasses.replace(settings, redis_url=valkey.url)
        except EmbeddedError as error:
            raise ServeError(str(error)) from None
        Master(Application(settings, listener), valkey).run()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on `host` and `port`. Raises ServeError if it cannot be had."""
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
    """Where `listener` is reached, from this machine at least."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Application(BaseApplication):  # type: ignore[misc]
    """The Flask application as gunicorn wants it, each worker making its own."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._url = url_of(listener)
        # gunicorn makes a socket of its own of the descriptor, and closes it.
        self._bind = f"fd://{listener.detach()}"
        super().__init__()

    def load_config(self) -> None:
        """What `api.server.gunicorn_config` says, with the address that is already taken."""
        from api.server import gunicorn_config  # noqa: PLC0415 (it reads the environment)

        for name, value in vars(gunicorn_config).items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)
        self.cfg.set("bind", self._bind)
        self.cfg.set("post_worker_init", self._worker_is_ready)

    def load(self) -> Any:
        """The WSGI application, with the settings as they turned out: called in each worker."""
        from api import create_app  # noqa: PLC0415 (after gevent has patched)

        return create_app(self._settings)

    def _worker_is_ready(self, worker: Any) -> None:
        from api.server import gunicorn_config  # noqa: PLC0415 (as above)

        gunicorn_config.post_worker_init(worker)
        self._announce(worker)

    def _announce(self, worker: Any) -> None:
        # The first worker of all: from now on requests are answered.
        if worker.age != 1:
            return
        message = f"Ludothèque serves on {self._url}"
        if self._settings.log_format == "text":
            print(f"{message} (Ctrl-C stops it)", flush=True)
        else:
            worker.log.info(message)


class Master(Arbiter):  # type: ignore[misc]
    """gunicorn's master, with a Valkey to look after and the manners of a program in a terminal.

    Ctrl-C and the terminal's end stop it as SIGTERM does. (gunicorn's own would cut off the
    requests in flight, and reload, respectively.)
    """

    def __init__(self, app: Application, valkey: EmbeddedValkey | None) -> None:
        super().__init__(app)
        self._valkey = valkey

    def init_signals(self) -> None:
        """As gunicorn's, but what was started with nohup stays deaf to the terminal's end."""
        deaf = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        super().init_signals()
        if deaf:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def handle_int(self) -> None:
        """Ctrl-C. The next one, while workers finish, makes gunicorn's `stop` end at once."""
        raise StopIteration

    def handle_hup(self) -> None:
        """The terminal has closed."""
        raise StopIteration

    def handle_usr2(self) -> None:
        """A second master beside this one would need the same data directory."""
        self.log.warning("SIGUSR2 is not supported: stop the service and start it again")

    def manage_workers(self) -> None:
        """Once a second and after each signal: whatever is missing is started."""
        self._look_after_valkey()
        super().manage_workers()

    def _look_after_valkey(self) -> None:
        if self._valkey is None:
            return
        for line in self._valkey.news():
            self.log.warning("%s", line)
        try:
            self._valkey.revive()
        except EmbeddedError as error:
            self.log.error("The embedded Valkey is down: %s", error)
