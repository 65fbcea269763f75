"""The socket of a client: reads requests with bounds, and sends answers in few pieces.

The bounds are those on the size and time of a head, and on the cost of small pieces.

gunicorn's parser scans a whole head again for each piece that arrives, and does not limit the
head's size as a whole. So the worker reads from a `RequestReader` in place of the socket. It passes
a head to the parser in portions that grow, and refuses a head that is too large. From a client that
sends small pieces, of heads or of bodies, it reads less and less often.

gunicorn sends the head of an answer alone, and then the body. Sending takes a twentieth of a move's
time, and wakes the client, so the head waits here for the first part of the body.
"""

from __future__ import annotations

import socket
import time
from typing import Any

import gevent
from gunicorn.http.errors import LimitRequestHeaders

MAX_HEAD_BYTES = 32 * 1024
"""The largest head: the request line and all header fields."""

HEAD_SECONDS = 5.0
"""How long a head may take to arrive after its first bytes. Until then the connection is idle."""

END = b"\r\n\r\n"

FIRST_PAUSE_SECONDS = 0.001
MAX_PAUSE_SECONDS = 0.05
"""The pauses before each further piece of one head or body. Each is twice as long as the last.

Meanwhile the system collects what arrives. Reading a piece, however small, takes the worker a tenth
of the time of a whole request.
"""


class RequestReader:
    """A client's socket that reads with bounds, and sends the head of an answer with its body.

    `is_kept_open` makes `close` do nothing: the connection outlives the greenlet that serves it.
    """

    __slots__ = (
        "_client",
        "_ends_at",
        "_given",
        "_head",
        "_idle_seconds",
        "_is_head_next",
        "_is_in_head",
        "_last",
        "_pause",
        "_size",
        "is_kept_open",
    )

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self.is_kept_open = False
        self._is_in_head = False
        self._ends_at: float | None = None
        self._idle_seconds = 0.0
        self._size = 0
        self._given = 0
        self._last = b""
        self._pause = 0.0
        self._is_head_next = False
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def begin_head(self, idle_seconds: float) -> None:
        """Begin to count the bytes of a head, which may begin within so many seconds."""
        self.flush()
        self._is_head_next = False
        self._is_in_head = True
        self._ends_at = None
        self._idle_seconds = idle_seconds
        self._size = self._given = 0
        self._last = b""
        self._pause = 0.0

    def end_head(self) -> None:
        """Stop counting: a body follows, and then the answer."""
        self._is_in_head = False
        self._pause = 0.0
        self._is_head_next = True

    def sendall(self, data: bytes) -> None:
        """Send a part of an answer. The first one, its head, waits for the next or for `flush`."""
        if self._is_head_next:
            self._is_head_next = False
            self._head = data
            return
        data, self._head = self._head + data, b""
        # One call nearly always sends everything. gevent's `sendall` first asks the system for the
        # size of the send buffer.
        sent = self._client.send(data) if data else 0
        if sent < len(data):
            self._client.sendall(memoryview(data)[sent:])

    def flush(self) -> None:
        """Send what waits: the answer has ended, or has not begun."""
        if self._head:
            self.sendall(b"")

    def shutdown(self, how: int) -> None:
        """End the connection in one direction or in both."""
        self.flush()
        self._client.shutdown(how)

    def close(self) -> None:
        """Close the connection, unless it is to be kept open."""
        if self.is_kept_open:
            return
        try:
            self.flush()
        finally:
            self._client.close()

    def recv(self, size: int) -> bytes:
        """Read from the socket. Each portion of a head is as large as all portions before it.

        So the parser scans each byte about twice, however small the pieces are. The end of the
        head is returned at once; nothing if the time is up, as if the client had disconnected.

        Raises:
            LimitRequestHeaders: the head is larger than `MAX_HEAD_BYTES`.
        """
        if not self._is_in_head:
            return self._next_piece(size)
        portion = bytearray()
        is_complete = False
        while not is_complete:
            piece = self._next_piece_of_head(size)
            portion += piece
            is_complete = not piece or self._ends_with(piece) or self._is_enough(portion)
        self._given += len(portion)
        return bytes(portion)

    def _is_enough(self, portion: bytearray) -> bool:
        # The parser may hold the beginning of this head, even of its end: it may have read it along
        # with the request before.
        return self._size < len(END) or len(portion) >= self._given

    def _next_piece_of_head(self, size: int) -> bytes:
        piece = b""
        now = time.monotonic()
        seconds = self._idle_seconds if self._ends_at is None else max(self._ends_at - now, 0)
        with gevent.Timeout(seconds, False):
            piece = self._next_piece(size)
        if self._ends_at is None:
            self._ends_at = time.monotonic() + HEAD_SECONDS
        return piece

    def _next_piece(self, size: int) -> bytes:
        if self._pause:
            gevent.sleep(self._pause)
        piece = self._client.recv(size)
        if len(piece) == size:
            # The client does not send small pieces: more has arrived than was asked for.
            self._pause = FIRST_PAUSE_SECONDS
        else:
            self._pause = min(2 * self._pause or FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        return piece

    def _ends_with(self, piece: bytes) -> bool:
        """Count a piece of a head. Return whether the head ends in it."""
        searched = self._last + piece
        end = searched.find(END)
        in_head = piece if end < 0 else searched[len(self._last) : end + len(END)]
        self._size += len(in_head)
        if self._size > MAX_HEAD_BYTES:
            raise LimitRequestHeaders(f"a head of more than {MAX_HEAD_BYTES} bytes")
        self._last = searched[-len(END) + 1 :]
        return end >= 0
