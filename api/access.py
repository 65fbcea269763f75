"""Around the application: each request gets an id, is measured, and leaves one line in the log.

It ends when the last byte is sent or the client has gone, so a stream's line comes at its end.
The line names the route and no query; those of probes are there for debugging only.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from flask import request
from werkzeug.wsgi import ClosingIterator

from api import logs, metrics, tracing

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(logs.SERVICE)

HEADER = "X-Request-ID"
PROBES = {"/livez", "/readyz", "/metrics"}

_GAME_ID = re.compile(r"[0-9a-f]{32}")


class Access:
    """A WSGI application around another one."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does, and note how that went."""
        begin = time.perf_counter()
        trace = tracing.begin(environ.get("HTTP_X_REQUEST_ID"), environ["REQUEST_METHOD"])
        answered = 500

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal answered
            answered = int(status[:3])
            headers.append((HEADER, trace.id))
            return start_response(status, headers, *exc_info)

        try:
            body = self.application(environ, start)
        except BaseException:
            # The server logs why, under the same id.
            _note(trace, answered, begin)
            raise

        def end() -> None:
            _note(trace, answered, begin)
            tracing.end()

        return ClosingIterator(body, end)


def _note(trace: tracing.Trace, status: int, begin: float) -> None:
    seconds = time.perf_counter() - begin
    metrics.request_answered(trace, status, seconds)
    level = logging.DEBUG if trace.route in PROBES and status < 400 else logging.INFO
    if log.isEnabledFor(level):
        facts = {"status": status, "seconds": round(seconds, 4)}
        log.log(level, "answered", extra={"facts": facts})


def note_route() -> None:
    """Called by Flask as soon as it knows which route a request is for."""
    trace = tracing.current()
    if trace is None or request.url_rule is None:
        return
    trace.route = _as_documented(request.url_rule.rule)
    game_id = (request.view_args or {}).get("game_id")
    if game_id is not None and _GAME_ID.fullmatch(game_id):
        trace.game = game_id


@cache
def _as_documented(rule: str) -> str:
    return re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule)
