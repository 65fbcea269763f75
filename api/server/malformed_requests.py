"""Answers to requests that gunicorn cannot read as HTTP.

They have the same JSON form as all other errors, and quote nothing of the request: it may hold a
token.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from gunicorn import util
from gunicorn.http import errors

from api.problems.problem import Problem
from api.web.headers import DATA_POLICY, POLICY, SAFE_HEADERS

SAFE = "".join(f"{name}: {value}\r\n" for name, value in ((POLICY, DATA_POLICY), *SAFE_HEADERS))


MALFORMED = Problem("bad_request", "This is not a well-formed HTTP request.")
FAILED = Problem("internal_error", "The server failed to handle this request.")
PROBLEMS: tuple[tuple[type[BaseException], Problem], ...] = (
    # Faults of the application, though gunicorn derives them from the client's.
    (errors.InvalidResponseHeader, FAILED),
    (errors.InvalidResponseHeaderName, FAILED),
    (errors.ConfigurationProblem, FAILED),
    (errors.LimitRequestLine, Problem("uri_too_long", "The request line is too long.")),
    (
        errors.LimitRequestHeaders,
        Problem(
            "headers_too_large",
            "The request line and the header fields together may have 32 KiB, in at most 100 "
            "fields of 8 KiB. Send fewer or shorter header fields.",
        ),
    ),
    (
        errors.ExpectationFailed,
        Problem("expectation_failed", "Only the expectation 100-continue can be met."),
    ),
    (
        errors.UnsupportedTransferCoding,
        Problem(
            "unsupported_transfer_coding",
            "The Transfer-Encoding names a coding that is not supported. Send the body "
            "uncompressed, with Transfer-Encoding: chunked alone or with Content-Length.",
        ),
    ),
    (errors.ParseException, MALFORMED),
)
"""The first class that fits counts. An error of no class here is a fault of the server."""


def problem_of(error: BaseException) -> Problem:
    """Return the problem for what gunicorn, or the application outside its handlers, raised."""
    return next((problem for kind, problem in PROBLEMS if isinstance(error, kind)), FAILED)


def response(problem: Problem) -> bytes:
    """Return a whole HTTP/1.1 response, which says that the connection closes."""
    body = msgspec.json.encode(problem.body())
    head = (
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
        f"Date: {util.http_date()}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        f"{SAFE}\r\n"
    )
    return head.encode("ascii") + body
