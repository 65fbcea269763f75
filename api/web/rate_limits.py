"""The gate that every request passes: what it counts as, whether that is too much, and saying so.

A request counts before it is looked into, so no mistake in it is free. Moves pass always: only
what a move turned out to be, refused or made before, is counted, and then a further such answer
is that there were too many. What fails as a guess does, fails for its address.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache
from typing import NoReturn

from flask import Response, current_app

from api.config.rate_policies import FAILURES, MOVES, POLLS, REQUESTS, Policy
from api.games.players import Players
from api.model.game import digest
from api.observability import addresses, context, metrics
from api.observability.addresses import Proxies
from api.problems.problem import FieldError, Problem
from api.ratelimit.limiter import Limiter, Standing
from api.web.headers import CACHING
from api.web.request import Request, current_request

GUESSES = frozenset({"invalid_token", "invalid_ticket", "game_not_found"})
"""Problems of who tries what may be right."""

NOT_A_MOVE = frozenset(
    {
        "bad_request",
        "invalid_json",
        "body_too_slow",
        "length_required",
        "body_too_large",
        "unsupported_media_type",
        "invalid_request",
        "missing_token",
        "not_seated",
    }
)
"""Problems of who plays without reading, sitting down or saying who it is.

With moves, nothing else counts them.
"""

REFUSED_MOVES = frozenset(
    {
        "game_not_started",
        "game_over",
        "stale_turn",
        "already_moved",
        "not_your_turn",
        "countdown_running",
        "illegal_move",
        "precondition_failed",
    }
)

LONGEST_HEADER = 1024
"""In characters, of a header that the service reads: some take long to read if they are long."""

READ_HEADERS = (
    ("Accept", "HTTP_ACCEPT"),
    ("Accept-Encoding", "HTTP_ACCEPT_ENCODING"),
    ("Accept-Language", "HTTP_ACCEPT_LANGUAGE"),
    ("Authorization", "HTTP_AUTHORIZATION"),
    ("Content-Encoding", "HTTP_CONTENT_ENCODING"),
    ("Content-Type", "CONTENT_TYPE"),
    ("Idempotency-Key", "HTTP_IDEMPOTENCY_KEY"),
    ("If-Match", "HTTP_IF_MATCH"),
    ("If-None-Match", "HTTP_IF_NONE_MATCH"),
    ("Last-Event-ID", "HTTP_LAST_EVENT_ID"),
    ("Prefer", "HTTP_PREFER"),
    ("X-Forwarded-For", "HTTP_X_FORWARDED_FOR"),
    ("X-Request-ID", "HTTP_X_REQUEST_ID"),
)
"""The headers that the service reads, and what WSGI calls each."""

log = logging.getLogger("ludotheque")


class _Passage:
    """A request on its way through: what it counts as, for whom, and what came of that."""

    __slots__ = ("address", "counted_for", "is_repeated", "names", "standings")

    def __init__(self, names: Sequence[str], address: str) -> None:
        self.names = names
        self.address = address
        self.counted_for = address
        self.is_repeated = False
        self.standings: dict[str, Standing] = {}

    def show(self, standing: Standing) -> None:
        """Say it in the answer."""
        self.standings[standing.policy.name] = standing


_passage: ContextVar[_Passage] = ContextVar("passage")


def count_as_repeated() -> None:
    """The move that is being answered was made before."""
    _passage.get().is_repeated = True


def show(standing: Standing) -> None:
    """Say in the answer how somebody stands."""
    _passage.get().show(standing)


def refuse(standing: Standing) -> NoReturn:
    """Answer that there were too many. Raises `Problem` (``too_many_requests``)."""
    show(standing)
    raise _too_many(standing)


class RateLimits:
    """Asks of each request before it is answered, and says in the answer how its sender stands."""

    def __init__(self, limiter: Limiter, proxies: Proxies, players: Players) -> None:
        self._limiter = limiter
        self._proxies = proxies
        self._accounts = players
        self._warned = False
        self._names: dict[str, Sequence[str]] = {}

    def enter(self, request: Request) -> None:
        """Count a request that has come, before its view is asked.

        Raises `Problem` (``too_many_requests``; ``invalid_token`` where too many were wrong;
        ``headers_too_large``).
        """
        address = self._find_caller(request)
        names = self._limits(request)
        passage = _Passage(names, address)
        _passage.set(passage)
        if names:
            self._count(request, passage)
        _check_headers(request)

    def _count(self, request: Request, passage: _Passage) -> None:
        names = passage.names
        credential = _credential(request, names)
        passage.counted_for = credential or passage.address
        if MOVES not in names:
            self._take(REQUESTS, passage)
        if credential is None:
            # Nothing that failed is worse for whoever proves who it is.
            self._check_failures(passage)
        for name in names:
            if name != MOVES:
                self._take(name, passage)

    def leave(self, response: Response) -> Response:
        """Count what a request turned out to be, and say how its sender stands: at the very end."""
        passage = _passage.get()
        if not passage.names:
            return response
        over = self._count_outcome(passage)
        if over is not None:
            response = _too_many(over).response()
        # What caches may keep for all tells nothing of one caller.
        if passage.standings and "public" not in response.headers.get(CACHING, ""):
            standings = passage.standings.values()
            response.headers["RateLimit-Policy"] = ", ".join(map(_policy, standings))
            response.headers["RateLimit"] = ", ".join(map(_rate, standings))
        return response

    def _limits(self, request: Request) -> Sequence[str]:
        """What a request counts as, by what `api.web.openapi.blueprint` noted at its view.

        Nothing, if it is a browser's question whether it may ask.
        """
        endpoint = request.endpoint
        if endpoint is None or request.method == "OPTIONS":
            return ()
        names = self._names.get(endpoint)
        if names is None:
            view = current_app.view_functions.get(endpoint)
            names = self._names[endpoint] = tuple(getattr(view, "limits", ()))
        return names

    def _find_caller(self, request: Request) -> str:
        peer = request.environ.get("REMOTE_ADDR", "")
        forwarded_for = request.environ.get("HTTP_X_FORWARDED_FOR")
        address = self._proxies.caller(peer, forwarded_for)
        addresses.note(address)
        if forwarded_for and not self._warned and not self._proxies.trust(peer):
            self._warned = True
            log.warning(
                "%s sent X-Forwarded-For but is not among TRUSTED_PROXIES: if it is a proxy, all "
                "who come through it count as one address (said once)",
                addresses.group(peer),
            )
        return address

    def _take(self, name: str, passage: _Passage) -> None:
        policy = self._limiter.policy(name)
        if policy is None:
            return
        if policy.shared and not policy.by_address and self._has_failed_too_often(passage):
            # Else tokens that somebody makes up would fill the store.
            self._accounts.caller(current_request().credentials)
        whose = passage.address if policy.by_address else passage.counted_for
        standing = self._limiter.count(name, whose)
        if standing is not None:
            passage.show(standing)
            if standing.is_over:
                raise _too_many(standing)

    def _has_failed_too_often(self, passage: _Passage) -> bool:
        standing = self._limiter.look(FAILURES, passage.address)
        return standing is not None and standing.is_over

    def _check_failures(self, passage: _Passage) -> None:
        standing = self._limiter.look(FAILURES, passage.address)
        if standing is not None and standing.is_over:
            passage.show(standing)
            raise _too_many(standing)

    def _count_outcome(self, passage: _Passage) -> Standing | None:
        """Count what failed, and the moves that nothing came of; what is too much of them."""
        trace = context.current()
        code = None if trace is None else trace.problem
        standing = None
        is_move = MOVES in passage.names
        if is_move:
            game_id = (current_request().view_args or {}).get("game_id")
            whose = f"{passage.counted_for}:{game_id}"
            if code in REFUSED_MOVES or passage.is_repeated:
                standing = self._limiter.note(MOVES, whose)
            shown = standing or self._limiter.look(MOVES, whose)
            if shown is not None:
                passage.show(shown)
        if code in GUESSES or (is_move and code in NOT_A_MOVE):
            standing = self._limiter.note(FAILURES, passage.address)
            if standing is not None:
                passage.show(standing)
        return standing if standing is not None and standing.is_over else None


def _check_headers(request: Request) -> None:
    """Raise `Problem` if a header that the service reads is longer than `LONGEST_HEADER`."""
    environ = request.environ
    for name, variable in READ_HEADERS:
        if len(environ.get(variable, "")) > LONGEST_HEADER:
            detail = (
                f"The header {name} has {len(environ[variable])} characters; at most "
                f"{LONGEST_HEADER} are allowed. Send a shorter one."
            )
            at = FieldError(detail, parameter=name)
            raise Problem("headers_too_large", detail, errors=(at,))


def _credential(request: Request, names: Sequence[str]) -> str | None:
    """The hash of the token, or of the ticket for a stream, that the caller shows, good or not.

    Who makes one up counts for nobody else.
    """
    try:
        shown = request.credentials
    except Problem:
        return None
    if shown is not None:
        return shown.secret_hash
    ticket = request.args.get("ticket") if POLLS in names else None
    return None if ticket is None else digest(ticket)


def _too_many(standing: Standing) -> Problem:
    policy = standing.policy
    metrics.rate_limited(policy.name)
    detail = f"The limit of {policy} for {policy.name!r} is used up for {standing.reset} s."
    return Problem("too_many_requests", detail, headers={"Retry-After": str(standing.reset)})


@cache
def _said(policy: Policy) -> str:
    return f'"{policy.name}";q={policy.amount};w={policy.seconds}'


def _policy(standing: Standing) -> str:
    return _said(standing.policy)


def _rate(standing: Standing) -> str:
    return f'"{standing.policy.name}";r={standing.remaining};t={standing.reset}'
