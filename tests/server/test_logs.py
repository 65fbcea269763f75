"""The log: a line for each request, ids that tie lines together, and no secret in any of them."""

import json
import logging
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.config.settings import SettingsError
from api.observability.redaction import describe, reason
from api.server.log_format import JsonFormatter, TextFormatter
from tests.support.api_client import seat_two
from tests.support.http_client import HttpClient, authorized
from tests.support.service import Service, Start, serving
from tests.support.terminal import terminal_showing
from tests.support.waiting import wait_until

SECRET = "sw0rdf1sh"


def lines(service: Service) -> list[dict[str, Any]]:
    """The whole log so far, as JSON."""
    return [json.loads(line) for line in service.lines]


def answered(service: Service, request_id: str) -> dict[str, Any]:
    """The line that tells of this request's answer."""

    def find() -> list[dict[str, Any]]:
        return [
            line
            for line in lines(service)
            if line.get("request_id") == request_id and line["message"] == "answered"
        ]

    (line,) = wait_until(find, f"request {request_id} is in the log")
    return dict(line)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all tests that only look at what it logs."""
    with serving(
        tmp_path_factory.mktemp("service"), LOG_FORMAT="json", WEB_CONCURRENCY="1"
    ) as running:
        yield running


def test_every_line_is_one_json_object_from_the_first_to_the_last(start: Start) -> None:
    service = start(own=True, LOG_FORMAT="json")
    service.request("GET", "/v1/rulesets")
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    for line in lines(service):
        assert {"time", "level", "logger", "pid", "message"} <= set(line)
    messages = [line["message"] for line in lines(service)]
    assert any("serves on" in message for message in messages)
    assert any("Shutting down" in message for message in messages)


def test_a_request_is_one_line_with_its_route_status_time_and_player(service: Service) -> None:
    players, game_id = seat_two(service.url)
    headers = authorized(players[0].token)
    answer = service.request("GET", f"/v1/games/{game_id}", headers=headers)
    line = answered(service, answer.headers["X-Request-ID"])
    assert line["level"] == "info"
    assert line["method"] == "GET"
    assert line["route"] == "/v1/games/{game_id}"
    assert line["game"] == game_id
    assert line["player"] == players[0].id
    assert line["status"] == 200
    assert 0 < line["seconds"] < 30


def test_the_line_of_a_batch_tells_how_many_moves_and_problems_it_had(service: Service) -> None:
    players, game_id = seat_two(service.url)
    move = {"game_id": game_id, "turn": 9, "move": {"type": "play", "card": "red-1"}}
    headers = authorized(players[0].token)
    body = {"moves": [move, move, {**move, "game_id": "0" * 32}]}
    answer = service.request("POST", "/v1/me/moves", headers=headers, json=body)
    line = answered(service, answer.headers["X-Request-ID"])
    assert (line["moves"], line["problems"]) == (3, 3)


@pytest.mark.parametrize(
    "given",
    [
        *("a", "Root=1-67891233-abcdef012345678912345678", "x" * 128),
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
)
def test_a_harmless_id_of_the_caller_is_kept(service: Service, given: str) -> None:
    answer = service.request("GET", "/v1/rulesets", headers={"X-Request-ID": given})
    assert answer.headers["X-Request-ID"] == given
    assert answered(service, given)["status"] == 200


@pytest.mark.parametrize(
    "given",
    [
        *("", "x" * 129, "a b", 'a"b', "a\tb", "é", "{}", "a;b"),
        # A player's token, and a ticket.
        *(f"{'0' * 32}.{'A' * 43}", "A" * 43, f"id={'_' * 43}:1"),
    ],
)
def test_any_other_id_is_replaced_by_one_of_ours(service: Service, given: str) -> None:
    headers = {"X-Request-ID": given.encode("latin-1")}
    answer = service.request("GET", "/v1/rulesets", headers=headers)
    own = answer.headers["X-Request-ID"]
    assert len(own) == 32
    assert own != service.request("GET", "/v1/rulesets", headers=headers).headers["X-Request-ID"]
    assert answered(service, own)["status"] == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/nowhere/{SECRET}", 404),
        ("GET", f"/v1/games/{SECRET}", 404),
        ("PUT", "/v1/games", 405),
        ("OPTIONS", "/v1/games", 200),
        ("POST", "/v1/players", 415),
    ],
)
def test_a_refusal_has_an_id_and_a_line_too(
    service: Service, method: str, path: str, status: int
) -> None:
    answer = service.request(method, path, data=b"{}" if method == "POST" else None)
    assert answer.status_code == status
    assert answered(service, answer.headers["X-Request-ID"])["status"] == status
    assert SECRET not in service.output


def test_a_stream_is_logged_when_it_ends_and_its_ticket_never(service: Service) -> None:
    players, game_id = seat_two(service.url)
    headers = authorized(players[0].token)
    made = service.request("POST", f"/v1/games/{game_id}/stream-tickets", json={}, headers=headers)
    ticket = made.json()["ticket"]
    path = f"/v1/games/{game_id}/stream?ticket={ticket}"
    named = {"X-Request-ID": "stream"}
    with HttpClient(service.url).open("GET", path, headers=named) as stream:
        assert next(stream.lines()) == "retry: 1000"
        assert "stream" not in [line.get("request_id") for line in lines(service)]
    # The server notices that nobody reads as soon as it has something to write.
    for player in players:
        service.request(
            "DELETE",
            f"/v1/games/{game_id}/seats/me",
            headers=authorized(player.token),
        )
    line = answered(service, "stream")
    assert (line["route"], line["status"]) == ("/v1/games/{game_id}/stream", 200)
    assert ticket not in service.output


def test_a_stream_that_is_unavailable_is_logged_with_its_problem(start: Start) -> None:
    service = start(own=True, LOG_FORMAT="json", WAITERS=0)
    _, game_id = seat_two(service.url)
    answer = service.request("GET", f"/v1/games/{game_id}/stream")
    line = answered(service, answer.headers["X-Request-ID"])
    assert (line["status"], line["problem"]) == (200, "too_many_waiting")


def test_neither_tokens_nor_queries_nor_bodies_get_into_the_log(start: Start) -> None:
    service = start(own=True, LOG_FORMAT="json", LOG_LEVEL="debug")
    players, game_id = seat_two(service.url)
    headers = authorized(players[0].token)
    service.request("GET", f"/v1/games?cursor={SECRET}", headers=headers)
    service.request("GET", "/v1/me", headers=authorized(SECRET))
    service.request("POST", "/v1/games", data=f'{{"{SECRET}', headers=headers)
    service.request("POST", f"/v1/games/{game_id}/moves", json={"turn": SECRET}, headers=headers)
    renewed = service.request("POST", "/v1/me/token", json={}, headers=headers).json()["token"]
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    for secret in (SECRET, renewed, *(player.token for player in players), "Ada"):
        assert secret not in service.output
    assert sum(line["message"] == "answered" for line in lines(service)) >= 9


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("field", ["game", "state"])
def test_a_game_that_cannot_be_read_is_told_of_without_what_is_in_it(
    start: Start, form: str, field: str
) -> None:
    service = start(own=True, LOG_FORMAT=form)
    players, game_id = seat_two(service.url)
    with service.store.client() as store:
        key = f"game:{{{game_id}}}"
        stored = store.hget(key, field)
        assert isinstance(stored, bytes)
        # A value where another type belongs: decoders quote such values in their messages.
        store.hset(key, field, json.dumps(dict.fromkeys(json.loads(stored), SECRET)))
    headers = authorized(players[0].token, **{"X-Request-ID": "poisoned"})
    answer = service.request("GET", f"/v1/games/{game_id}", headers=headers)
    assert answer.status_code == 500
    assert SECRET not in answer.text
    told = wait_until(lambda: "a request failed" in service.output and service.output, "it is told")
    service.signal(signal.SIGTERM)
    service.exit_code()
    assert "msgspec.ValidationError" in told
    assert "api/storage/games.py:" in told or "api/storage/codec.py:" in told
    assert SECRET not in service.output
    if form == "json":
        (failure,) = (line for line in lines(service) if line["message"] == "a request failed")
        assert failure["request_id"] == "poisoned"
        assert failure["route"] == "/v1/games/{game_id}"
        types = [each["type"] for each in failure["error"]]
        assert types == ["api.storage.errors.Unreadable", "msgspec.ValidationError"]


def test_what_the_application_lets_through_is_logged_without_its_message(start: Start) -> None:
    service = start(LOG_FORMAT="json")
    assert service.request("GET", f"/fail?secret={SECRET}").status_code == 500
    service.signal(signal.SIGTERM)
    service.exit_code()
    (failure,) = (line for line in lines(service) if line["level"] == "error")
    assert failure["error"][0]["type"] == "builtins.RuntimeError"
    assert failure["error"][0]["at"][-1].endswith(" fail")
    assert SECRET not in service.output


def test_what_ends_a_background_task_is_logged_without_its_message(start: Start) -> None:
    service = start(LOG_FORMAT="json")
    service.get("/background", secret=SECRET)
    service.signal(signal.SIGTERM)
    service.exit_code()
    (failure,) = (line for line in lines(service) if line["level"] == "error")
    assert failure["message"] == "a background task failed"
    assert failure["error"][0]["type"] == "builtins.RuntimeError"
    assert SECRET not in service.output


def test_a_store_that_is_away_is_told_of_without_its_password(start: Start) -> None:
    service = start(own=True, LOG_FORMAT="json", REDIS_URL=f"redis://u:{SECRET}@127.0.0.1:1/0")
    assert service.request("GET", "/readyz").status_code == 503
    service.signal(signal.SIGTERM)
    service.exit_code()
    failed = (line for line in lines(service) if line["message"].startswith("the store failed"))
    failure = next(failed)
    assert failure["message"] == (
        "the store failed: ConnectionError, from ConnectionRefusedError: Connection refused"
    )
    assert failure["route"] == "/readyz"
    assert SECRET not in service.output


def test_probes_that_succeed_are_logged_for_debugging_only(service: Service) -> None:
    probes = [service.request("GET", path) for path in ("/livez", "/readyz", "/metrics")]
    assert [probe.status_code for probe in probes] == [200, 200, 200]
    answered(service, service.request("GET", "/v1/rulesets").headers["X-Request-ID"])
    assert not any("/livez" in line or "/readyz" in line for line in service.lines)


@pytest.fixture(scope="module")
def read_by_people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One that logs text into a file, for all tests that only look at that."""
    with serving(
        tmp_path_factory.mktemp("service"), METRICS_TOKEN=METRICS_TOKEN, WEB_CONCURRENCY="1"
    ) as running:
        yield running


METRICS_TOKEN = "0123456789abcdef"
"""As short as it may be."""


def line_with(service: Service, part: str) -> str:
    """The last line with this in it."""
    return service.await_lines(part)[-1]


def test_as_text_a_request_is_one_short_line(read_by_people: Service) -> None:
    service = read_by_people
    players, game_id = seat_two(service.url)
    headers = authorized(players[0].token, **{"X-Request-ID": "mine"})
    assert service.request("GET", f"/v1/games/{game_id}", headers=headers).status_code == 200
    line = line_with(service, "GET /v1/games/{game_id} 200 ")
    assert re.fullmatch(
        rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d GET /v1/games/{{game_id}} 200 [\d.]+ ms "
        rf"game {game_id[:8]}",
        line,
    )
    assert "mine" not in service.output
    assert game_id not in service.output


def test_as_text_a_problem_is_told_by_its_code(read_by_people: Service) -> None:
    service = read_by_people
    players, game_id = seat_two(service.url)
    headers = authorized(players[0].token)
    path = f"/v1/games/{game_id}/moves"
    move = {"turn": 99, "move": {"type": "play", "card": "red-1"}}
    refused = service.request("POST", path, headers=headers, json=move)
    assert (refused.status_code, refused.code) == (409, "stale_turn")
    assert re.search(
        rf" POST /v1/games/{{game_id}}/moves 409 stale_turn [\d.]+ ms game {game_id[:8]}$",
        line_with(service, "moves 409"),
    )


def test_as_text_a_failure_has_the_id_of_the_line_that_tells_its_cause(start: Start) -> None:
    service = start(own=True, REDIS_URL="redis://127.0.0.1:1/0")
    answer = service.request("GET", "/readyz")
    id_ = answer.headers["X-Request-ID"]
    line = line_with(service, "GET /readyz 503 store_unavailable")
    assert line.endswith(f" ms request_id={id_}")
    assert f"request_id={id_}" in line_with(service, "[ERROR] the store failed")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/game", "/v1/game"),
        ("/favicon.ico", "/favicon.ico"),
        ("/v1/rulesets/parad", "/v1/rulesets/parad"),
        (f"/v1/games/{'0' * 32}", "/v1/games/…"),
        (f"/v1/me/{'0' * 32}.{'A' * 43}", "/v1/me/…"),
        (f"/{METRICS_TOKEN}", "/…"),
        # A secret with slashes in it, in parts.
        ("/abcdefgh/ijklmnop/q", "/abcdefgh/…/q"),
        # What could break the line, or change the terminal, its title or the order of its letters.
        ("/a%0a2026-11-29%20GET%20/livez%20200", "/…/…"),
        ("/%1b[2J%1b]0;title%07", "/…"),
        ("/%e2%80%ae/%c2%9b31m/%7f", "/…/…/…"),
        ("/a/b/c/d/e/f/g/h/i/j/k", "/a/b/c/d/e/f/g/h/…"),
        ("/a" + "/" * 3000, "/a" + "/" * 7 + "/…"),
    ],
)
def test_as_text_a_path_that_is_not_found_is_shown_without_what_may_be_secret(
    read_by_people: Service, path: str, shown: str
) -> None:
    before = len(read_by_people.lines)
    assert read_by_people.request("GET", path).status_code == 404
    line = wait_until(lambda: "".join(read_by_people.lines[before:]), "it is logged")
    assert line.count("\n") == 1
    assert re.search(rf" GET {re.escape(shown)} 404 \w+ [\d.]+ ms\b", line), line
    assert line.rstrip("\n").isprintable()


def test_a_terminal_shows_colours_unless_it_is_told_not_to(tmp_path: Path) -> None:
    shown = {}
    for name, settings in {
        "colours": {"TERM": "xterm"},
        "told not to": {"TERM": "xterm", "NO_COLOR": "1"},
        "cannot": {"TERM": "dumb"},
    }.items():
        with terminal_showing(tmp_path / name, **settings) as terminal:
            shown[name] = terminal.until("GET /v1/rulesets")
    time = r"\d\d:\d\d:\d\d"
    assert re.search(
        rf"\x1b\[2m{time}\x1b\[0m GET /v1/rulesets \x1b\[32m200\x1b\[0m [\d.]+ ms",
        shown["colours"],
    )
    for name in ("told not to", "cannot"):
        assert re.search(rf"^{time} GET /v1/rulesets 200 [\d.]+ ms", shown[name], re.MULTILINE)
        assert "\x1b" not in shown[name]


def test_no_request_lends_its_id_to_what_goes_on_in_the_background(start: Start) -> None:
    """The tasks that wake who waits are started by the first request that does."""
    service = start(own=True, LOG_FORMAT="json", WEB_CONCURRENCY=1)
    players, game_id = seat_two(service.url)
    path = f"/v1/games/{game_id}/events?since=99999-&wait=1"
    service.request("GET", path, headers=authorized(players[0].token))
    path = "/v1/me/turns?wait=3"
    waiting = service.request("GET", path, headers=authorized(players[0].token)).json()
    if waiting["items"]:
        path += f"&since={waiting['cursor']}"
        service.request("GET", path, headers=authorized(players[0].token))
    service.kill_valkey()

    def background() -> list[dict[str, Any]]:
        told = ("notifications are interrupted", "games with waiters failed")
        return [line for line in lines(service) if any(part in line["message"] for part in told)]

    for line in wait_until(background, "the background tells of the store's end"):
        assert "request_id" not in line


# --- The form of a line, as such ---------------------------------------------------------------


def record(error: BaseException | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("ludotheque", logging.ERROR, __file__, 1, "failed\nso", (), exc_info)


def failure() -> Exception:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(SECRET) from error
    except ValueError as error:
        return error


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_an_exception_is_its_type_its_places_and_its_causes(formatter: logging.Formatter) -> None:
    line = formatter.format(record(failure()))
    assert "builtins.ValueError" in line
    assert "builtins.KeyError" in line
    assert "tests/server/test_logs.py:" in line
    assert "failure" in line
    assert SECRET not in line


def test_a_json_line_is_one_line_whatever_is_in_it() -> None:
    line = JsonFormatter().format(record(failure()))
    assert "\n" not in line
    assert json.loads(line)["message"] == "failed\nso"


def test_what_a_message_may_tell_is_told() -> None:
    assert describe(SettingsError("PORT must be a number"))[0]["message"] == "PORT must be a number"
    assert reason(OSError(28, "No space left on device", SECRET)) == (
        "OSError: No space left on device"
    )
    assert reason(RuntimeError(SECRET)) == "RuntimeError"
