"""Rate limits of requests: counting them, refusing them, and telling the caller the rest.

A request is counted whether its parameters and body are right or not. Where a view begins with
reading the caller, the limits that all workers share are counted in the round trip of that read. A
move is never refused beforehand: only its outcome counts, if it was refused or a repetition, and
over the limit the answer becomes ``too_many_requests``. Failures that may be guesses, such as a
wrong token, count for the caller's address. A batch of moves counts as one request, and each of its
moves as a single one does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from flask import Response, current_app

from api.config.rate_policies import FAILURES, MOVES, POLLS, REQUESTS, Policy
from api.games.players import Players
from api.model.game import digest
from api.observability import context
from api.observability.context import RequestContext
from api.problems.problem import Problem
from api.ratelimit.limiter import Limiter, Standing, refuse_if_over, too_many
from api.web.headers import CACHING, check_lengths
from api.web.problem_responses import problem_response
from api.web.request import Request, current_request

GUESSES = frozenset({"invalid_token", "invalid_ticket", "game_not_found"})
"""Problems of requests that may be guesses: they count as failures."""

MALFORMED_MOVES = frozenset(
    {
        "bad_request",
        "invalid_json",
        "body_too_slow",
        "body_too_large",
        "headers_too_large",
        "unsupported_media_type",
        "invalid_request",
        "missing_token",
        "not_seated",
        "unsupported_format",
    }
)
"""Problems of playMove requests that are no attempt at a move: they count as failures.

No other limit counts them.
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
"""Problems of moves that changed nothing: they count for the limit of moves."""

_GAME_ID = re.compile(r"[0-9a-f]{32}")


class RateLimits:
    """Counts requests before their view runs and moves after it; tells the rest of the limits."""

    def __init__(self, limiter: Limiter, players: Players) -> None:
        self._limiter = limiter
        self._players = players

    def count_request(self) -> None:
        """Count the request. Runs before its view.

        Raises:
            Problem: ``too_many_requests``; ``invalid_token`` from an address with too many
                failures; ``headers_too_large``.
        """
        request, request_context = current_request(), context.current()
        note_route(request, request_context)
        if request_context.limits:
            self._count(request, request_context)
        check_lengths(request.environ)

    def _count(self, request: Request, request_context: RequestContext) -> None:
        names = request_context.limits
        credential = _credential(request, names)
        request_context.counted_for = credential or request_context.address
        if MOVES not in names or REQUESTS in names:
            self._limiter.take(REQUESTS)
        if credential is None:
            # Failures of an address do not shut out its callers that have a token.
            refuse_if_over(self._limiter.look(FAILURES, request_context.address))
        others = [name for name in names if name not in (MOVES, REQUESTS)]
        for name in others:
            self._check_caller(name, request_context)
        if request_context.needs_token:
            # The view begins with reading the caller, and sends this along.
            request_context.deferred += self._limiter.defer(*others)
        else:
            self._limiter.take(*others)

    def add_headers(self, response: Response) -> Response:
        """Count the outcome, and add the rate limit headers. Runs after the view."""
        request_context = context.current()
        if not request_context.limits:
            return response
        problem = self._limiter.count_deferred()
        if problem is not None:
            response = problem_response(problem)
        over = self._count_outcome(request_context)
        if over is not None:
            response = problem_response(too_many(over))
        standings = request_context.standings.values()
        # A response that shared caches may store tells nothing about one caller.
        if standings and "public" not in response.headers.get(CACHING, ""):
            quotas = ", ".join([_quota(each.policy) for each in standings])
            response.headers.add("RateLimit-Policy", quotas)
            response.headers.add("RateLimit", ", ".join([_rate(each) for each in standings]))
        return response

    def _check_caller(self, name: str, request_context: RequestContext) -> None:
        """Authenticate the caller first if its address has failed too often.

        Otherwise each invented token would create a counter in the store.
        """
        policy = self._limiter.policy(name)
        if (
            policy is not None
            and policy.shared
            and not policy.by_address
            and _is_over(self._limiter.look(FAILURES, request_context.address))
        ):
            self._players.caller(current_request().required_credentials)

    def count_move(self, game_id: str, code: str | None, *, is_repeated: bool) -> Problem | None:
        """Count a move of a batch by its outcome; return the problem if a limit is used up.

        `code` is that of the problem with which the move was refused, None if it was played.
        """
        standing = self._note(code, game_id, is_repeated=is_repeated)
        if standing is None:
            return None
        if standing.policy.name != MOVES:
            context.current().tell(standing)
        return too_many(standing) if standing.is_over else None

    def _count_outcome(self, request_context: RequestContext) -> Standing | None:
        """Count failures, and moves that changed nothing. Return a limit that is now used up."""
        game_id = (current_request().view_args or {}).get("game_id")
        if MOVES in request_context.limits and game_id is not None:
            shown = self._limiter.look(MOVES, _game_key(request_context, game_id))
            if shown is not None:
                request_context.tell(shown)
        standing = self._note(
            request_context.problem, game_id, is_repeated=request_context.is_repeated_move
        )
        if standing is not None:
            request_context.tell(standing)
        return standing if _is_over(standing) else None

    def _note(self, code: str | None, game_id: str | None, *, is_repeated: bool) -> Standing | None:
        """Count an outcome for the limit that counts it. `game_id` is the game of a move."""
        request_context = context.current()
        is_move = MOVES in request_context.limits
        if is_move and (code in REFUSED_MOVES or is_repeated):
            return self._limiter.note(MOVES, _game_key(request_context, game_id))
        if code in GUESSES or (is_move and code in MALFORMED_MOVES):
            return self._limiter.note(FAILURES, request_context.address)
        return None


def note_route(request: Request, request_context: RequestContext) -> None:
    """Note the route of a request, its view's declarations, and the game in its path."""
    rule = request.url_rule
    if rule is None:
        return
    request_context.route = _documented_route(rule.rule)
    view = current_app.view_functions[rule.endpoint]
    request_context.tells_time = getattr(view, "tells_time", False)
    request_context.is_stream = getattr(view, "is_stream", False)
    request_context.needs_token = getattr(view, "needs_token", False)
    if request.method != "OPTIONS":  # CORS preflight requests count for no limit
        request_context.limits = getattr(view, "limits", ())
    game_id = (request.view_args or {}).get("game_id")
    if game_id is not None and _GAME_ID.fullmatch(game_id):
        request_context.game = game_id


@cache
def _documented_route(rule: str) -> str:
    """Return a route as the document writes it.

    >>> _documented_route("/v1/games/<game_id>")
    '/v1/games/{game_id}'
    """
    return re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule)


def _game_key(request_context: RequestContext, game_id: str | None) -> str:
    """Return the key under which a caller's moves in one game count."""
    return f"{request_context.counted_for}:{game_id}"


def _is_over(standing: Standing | None) -> bool:
    return standing is not None and standing.is_over


def _credential(request: Request, names: Sequence[str]) -> str | None:
    """Return the hash of the caller's token or stream ticket, valid or not; None without one."""
    try:
        credentials = request.credentials
    except Problem:
        return None
    if credentials is not None:
        return credentials.secret_hash
    ticket = request.args.get("ticket") if POLLS in names else None
    return None if ticket is None else digest(ticket)


@cache
def _quota(policy: Policy) -> str:
    """Return an item of the header RateLimit-Policy."""
    return f'"{policy.name}";q={policy.amount};w={policy.seconds}'


def _rate(standing: Standing) -> str:
    """Return an item of the header RateLimit."""
    return f'"{standing.policy.name}";r={standing.remaining};t={standing.reset}'
