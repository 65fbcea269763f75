"""A client of boardgame.io, which plays Parade over a WebSocket.

It costs the load generator as little as `bench.running.Caller` does.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from engine.ruleset import Seat

PATIENCE_SECONDS = 30

UPGRADE = (
    b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: bench\r\n"
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
CONNECT, EVENT = b"40/parade,", b"42/parade,"
PING, PONG = b"2", b"3"


class Socket:
    """A connection of a seat to a match, which reads just enough of the WebSocket protocol."""

    def __init__(self, port: int, match_id: str, seat: Seat, credentials: str, seats: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._moves = 0
        self._got = b""
        self.socket.sendall(UPGRADE)
        while b"\r\n\r\n" not in self._got:
            self._got += self._more()
        self._got = self._got.partition(b"\r\n\r\n")[2]
        self.socket.sendall(_frame(CONNECT))
        self._await(CONNECT)
        self.socket.sendall(event("sync", match_id, f"{seat}", credentials, seats))
        self._await(EVENT + b'["matchData"')

    def send(self, data: bytes) -> tuple[int, bytes]:
        """Send a move, and wait for what the server then tells; a move that is refused is 409."""
        self.socket.sendall(data)
        self._moves += 1
        body = self._await(EVENT + b'["update"')
        return (200 if b'"_stateID":%d}' % self._moves in body else 409), body

    def follow(self) -> None:
        """Read all that the server tells."""
        while True:
            self._message()

    def _await(self, begin: bytes) -> bytes:
        while not (message := self._message()).startswith(begin):
            pass
        return message

    def _message(self) -> bytes:
        _, size = self._take(2)
        if size == 126:
            (size,) = struct.unpack(">H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._take(8))
        message = self._take(size)
        if message == PING:
            self.socket.sendall(_frame(PONG))
        return message

    def _take(self, size: int) -> bytes:
        while len(self._got) < size:
            self._got += self._more()
        taken, self._got = self._got[:size], self._got[size:]
        return taken

    def _more(self) -> bytes:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        return chunk


def event(*args: Any) -> bytes:
    """An event of the protocol of boardgame.io, as it is sent."""
    return _frame(EVENT + json.dumps(args).encode())


def _frame(text: bytes) -> bytes:
    """A frame with a text of less than 64 kB; the mask is zero, so the text is as it is."""
    size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack(">H", len(text))
    return b"\x81" + size + bytes(4) + text
