"""The part of a request's body that the application has not read.

gunicorn would read all of it before the next request of the connection, without a bound on time
or size. Here a small rest is discarded, and the connection ends after a large one.
"""

from __future__ import annotations

from typing import Any

import gevent
from gunicorn.http.body import LengthReader

DISCARDED_BYTES = 64 * 1024
DISCARD_SECONDS = 2.0


def is_discardable(request: Any) -> bool:
    """Return whether a body is small enough to be discarded; one in chunks never is."""
    reader = request.body.reader
    return isinstance(reader, LengthReader) and reader.length <= DISCARDED_BYTES


def is_read(request: Any) -> bool:
    """Return whether a body was read to its end."""
    reader = request.body.reader
    return isinstance(reader, LengthReader) and not reader.length


def discard(request: Any) -> bool:
    """Read the rest of a body. Return whether it arrived in time."""
    if is_read(request):
        return True
    try:
        with gevent.Timeout(DISCARD_SECONDS):
            while request.body.read(8192):
                pass
    except gevent.Timeout:
        return False
    return is_read(request)
