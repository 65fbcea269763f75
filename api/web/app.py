"""The application: its services, hooks, error handlers, routes and documents, put together."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import flask
from flask import Flask
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter

from api.config.settings import Settings
from api.observability import metrics
from api.observability.addresses import Proxies
from api.observability.logger import log
from api.web.compression import Content, compress
from api.web.middleware import RequestMiddleware
from api.web.openapi.document import (
    LOCAL_SERVER,
    THIS_SERVER,
    Api,
    as_yaml,
    make_api,
    make_document,
)
from api.web.problem_responses import register_error_handlers
from api.web.queries import refuse_unknown_parameters
from api.web.request import Request
from api.web.views import BLUEPRINTS, pages
from api.web.waiting_responses import PendingResponse
from api.web.wiring import make_services


class NoSessions(SessionInterface):
    """Gives all requests the same session, which nothing can be kept in: there are no cookies."""

    _session = NullSession()

    def open_session(self, app: Flask, request: flask.Request) -> SessionMixin:
        """Return the session that refuses to be changed."""
        return self._session


class Application(Flask):
    """Flask with our requests, and with a log that names no paths.

    It skips the features of Flask that cost time in each request and that the service never uses:
    routes that depend on the host, coroutines, and sessions.
    """

    request_class = Request
    session_interface = NoSessions()

    def create_url_adapter(self, request: flask.Request | None) -> MapAdapter | None:
        """Return the adapter that matches a path to its route; Flask's also parses the Host."""
        if request is None:
            return None
        return self.url_map.bind(
            "", request.script_root, path_info=request.path, default_method=request.method
        )

    def process_response(self, response: flask.Response) -> flask.Response:
        """Run the hooks after a view, for a poll that waits when its answer is made."""
        if isinstance(response, PendingResponse):
            return response
        return super().process_response(response)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function: no view or hook is a coroutine."""
        return func

    def log_exception(self, exc_info: Any) -> None:
        """Log an error of a hook, as `as_problem` does: Flask would log the path."""
        log.error("a request failed", exc_info=exc_info)


def create_app(settings: Settings | None = None) -> Flask:
    """Make the application; without settings, with those of the environment.

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
    register_error_handlers(app)
    app.before_request(services.rate_limits.count_request)
    app.before_request(refuse_unknown_parameters)
    # The last hook is called first.
    app.after_request(compress)
    app.after_request(services.rate_limits.add_headers)
    app.register_blueprint(pages.blueprint)
    document = make_document(publish(app), THIS_SERVER)
    app.extensions["document"] = {
        "json": Content.of(json.dumps(document, ensure_ascii=False).encode()),
        "yaml": Content.of(as_yaml(document).encode()),
    }
    proxies = Proxies(settings.trusted_proxies or ())
    app.wsgi_app = RequestMiddleware(  # type: ignore[method-assign]
        app.wsgi_app, proxies, _words_of_routes(app)
    )
    metrics.worker_started()
    return app


def _words_of_routes(app: Flask) -> frozenset[str]:
    """Return the segments of all routes that are not parameters."""
    segments = {each for rule in app.url_map.iter_rules() for each in rule.rule.split("/")}
    return frozenset(each for each in segments if "<" not in each)


def publish(app: Flask) -> Api:
    """Register all routes and their documentation."""
    api = make_api(app, version("ludotheque"))
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    return api


def openapi_document() -> str:
    """Return the published document as YAML text."""
    return as_yaml(make_document(publish(Flask("api", static_folder=None)), LOCAL_SERVER))
