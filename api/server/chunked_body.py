"""Reads a request's body that comes in chunks, with bounds on what is no content.

gunicorn reads any number of chunks of any length. Each costs the worker some microseconds, so a
body in chunks of one byte would cost a hundred times as much as the same body with its length.
It also lets a body pass that was compressed before it was cut into chunks, which is refused here.
"""

from __future__ import annotations

from typing import Any

from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.errors import NoMoreData, ParseException, UnsupportedTransferCoding

from api.observability import lifecycle
from api.problems.problem import Problem

MAX_CHUNKS = 4_000
"""In one body: each costs as much CPU time as 200 bytes of JSON."""

MAX_BYTES = 512 * 1024
"""Content, sizes, extensions and trailers together: twice as much as any body may have."""

MAX_TRAILER_BYTES = 8 * 1024

COMPRESSIONS = {"gzip", "deflate", "compress"}
"""The transfer codings that gunicorn accepts before `chunked`, but does not decode."""

TOO_MANY_CHUNKS = (
    f"The body has more than {MAX_CHUNKS} chunks. Send larger chunks, or send Content-Length."
)
TOO_LONG = (
    f"The chunks of the body have more than {MAX_BYTES // 1024} KiB with their sizes and "
    "extensions. Send a shorter body, and no extensions."
)
MALFORMED = (
    "The chunks of the body are malformed, or the last one is missing. Send them in the form of "
    "RFC 9112: a library does so."
)


def bound_chunks(request: Any) -> None:
    """Replace gunicorn's reader of a body in chunks; a body with a length keeps its reader.

    Raises `UnsupportedTransferCoding` if the body is compressed too.
    """
    if isinstance(request.body.reader, ChunkedReader):
        codings = ",".join(value for name, value in request.headers if name == "TRANSFER-ENCODING")
        if COMPRESSIONS & {coding.strip().lower() for coding in codings.split(",")}:
            raise UnsupportedTransferCoding(codings)
        request.body = Body(ChunkedBody(request))


class ChunkedBody(ChunkedReader):  # type: ignore[misc]
    """The reader of one body.

    Once the application has begun to read, the answer says that the connection closes, unless the
    body was read to its end.
    """

    def __init__(self, request: Any) -> None:
        super().__init__(request, _Counted(request.unreader))
        self.limit_trailer_section = MAX_TRAILER_BYTES
        self.is_begun = False
        self.is_complete = False
        self._chunks = 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes of the content; none at its end. Raises `Problem`."""
        if not self.is_begun:
            self.is_begun = True
            self.req.force_close()
        try:
            part: bytes = super().read(size)
        except (NoMoreData, ParseException):
            # Without the cause: it quotes the body, and may be logged.
            raise Problem("invalid_json", MALFORMED) from None
        if self.is_complete and not lifecycle.is_stopping():
            self.req.must_close = False
        return part

    def parse_chunk_size(self, unreader: Any, data: bytes | None = None) -> tuple[int, Any]:
        """Read the size of the next chunk, and the trailers after the last one."""
        self._chunks += 1
        if self._chunks > MAX_CHUNKS:
            raise Problem("body_too_large", TOO_MANY_CHUNKS)
        size, rest = super().parse_chunk_size(unreader, data)
        self.is_complete = size == 0
        return size, rest


class _Counted:
    """gunicorn's source of a connection's bytes, which gives only so many."""

    def __init__(self, unreader: Any) -> None:
        self._unreader = unreader
        self._bytes = 0

    def read(self, size: int | None = None, read_ahead: int | None = None) -> bytes:
        data: bytes = self._unreader.read(size, read_ahead)
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise Problem("body_too_large", TOO_LONG)
        return data

    def unread(self, data: bytes) -> None:
        self._bytes -= len(data)
        self._unreader.unread(data)
