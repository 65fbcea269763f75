"""The gunicorn worker: gevent's, but it stops without haste or delay, and speaks our problems.

It ends when its master says so (never by a terminal's Ctrl-C, which reaches every process) or
has died: requests in flight are answered, connections without one are closed at once. What
gunicorn itself refuses, since it cannot be read as HTTP, is answered in the one problem shape
that every other error has, and nothing of the request is repeated in it or in the log. It knows
nothing of the application.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import Any, NamedTuple

import gevent
from gevent import monkey
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn import util
from gunicorn.http import errors
from gunicorn.http.body import LengthReader
from gunicorn.sock import ssl_context
from gunicorn.workers.ggevent import GeventWorker

from api.observability import addresses, lifecycle
from api.observability.addresses import Proxies
from api.problems.catalogue import CATALOGUE
from api.server.request_reader import RequestReader
from api.web.headers import DATA_POLICY, POLICY, SAFE_HEADERS

SAFE = "".join(f"{name}: {value}\r\n" for name, value in ((POLICY, DATA_POLICY), *SAFE_HEADERS))

# How long a client may take to read a part of an answer, or an event of a stream. (What has to
# come from the client in the meantime, a body, has a shorter time of its own.)
SEND_SECONDS = 30.0
# What the system keeps for a client that does not read (it doubles the number). By itself it
# would grow to megabytes.
SEND_BUFFER_BYTES = 256 * 1024
POLL_SECONDS = 0.25
DRAIN_SECONDS = 0.02
# How long, and how much, we go on reading from a client whose request was refused. Closing
# with unread bytes resets the connection, and the client would never see our answer.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20
# How much of a body that the application has not read is read, so that the connection can go on.
DISCARDED_BYTES = 64 * 1024


_system_socket: type[socket.socket] = monkey.get_original("socket", "socket")

# So many idle connections of an address are looked at, the most idle first, to close one.
LOOKED_AT = 8
COMPLAINT_SECONDS = 60.0


class Peer:
    """The connections of one address, and which of them wait for a request, the longest first.

    One that was told to close counts no more.
    """

    __slots__ = ("connections", "idle")

    def __init__(self) -> None:
        self.connections: set[gevent.Greenlet] = set()
        self.idle: dict[gevent.Greenlet, None] = {}


class Problem(NamedTuple):
    """An answer to what is not a request that can be handled."""

    code: str
    detail: str


MALFORMED = Problem("bad_request", "This is not a well-formed HTTP request.")
FAILED = Problem("internal_error", "The server failed to handle this request.")
# The first that fits counts. Error classes without an entry are failures of the server.
PROBLEMS: tuple[tuple[type[BaseException], Problem], ...] = (
    # The application's own mistakes, though they descend from a client's.
    (errors.InvalidResponseHeader, FAILED),
    (errors.InvalidResponseHeaderName, FAILED),
    (errors.ConfigurationProblem, FAILED),
    (errors.LimitRequestLine, Problem("uri_too_long", "The request line is too long.")),
    (
        errors.LimitRequestHeaders,
        Problem(
            "headers_too_large",
            "The request line and the header fields together may have 32 KiB, in at most 100 "
            "fields of 8 KiB. Send fewer or shorter header fields.",
        ),
    ),
    (
        errors.ExpectationFailed,
        Problem("expectation_failed", "Only the expectation 100-continue can be met."),
    ),
    (
        errors.UnsupportedTransferCoding,
        Problem(
            "unsupported_transfer_coding",
            "The only transfer coding that is understood is chunked.",
        ),
    ),
    (errors.ParseException, MALFORMED),
)


def problem_for(error: BaseException) -> Problem:
    """What to answer when gunicorn, or the application past its own handlers, raised `error`."""
    return next((problem for kind, problem in PROBLEMS if isinstance(error, kind)), FAILED)


def response(problem: Problem) -> bytes:
    """`problem` as a whole HTTP/1.1 response, after which the connection closes."""
    kind = CATALOGUE[problem.code]
    body = json.dumps(
        {
            "type": f"/problems/{problem.code}",
            "title": kind.title,
            "status": kind.status,
            "code": problem.code,
            "detail": problem.detail,
        }
    ).encode()
    head = (
        f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}\r\n"
        f"Date: {util.http_date()}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        f"{SAFE}\r\n"
    )
    return head.encode("ascii") + body


class Worker(GeventWorker):  # type: ignore[misc]
    """Serves until its master stops it or dies."""

    alive: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The master's queue of signals, as it was forked: given by gunicorn's hook post_fork.
        self.heard: queue.SimpleQueue[int] | None = None
        # How long it goes on serving when told to stop, and how long requests then have to end
        # (seconds): given by that hook too.
        self.stop_delay = 0.0
        self.grace = float(self.cfg.graceful_timeout)
        self._stops_at: float | None = None
        # How many connections an address may have, and whose are not counted: given by it too.
        self.connections_per_address = self.worker_connections
        self.proxies = Proxies()
        # Who counts what is refused here, requests by their status and connections: given by
        # gunicorn's hook post_worker_init.
        self.count_unreadable: Callable[[int], None] = _nobody
        self.count_refused: Callable[[], None] = _nobody
        self._peers: dict[str, Peer] = {}
        self._peer_of: dict[gevent.Greenlet, Peer] = {}
        self._complaints: dict[str, float] = {}
        self._woken: Event | None = None
        self._pool = Pool()
        self._servers: list[StreamServer] = []
        # Set if the service speaks TLS: gunicorn's settings certfile and keyfile.
        self._tls: ssl.SSLContext | None = None
        # The connection of each greenlet that serves one, and those between two requests.
        self._clients: dict[gevent.Greenlet, RequestReader] = {}
        self._idle: set[gevent.Greenlet] = set()

    def init_signals(self) -> None:
        """As gunicorn's; but what a terminal sends to all processes is the master's business."""
        super().init_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if {signal.SIGTERM, signal.SIGQUIT} & set(self._heard_before()):
            self.alive = False

    def _heard_before(self) -> Iterator[int]:
        """What this process was sent while it still had the master's handlers, which only queue.

        Nobody would look at that queue again: told to stop in its first moments, the worker
        would go on until the master loses patience and kills it.
        """
        with contextlib.suppress(queue.Empty):
            while self.heard is not None:
                yield self.heard.get_nowait()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """The master says stop: soon, and until then as before but for readiness."""
        lifecycle.announce()
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self.stop_delay
        if self._woken is not None:
            # Not here: a signal may interrupt the event's own code.
            gevent.spawn(self._woken.set)

    def notify(self) -> None:
        """The heartbeat. Without a master there is nobody to serve for: finish, then end."""
        self.tmp.notify()
        if self.alive and self.ppid != os.getppid():
            self.log.info("The master has gone, shutting down: %s", self)
            self.alive = False

    def run(self) -> None:
        """Serve until told to stop, then until the requests in flight are answered."""
        self._woken = Event()
        # One for all that it listens on, as there is one number of files that it may open.
        self._pool = Pool(self.worker_connections)
        if self.cfg.is_ssl:
            self._tls = ssl_context(self.cfg)
        self._servers = [self._serve(listener) for listener in self.sockets]
        gevent.get_hub().print_exception = self._log_uncaught
        while self.alive and (left := self._time_left()) > 0:
            self.notify()
            # Only the order to stop wakes it; once that has come, it is the time that counts.
            self._woken.wait(min(POLL_SECONDS, left))
            self._woken.clear()
        self.alive = False
        for server in self._servers:
            server.close()
        lifecycle.stop()
        for greenlet in list(self._idle):
            self._hang_up(greenlet)
        self._drain()

    def _time_left(self) -> float:
        return math.inf if self._stops_at is None else self._stops_at - time.monotonic()

    def _log_uncaught(self, context: Any, kind: Any, value: Any, trace: Any) -> None:
        """What ended a greenlet that nobody waits for, as gevent's hub would print it."""
        self.log.error("a background task failed", exc_info=(kind, value, trace))

    def _serve(self, listener: Any) -> StreamServer:
        listener.setblocking(1)
        handle = partial(self.handle, listener)
        server = StreamServer(listener, handle=handle, spawn=self._pool)
        if self.cfg.workers > 1:
            # Leave the next connection to whichever worker is free first.
            server.max_accept = 1
        server.start()
        return server

    def _drain(self) -> None:
        deadline = time.monotonic() + self.grace
        while len(self._pool):
            if time.monotonic() > deadline:
                self.log.warning("Requests were cut off: they took too long (pid:%s)", self.pid)
                return
            self.notify()
            gevent.sleep(DRAIN_SECONDS)

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve one connection to its end."""
        greenlet = gevent.getcurrent()
        with self._counted(greenlet, addr) as is_welcome:
            if not is_welcome:
                client.close()
                self.count_refused()
                return
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            try:
                secured = self._secured(client)
            except (OSError, gevent.Timeout) as error:
                reason = getattr(error, "reason", None) or type(error).__name__
                self.log.info("The TLS handshake of %s failed: %s", _sender(addr), reason)
                return
            self._clients[greenlet] = reader = RequestReader(secured)
            try:
                super().handle(listener, reader, addr)
            finally:
                del self._clients[greenlet]

    def _secured(self, client: socket.socket) -> socket.socket:
        """Do the TLS handshake, if the service speaks TLS.

        Here and not when the connection is accepted: here it is counted and has a time limit.

        Raises:
            OSError, gevent.Timeout: the handshake failed; the connection is closed.
        """
        if self._tls is None:
            return client
        secured = self._tls.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
        try:
            with gevent.Timeout(self.cfg.keepalive):
                secured.do_handshake()
        except BaseException:
            secured.close()
            raise
        return secured

    @contextlib.contextmanager
    def _counted(self, greenlet: gevent.Greenlet, addr: Any) -> Iterator[bool]:
        """Whether an address may have one more connection, which then counts until its end."""
        name = addr[0] if isinstance(addr, tuple) else ""
        if self.proxies.trust(name):
            yield True
            return
        address = addresses.group(name)
        peer = self._peers.setdefault(address, Peer())
        is_full = len(peer.connections) >= self.connections_per_address
        if is_full and not self._make_room(peer):
            self._complain(address)
            yield False
            return
        peer.connections.add(greenlet)
        self._peer_of[greenlet] = peer
        try:
            yield True
        finally:
            del self._peer_of[greenlet]
            peer.connections.discard(greenlet)
            # One that was told to close may end after the address has come anew.
            if not peer.connections and self._peers.get(address) is peer:
                del self._peers[address]

    def _make_room(self, peer: Peer) -> bool:
        """Close what an address has been silent on for longest; whether there was any.

        It may be that a request has just come that nobody has looked at: that one is left.
        """
        for greenlet in list(islice(peer.idle, LOOKED_AT)):
            with contextlib.suppress(OSError), _plain(self._clients[greenlet]) as client:
                if _has_sent(client):
                    continue
                # Both ways: whatever comes from now on is too late.
                client.shutdown(socket.SHUT_RDWR)
            del peer.idle[greenlet]
            peer.connections.discard(greenlet)
            return True
        return False

    def _complain(self, address: str) -> None:
        """Say that connections are refused, but not again and again."""
        now = time.monotonic()
        if now - self._complaints.get(address, -math.inf) < COMPLAINT_SECONDS:
            return
        self._complaints = {
            each: at for each, at in self._complaints.items() if now - at < COMPLAINT_SECONDS
        }
        self._complaints[address] = now
        self.log.warning(
            "%s has %d connections to this worker, as many as an address may have: more are closed "
            "(said once a minute)",
            address,
            self.connections_per_address,
        )

    def handle_request(self, listener_name: Any, req: Any, sock: socket.socket, addr: Any) -> None:
        """Answer one request; a client that does not read its answer loses the connection."""
        sock.settimeout(SEND_SECONDS)
        if not _is_small(req):
            # Should the application not read the body, the connection ends: the answer says so.
            req.force_close()
        try:
            super().handle_request(listener_name, req, sock, addr)
            if not _discard_body(req):
                raise StopIteration
        except StopIteration:
            if not _is_read(req):
                _end(sock)
            raise
        except TimeoutError:
            self.log.info("A client did not read its answer in time")
            raise StopIteration from None

    @contextlib.contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """Around the wait for a connection's next request."""
        greenlet = gevent.getcurrent()
        if not self.alive:
            self._hang_up(greenlet)
        self._idle.add(greenlet)
        peer = self._peer_of.get(greenlet)
        if peer is not None:
            peer.idle[greenlet] = None
        try:
            # Everybody in turn: a client that asks as fast as it is answered, from a store as
            # fast, never waits for anything, and all others would wait for it.
            gevent.sleep(0)
            with gevent.Timeout(self.cfg.keepalive, False):
                self._clients[greenlet].begin_head()
                yield
        finally:
            self._clients[greenlet].end_head()
            self._idle.discard(greenlet)
            if peer is not None:
                peer.idle.pop(greenlet, None)

    def _hang_up(self, greenlet: gevent.Greenlet) -> None:
        """Let a connection end, but for the request that may have come in already."""
        with contextlib.suppress(OSError, KeyError), _plain(self._clients[greenlet]) as client:
            client.shutdown(socket.SHUT_RD)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer what gunicorn could not read, or what the application let through."""
        problem = problem_for(exc)
        if req is None or problem is not FAILED:
            # What the application let through was its to count.
            self.count_unreadable(CATALOGUE[problem.code].status)
        if problem is FAILED:
            # Without the address: it may hold a ticket, or what was put there by mistake.
            self.log.error("Error handling a request", exc_info=exc)
        else:
            # Without the error's text: it quotes the request, and a header may be a token.
            self.log.info("Refused what %s sent: %s", _sender(addr), type(exc).__name__)
        with contextlib.suppress(OSError, gevent.Timeout):
            _answer(client, response(problem))


def _sender(addr: Any) -> str:
    return addr[0] if addr else "a local client"


def _nobody(*what: int) -> None:
    """Counts nothing."""


@contextlib.contextmanager
def _plain(client: RequestReader) -> Iterator[socket.socket]:
    """A connection as the system has it.

    gevent's would be taken for closed by mistake if it is shut down while somebody reads there,
    and one over TLS cannot be looked into.
    """
    with _system_socket(fileno=os.dup(client.fileno())) as plain:
        yield plain


def _has_sent(plain: socket.socket) -> bool:
    """Whether something has come that nobody has read yet; this waits for nothing."""
    try:
        return bool(plain.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


def _is_small(req: Any) -> bool:
    """Whether what the application does not read of the body can be discarded."""
    reader = req.body.reader
    return isinstance(reader, LengthReader) and reader.length <= DISCARDED_BYTES


def _is_read(req: Any) -> bool:
    """Whether the body of a request was read to its end."""
    return isinstance(req.body.reader, LengthReader) and not req.body.reader.length


def _discard_body(req: Any) -> bool:
    """Read what the application has not read of a small body; whether that was possible.

    gunicorn would do so itself before the next request, but without a bound on time and size.
    """
    if _is_read(req):
        return True
    try:
        with gevent.Timeout(LINGER_SECONDS):
            while req.body.read(8192):
                pass
    except gevent.Timeout:
        return False
    return _is_read(req)


def _answer(client: socket.socket, data: bytes) -> None:
    with gevent.Timeout(LINGER_SECONDS):
        client.sendall(data)
    _end(client)


def _end(client: socket.socket) -> None:
    """Close a connection on which there may be more to read, so that the client gets the answer."""
    with contextlib.suppress(OSError), gevent.Timeout(LINGER_SECONDS, False):
        client.shutdown(socket.SHUT_WR)
        unread = LINGER_BYTES
        while unread > 0 and (chunk := client.recv(65536)):
            unread -= len(chunk)
