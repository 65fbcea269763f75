"""Headers: the bounds of request headers; security and CORS headers of every response.

This module imports nothing that gevent patches, so that the worker can load it early. There is no
Strict-Transport-Security: only the proxy that terminates TLS knows whether it applies.

Any web page may call the service and read its responses: only a token gives rights, and browsers
never add one by themselves. So the CORS headers are the same for every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.problems.problem import FieldError, Problem

MAX_HEADER_LENGTH = 1024
"""The most characters of a header that the service reads: parsing a long one may be slow."""

MAX_CURSOR_LENGTH = 4000
"""The most characters of Last-Event-ID, which can be a cursor with many marks."""

READ_HEADERS = {
    "HTTP_ACCEPT": "Accept",
    "HTTP_ACCEPT_ENCODING": "Accept-Encoding",
    "HTTP_ACCEPT_LANGUAGE": "Accept-Language",
    "HTTP_AUTHORIZATION": "Authorization",
    "HTTP_CONTENT_ENCODING": "Content-Encoding",
    "CONTENT_TYPE": "Content-Type",
    "HTTP_IDEMPOTENCY_KEY": "Idempotency-Key",
    "HTTP_IF_MATCH": "If-Match",
    "HTTP_IF_NONE_MATCH": "If-None-Match",
    "HTTP_LAST_EVENT_ID": "Last-Event-ID",
    "HTTP_PREFER": "Prefer",
    "HTTP_X_FORWARDED_FOR": "X-Forwarded-For",
    "HTTP_X_REQUEST_ID": "X-Request-ID",
}
"""The headers that the service reads, by their WSGI variables."""


def max_length(name: str) -> int:
    """Return the most characters of a header that the service reads."""
    return MAX_CURSOR_LENGTH if name == "Last-Event-ID" else MAX_HEADER_LENGTH


POLICY = "Content-Security-Policy"

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For responses that are no page: they load nothing, should a browser render them."""

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For pages of text: the style sheet, and no scripts."""

PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""For pictures with a style sheet of their own, which a browser may show by themselves."""

REFERENCE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For the interactive reference: scripts and requests too. Its style sheet has data: icons."""

PLAY_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For the table in the browser: modules and requests of this server, and nothing inline."""

SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    # Any page may read responses, as with CORS: no cookie or address gives a page rights.
    ("Cross-Origin-Resource-Policy", "cross-origin"),
)

REQUEST_ID = "X-Request-ID"

EXPOSED_HEADERS = (
    "ETag",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Server-Time",
    "WWW-Authenticate",
    "Allow",
    "Preference-Applied",
    REQUEST_ID,
)
"""The response headers that pages may read beside the always allowed ones."""

SENT_HEADERS = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Prefer",
    REQUEST_ID,
)
"""The request headers that pages may send. A star covers neither Authorization nor old browsers."""

SHARED = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", ", ".join(EXPOSED_HEADERS)),
)
"""Let any page read the response."""

PREFLIGHT = (
    ("Access-Control-Allow-Methods", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
    ("Access-Control-Allow-Headers", ", ".join((*SENT_HEADERS, "*"))),
    ("Access-Control-Max-Age", str(24 * 60 * 60)),
)
"""Let any page send these requests; browsers cache this for a day."""

CACHING = "Cache-Control"

UNCACHED = (CACHING, "no-store")
"""For responses without a Cache-Control of their own."""


def check_lengths(environ: Mapping[str, Any]) -> None:
    """Raise `Problem` if a header that the service reads is longer than is allowed."""
    for variable in environ.keys() & READ_HEADERS.keys():
        name, length = READ_HEADERS[variable], len(environ[variable])
        if length > max_length(name):
            detail = (
                f"The header {name} has {length} characters; at most {max_length(name)} are "
                "allowed. Send a shorter one."
            )
            raise Problem("headers_too_large", detail, errors=(FieldError(detail, parameter=name),))
