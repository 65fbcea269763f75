"""Reading requests with a bound on the size of their heads and on what small pieces cost.

gunicorn's parser scans a whole head again whenever another piece of it arrives, and has no limit
for all of it together. So the worker reads from a `RequestReader` instead of from the socket. It
hands a head to the parser in ever larger portions, and refuses one that is too large. A client
that sends small pieces, of heads or of bodies, is read ever less often.
"""

from __future__ import annotations

import socket
from typing import Any

import gevent
from gunicorn.http.errors import LimitRequestHeaders

MOST_BYTES = 32 * 1024
"""How large a head may be: the request line and all header fields."""

END = b"\r\n\r\n"


FIRST_PAUSE_SECONDS = 0.001
LONGEST_PAUSE_SECONDS = 0.05
"""The pauses before each further piece of one head or body. Each is twice as long as the last.

Meanwhile the system collects what arrives. Reading one piece costs the worker a tenth of what a
whole request costs, however small the piece is.
"""


class RequestReader:
    """A client's socket, from which heads are read with a bound."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._is_in_head = False
        self._size = 0
        self._given = 0
        self._last = b""
        self._pause = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def begin_head(self) -> None:
        """Count from here on: what is read next is a head."""
        self._is_in_head = True
        self._size = self._given = 0
        self._last = b""
        self._pause = 0.0

    def end_head(self) -> None:
        """Count no more: what is read next is a body."""
        self._is_in_head = False
        self._pause = 0.0

    def recv(self, size: int) -> bytes:
        """Read from the socket. A portion of a head is as large as all portions before it.

        So the parser scans each byte about twice, however small the pieces are that arrive. The
        end of the head is handed over at once.

        Raises:
            LimitRequestHeaders: the head is larger than `MOST_BYTES`.
        """
        if not self._is_in_head:
            return self._next_piece(size)
        portion = bytearray()
        is_complete = False
        while not is_complete:
            piece = self._next_piece(size)
            portion += piece
            is_complete = not piece or self._ends_with(piece) or self._is_enough(portion)
        self._given += len(portion)
        return bytes(portion)

    def _is_enough(self, portion: bytearray) -> bool:
        # The parser may hold the beginning of this head, and even of its end, from what it read
        # after the request before.
        return self._size < len(END) or len(portion) >= self._given

    def _next_piece(self, size: int) -> bytes:
        if self._pause:
            gevent.sleep(self._pause)
        self._pause = min(2 * self._pause or FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        return self._client.recv(size)

    def _ends_with(self, piece: bytes) -> bool:
        """Count a piece of a head; whether the head ends in it."""
        searched = self._last + piece
        end = searched.find(END)
        in_head = piece if end < 0 else searched[len(self._last) : end + len(END)]
        self._size += len(in_head)
        if self._size > MOST_BYTES:
            raise LimitRequestHeaders(f"a head of more than {MOST_BYTES} bytes")
        self._last = searched[-len(END) + 1 :]
        return end >= 0
