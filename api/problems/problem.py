"""The one shape in which every request fails, whichever layer refuses it.

A problem is RFC 9457 JSON with a machine `code` (of `api.problems.catalogue`) and, where a member
of the request is at fault, a pointer to it. This module knows no route and no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any

import msgspec
from flask import Response, request
from msgspec import UNSET, Struct, UnsetType
from werkzeug.exceptions import HTTPException

from api.observability.context import note_problem
from api.problems.catalogue import CATALOGUE
from engine.published import described

PROBLEM_TYPE = "application/problem+json"


RETRY_AFTER_SECONDS = 1

MOST_ERRORS = 100
"""So many mistakes are told at once; who made more has not read the document."""


class FieldError(Struct, frozen=True, omit_defaults=True):
    """A member or parameter that is wrong."""

    detail: Annotated[str, described("What is wrong with it, for people.")]
    pointer: Annotated[
        str | UnsetType,
        described(
            "Of a member of the body: a JSON pointer to it, as `#/move/card`; `#` is the body.",
            extra_json_schema={"pattern": "^#"},
        ),
    ] = UNSET
    parameter: Annotated[
        str | UnsetType,
        described("Of anything else: the name of the query parameter or header."),
    ] = UNSET


class ProblemBody(Struct, frozen=True, omit_defaults=True):
    """Why a request failed (RFC 9457). Decide by `code`; show `detail` to people."""

    type: Annotated[
        str,
        described(
            "The address of what there is to say about this code.",
            extra_json_schema={"format": "uri-reference"},
        ),
    ]
    title: Annotated[
        str,
        described("What is wrong, in a few words; the same for all problems of this code."),
    ]
    status: Annotated[int, described("The HTTP status of the answer.", ge=400, le=599)]
    code: Annotated[
        str,
        described("What is wrong, for programs. There may be new codes: go by the status then."),
    ]
    detail: Annotated[str, described("What is wrong this time, for people.")]
    rule: Annotated[
        str | UnsetType,
        described("Of an illegal move: a code of the rule against it, as `card_not_in_hand`."),
    ] = UNSET
    errors: Annotated[
        tuple[FieldError, ...] | UnsetType,
        described(
            "The members or parameters at fault, where any are.",
            extra_json_schema={"minItems": 1},
        ),
    ] = UNSET


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
        kind = CATALOGUE[code]
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
        note_problem(self.code)
        headers = dict(self.headers)
        if self.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
            headers.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
        if self.status == HTTPStatus.UNAUTHORIZED:
            error = ', error="invalid_token"' if self.code == "invalid_token" else ""
            headers["WWW-Authenticate"] = f'Bearer realm="ludotheque"{error}'
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
        errors = tuple(islice(field_errors(messages), MOST_ERRORS))
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
