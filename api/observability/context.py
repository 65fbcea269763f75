"""The request context: what is known of the request that is being answered.

The middleware creates one `RequestContext` for each request. The layers below note in it what they
learn; the answer's headers, the log and the metrics read it. Each greenlet has its own context,
and a greenlet that a request starts has none. This module imports nothing of the service, so that
the gunicorn master can load it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from api.observability.addresses import LOCAL

_ID = re.compile(r"[A-Za-z0-9._:=+/@-]{1,128}")
_SECRET = re.compile(r"(?<![\w-])[\w-]{43}(?![\w-])", re.ASCII)
"""The secret of a token, and a ticket: 43 characters of base64url."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

UNMATCHED = "unmatched"
"""The route of a request that matches none."""


@dataclass(slots=True)
class RequestContext:
    """What is known of one request.

    Attributes:
        id: The request id, which is logged and sent back.
        method: The HTTP method.
        address: The caller's address, or the network that counts as one caller.
        route: The route as the document writes it.
        path: The path as far as a log for people may show it, if the route does not tell it.
        game: The id of the game that the path names.
        player: The id of the player whose token the request proved.
        problem: The code of the problem that the request failed with.
        store_time: The store's time when it was last read, in ms since 1970.
        tells_time: Whether the route's answers tell the store's time.
        is_stream: Whether the route's answers are event streams.
        needs_token: Whether the route's requests need a token: their view reads the caller first.
        has_waited: Whether the request waited for an event, so that its duration says nothing
            about speed.
        limits: The names of the rate limits that the request counts for.
        counted_for: The caller that the rate limits count: an address, or the hash of a token.
        is_repeated_move: Whether the move was played by an earlier request.
        deferred: What the request sends with its next read of the store
            (`api.storage.client.Deferred`).
        facts: What the request's log line tells besides.
        standings: The `api.ratelimit.limiter.Standing` to tell in the answer, by limit.
    """

    id: str
    method: str
    address: str = LOCAL
    route: str = UNMATCHED
    path: str | None = None
    game: str | None = None
    player: str | None = None
    problem: str | None = None
    store_time: int | None = None
    tells_time: bool = False
    is_stream: bool = False
    needs_token: bool = False
    has_waited: bool = False
    limits: Sequence[str] = ()
    counted_for: str = LOCAL
    is_repeated_move: bool = False
    deferred: list[Any] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    standings: dict[str, Any] = field(default_factory=dict)

    @property
    def known_method(self) -> str:
        """The method to log and count: `other` for one that HTTP does not define."""
        return self.method if self.method in METHODS else "other"

    def set_address(self, address: str) -> None:
        """Set the caller's address, for which the rate limits count unless there is a token."""
        self.address = self.counted_for = address

    def take_deferred(self) -> list[Any]:
        """Return what the request is to send, which is then up to the caller."""
        taken, self.deferred = self.deferred, []
        return taken

    def tell(self, standing: Any) -> None:
        """Tell in the answer how much of a rate limit is left."""
        self.standings[standing.policy.name] = standing


_current: ContextVar[RequestContext | None] = ContextVar("request", default=None)


def current() -> RequestContext:
    """Return the context of the request that is being answered.

    Outside of a request, return an empty context that nothing else reads. It has no id.
    """
    return _current.get() or RequestContext("", "")


def begin(given_id: str | None, method: str, address: str = LOCAL) -> RequestContext:
    """Begin a request. Its id is the one that the client sent, unless that may hold a secret.

    The id is logged and sent back, so an id that may hold a token or a ticket is replaced.
    """
    is_usable = given_id and _ID.fullmatch(given_id) and not _SECRET.search(given_id)
    id_ = given_id if given_id and is_usable else os.urandom(16).hex()
    context = RequestContext(id_, method)
    context.set_address(address)
    _current.set(context)
    return context


def end() -> None:
    """End the request: later log lines of this greenlet belong to no request."""
    _current.set(None)
