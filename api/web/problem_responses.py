"""HTTP responses for problems, and problems for the errors that libraries raise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from flask import Flask, Response, request
from redis import RedisError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from api.live.server_sent_events import reconnection_time, unavailable
from api.observability import context
from api.observability.logger import OnceAMinute, log
from api.observability.redaction import reason
from api.problems.problem import FieldError, Problem, pointer
from api.problems.quoting import shortened
from api.storage.errors import (
    NewerFormat,
    NotReplicated,
    UnsupportedFormat,
    count_failure,
    is_full,
    log_unreadable,
)

PROBLEM_TYPE = "application/problem+json"

STREAM_TYPE = "text/event-stream"

# X-Accel-Buffering keeps proxies from buffering events.
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

TEMPORARY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""The status of problems after which the client should send the same request again, later."""

RETRY_AFTER_SECONDS = 1

MAX_ERRORS = 100
"""The most members and parameters that one problem lists."""

MAX_TOLD = 3
"""The most of them that its text names."""

CODE_OF_STATUS = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
    500: "internal_error",
}
"""The problem's code for an HTTP error that Flask or Werkzeug raised."""

STORE_FULL = (
    "The memory or the disk of the store is full: reads are answered, changes are refused until "
    "the operator has made room. Repeat the request after Retry-After seconds."
)

_full_store = OnceAMinute()


def register_error_handlers(app: Flask) -> None:
    """Answer every exception with a problem."""
    app.register_error_handler(Problem, problem_response)
    app.register_error_handler(Exception, failure_response)


def problem_response(problem: Problem) -> Response:
    """Return the response that tells of a problem.

    A temporary problem of a stream is an event: after another status than 200, a browser's
    EventSource never connects again.
    """
    request_context = context.current()
    request_context.problem = problem.code
    headers = dict(problem.headers)
    if (seconds := retry_after(problem)) is not None:
        headers["Retry-After"] = str(seconds)
        if request_context.is_stream:
            # The status in the line of the log does not tell it.
            request_context.facts["problem"] = problem.code
            return Response(
                reconnection_time(seconds) + unavailable(problem),
                headers={**STREAM_HEADERS, **headers},
                content_type=STREAM_TYPE,
            )
    if problem.status == HTTPStatus.UNAUTHORIZED:
        error = ', error="invalid_token"' if problem.code == "invalid_token" else ""
        headers["WWW-Authenticate"] = f'Bearer realm="ludotheque"{error}'
    return Response(
        msgspec.json.encode(problem.body()),
        status=problem.status,
        headers=headers,
        content_type=PROBLEM_TYPE,
    )


def failure_response(error: Exception) -> Response:
    """Return the response that tells of an error."""
    return problem_response(as_problem(error))


def retry_after(problem: Problem) -> int | None:
    """Return after how many seconds to send the request again, None if that is of no use."""
    if problem.status not in TEMPORARY:
        return None
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS), **problem.headers}
    return int(headers["Retry-After"])


def as_problem(error: Exception) -> Problem:
    """Return the problem that tells the caller of an error. Log what the operator has to know."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RedisError):
        return _store_failed(error)
    if isinstance(error, (NewerFormat, UnsupportedFormat)):
        log_unreadable(str(error), error)
        is_newer = isinstance(error, NewerFormat)
        return Problem("newer_format" if is_newer else "unsupported_format")
    # A fault of the service. Only the log says which and where.
    log.error("a request failed", exc_info=error)
    return Problem("internal_error")


def _store_failed(error: RedisError) -> Problem:
    if isinstance(error, NotReplicated):
        log.warning("a change was not replicated in time")
        return Problem("not_replicated")
    count_failure(error)
    if is_full(error):
        if _full_store.is_due():
            log.warning(
                "the store refuses changes because its memory or its disk is full; reads are "
                "answered (logged once a minute)"
            )
        return Problem("store_full", STORE_FULL)
    log.error("the store failed: %s", reason(error))
    return Problem("store_unavailable")


def problem_of(error: HTTPException) -> Problem:
    """Return the problem for an error that Flask or Werkzeug raised."""
    headers = {name: value for name, value in error.get_headers() if name == "Allow"}
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    other = "bad_request" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "internal_error"
    code = CODE_OF_STATUS.get(status, other)
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(error.valid_methods or ())
        detail = f"{request.method} is not allowed here, only: {allowed}. Send one of these."
        return Problem(code, detail, headers=headers)
    return Problem(code, headers=headers)


def invalid_request(errors: Sequence[FieldError]) -> Problem:
    """Return the problem of a request with these errors, whose text tells the first of them."""
    told = [each.detail for each in errors[:MAX_TOLD]]
    if len(errors) > MAX_TOLD:
        told.append(f"`errors` has {len(errors) - MAX_TOLD} more.")
    return Problem("invalid_request", " ".join(told), errors=errors)


def field_errors(location: str, messages: Any) -> Iterator[FieldError]:
    """Yield marshmallow's nested messages as a flat list of errors with pointers.

    `location` is ``query`` or ``json``.
    """
    for path, message in _flatten(messages, ()):
        detail = f"{_subject(path)} {message}"
        if location == "json":
            yield FieldError(detail, pointer=pointer(path))
        else:
            yield FieldError(detail, parameter=str(path[0]) if path else "")


def _subject(path: tuple[str | int, ...]) -> str:
    """Return the name of the value at a path, with which the sentence of its error begins.

    >>> _subject(()), _subject(("move", "card")), _subject(("moves", 3))
    ('The body', '`card`', 'Item 3 of `moves`')
    """
    if not path:
        return "The body"
    *above, last = path
    if isinstance(last, int):
        return f"Item {last} of {_subject(tuple(above))}"
    return f"`{shortened(last)}`"


def _flatten(
    nested: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every message of marshmallow's tree with the path that leads to it."""
    if isinstance(nested, Mapping):
        for key, below in nested.items():
            yield from _flatten(below, path if key == "_schema" else (*path, key))
    else:
        for detail in nested if isinstance(nested, list) else [nested]:
            yield path, str(detail)
