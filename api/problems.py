"""Every way in which a request can fail, in one table, and the one shape that they all have.

A problem is RFC 9457 JSON with a machine `code` and, where a member of the request is at
fault, a pointer to it. The table says for each code what it means and what a client should
do. This module knows no route and no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec
from flask import Response, request
from msgspec import UNSET, Struct, UnsetType
from werkzeug.exceptions import HTTPException

PROBLEM_TYPE = "application/problem+json"


class Kind(NamedTuple):
    """A kind of problem: its status, its title, and what a client should do about it."""

    status: int
    title: str
    advice: str


KINDS: dict[str, Kind] = {
    # 400: what was sent cannot be read
    "bad_request": Kind(400, "The request cannot be read", "Correct the request; do not repeat it as it is."),
    "invalid_json": Kind(400, "The body is not JSON", "Send one JSON value in UTF-8."),
    # 401
    "missing_token": Kind(401, "A token is needed", "Send the header 'Authorization: Bearer TOKEN'; POST /v1/players gives a token."),
    "invalid_token": Kind(401, "The token is not valid", "Use the player's present token. A token that was lost cannot be shown again."),
    # 403
    "not_host": Kind(403, "Only the host may do this", "Ask the host of the game."),
    "not_seated": Kind(403, "You have no seat in this game", "Join the game while it is open."),
    # 404
    "not_found": Kind(404, "There is nothing here", "Compare the path with the API document."),
    "game_not_found": Kind(404, "There is no such game", "Check the id. A private game exists only for its players and those with its invite."),
    "ruleset_not_found": Kind(404, "There is no such ruleset", "GET /v1/rulesets lists them."),
    "problem_not_found": Kind(404, "There is no such problem", "Check the code."),
    # 405, 411, 413, 415
    "method_not_allowed": Kind(405, "This method is not allowed here", "The header Allow lists the methods."),
    "length_required": Kind(411, "The body needs a length", "Send Content-Length; chunked bodies are not accepted."),
    "body_too_large": Kind(413, "The body is too large", "Send less: 64 KiB, 256 KiB for an analysis."),
    "unsupported_media_type": Kind(415, "The body must be JSON", "Send the header 'Content-Type: application/json'."),
    # 409: true in itself, but not now
    "game_not_started": Kind(409, "The game has not started", "Wait until all seats are taken."),
    "game_already_started": Kind(409, "The game has started", "Read the game to see where it is."),
    "game_over": Kind(409, "The game is over", "Read the game to see the result."),
    "game_not_over": Kind(409, "The game is not over", "Ask again when the game has ended."),
    "stale_turn": Kind(409, "The game is at another turn", "Read the game and decide again."),
    "already_moved": Kind(409, "You have already moved in this turn", "Wait for the next turn: a choice stands."),
    "not_your_turn": Kind(409, "It is not your turn", "Wait until the game's to_move lists your seat."),
    "game_full": Kind(409, "All seats are taken", "Join another game."),
    "seat_taken": Kind(409, "The seat is taken", "Ask for another seat, or for any."),
    "seat_reserved": Kind(409, "The seat is reserved for another player", "Ask for another seat, or for any."),
    "already_seated": Kind(409, "You already have another seat in this game", "Leave the game first to change seats."),
    "house_unavailable": Kind(409, "This server has no house players", "Do without house seats, forced starts, turn clocks and leaving a game in play."),
    "too_many_games": Kind(409, "You are in too many games that have not ended", "End or leave some first."),
    # 422: well-formed, but not valid
    "invalid_request": Kind(422, "A member or parameter of the request is not valid", "See 'errors' for which, and why."),
    "invalid_deal": Kind(422, "The deal is not one of this game", "See 'errors' for where it goes wrong."),
    "illegal_move": Kind(422, "The rules forbid this move", "See 'rule'; the legal moves are in the game's legal_moves."),
    "idempotency_key_reused": Kind(422, "This Idempotency-Key was used for another request", "Use a new key for a new request."),
    # 5xx: not the caller's doing
    "internal_error": Kind(500, "Something went wrong here", "It was logged. A retry may help; if not, report it."),
    "busy": Kind(503, "Too much is happening in this game at once", "Try again after Retry-After seconds."),
    "store_evicts": Kind(503, "The store may drop games", "Whoever runs it sets maxmemory-policy to noeviction."),
    "store_unavailable": Kind(503, "The store of games cannot be reached", "Try again after Retry-After seconds. What was acknowledged is not lost."),
}  # fmt: skip

RETRY_AFTER_SECONDS = 1


class FieldError(Struct, frozen=True, omit_defaults=True):
    """One member (a JSON pointer into the body) or parameter that is wrong, and why."""

    detail: str
    pointer: str | UnsetType = UNSET
    parameter: str | UnsetType = UNSET


class ProblemBody(Struct, frozen=True, omit_defaults=True):
    """A problem as it is sent."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    rule: str | UnsetType = UNSET
    errors: tuple[FieldError, ...] | UnsetType = UNSET


class Problem(Exception):
    """A request that fails with this code; raise it anywhere below a view.

    `errors` names the members at fault; `rule` is the engine's machine code of an illegal move.
    """

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        errors: Iterable[FieldError] = (),
        rule: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        kind = KINDS[code]
        self.code = code
        self.status = kind.status
        self.title = kind.title
        self.detail = detail or kind.advice
        self.errors = tuple(errors)
        self.rule = rule
        self.headers = dict(headers or {})
        super().__init__(self.detail)

    def body(self) -> ProblemBody:
        """The problem as it is sent."""
        return ProblemBody(
            type=f"/problems/{self.code}",
            title=self.title,
            status=self.status,
            code=self.code,
            detail=self.detail,
            rule=self.rule or UNSET,
            errors=self.errors or UNSET,
        )

    def response(self) -> Response:
        """The answer that tells of the problem."""
        headers = dict(self.headers)
        if self.status == HTTPStatus.SERVICE_UNAVAILABLE:
            headers.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
        if self.status == HTTPStatus.UNAUTHORIZED:
            error = ', error="invalid_token"' if self.code == "invalid_token" else ""
            headers["WWW-Authenticate"] = f'Bearer realm="ludotheque"{error}'
        if self.code in {"body_too_large", "length_required"}:
            # The body was not read, so the connection cannot carry another request.
            headers["Connection"] = "close"
        return Response(
            msgspec.json.encode(self.body()),
            status=self.status,
            headers=headers,
            content_type=PROBLEM_TYPE,
        )


def invalid(detail: str, *path: str | int) -> Problem:
    """`invalid_request` that points at one member of the body."""
    return Problem("invalid_request", detail, errors=(FieldError(detail, pointer=pointer(path)),))


def pointer(path: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901) in its fragment form, which names the whole body as ``#``.

    >>> pointer(["move", "cards", 0])
    '#/move/cards/0'
    """
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    # A member's name comes from a stranger and need not be well-formed Unicode.
    return "".join(["#", *(f"/{step}" for step in steps)]).encode("utf-8", "replace").decode()


HTTP_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    411: "length_required",
    413: "body_too_large",
    415: "unsupported_media_type",
    500: "internal_error",
}


def from_http(error: HTTPException) -> Problem:
    """The problem for an error that Flask, Werkzeug or the body parser raised by itself."""
    messages = (getattr(error, "data", None) or {}).get("messages")
    if messages:
        errors = tuple(field_errors(messages))
        return Problem("invalid_request", " ".join(map(_sentence, errors[:3])), errors=errors)
    headers = {name: value for name, value in error.get_headers() if name == "Allow"}
    code = HTTP_CODES.get(error.code or 500)
    if code is None:
        code = (
            "bad_request"
            if (error.code or 500) < HTTPStatus.INTERNAL_SERVER_ERROR
            else "internal_error"
        )
    if code == "method_not_allowed":
        return Problem(code, f"{request.method} is not allowed here.", headers=headers)
    return Problem(code, headers=headers)


def field_errors(messages: Mapping[str, Any]) -> Iterator[FieldError]:
    """Marshmallow's nested messages by location, as a flat list with pointers."""
    for location, nested in messages.items():
        for path, detail in flatten(nested, ()):
            if location == "json":
                yield FieldError(detail, pointer=pointer(path))
            else:
                yield FieldError(detail, parameter=str(path[0]) if path else "")


def _sentence(error: FieldError) -> str:
    where = error.parameter if error.pointer is UNSET else error.pointer
    return f"{where}: {error.detail}"


def flatten(
    nested: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every message in marshmallow's tree, with the path that leads to it."""
    if isinstance(nested, Mapping):
        for key, below in nested.items():
            yield from flatten(below, path if key == "_schema" else (*path, key))
    else:
        for detail in nested if isinstance(nested, list) else [nested]:
            yield path, str(detail)
