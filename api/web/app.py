"""Putting the application together: services, routes, and what happens to errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import flask
from flask import Flask, Response
from flask.sessions import SessionInterface
from redis import RedisError
from werkzeug.routing import MapAdapter

from api.config.settings import Settings
from api.observability import metrics
from api.observability.addresses import Proxies
from api.observability.logger import OnceAMinute, log
from api.observability.redaction import reason
from api.problems.problem import Problem
from api.storage.client import NotReplicated, is_full
from api.storage.failures import count_failure
from api.storage.games import log_unreadable
from api.storage.validation import NewerFormat, UnsupportedFormat
from api.web.middleware import RequestMiddleware, note_route
from api.web.openapi.blueprint import Api, as_yaml, make_api, make_document
from api.web.rate_limits import RateLimits
from api.web.request import Request, current_request
from api.web.views import BLUEPRINTS, pages
from api.web.views.service import Document
from api.web.wiring import make_services

FULL = (
    "The memory or the disk of the store is full: reads are answered, changes are refused until "
    "the operator has made room. Repeat the request after Retry-After seconds."
)

_full_store = OnceAMinute()


class NoSessions(SessionInterface):
    """Who calls is told by a token, so no request is to be searched for a cookie."""

    def open_session(self, app: Flask, request: flask.Request) -> None:
        """There is none."""

    def is_null_session(self, obj: object) -> bool:
        """So there is nothing to keep either."""
        return True


class Application(Flask):
    """Flask without what we never use, and what would be asked again for every request."""

    session_interface = NoSessions()
    request_class = Request
    rate_limits: RateLimits

    def create_url_adapter(self, request: flask.Request | None) -> MapAdapter | None:
        """Where routes are looked up: they depend on the path alone, not on host or scheme."""
        if request is None:
            return None
        environ = request.environ
        return MapAdapter(
            self.url_map,
            server_name="",
            script_name=environ.get("SCRIPT_NAME") or "/",
            subdomain="",
            url_scheme="http",
            path_info=request.path,
            default_method=request.method,
            query_args=request.query_string.decode("latin-1"),
        )

    def preprocess_request(self) -> None:
        """Before every view the same, and of no blueprint more."""
        request = current_request()
        note_route(request)
        self.rate_limits.enter(request)

    def process_response(self, response: Response) -> Response:
        """After every view the same."""
        return self.rate_limits.leave(response)

    def log_exception(self, exc_info: Any) -> None:
        """Log what failed after the view, as `internal_error` does: Flask would log the path."""
        log.error("a request failed", exc_info=exc_info)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """All of our views are functions; none is a coroutine."""
        return func


def create_app(settings: Settings | None = None) -> Flask:
    """The application; without settings, with those that the environment holds.

    Raises:
        SettingsError: the environment holds a value that cannot be used.
    """
    app = Application("api", static_folder=None)
    app.url_map.merge_slashes = False
    settings = settings or Settings.from_environment()
    app.config["METRICS"] = settings.metrics == "on"
    app.config["METRICS_TOKEN"] = settings.metrics_token
    services = make_services(settings)
    app.extensions["ludotheque"] = services
    app.wsgi_app = RequestMiddleware(app.wsgi_app)  # type: ignore[method-assign]
    app.register_error_handler(Problem, lambda problem: problem.response())
    app.register_error_handler(RedisError, store_unavailable)
    app.register_error_handler(NewerFormat, newer_format)
    app.register_error_handler(UnsupportedFormat, unsupported_format)
    app.register_error_handler(Exception, internal_error)
    proxies = Proxies(settings.trusted_proxies or ())
    app.rate_limits = RateLimits(services.limiter, proxies, services.players)
    app.register_blueprint(pages.blueprint)
    document = make_document(publish(app))
    app.extensions["document"] = {
        "json": Document.of(json.dumps(document, ensure_ascii=False)),
        "yaml": Document.of(as_yaml(document)),
    }
    metrics.worker_started()
    return app


def publish(app: Flask) -> Api:
    """Register all routes, and what the document says of them."""
    api = make_api(app, version("ludotheque"))
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    return api


def openapi_document() -> str:
    """The published document as YAML text."""
    return as_yaml(make_document(publish(Flask("api", static_folder=None))))


def store_unavailable(error: RedisError) -> Response:
    """The store failed: say so, and that it is worth trying again."""
    if isinstance(error, NotReplicated):
        log.warning("a change was not replicated in time")
        return Problem("not_replicated").response()
    count_failure(error)
    if is_full(error):
        if _full_store.is_due():
            log.warning(
                "the store refuses changes because its memory or its disk is full; reads are "
                "answered (logged once a minute)"
            )
        return Problem("store_full", FULL).response()
    log.error("the store failed: %s", reason(error))
    return Problem("store_unavailable").response()


def newer_format(error: NewerFormat) -> Response:
    """A newer release wrote this game: another worker, or this one once renewed, can read it."""
    log_unreadable(str(error), error)
    return Problem("newer_format").response()


def unsupported_format(error: UnsupportedFormat) -> Response:
    """Answer that this release cannot play a game that an earlier release stored."""
    log_unreadable(str(error), error)
    return Problem("unsupported_format").response()


def internal_error(error: Exception) -> Response:
    """A fault of ours. The log says which and where; the answer tells nothing of it."""
    log.error("a request failed", exc_info=error)
    return Problem("internal_error").response()
