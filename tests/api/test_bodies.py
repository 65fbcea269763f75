"""Request bodies in every form that JSON and HTTP allow: chunks, marks, numbers, nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from api.server.chunked_body import MAX_BYTES, MAX_CHUNKS
from tests.support.api_client import Client, seated
from tests.support.raw_http import connect, exchange, is_complete, parse
from tests.support.service import Service

JSON = {"Content-Type": "application/json"}
PLAYER = b'{"name": "Ada", "kind": "human"}'
HEAD = (
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(content: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(content), extension, content)


def tokens(body: Any) -> Iterator[bytes]:
    """A body as Python's JSON encoder writes it, in very small pieces."""
    return (part.encode() for part in json.JSONEncoder().iterencode(body))


def answers_on_one_connection(service: Service, *messages: bytes) -> list[Any]:
    """Send each message when the one before is answered; return the answers."""
    answers = []
    with connect(service.port) as connection:
        for message in messages:
            connection.sendall(message)
            received = b""
            while not is_complete(received) and (part := connection.recv(65536)):
                received += part
            answers.append(parse(received))
    return answers


# --- Chunks --------------------------------------------------------------------------------


def test_a_whole_game_is_played_with_bodies_in_chunks(ada: Client, bob: Client) -> None:
    def post(player: Client, path: str, body: Any, status: int = 200) -> Any:
        return player.post(path, status=status, data=tokens(body), headers=JSON)

    game = post(ada, "/v1/games", {"ruleset": "parade", "seat_count": 2}, 201)
    game = post(bob, f"/v1/games/{game['id']}/seats", {})
    path = f"/v1/games/{game['id']}/moves"
    while game["status"] == "playing":
        mover = (ada, bob)[game["to_move"][0]]
        own = mover.game(game["id"])
        body = {"turn": own["turn"], "move": own["legal_moves"][0]}
        assert post(mover, f"{path}/check", body)["legal"]
        game = post(mover, path, body)["game"]
    record = ada.get(f"/v1/games/{game['id']}/record")
    assert post(ada, "/v1/analysis", record)["result"] == game["result"]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_body_in_chunks_of_any_size_is_read(stranger: Client, size: int) -> None:
    parts = (PLAYER[at : at + size] for at in range(0, len(PLAYER), size))
    assert stranger.post("/v1/players", status=201, data=parts, headers=JSON)["name"] == "Ada"


def test_extensions_and_trailers_of_chunks_are_ignored(service: Service) -> None:
    message = HEAD + chunk(PLAYER, b";name=value") + b"0\r\nChecksum: x\r\n\r\n"
    assert exchange(service.port, message).status == 201


def test_a_connection_is_usable_after_a_body_in_chunks(service: Service) -> None:
    first, second, last = answers_on_one_connection(
        service, HEAD + chunk(PLAYER) + END, HEAD + chunk(b"{}") + END, LIVEZ
    )
    assert (first.status, second.status, last.status) == (201, 422, 200)


def test_a_connection_is_usable_after_a_body_in_chunks_that_no_operation_reads(
    service: Service,
) -> None:
    unread = HEAD.replace(b"/v1/players", b"/v1/nothing") + chunk(b"{}") + END
    first, second = answers_on_one_connection(service, unread, LIVEZ)
    assert (first.status, second.status) == (404, 200)


def test_requests_after_a_body_in_chunks_are_not_taken_for_its_content(service: Service) -> None:
    with connect(service.port, (HEAD + chunk(PLAYER) + END) * 2 + LIVEZ) as connection:
        received = b""
        while part := connection.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 201 ") == 2
    assert received.count(b"HTTP/1.1 200 ") == 1


@pytest.mark.parametrize(
    ("chunks", "status", "code"),
    [
        (chunk(b" " * 5000), 413, "body_too_large"),
        (chunk(b" " * 1000) * 5, 413, "body_too_large"),
        (chunk(b" ", b";a=" + b"b" * 4000) * (MAX_BYTES // 4000 + 2), 413, "body_too_large"),
        (chunk(PLAYER) + b"0\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", 400, "invalid_json"),
        (chunk(PLAYER) + b"x\r\n", 400, "invalid_json"),
        (chunk(PLAYER) + b"-1\r\n", 400, "invalid_json"),
        (b"2\r\n{}}\r\n" + END, 400, "invalid_json"),
        (chunk(PLAYER), 400, "invalid_json"),
        (b"ffffffffffffffff\r\n" + PLAYER, 400, "invalid_json"),
        (END, 400, "invalid_json"),
    ],
)
def test_a_body_in_chunks_that_is_too_large_or_malformed_is_refused(
    service: Service, chunks: bytes, status: int, code: str
) -> None:
    answer = exchange(service.port, HEAD + chunks)
    assert (answer.status, answer.code) == (status, code)


def test_a_body_in_too_many_chunks_is_refused(service: Service) -> None:
    head = HEAD.replace(b"/v1/players", b"/v1/analysis")
    answer = exchange(service.port, head + chunk(b" ") * (MAX_CHUNKS + 1) + END)
    assert (answer.status, answer.code) == (413, "body_too_large")
    detail = json.loads(answer.body)["detail"]
    assert detail.startswith(f"The body has more than {MAX_CHUNKS} chunks.")
    assert answer.headers["connection"] == "close"
    answer = exchange(service.port, head + chunk(b" ") * (MAX_CHUNKS - 2) + chunk(b"{}") + END)
    assert answer.status == 422


def test_a_body_whose_last_chunk_does_not_come_is_refused_in_time(service: Service) -> None:
    answer = exchange(service.port, HEAD + chunk(PLAYER), half_close=False)
    assert (answer.status, answer.code) == (408, "body_too_slow")
    assert answer.headers["connection"] == "close"


# --- Marks, numbers, nothing ---------------------------------------------------------------


def test_a_byte_order_mark_before_a_body_is_skipped(stranger: Client) -> None:
    body = b"\xef\xbb\xbf" + PLAYER
    assert stranger.post("/v1/players", status=201, data=body, headers=JSON)["name"] == "Ada"


@pytest.mark.parametrize("path", ["/v1/players", "/v1/games", "/v1/analysis"])
@pytest.mark.parametrize("body", [b"", b" \r\n", b"\xef\xbb\xbf"])
def test_an_empty_body_is_called_empty(ada: Client, path: str, body: bytes) -> None:
    problem = ada.refused("invalid_json", "POST", path, data=body, headers=JSON)
    assert problem["detail"].startswith("The body is empty.")


@pytest.mark.parametrize(
    ("number", "detail"),
    [
        (b"9" * 5000, "A number in the body has more than 4300 digits."),
        (b"NaN", "The body is not JSON: it has NaN."),
        (b"-Infinity", "The body is not JSON: it has -Infinity."),
    ],
    ids=["long", "NaN", "infinity"],
)
def test_a_number_that_cannot_be_read_is_named(ada: Client, number: bytes, detail: str) -> None:
    body = b'{"ruleset": "parade", "seat_count": %b}' % number
    problem = ada.refused("invalid_json", "POST", "/v1/games", data=body, headers=JSON)
    assert problem["detail"].startswith(detail)


def whole_floats(value: Any) -> Any:
    """The same JSON value with every integer as a float."""
    if isinstance(value, dict):
        return {name: whole_floats(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole_floats(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def test_numbers_without_a_fraction_are_integers_wherever_a_body_has_them(
    ada: Client, bob: Client
) -> None:
    game = ada.post(
        "/v1/games",
        whole_floats(
            {
                "ruleset": "contrast",
                "seat_count": 2,
                "options": {"countdown_seconds": 30},
                "turn_seconds": 600,
            }
        ),
        201,
    )
    bob.join(game["id"], seat=1.0)
    for player in (ada, bob):
        own = player.game(game["id"])
        body = {"turn": float(own["turn"]), "move": own["legal_moves"][0]}
        player.post(f"/v1/games/{game['id']}/moves", body)
    for player in (ada, bob):
        player.delete(f"/v1/games/{game['id']}/seats/me")
    record = ada.get(f"/v1/games/{game['id']}/record")
    assert ada.post("/v1/analysis", whole_floats(record)) == ada.post("/v1/analysis", record)


@pytest.mark.parametrize("number", [b"2.0", b"2e0", b"0.2e1", b"20E-1", b"2.000"])
def test_an_integer_may_be_written_with_a_point_or_an_exponent(ada: Client, number: bytes) -> None:
    body = b'{"ruleset": "parade", "seat_count": %b}' % number
    assert ada.post("/v1/games", status=201, data=body, headers=JSON)["seat_count"] == 2


@pytest.mark.parametrize("number", [b"2.5", b'"2"', b"true", b"1e400", b"-2e-9", b"[2]"])
def test_what_is_no_whole_number_is_refused_where_an_integer_is_expected(
    ada: Client, number: bytes
) -> None:
    body = b'{"ruleset": "parade", "seat_count": %b}' % number
    problem = ada.refused("invalid_request", "POST", "/v1/games", data=body, headers=JSON)
    assert [error["pointer"] for error in problem["errors"]] == ["#/seat_count"]


def test_a_move_with_a_whole_float_is_the_same_move(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    mover = (ada, bob)[game["to_move"][0]]
    own = mover.game(game["id"])
    move = own["legal_moves"][0]
    played = mover.play(game["id"], own["turn"], move)
    again = mover.play(game["id"], float(own["turn"]), move)
    assert again["items"] == played["items"]
