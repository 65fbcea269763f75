"""The gate that every request passes: what it counts as, whether that is too much, and saying so.

A request counts before it is looked into, so no mistake in it is free. Moves pass always: only
what a move turned out to be, refused or made before, is counted, and then a further such answer
is that there were too many. What fails as a guess does, fails for its address.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import cast

from flask import Flask, Response, current_app, g, request

from api import callers, metrics
from api.accounts import Accounts, read_credentials
from api.callers import Proxies
from api.limits.limiter import Limiter, Standing
from api.limits.policies import FAILURES, MOVES, POLLS, REQUESTS
from api.problems import Problem
from api.stored import digest

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
        "not_seated",
    }
)
"""Problems of who plays without reading or sitting down: with moves, nothing else counts them."""

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

log = logging.getLogger("ludotheque")


def count_as_repeated() -> None:
    """The move that is being answered was made before."""
    g.is_repeated = True


class Gate:
    """Asks of each request before it is answered, and says in the answer how its sender stands."""

    def __init__(self, limiter: Limiter, proxies: Proxies, accounts: Accounts) -> None:
        self._limiter = limiter
        self._proxies = proxies
        self._accounts = accounts
        self._warned = False

    def install(self, app: Flask) -> None:
        """Put it before an application's views, and behind what others add to answers."""
        app.before_request(self.enter)
        app.after_request(self.leave)

    def enter(self) -> None:
        """Count a request that has come.

        Raises `Problem` (``too_many_requests``; ``invalid_token`` where too many were wrong).
        """
        self._find_caller()
        names = _limits()
        if not names:
            return
        credential = _credential(names)
        g.counted_for = credential or callers.present()
        if MOVES not in names:
            self._take(REQUESTS)
        if credential is None:
            # Nothing that failed is worse for whoever proves who it is.
            self._check_failures()
        for name in names:
            if name != MOVES:
                self._take(name)

    def leave(self, response: Response) -> Response:
        """Count what a request turned out to be, and say how its sender stands."""
        names = _limits()
        if not names:
            return response
        over = self._count_outcome(names, g.get("problem_code"))
        if over is not None:
            response = _too_many(over).response()
        standings: dict[str, Standing] = g.get("standings", {})
        if standings:
            response.headers["RateLimit-Policy"] = ", ".join(map(_policy, standings.values()))
            response.headers["RateLimit"] = ", ".join(map(_rate, standings.values()))
        return response

    def _find_caller(self) -> None:
        peer = request.environ.get("REMOTE_ADDR", "")
        forwarded_for = request.headers.get("X-Forwarded-For")
        callers.note(self._proxies.caller(peer, forwarded_for))
        if forwarded_for and not self._warned and not self._proxies.trust(peer):
            self._warned = True
            log.warning(
                "%s sent X-Forwarded-For but is not among TRUSTED_PROXIES: if it is a proxy, all "
                "who come through it count as one address (said once)",
                callers.group(peer),
            )

    def _take(self, name: str) -> None:
        policy = self._limiter.policy(name)
        if policy is None:
            return
        if policy.shared and not policy.by_address and self._has_failed_too_often():
            # Else tokens that somebody makes up would fill the store.
            self._accounts.caller(read_credentials(request.headers.get("Authorization")))
        whose = callers.present() if policy.by_address else g.counted_for
        standing = self._limiter.count(name, whose)
        if standing is not None:
            _show(standing)
            if standing.is_over:
                raise _too_many(standing)

    def _has_failed_too_often(self) -> bool:
        standing = self._limiter.look(FAILURES, callers.present())
        return standing is not None and standing.is_over

    def _check_failures(self) -> None:
        standing = self._limiter.look(FAILURES, callers.present())
        if standing is not None and standing.is_over:
            _show(standing)
            raise _too_many(standing)

    def _count_outcome(self, names: Sequence[str], code: str | None) -> Standing | None:
        """Count what failed, and the moves that nothing came of; what is too much of them."""
        standing = None
        is_move = MOVES in names
        if is_move:
            whose = f"{g.counted_for}:{(request.view_args or {}).get('game_id')}"
            if code in REFUSED_MOVES or g.get("is_repeated"):
                standing = self._limiter.note(MOVES, whose)
            shown = standing or self._limiter.look(MOVES, whose)
            if shown is not None:
                _show(shown)
        if code in GUESSES or (is_move and code in NOT_A_MOVE):
            standing = self._limiter.note(FAILURES, callers.present())
            if standing is not None:
                _show(standing)
        return standing if standing is not None and standing.is_over else None


def _limits() -> Sequence[str]:
    """What the request counts as, by what `api.openapi` noted at its view.

    Nothing, if it is a browser's question whether it may ask.
    """
    if request.endpoint is None or request.method == "OPTIONS":
        return ()
    view = current_app.view_functions.get(request.endpoint)
    return cast("Sequence[str]", getattr(view, "limits", ()))


def _credential(names: Sequence[str]) -> str | None:
    """The hash of the token, or of the ticket for a stream, that the caller shows, good or not.

    Who makes one up counts for nobody else.
    """
    try:
        shown = read_credentials(request.headers.get("Authorization"))
    except Problem:
        return None
    if shown is not None:
        return shown.secret_hash
    ticket = request.args.get("ticket") if POLLS in names else None
    return None if ticket is None else digest(ticket)


def _show(standing: Standing) -> None:
    g.setdefault("standings", {})[standing.policy.name] = standing


def _too_many(standing: Standing) -> Problem:
    policy = standing.policy
    metrics.rate_limited(policy.name)
    detail = f"The limit of {policy} for {policy.name!r} is used up for {standing.reset} s."
    return Problem("too_many_requests", detail, headers={"Retry-After": str(standing.reset)})


def _policy(standing: Standing) -> str:
    policy = standing.policy
    return f'"{policy.name}";q={policy.amount};w={policy.seconds}'


def _rate(standing: Standing) -> str:
    return f'"{standing.policy.name}";r={standing.remaining};t={standing.reset}'
