"""Whoever embeds the application can add Flask's own hooks to it."""

import flask
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from api import create_app
from api.config.settings import Settings


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
