"""The request that is being answered here and now: its id, and what is known of it.

Whoever learns something of the request notes it here; the answer's headers, the log and the
metrics read it. Each greenlet has its own, and none inherits that of the one which started it.
It imports nothing of the service, so that the master can load it early.
"""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from typing import Any

_ID = re.compile(r"[A-Za-z0-9._:=+/@-]{1,128}")
_SECRET = re.compile(r"(?<![\w-])[\w-]{43}(?![\w-])", re.ASCII)
"""The secret of a token, and a ticket: 43 characters of base64url."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

UNMATCHED = "unmatched"
"""The route of a request for which there is none."""


class Trace:
    """A request: its id, its method, its route as the document writes it, who sent it.

    `request` is what the web framework has made of it. `waited` tells whether it waited for
    something to happen, so that its time says nothing of how fast we are; `store_time` (ms) is
    when the store said it was, if it was asked; `problem` the code of what it failed with.
    """

    __slots__ = (
        "game",
        "id",
        "method",
        "player",
        "problem",
        "request",
        "route",
        "store_time",
        "waited",
    )

    def __init__(self, id_: str, method: str) -> None:
        self.id = id_
        self.method = method
        self.route = UNMATCHED
        self.game: str | None = None
        self.player: str | None = None
        self.problem: str | None = None
        self.store_time: int | None = None
        self.waited = False
        self.request: Any = None

    @property
    def known_method(self) -> str:
        """The method to log and count: `other` for one that a client has made up."""
        return self.method if self.method in METHODS else "other"


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current() -> Trace | None:
    """The request that is being answered, None outside of one."""
    return _current.get()


def begin(given_id: str | None, method: str) -> Trace:
    """A request begins. Its id is the one that the caller gave, if that is harmless.

    It is logged and sent back, so an id that may hold a token or a ticket is replaced.
    """
    is_usable = given_id and _ID.fullmatch(given_id) and not _SECRET.search(given_id)
    trace = Trace(given_id if given_id and is_usable else os.urandom(16).hex(), method)
    _current.set(trace)
    return trace


def end() -> None:
    """What is logged from now on belongs to no request."""
    _current.set(None)


def note_player(player_id: str) -> None:
    """Whose request it is, proven by a token."""
    if (trace := _current.get()) is not None:
        trace.player = player_id


def note_wait() -> None:
    """The request waits for something to happen."""
    if (trace := _current.get()) is not None:
        trace.waited = True


def note_time(milliseconds: int) -> None:
    """When the store said it was, last."""
    if (trace := _current.get()) is not None:
        trace.store_time = milliseconds


def note_problem(code: str) -> None:
    """What the request failed with."""
    if (trace := _current.get()) is not None:
        trace.problem = code
