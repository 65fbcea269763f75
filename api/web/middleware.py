"""Around the application: each request gets an id, is measured, and leaves one line in the log.

It ends when the last byte is sent or the client has gone, so a stream's line comes at its end.
The line names the route and no query; those of probes are there for debugging only. Each answer
gets the headers that all have, whoever made it.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from api.model.game import timestamp
from api.observability import context, metrics
from api.observability.logger import log
from api.web.headers import (
    CACHING,
    DATA_POLICY,
    POLICY,
    PREFLIGHT,
    REQUEST_ID,
    SAFE_HEADERS,
    SHARED,
    UNCACHED,
)
from api.web.request import Request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PROBES = {"/livez", "/readyz", "/metrics"}

_ALWAYS = (*SAFE_HEADERS, *SHARED)
_GAME_ID = re.compile(r"[0-9a-f]{32}")


class RequestMiddleware:
    """A WSGI application around another one."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does, and note how that went."""
        begin = time.perf_counter()
        trace = context.begin(environ.get("HTTP_X_REQUEST_ID"), environ["REQUEST_METHOD"])
        answer = _Answer(trace, begin)

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            answer.status = int(status[:3])
            return start_response(status, [*headers, *_more(trace, headers)], *exc_info)

        try:
            answer.body = self.application(environ, start)
        except BaseException:
            # The server logs why, under the same id.
            answer.note()
            raise
        finally:
            # What is still to be sent, for hours perhaps, needs no more of it.
            trace.request = None
        return answer


class _Answer:
    """An answer on its way, to its end."""

    __slots__ = ("begin", "body", "status", "trace")

    def __init__(self, trace: context.Trace, begin: float) -> None:
        self.trace = trace
        self.begin = begin
        self.status = 500
        self.body: Iterable[bytes] = ()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.body)

    def close(self) -> None:
        """Called by the server, however it ended."""
        try:
            if hasattr(self.body, "close"):
                self.body.close()
        finally:
            self.note()
            context.end()

    def note(self) -> None:
        """Measure it, and leave the line."""
        trace, seconds = self.trace, time.perf_counter() - self.begin
        metrics.request_answered(
            trace.known_method, trace.route, self.status, seconds, has_waited=trace.waited
        )
        level = logging.DEBUG if trace.route in PROBES and self.status < 400 else logging.INFO
        if log.isEnabledFor(level):
            facts = {"status": self.status, "seconds": round(seconds, 4)}
            log.log(level, "answered", extra={"facts": facts})


def _more(trace: context.Trace, headers: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What is to be said beside these headers."""
    said = {name for name, _ in headers}
    if CACHING not in said:
        yield UNCACHED
    if POLICY not in said:
        yield POLICY, DATA_POLICY
    yield from _ALWAYS
    if trace.method == "OPTIONS":
        yield from PREFLIGHT
    if trace.store_time is not None:
        yield "Server-Time", timestamp(trace.store_time)
    yield REQUEST_ID, trace.id


def note_route(request: Request) -> None:
    """Called as soon as it is known what is asked, and which route that is for."""
    trace = context.current()
    if trace is None:
        return
    trace.request = request
    if request.url_rule is None:
        return
    trace.route = _as_documented(request.url_rule.rule)
    game_id = (request.view_args or {}).get("game_id")
    if game_id is not None and _GAME_ID.fullmatch(game_id):
        trace.game = game_id


@cache
def _as_documented(rule: str) -> str:
    return re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule)
