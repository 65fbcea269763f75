"""Requests as bytes, over sockets: for what no HTTP client would send."""

from __future__ import annotations

import contextlib
import json
import socket
from dataclasses import dataclass, field

PATIENCE = 30.0
STREAM = "text/event-stream"
LONGEST_ANSWER = 1 << 24


@dataclass(frozen=True)
class Answer:
    """A response. Status 0 means that the connection was closed without one."""

    status: int
    content_type: str = ""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict, compare=False)
    """By their names in lower case."""

    @property
    def code(self) -> str:
        """The problem's code, or a dash if the body is no problem."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return str(json.loads(self.body)["code"])
        return "-"


def connect(
    port: int, sent: bytes = b"", *, source: str = "", receive_buffer: int | None = None
) -> socket.socket:
    """Open a connection to a service on this machine, and send something on it.

    `receive_buffer` is how many bytes the system keeps that have not been read.
    """
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    if source:
        connection.bind((source, 0))
    connection.connect(("127.0.0.1", port))
    connection.sendall(sent)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the service has closed a connection. Reads and drops what came before."""
    connection.setblocking(False)
    try:
        while connection.recv(1 << 20):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def exchange(
    port: int, message: bytes, piece: int | None = None, *, half_close: bool = True
) -> Answer:
    """Send bytes over a connection of their own, and return the answer.

    With `piece`, send this many bytes at a time. With `half_close`, the service sees that nothing
    follows.
    """
    with connect(port) as connection:
        received = bytearray()
        # The server may refuse, and close, before it has read everything.
        with contextlib.suppress(OSError):
            if piece is not None:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            size = piece or len(message) or 1
            for place in range(0, len(message), size):
                connection.sendall(message[place : place + size])
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while len(received) < LONGEST_ANSWER and (chunk := connection.recv(65536)):
                received += chunk
                if is_complete(bytes(received)):
                    break
    return parse(bytes(received))


def is_complete(received: bytes) -> bool:
    """Whether nothing has to be waited for: all of a body has come, or the start of a stream."""
    head, end, body = received.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    if not end or lines[0].startswith(b"http/1.1 100"):
        return False
    headers = dict(line.partition(b": ")[::2] for line in lines[1:])
    if headers.get(b"content-type") == STREAM.encode():
        return True
    return len(body) >= int(headers.get(b"content-length", LONGEST_ANSWER))


def parse(received: bytes) -> Answer:
    """Return the first final answer in what was received."""
    head, _, body = received.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 100"):
        head, _, body = body.partition(b"\r\n\r\n")
    if not head:
        return Answer(0)
    status, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    length = headers.get("content-length", "")
    return Answer(
        int(status.split()[1]),
        headers.get("content-type", "").lower(),
        body[: int(length)] if length else body,
        headers,
    )
