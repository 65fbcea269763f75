"""The headers of every answer, whichever layer gives it: for the safety of browsers, and CORS.

Values and nothing else. It imports nothing, so that the worker can load it early. There is no
Strict-Transport-Security: whoever terminates TLS before the service knows whether it lasts.

Any page may ask and read: a token is all that gives rights here, and browsers add none by
themselves. So what CORS asks for is the same for every page, and known beforehand.
"""

from __future__ import annotations

POLICY = "Content-Security-Policy"

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""What is no page may load nothing, should a browser take it for one."""

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A page of text: our style sheet, and no script at all."""

REFERENCE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The interactive reference: scripts and requests too. Its style sheet has icons as data."""

SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    # Any page may read our answers, as CORS says: no cookie or address gives it rights here.
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
"""Which headers of an answer a page may read beyond those that it always may."""

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
"""Which headers a page may send; old browsers, and Authorization everywhere, know no star."""

SHARED = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", ", ".join(EXPOSED_HEADERS)),
)
"""That any page may read an answer."""

PREFLIGHT = (
    ("Access-Control-Allow-Methods", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
    ("Access-Control-Allow-Headers", ", ".join((*SENT_HEADERS, "*"))),
    ("Access-Control-Max-Age", str(24 * 60 * 60)),
)
"""What a page may send, for a day."""

CACHING = "Cache-Control"

UNCACHED = (CACHING, "no-store")
"""Of what does not say how long it may be kept."""
