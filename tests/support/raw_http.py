"""Sending bytes as they are, and reading what comes back."""

from __future__ import annotations

import contextlib
import json
import socket
from dataclasses import dataclass

PATIENCE = 30.0
STREAM = "text/event-stream"
MOST = 1 << 24


@dataclass(frozen=True)
class Answer:
    """An answer. Status 0 means that the connection was closed without one."""

    status: int
    content_type: str = ""
    body: bytes = b""

    @property
    def code(self) -> str:
        """The problem's code, or what is in its place."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return str(json.loads(self.body)["code"])
        return "-"


def exchange(port: int, message: bytes, piece: int | None = None) -> Answer:
    """Send this over a connection of its own, and nothing after it; the answer.

    With `piece`, send so many bytes at a time.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        received = bytearray()
        # The server may refuse, and close, before it has read everything.
        with contextlib.suppress(OSError):
            if piece is not None:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            size = piece or len(message) or 1
            for place in range(0, len(message), size):
                connection.sendall(message[place : place + size])
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while len(received) < MOST and (chunk := connection.recv(65536)):
                received += chunk
                head = received.partition(b"\r\n\r\n")[0].lower()
                if b"content-type: " + STREAM.encode() in head:
                    break  # it would go on
    return parse(bytes(received))


def parse(received: bytes) -> Answer:
    """The first final answer in what was received."""
    head, _, body = received.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 100"):
        head, _, body = body.partition(b"\r\n\r\n")
    if not head:
        return Answer(0)
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().partition(":")[::2] for line in lines)
    length = headers.get("content-length", "").strip()
    return Answer(
        int(status.split()[1]),
        headers.get("content-type", "").strip(),
        body[: int(length)] if length else body,
    )
