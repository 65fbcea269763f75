"""Whoever embeds the application can add Flask's own hooks to it."""

import flask
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from gevent.event import Event

from api import create_app
from api.concurrency.waits import Steps, Wait
from api.config.settings import Settings
from api.web.waiting_responses import poll_response


@pytest.fixture
def app() -> Flask:
    return create_app(Settings(redis_url="redis://127.0.0.1:1"))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def test_a_before_request_hook_runs_and_may_answer(app: Flask, client: FlaskClient) -> None:
    paths = []

    @app.before_request
    def refuse() -> Response | None:
        paths.append(flask.request.path)
        return Response("closed", 418) if flask.request.path == "/" else None

    assert client.get("/livez").status_code == 200
    refused = client.get("/")
    assert (refused.status_code, refused.text) == (418, "closed")
    assert paths == ["/livez", "/"]


def test_an_after_request_hook_sees_and_changes_the_response(
    app: Flask, client: FlaskClient
) -> None:
    @app.after_request
    def mark(response: Response) -> Response:
        response.headers["X-Marked"] = str(response.status_code)
        return response

    assert client.get("/livez").headers["X-Marked"] == "200"
    assert client.get("/nowhere").headers["X-Marked"] == "404"


def test_a_response_of_a_hook_has_the_common_headers(app: Flask, client: FlaskClient) -> None:
    app.before_request(lambda: Response("closed", 418))
    headers = client.get("/livez", headers={"X-Request-ID": "abc"}).headers
    assert headers["X-Request-ID"] == "abc"
    assert headers["Cache-Control"] == "no-store"


@pytest.fixture
def waiting(app: Flask) -> Flask:
    """The application with a poll that waits, at `/poll`."""

    def poll() -> Steps[str]:
        yield Wait(Event(), 0)
        return "news"

    app.add_url_rule("/poll", view_func=lambda: poll_response(poll(), Response))
    return app


def test_the_hooks_of_a_poll_that_waits_run_once_and_share_what_they_keep(
    waiting: Flask, client: FlaskClient
) -> None:
    seen = []

    @waiting.before_request
    def begin() -> None:
        flask.g.seen = [flask.request.path]

    @waiting.after_request
    def end(response: Response) -> Response:
        seen.append([*flask.g.seen, response.get_data()])
        return response

    assert client.get("/poll").text == "news"
    assert seen == [["/poll", b"news"]]


@pytest.mark.parametrize("path", ["/poll", "/livez"])
def test_a_hook_that_fails_after_a_view_is_a_problem_also_of_a_poll_that_waits(
    waiting: Flask, client: FlaskClient, path: str
) -> None:
    @waiting.after_request
    def fail(response: Response) -> Response:
        raise RuntimeError("a hook")

    answer = client.get(path)
    assert (answer.status_code, answer.json["code"]) == (500, "internal_error")
