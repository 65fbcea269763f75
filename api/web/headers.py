"""Headers of every response: security headers for browsers, and CORS.

This module imports nothing of the service, so that the worker can load it early. There is no
Strict-Transport-Security: only the proxy that terminates TLS knows whether it applies.

Any web page may call the service and read its responses: only a token gives rights, and browsers
never add one by themselves. So the CORS headers are the same for every page.
"""

from __future__ import annotations

POLICY = "Content-Security-Policy"

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For responses that are no page: they load nothing, should a browser render them."""

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For pages of text: the style sheet, and no scripts."""

REFERENCE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For the interactive reference: scripts and requests too. Its style sheet has data: icons."""

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
