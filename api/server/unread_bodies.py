"""The part of a request's body that the application has not read.

gunicorn would read all of it before the next request of the connection, without a bound on time
or size. Here a small rest is discarded, and the connection ends after a large one.
"""

from __future__ import annotations

from typing import Any

import gevent
from gunicorn.http.body import LengthReader

from api.problems.problem import Problem
from api.server.chunked_body import ChunkedBody

DISCARDED_BYTES = 64 * 1024
DISCARD_SECONDS = 2.0


def is_discardable(request: Any) -> bool:
    """Return whether a body may be small enough to be discarded; that of chunks is not known."""
    reader = request.body.reader
    return isinstance(reader, ChunkedBody) or reader.length <= DISCARDED_BYTES


def is_read(request: Any) -> bool:
    """Return whether a body was read to its end."""
    reader = request.body.reader
    if isinstance(reader, ChunkedBody):
        return reader.is_complete
    return isinstance(reader, LengthReader) and not reader.length


def discard(request: Any) -> bool:
    """Read the rest of a body. Return whether it arrived in time and is small."""
    left = DISCARDED_BYTES
    try:
        with gevent.Timeout(DISCARD_SECONDS):
            while not is_read(request) and left > 0:
                left -= len(request.body.read(8192))
    except (gevent.Timeout, Problem):
        return False
    return is_read(request)
