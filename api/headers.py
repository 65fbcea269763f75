"""The security headers of every answer, whichever layer gives it.

Values and nothing else. It imports nothing, so that the worker can load it early. There is no
Strict-Transport-Security: whoever terminates TLS before the service knows whether it lasts.
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
