"""Answers to requests that gunicorn cannot read as HTTP.

They have the same JSON form as all other errors, and quote nothing of the request: it may hold a
token.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import NamedTuple

from gunicorn import util
from gunicorn.http import errors

from api.problems.catalogue import CATALOGUE
from api.web.headers import DATA_POLICY, POLICY, SAFE_HEADERS

SAFE = "".join(f"{name}: {value}\r\n" for name, value in ((POLICY, DATA_POLICY), *SAFE_HEADERS))


class Refusal(NamedTuple):
    """The code of the problem to answer with, and its detail."""

    code: str
    detail: str


MALFORMED = Refusal("bad_request", "This is not a well-formed HTTP request.")
FAILED = Refusal("internal_error", "The server failed to handle this request.")
REFUSALS: tuple[tuple[type[BaseException], Refusal], ...] = (
    # Faults of the application, though gunicorn derives them from the client's.
    (errors.InvalidResponseHeader, FAILED),
    (errors.InvalidResponseHeaderName, FAILED),
    (errors.ConfigurationProblem, FAILED),
    (errors.LimitRequestLine, Refusal("uri_too_long", "The request line is too long.")),
    (
        errors.LimitRequestHeaders,
        Refusal(
            "headers_too_large",
            "The request line and the header fields together may have 32 KiB, in at most 100 "
            "fields of 8 KiB. Send fewer or shorter header fields.",
        ),
    ),
    (
        errors.ExpectationFailed,
        Refusal("expectation_failed", "Only the expectation 100-continue can be met."),
    ),
    (
        errors.UnsupportedTransferCoding,
        Refusal(
            "unsupported_transfer_coding",
            "The only transfer coding that is understood is chunked.",
        ),
    ),
    (errors.ParseException, MALFORMED),
)
"""The first class that fits counts. An error of no class here is a fault of the server."""


def refusal_of(error: BaseException) -> Refusal:
    """Return the answer to what gunicorn, or the application outside its handlers, raised."""
    return next((refusal for kind, refusal in REFUSALS if isinstance(error, kind)), FAILED)


def status_of(refusal: Refusal) -> int:
    """Return the HTTP status of an answer."""
    return CATALOGUE[refusal.code].status


def response(refusal: Refusal) -> bytes:
    """Return a whole HTTP/1.1 response, which says that the connection closes."""
    kind = CATALOGUE[refusal.code]
    body = json.dumps(
        {
            "type": f"/problems/{refusal.code}",
            "title": kind.title,
            "status": kind.status,
            "code": refusal.code,
            "detail": refusal.detail,
        }
    ).encode()
    head = (
        f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}\r\n"
        f"Date: {util.http_date()}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        f"{SAFE}\r\n"
    )
    return head.encode("ascii") + body
