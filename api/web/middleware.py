"""WSGI middleware around the application: request context, metrics, log line, common headers.

A request ends when the last byte of its response is sent or the client has disconnected, so the
line of an event stream comes at the stream's end. The line names the route and no query, as queries
hold tickets; a log for people also shows a path that was not found, without what may be a secret.
Lines of probes are for debugging only. Every response gets the common headers, whichever layer made
it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from api.concurrency.waits import Parts, Wait
from api.model.game import timestamp
from api.observability import addresses, context, metrics
from api.observability.addresses import Proxies
from api.observability.context import UNMATCHED, RequestContext
from api.observability.logger import ANSWERED, log
from api.observability.redaction import shown_path
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

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PROBES = {"/livez", "/readyz", "/metrics"}

_ALWAYS = (*SAFE_HEADERS, *SHARED)


class RequestMiddleware:
    """Begins and ends the context of each request to a WSGI application.

    `words` are the segments of its routes, which the log may show of any path.
    """

    def __init__(
        self, application: WSGIApplication, proxies: Proxies, words: Collection[str]
    ) -> None:
        self._application = application
        self._proxies = proxies
        self._words = words
        self._has_warned = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does, measure the request and log it."""
        begin = time.perf_counter()
        request_context = context.begin(environ.get("HTTP_X_REQUEST_ID"), environ["REQUEST_METHOD"])
        # After the beginning, as a warning names the request.
        request_context.set_address(self._address(environ))
        response = _Response(request_context, begin, environ.get("PATH_INFO", ""), self._words)

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            response.status = int(status[:3])
            common = _common_headers(request_context, response.status, headers)
            return start_response(status, [*headers, *common], *exc_info)

        try:
            response.body = self._application(environ, start)
        except BaseException:
            # The server logs the cause under the same request id.
            response.note()
            raise
        return response

    def _address(self, environ: WSGIEnvironment) -> str:
        """Return the caller's address. Warn once of a proxy that is not trusted."""
        peer = environ.get("REMOTE_ADDR", "")
        forwarded_for = environ.get("HTTP_X_FORWARDED_FOR")
        if forwarded_for and not self._has_warned and not self._proxies.trust(peer):
            self._has_warned = True
            log.warning(
                "%s sent X-Forwarded-For but is not among TRUSTED_PROXIES: if it is a proxy, all "
                "its clients count as one address (logged once)",
                addresses.group(peer),
            )
        return self._proxies.caller(peer, forwarded_for)


class _Response:
    """A response that is being sent; closed when it is sent or the client has disconnected."""

    __slots__ = ("begin", "body", "context", "path", "status", "words")

    def __init__(
        self, request_context: RequestContext, begin: float, path: str, words: Collection[str]
    ) -> None:
        self.context = request_context
        self.begin = begin
        self.path = path
        self.words = words
        self.status = 500
        self.body: Iterable[bytes] = ()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.body)

    @property
    def steps(self) -> Iterator[bytes | Wait] | None:
        """The parts and the waits of a response that may wait, None of any other."""
        return self.body.steps if isinstance(self.body, Parts) else None

    def close(self) -> None:
        """End the request. The server calls this however the response ended."""
        try:
            if hasattr(self.body, "close"):
                self.body.close()
        finally:
            self.note()
            context.end()

    def note(self) -> None:
        """Count the request in the metrics and log it."""
        seconds = time.perf_counter() - self.begin
        metrics.request_answered(
            self.context.known_method,
            self.context.route,
            self.status,
            seconds,
            has_waited=self.context.has_waited,
        )
        is_probe = self.context.route in PROBES and self.status < 400
        level = logging.DEBUG if is_probe else logging.INFO
        if log.isEnabledFor(level):
            if self.status == HTTPStatus.NOT_FOUND or self.context.route == UNMATCHED:
                self.context.path = shown_path(self.path, self.words)
            facts = {"status": self.status, "seconds": round(seconds, 4), **self.context.facts}
            log.log(level, ANSWERED, extra={"facts": facts})


def _common_headers(
    request_context: RequestContext, status: int, headers: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the headers that a response with these headers still lacks."""
    present = {name for name, _ in headers}
    common = [*_ALWAYS, (REQUEST_ID, request_context.id)]
    if CACHING not in present:
        common.append(UNCACHED)
    if POLICY not in present:
        common.append((POLICY, DATA_POLICY))
    if request_context.method == "OPTIONS":
        common += PREFLIGHT
    is_declared = request_context.tells_time and status < HTTPStatus.BAD_REQUEST
    if is_declared and request_context.store_time is not None:
        common.append(("Server-Time", timestamp(request_context.store_time)))
    return common
