"""The format of event streams: Server-Sent Events with JSON data.

Each stream begins with the time after which a browser's EventSource connects again. EventSource
does so only after a response with status 200, so a temporary problem is an event, `unavailable`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from api.problems.problem import Problem


def event(name: str, data: Any, id_: str | None = None) -> bytes:
    """Return an event. Without an id, the client's last event id stays as it is."""
    id_line = b"" if id_ is None else b"id: %b\n" % id_.encode()
    return b"event: %b\n%bdata: %b\n\n" % (name.encode(), id_line, msgspec.json.encode(data))


def reconnection_time(seconds: int) -> bytes:
    """Return the setting after which time a client whose connection ends connects again."""
    return b"retry: %d\n\n" % (seconds * 1000)


def unavailable(problem: Problem) -> bytes:
    """Return the last event of a stream that has failed and may work when it is opened again."""
    return event("unavailable", problem.body())


RETRY = reconnection_time(1)
PING = b": ping\n\n"
