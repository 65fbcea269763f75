"""Helpers of the views: services, credentials, JSON responses and conditional requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from flask import Response, current_app
from msgspec import Raw, Struct

from api.games.players import Credentials
from api.games.representations import game_answer
from api.games.transactions import LoadedGame, Precondition
from api.live import MAX_WAIT_SECONDS
from api.problems.problem import FieldError, Problem
from api.problems.quoting import quoted
from api.web.compression import Content, accepts_gzip
from api.web.problem_responses import RETRY_AFTER_SECONDS
from api.web.request import current_request
from api.web.wiring import Services

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class CompleteResponse(Response):
    """A response with its whole body in memory, which needs none of Werkzeug's checks."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send the response."""
        start_response(self.status, self.headers.to_wsgi_list())
        return () if environ["REQUEST_METHOD"] == "HEAD" else self.iter_encoded()


class EmptyResponse(CompleteResponse):
    """A response without a body and without a content type."""

    default_mimetype = None


_encode = msgspec.json.Encoder().encode

GAME = "game"
"""Marks getGame's answer in entity tags."""


def services() -> Services:
    """Return the services of this application."""
    found: Services = current_app.extensions["ludotheque"]
    return found


def credentials() -> Credentials | None:
    """Return the caller's token, None without one. Raises `Problem` (``invalid_token``)."""
    return current_request().credentials


def required_credentials() -> Credentials:
    """Return the caller's token. Raises `Problem` (``missing_token``, ``invalid_token``)."""
    return current_request().required_credentials


def if_match() -> Precondition | None:
    """Return whether a tag of getGame's answer matches the caller's If-Match; None without one."""
    required: str | None = current_request().environ.get("HTTP_IF_MATCH")
    return (lambda tag: _names(required, f'"{GAME}-{tag}"')) if required else None


def idempotency_key() -> str | None:
    """Return the caller's Idempotency-Key, None without one.

    Raises `Problem` (``invalid_request``).
    """
    key: str | None = current_request().environ.get("HTTP_IDEMPOTENCY_KEY")
    if key is not None and not re.fullmatch(r"[ -~]{1,100}", key):
        detail = (
            f"The header Idempotency-Key is {quoted(key)}; it must have 1 to 100 printable ASCII "
            "characters."
        )
        at = FieldError(detail, parameter="Idempotency-Key")
        raise Problem("invalid_request", detail, errors=(at,))
    return key


def load_game(game_id: str) -> LoadedGame:
    """Load a game for the caller. Raises `Problem` (``invalid_token``, ``game_not_found``)."""
    return services().transactions.load(credentials(), game_id)


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with a JSON body."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    return CompleteResponse(_encode(body), status=status, headers=headers)


def prepared(
    content: Content, content_type: str = "application/json", headers: dict[str, str] | None = None
) -> Response:
    """Return a response with content that was compressed ahead of time.

    `headers` must name Accept-Encoding in Vary.
    """
    if not accepts_gzip():
        return CompleteResponse(content.plain, headers=headers, content_type=content_type)
    headers = {**(headers or {}), "Content-Encoding": "gzip"}
    return CompleteResponse(content.gzipped, headers=headers, content_type=content_type)


def game(found: LoadedGame, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with the game as the caller sees it."""
    return answer(shown(found), status, headers)


def unless_known(found: LoadedGame, kind: str, body: Callable[[], Struct | Raw]) -> Response:
    """Return the answer that `body` makes, or 304 if the caller has it already.

    `kind` distinguishes the answers about one game in their entity tags.
    """
    tag = f'"{kind}-{found.tag}"'
    headers = {
        "ETag": f"W/{tag}",
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Accept-Encoding",
    }
    if _has(tag):
        return EmptyResponse(status=304, headers=headers)
    return answer(body(), headers=headers)


def unless_had(content: Content, content_type: str, cache_control: str) -> Response:
    """Return content with its entity tag, or 304 if the caller has it already.

    Response.make_conditional would also apply If-Match, and answer 412 without a problem.
    """
    headers = {
        "ETag": f'W/"{content.tag}"',
        "Cache-Control": cache_control,
        "Vary": "Accept-Encoding",
    }
    if _has(f'"{content.tag}"'):
        return EmptyResponse(status=304, headers=headers)
    return prepared(content, content_type, headers)


def is_known(found: LoadedGame, kind: str) -> bool:
    """Tell whether the caller has this answer already."""
    return _has(f'"{kind}-{found.tag}"')


def _has(tag: str) -> bool:
    """Tell whether the caller's If-None-Match matches this tag."""
    said = current_request().environ.get("HTTP_IF_NONE_MATCH")
    return said is not None and _names(said, tag)


def _names(tags: str, tag: str) -> bool:
    """Tell whether a list of tags, or a star, matches a tag. Our tags contain no comma.

    All comparisons are weak, also those of If-Match: our tags are, and proxies that compress an
    answer weaken its tag.
    """
    listed = (each.strip().removeprefix("W/") for each in tags.split(","))
    return tags.strip() == "*" or tag in listed


def shown(found: LoadedGame) -> Raw:
    """Return the encoded game as the caller sees it."""
    return game_answer(found.stored, found.audience)


def preferred_wait() -> int | None:
    """Return how many seconds the caller would wait for a change (RFC 7240), None if not."""
    preferred = current_request().environ.get("HTTP_PREFER")
    if preferred is None:
        return None
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,9})", preferred)
    return None if found is None else min(int(found[1]), MAX_WAIT_SECONDS)


def prefers_minimal() -> bool:
    """Tell whether the caller prefers an answer without what it can read again (RFC 7240)."""
    preferred = current_request().environ.get("HTTP_PREFER", "")
    return re.search(r"(?:^|[,;\s])return\s*=\s*\"?minimal(?![^\s\",;])", preferred) is not None


def retry_later(response: Response) -> Response:
    """Add Retry-After to a response that could not wait, as too many requests wait already."""
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
