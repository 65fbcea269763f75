"""The HTTP client of the tests, the proofs and the benchmarks, on `http.client`.

A client keeps idle connections and uses them again, unless it is told not to. It may be shared by
threads. It follows no redirects and repeats nothing by itself: see `until_answered`.
"""

from __future__ import annotations

import contextlib
import json as json_
import select
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

PATIENCE = 30.0
IDLE_SECONDS = 3.0
"""An idle connection is used again within this time: less than the service keeps it open."""

BROKEN = (OSError, HTTPException)
"""What a request raises whose connection breaks, is refused or times out."""


class Response:
    """A response. Its body may still have to be read: see `HttpClient.open`."""

    def __init__(self, method: str, path: str, sent: float, connection: Connection) -> None:
        self.method = method
        self.path = path
        """The request target, with the query."""
        self.sent = sent
        """When the request was sent (monotonic)."""
        self._connection = connection
        self._body: HTTPResponse = connection.http.getresponse()
        self.status_code: int = self._body.status
        self.headers: HTTPMessage = self._body.headers
        self.received = time.monotonic()
        """When the header had come, or the whole body if it was read (monotonic)."""
        self._content: bytes | None = None

    @property
    def content(self) -> bytes:
        """The body, read to its end."""
        if self._content is None:
            self._content = self._body.read()
            self.received = time.monotonic()
        return self._content

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json_.loads(self.content)

    @property
    def ok(self) -> bool:
        return self.status_code < 400

    @property
    def code(self) -> str:
        """The problem's code; empty if it is no problem."""
        return str(self.json().get("code", "")) if not self.ok else ""

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes."""
        while chunk := self._body.read1():
            yield chunk

    def lines(self) -> Iterator[str]:
        """Yield the lines of the body as they come, without their ends."""
        for line in self._body:
            yield line.decode().rstrip("\r\n")

    @property
    def leaves_connection_open(self) -> bool:
        return self._content is not None and not self._body.will_close

    def interrupt(self) -> None:
        """End the body for another thread that reads from it."""
        with contextlib.suppress(OSError):
            self._connection.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection. No other thread may be reading from it."""
        self._connection.shut_down()
        self._body.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        told = "" if self._content is None else f", {self._content[:300]!r}"
        return f"<{self.method} {self.path}: {self.status_code}, {self.headers.items()}{told}>"


class Connection:
    """A connection to the service. `http` forgets the socket of a response that ends with it."""

    def __init__(self, http: HTTPConnection) -> None:
        http.connect()
        self.http = http
        self.socket: socket.socket = http.sock
        self.last_used = time.monotonic()

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent: it was not idle for too long, and was not closed."""
        if time.monotonic() - self.last_used > IDLE_SECONDS:
            return False
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not poll.poll(0)

    def shut_down(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.http.close()


class Request(NamedTuple):
    """A request as `http.client` takes it."""

    method: str
    target: str
    body: Any
    headers: dict[str, str]


class HttpClient:
    """Sends requests to one service, with a token or without, from any address of this machine."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        source_address: str = "",
        keep_alive: bool = True,
        timeout: float = PATIENCE,
    ) -> None:
        self.url = url
        self.token = token
        self.headers = dict(headers or {})
        """Sent with every request."""
        self.source_address = source_address
        self.keep_alive = keep_alive
        self.timeout = timeout
        self._idle: list[Connection] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        data: bytes | str | Iterable[bytes] | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Response:
        """Send a request and read the response. Raises one of `BROKEN` if none comes.

        A header of the value None is left out.
        """
        request = self._prepare(method, path, json, data, params, headers)
        connection = self._take()
        try:
            response = self._send(request, connection)
            _ = response.content
        except BaseException:
            connection.shut_down()
            raise
        if self.keep_alive and response.leaves_connection_open:
            connection.last_used = response.received
            self._idle.append(connection)
        else:
            connection.http.close()
        return response

    def open(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Response:
        """Send a request on a connection of its own; the caller reads the body and closes it."""
        request = self._prepare(method, path, None, None, params, headers)
        connection = self._connect()
        try:
            return self._send(request, connection)
        except BaseException:
            connection.shut_down()
            raise

    def connect(self) -> None:
        """Have a connection open for the next request."""
        self._idle.append(self._take())

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().shut_down()

    def _take(self) -> Connection:
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took the last one
                connection = self._idle.pop()
                if connection.is_usable:
                    return connection
                connection.shut_down()
        return self._connect()

    def _connect(self) -> Connection:
        address = urlsplit(self.url)
        source = (self.source_address, 0) if self.source_address else None
        host = str(address.hostname)
        return Connection(HTTPConnection(host, address.port, self.timeout, source))

    def _prepare(
        self,
        method: str,
        path: str,
        json: Any,
        data: bytes | str | Iterable[bytes] | None,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str | None] | None,
    ) -> Request:
        own: dict[str, str | None] = {**self.headers}
        if self.token is not None:
            own["Authorization"] = f"Bearer {self.token}"
        if json is not None:
            data = json_.dumps(json).encode()
            own["Content-Type"] = "application/json"
        if not self.keep_alive:
            own["Connection"] = "close"
        given = headers or {}
        names = {name.lower() for name in given}
        sent = {name: value for name, value in own.items() if name.lower() not in names} | {**given}
        if params:
            path += ("&" if "?" in path else "?") + urlencode(params, doseq=True)
        target = quote(path, safe="!#$%&'()*+,/:;=?@[]~")
        body = data.encode() if isinstance(data, str) else data
        fields = {name: value for name, value in sent.items() if value is not None}
        return Request(method, target, body, fields)

    def _send(self, request: Request, connection: Connection) -> Response:
        sent = time.monotonic()
        # The service may refuse a request, and close, before it has read the whole body.
        with contextlib.suppress(BrokenPipeError):
            connection.http.request(*request)
        return Response(request.method, request.target, sent, connection)


def authorized(token: str, **headers: str) -> dict[str, str]:
    """Return headers with a token."""
    return {"Authorization": f"Bearer {token}", **headers}


def until_answered(
    send: Callable[[], Response], patience: float = PATIENCE, pause: float = 0.1
) -> Response:
    """Send a request again until its status is below 500, as patient clients do.

    Each 503 must have Retry-After.
    """
    deadline = time.monotonic() + patience
    while True:
        outcome: object
        try:
            response = send()
        except BROKEN as error:
            outcome = error
        else:
            if response.status_code < 500:
                return response
            if response.status_code == 503:
                assert "Retry-After" in response.headers, response
            outcome = response
        assert time.monotonic() < deadline, f"not answered within {patience:g} s: {outcome!r}"
        time.sleep(pause)
