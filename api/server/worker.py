"""The gunicorn worker: gunicorn's gevent worker with an orderly stop and bounds for clients.

It stops when its master tells it to or has died, and not at a terminal's Ctrl-C, which reaches
every process. Requests in flight are answered, idle connections are closed at once. The worker
knows nothing of the application.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import queue
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gevent
from gevent.event import Event
from gevent.local import local
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn.sock import ssl_context
from gunicorn.workers.ggevent import GeventWorker

from api.concurrency.waits import Wait
from api.observability import lifecycle
from api.observability.addresses import Proxies
from api.server import malformed_requests, unread_bodies
from api.server.chunked_body import bound_chunks
from api.server.closing import linger, send_and_close, stop_reading
from api.server.connection_limits import Connection, ConnectionLimits
from api.server.malformed_requests import FAILED
from api.server.request_reader import RequestReader

# The time that a client has to read a part of an answer, or an event of a stream.
SEND_SECONDS = 30.0
# The system's buffer for a client that does not read (the system doubles the number). Without a
# limit it would grow to megabytes.
SEND_BUFFER_BYTES = 256 * 1024
HANDSHAKE_SECONDS = 5.0
HEARTBEAT_SECONDS = 0.25


class Worker(GeventWorker):  # type: ignore[misc]
    """Serves until its master stops it or dies."""

    alive: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Set by `api.server.gunicorn_config` in its hook post_fork: the master's queue of signals
        # as it was at the fork, the seconds to serve on after the order to stop, the seconds that
        # requests in flight then have to end, and how many connections an address may have.
        self.early_signals: queue.SimpleQueue[int] | None = None
        self.stop_delay = 0.0
        self.grace = float(self.cfg.graceful_timeout)
        self.limits = ConnectionLimits(self.worker_connections, self.worker_connections, Proxies())
        # Set in its hook post_worker_init: callbacks for the metrics. The argument is the status.
        self.count_malformed: Callable[[int], None] = lambda status: None
        self.count_refused_connection: Callable[[], None] = lambda: None

        self._stops_at: float | None = None
        self._woken: Event | None = None
        self._tls: ssl.SSLContext | None = None
        self._pool = Pool()
        self._servers: list[StreamServer] = []
        # What `timeout_ctx`, which gets no argument, has to know of the current connection.
        self._current = local()
        self._in_flight: set[Any] = set()

    # --- Start and stop ---------------------------------------------------------------------------

    def init_signals(self) -> None:
        """Handle signals as gunicorn does, but leave the terminal's signals to the master."""
        super().init_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if {signal.SIGTERM, signal.SIGQUIT} & set(self._read_early_signals()):
            self.alive = False

    def _read_early_signals(self) -> Iterator[int]:
        """Take the signals that arrived while this process still had the master's handlers.

        Those handlers only queue, and nothing else reads the queue of a worker: without this, an
        order to stop would be lost, and the master would kill the worker after its timeout.
        """
        with contextlib.suppress(queue.Empty):
            while self.early_signals is not None:
                yield self.early_signals.get_nowait()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Obey the order to stop: report not ready at once, stop serving after the delay."""
        lifecycle.announce_stop()
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self.stop_delay
        if self._woken is not None:
            # In a greenlet, as the signal may have interrupted the event's own code.
            gevent.spawn(self._woken.set)

    def notify(self) -> None:
        """Send the heartbeat, and stop if the master has died."""
        self.tmp.notify()
        if self.alive and self.ppid != os.getppid():
            self.log.info("The master has died, shutting down: %s", self)
            self.alive = False

    def run(self) -> None:
        """Serve until told to stop, then until the requests in flight are answered."""
        # Only for debugging: each greenlet would keep 0.3 kB about the one that made it.
        gevent.config.track_greenlet_tree = False
        self._woken = Event()
        if self.cfg.is_ssl:
            self._tls = ssl_context(self.cfg)
        # One pool for all listeners, as the limit of open files is one for the process.
        self._pool = Pool(self.worker_connections)
        self._servers = [self._listen(listener) for listener in self.sockets]
        gevent.get_hub().print_exception = self._log_uncaught
        while self.alive and (left := self._seconds_left()) > 0:
            self.notify()
            self._woken.wait(min(HEARTBEAT_SECONDS, left))
            # A signal only ends the wait early; `_stops_at` decides when to stop.
            self._woken.clear()
        self.alive = False
        for server in self._servers:
            server.close()
        for request in self._in_flight:
            # Announce the end of the connection in the answer, so that the client opens another.
            request.force_close()
        lifecycle.stop()
        for reader in self.limits.idle_readers():
            stop_reading(reader)
        self._drain()

    def _seconds_left(self) -> float:
        return math.inf if self._stops_at is None else self._stops_at - time.monotonic()

    def _log_uncaught(self, context: Any, kind: Any, value: Any, trace: Any) -> None:
        """Log the exception that ended a greenlet, in place of gevent's output to stderr."""
        self.log.error("a background task failed", exc_info=(kind, value, trace))

    def _listen(self, listener: Any) -> StreamServer:
        listener.setblocking(1)
        handle = partial(self.handle, _Listener(listener.getsockname()))
        server = _Server(listener, handle=handle, spawn=self._pool)
        if self.cfg.workers > 1:
            # Leave the next connection to the worker that is free first.
            server.max_accept = 1
        server.start()
        return server

    def _drain(self) -> None:
        deadline = time.monotonic() + self.grace
        while not self._pool.join(HEARTBEAT_SECONDS):
            self.notify()
            if time.monotonic() > deadline:
                self.log.warning(
                    "Requests were cut off: they did not end in GRACE_SECONDS (pid:%s)", self.pid
                )
                return

    # --- Connections ------------------------------------------------------------------------------

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a new connection."""
        counted = self.limits.admit(_address(addr))
        if counted is None:
            client.close()
            self.count_refused_connection()
            return
        try:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            client = self._secure(client)
        except (OSError, gevent.Timeout) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            self.log.info("The TLS handshake of %s failed: %s", _name(addr), reason)
            client.close()
            self.limits.release(counted)
            return
        self._serve(_Client(listener, RequestReader(client), addr, counted))

    def _serve(self, client: _Client) -> None:
        """Serve a connection to its end, or until an answer has to wait."""
        self._current.client = client
        super().handle(client.listener, client.reader, client.addr)
        wait, client.wait = client.wait, None
        if wait is None:
            self.limits.release(client.counted)
        else:
            client.reader.is_kept_open = False
            self._serve_after(wait, client)

    def _serve_after(self, wait: Wait, client: _Client) -> None:
        """Serve a connection in another greenlet, which begins when the wait has ended."""
        greenlet = gevent.Greenlet(self._serve, client)
        greenlet.gr_context = contextvars.copy_context()
        # It takes the place of the present one.
        self._pool.discard(gevent.getcurrent())
        self._pool.add(greenlet)
        wait.then(greenlet.start)

    def _secure(self, client: socket.socket) -> socket.socket:
        """Do the TLS handshake, if gunicorn was given a certificate.

        It is done here and not when the connection is accepted, so that the connection counts for
        its address and has a time limit.

        Raises:
            OSError, gevent.Timeout: the handshake failed. The connection is closed.
        """
        if self._tls is None:
            return client
        secured = self._tls.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
        try:
            with gevent.Timeout(HANDSHAKE_SECONDS):
                secured.do_handshake()
        except BaseException:
            secured.close()
            raise
        return secured

    def timeout_ctx(self) -> contextlib.AbstractContextManager[None]:
        """Complete the answer whose wait has ended, if any, and read the next request's head."""
        client: _Client = self._current.client
        if client.held is not None:
            self._answer(client, client.held.request, partial(self._send, client, client.held))
        return self._reading_head(client.counted, client.reader)

    @contextlib.contextmanager
    def _reading_head(self, counted: Connection, reader: RequestReader) -> Iterator[None]:
        """Read the head of a connection's next request, which may be idle for `cfg.keepalive`."""
        if not self.alive:
            stop_reading(reader)
        with self.limits.idling(counted, reader):
            # Yield: without this, one fast client would keep the worker from all others.
            gevent.sleep(0)
            reader.begin_head(self.cfg.keepalive)
            # `begin_head` has bounds of its own, and an idle connection may live longer.
            reader.settimeout(None)
            try:
                yield
            finally:
                reader.end_head()

    # --- Requests ---------------------------------------------------------------------------------

    def handle_request(self, listener_name: Any, req: Any, sock: RequestReader, addr: Any) -> None:
        """Answer one request; a client that does not read its answer loses the connection."""
        bound_chunks(req)
        if not unread_bodies.is_discardable(req):
            # The connection ends if the application does not read the body: announce it.
            req.force_close()
        self._in_flight.add(req)
        client: _Client = self._current.client
        held = client.held = _Held(req)

        def send() -> None:
            super(Worker, self).handle_request(listener_name, req, sock, addr)
            if held.body is None:
                client.held = None
            else:
                self._send(client, held)

        self._answer(client, req, send)

    def is_already_handled(self, respiter: Any) -> bool:
        """Take the body of an answer that may wait from gunicorn, which then ends the request."""
        held = self._current.client.held
        if held is None or getattr(respiter, "steps", None) is None:
            return False
        held.body = respiter
        return True

    def note_response(self, response: Any) -> None:
        """Note gunicorn's response to the current request, whose body may be sent later.

        `api.server.gunicorn_config` calls this in its hook post_request.
        """
        if (held := self._current.client.held) is not None:
            held.response = response

    def _answer(self, client: _Client, request: Any, send: Callable[[], None]) -> None:
        """Answer a request, or a part of it. Raises `StopIteration` if gunicorn's loop has to end.

        It ends with the connection, and when the answer has to wait.
        """
        client.reader.settimeout(SEND_SECONDS)
        try:
            send()
            client.reader.flush()
            if client.wait is not None or not unread_bodies.discard(request):
                raise StopIteration
        except StopIteration:
            if not unread_bodies.is_read(request):
                linger(client.reader)
            raise
        except TimeoutError:
            self.log.info("A client did not read its answer in time")
            raise StopIteration from None
        finally:
            if client.wait is None:
                self._in_flight.discard(request)

    def _send(self, client: _Client, held: _Held) -> None:
        """Send what is due of a body that may wait.

        Raises `StopIteration` if the connection has to end then.
        """
        try:
            for step in held.body.steps:
                if not isinstance(step, Wait):
                    held.response.write(step)
                elif self._can_begin_again(held.request):
                    client.wait, client.reader.is_kept_open = step, True
                    return
                else:
                    step.block()
            held.response.close()
        except OSError:
            raise
        except Exception as error:
            if held.response.headers_sent:
                self.log.exception("Error handling a request")
            else:
                self.handle_error(held.request, client.reader, client.addr, error)
            raise StopIteration from None
        finally:
            if client.wait is None:
                client.held = None
                held.body.close()
        if held.response.should_close():
            raise StopIteration

    def _can_begin_again(self, request: Any) -> bool:
        """Return whether gunicorn may end with a connection, and begin with it after a wait.

        Not with `--keep-alive 0`, as it then calls no `timeout_ctx`, nor with `--proxy-protocol`,
        as it reads the client's address at the beginning.
        """
        is_supported = self.cfg.keepalive and self.cfg.proxy_protocol == "off"
        return self.alive and is_supported and _is_all_read(request)

    def handle_error(self, req: Any, client: RequestReader, addr: Any, exc: BaseException) -> None:
        """Answer a request that gunicorn could not read, or in which the application failed."""
        problem = malformed_requests.problem_of(exc)
        if req is None or problem is not FAILED:
            # The application has counted the requests in which it failed.
            self.count_malformed(problem.status)
        if problem is FAILED:
            # Without the request's path, which may hold a ticket or a token.
            self.log.error("Error handling a request", exc_info=exc)
        else:
            # Without the error's text: it quotes the request, and a header may hold a token.
            self.log.info("Refused what %s sent: %s", _name(addr), type(exc).__name__)
        with contextlib.suppress(OSError, gevent.Timeout):
            send_and_close(client, malformed_requests.response(problem))


class _Server(StreamServer):  # type: ignore[misc]
    """A server that leaves it to the worker to close its connections."""

    def do_close(self, *args: Any) -> None:
        """Do nothing."""


class _Listener:
    """What gunicorn's loop asks a listener for, also when the listener is closed."""

    def __init__(self, name: Any) -> None:
        self._name = name

    def getsockname(self) -> Any:
        """Return the address on which the listener was opened."""
        return self._name


class _Held:
    """An answer that may wait: its request, and gunicorn's response and the body when known."""

    __slots__ = ("body", "request", "response")

    def __init__(self, request: Any) -> None:
        self.request = request
        self.response: Any = None
        self.body: Any = None


class _Client:
    """A connection, and the answer that it is in the middle of."""

    __slots__ = ("addr", "counted", "held", "listener", "reader", "wait")

    def __init__(
        self, listener: Any, reader: RequestReader, addr: Any, counted: Connection
    ) -> None:
        self.listener = listener
        self.reader = reader
        self.addr = addr
        self.counted = counted
        self.held: _Held | None = None
        self.wait: Wait | None = None


def _is_all_read(request: Any) -> bool:
    """Return whether nothing has been read of what follows the request, and nothing is unread."""
    ahead = request.unreader.take_buffered()
    request.unreader.unread(ahead)
    return not ahead and unread_bodies.is_read(request)


def _address(addr: Any) -> str:
    """Return the IP address of a client, "" for one on a Unix socket."""
    return addr[0] if isinstance(addr, tuple) else ""


def _name(addr: Any) -> str:
    """Return a client's name for the log."""
    return _address(addr) or "a local client"
