"""What browsers and caches see: conditional reads, CORS, health."""

import json
import random
import re
import socket
import struct
import time

import pytest

from api.web.headers import DATA_POLICY
from tests.support.api_client import Client, play_out, seated
from tests.support.document import METHODS, document
from tests.support.raw_http import connect, exchange
from tests.support.service import Service
from tests.support.waiting import wait_until

CONDITIONAL = ["/v1/games/{id}", "/v1/games/{id}/legal-moves"]


@pytest.mark.parametrize("path", CONDITIONAL)
def test_a_reader_is_told_only_of_changes(ada: Client, bob: Client, path: str) -> None:
    game = seated([ada, bob])
    path = path.format(id=game["id"])
    first = ada.request("GET", path)
    tag = first.headers["ETag"]
    for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = ada.request("GET", path, headers={"If-None-Match": known})
        assert again.status_code == 304
        assert again.content == b""
        for name in ("ETag", "Cache-Control", "Vary"):
            assert again.headers[name] == first.headers[name]
    mover = (ada, bob)[game["to_move"][0]]
    mover.play_first(game["id"])
    changed = ada.request("GET", path, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag


def test_what_one_reader_has_is_no_answer_for_another(
    ada: Client, bob: Client, stranger: Client
) -> None:
    game = seated([ada, bob])
    path = f"/v1/games/{game['id']}"
    tags = {reader.request("GET", path).headers["ETag"] for reader in (ada, bob, stranger)}
    assert len(tags) == 3
    for reader in (ada, bob, stranger):
        answers = [
            reader.request("GET", path, headers={"If-None-Match": tag}).status_code for tag in tags
        ]
        assert sorted(answers) == [200, 200, 304]
    headers = ada.request("GET", path).headers
    assert headers["Cache-Control"] == "private, no-cache"
    assert "Authorization" in headers["Vary"]


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi.yaml"])
def test_the_document_is_read_whatever_if_match_says(stranger: Client, path: str) -> None:
    answer = stranger.request("GET", path)
    for tag in ("*", '"other"', answer.headers["ETag"]):
        assert stranger.request("GET", path, headers={"If-Match": tag}).content == answer.content
    again = stranger.request("GET", path, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    assert again.headers["ETag"] == answer.headers["ETag"]


def test_the_records_of_ended_games_are_conditional_too(ada: Client, bob: Client) -> None:
    game = play_out([ada, bob], seated([ada, bob])["id"], random.Random(1))
    path = f"/v1/games/{game['id']}/record"
    tag = ada.request("GET", path).headers["ETag"]
    assert ada.request("GET", path, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/rulesets", 200),
        ("GET", "/v1/games", 200),
        ("GET", "/livez", 200),
        ("GET", "/openapi.yaml", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/v1/me", 401),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/games", 405),
        ("POST", "/v1/players", 400),
        ("GET", "/v1/games?limit=0", 422),
    ],
)
def test_a_page_of_any_origin_can_read_every_answer(
    stranger: Client, method: str, path: str, status: int
) -> None:
    answer = stranger.request(method, path, headers={"Origin": "https://cards.example"})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    exposed = {name.strip() for name in answer.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"ETag", "Retry-After", "Location", "Server-Time"} <= exposed
    # As data, it loads nothing in a browser, which takes it for nothing else.
    assert answer.headers["Content-Security-Policy"] == DATA_POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/games"),
        ("DELETE", "/v1/games/x/seats/me"),
        ("POST", "/v1/games/x/moves"),
        ("GET", "/v1/me/turns"),
    ],
)
def test_a_browser_may_send_what_the_routes_take(stranger: Client, method: str, path: str) -> None:
    headers = {
        "Origin": "https://cards.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, content-type, if-none-match, "
        "idempotency-key",
    }
    with stranger.unchecked():
        answer = stranger.request("OPTIONS", path, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Max-Age"] == "86400"
    assert method in answer.headers["Access-Control-Allow-Methods"]
    allowed = answer.headers["Access-Control-Allow-Headers"].lower()
    assert allowed == "*" or {"authorization", "content-type", "idempotency-key"} <= {
        name.strip() for name in allowed.split(",")
    }


def test_the_service_says_that_it_is_alive_and_ready(stranger: Client) -> None:
    assert stranger.get("/livez") == {"status": "alive", "detail": None}
    assert stranger.get("/readyz") == {"status": "ready", "detail": None}


def test_a_store_that_may_drop_games_is_not_ready(service: Service, stranger: Client) -> None:
    with service.store.client() as redis:
        redis.config_set("maxmemory-policy", "allkeys-lru")
        try:
            problem = stranger.refused("store_evicts", "GET", "/readyz")
        finally:
            redis.config_set("maxmemory-policy", "noeviction")
    assert "allkeys-lru" in problem["detail"]
    assert stranger.get("/livez")


def test_the_time_of_the_store_is_in_a_header(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    first = ada.request("GET", f"/v1/games/{game['id']}").headers["Server-Time"]
    second = ada.request("GET", f"/v1/games/{game['id']}").headers["Server-Time"]
    assert first <= second
    assert first >= game["started_at"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method, re.sub(r"{[^/]+}", "0" * 32, path))
        for path, methods in document()["paths"].items()
        for method in methods
        if method in METHODS
    ],
)
def test_every_route_answers_browsers_whatever_the_answer(
    stranger: Client, method: str, path: str
) -> None:
    """The answer itself, here mostly a refusal, and the question whether it may be asked."""
    origin = {"Origin": "https://cards.example"}
    answer = stranger.request(method.upper(), path, headers=origin)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    with stranger.unchecked():
        asked = {**origin, "Access-Control-Request-Method": method.upper()}
        preflight = stranger.request("OPTIONS", path, headers=asked)
    assert preflight.status_code == 200
    assert method.upper() in preflight.headers["Access-Control-Allow-Methods"]


def test_browsers_can_read_what_has_not_changed_and_what_may_not_be_now(
    ada: Client, bob: Client
) -> None:
    origin = {"Origin": "https://cards.example"}
    path = f"/v1/games/{seated([ada, bob])['id']}"
    tag = ada.request("GET", path).headers["ETag"]
    unchanged = ada.request("GET", path, headers={**origin, "If-None-Match": tag})
    refused = ada.request("DELETE", path, headers=origin)
    too_large = ada.request("POST", f"{path}/seats", data=b" " * 70_000, headers=origin)
    assert [r.status_code for r in (unchanged, refused, too_large)] == [304, 409, 413]
    for response in (unchanged, refused, too_large):
        assert response.headers["Access-Control-Allow-Origin"] == "*"


CUT = (
    b"POST /v1/players HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 40\r\n\r\n{"name": "Ada"}'
)


def test_a_body_that_is_cut_short_is_refused(service: Service) -> None:
    answer = exchange(service.port, CUT)
    assert answer.status == 400
    problem = json.loads(answer.body)
    assert problem["code"] == "invalid_json"
    assert "Content-Length" in problem["detail"]


def test_a_client_that_goes_in_the_middle_of_a_body_is_no_failure_of_ours(
    service: Service,
) -> None:
    failures = service.output.count("a request failed")
    answered = service.output.count(" ms")
    with connect(service.port, CUT) as line:
        time.sleep(0.2)
        # Closed with a reset.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: service.output.count(" ms") > answered, "it is noted")
    assert service.output.count("a request failed") == failures


@pytest.mark.parametrize("host", [b"", b"x", b"a_b:http", b"[::1", b"\xe9", b"x" * 300])
def test_an_answer_does_not_depend_on_the_host_header(service: Service, host: bytes) -> None:
    answer = exchange(service.port, b"GET /v1/rulesets/none HTTP/1.1\r\nHost: %b\r\n\r\n" % host)
    assert (answer.status, answer.code) == (404, "ruleset_not_found")
