"""What is refused, with which code and pointer, and that it changes nothing."""

import json
import random
from typing import Any

import pytest

from api.problems.catalogue import CATALOGUE
from tests.support.api_client import Client, NewPlayers, play_out, seated
from tests.support.http_client import HttpClient
from tests.support.raw_http import exchange
from tests.support.service import Service

NOWHERE = "0" * 32


@pytest.fixture
def game(ada: Client, bob: Client) -> Any:
    """A game of Ada and Bob, as the one who is to move sees it."""
    started = seated([ada, bob])
    return (ada, bob)[started["to_move"][0]].game(started["id"])


@pytest.fixture
def mover(game: Any, ada: Client, bob: Client) -> Client:
    return (ada, bob)[game["you"]]


@pytest.fixture
def waiter(game: Any, ada: Client, bob: Client) -> Client:
    return (bob, ada)[game["you"]]


def unchanged(client: Client, game: Any) -> None:
    assert client.game(game["id"]) == game


def moves(game: Any) -> str:
    return f"/v1/games/{game['id']}/moves"


# --- Moves that are refused ----------------------------------------------------------------


def refuse_move(client: Client, game: Any, code: str, body: Any) -> Any:
    """A move that is refused, by playMove as by checkMove; the problem."""
    checked = client.request("POST", f"{moves(game)}/check", json=body)
    problem = client.refused(code, "POST", moves(game), body)
    if checked.status_code == 200:
        answer = checked.json()
        assert (answer["legal"], answer["code"]) == (False, code)
        assert answer["rule"] == problem.get("rule")
        assert answer["detail"] == problem["detail"]
        assert "preview" not in answer
    else:
        assert checked.json() == problem
    return problem


def test_a_move_out_of_turn_is_refused(waiter: Client, mover: Client, game: Any) -> None:
    card = waiter.game(game["id"])["table"]["hand"][0]
    body = {"turn": game["turn"], "move": {"type": "play", "card": card}}
    refuse_move(waiter, game, "not_your_turn", body)
    unchanged(mover, game)


def test_a_card_that_is_not_in_the_hand_is_refused(mover: Client, game: Any) -> None:
    card = game["table"]["parade"][0]
    body = {"turn": game["turn"], "move": {"type": "play", "card": card}}
    problem = refuse_move(mover, game, "illegal_move", body)
    assert problem["rule"] == "card_not_in_hand"
    assert problem["errors"][0]["pointer"] == "#/move"
    unchanged(mover, game)


def test_a_card_that_does_not_exist_is_not_in_the_hand(mover: Client, game: Any) -> None:
    body = {"turn": game["turn"], "move": {"type": "play", "card": "gold-99"}}
    assert refuse_move(mover, game, "illegal_move", body)["rule"] == "card_not_in_hand"
    unchanged(mover, game)


def test_a_move_of_another_phase_is_refused(mover: Client, game: Any) -> None:
    cards = game["table"]["hand"][:2]
    body = {"turn": game["turn"], "move": {"type": "discard", "cards": cards}}
    assert refuse_move(mover, game, "illegal_move", body)["rule"] == "wrong_move_type"
    unchanged(mover, game)


@pytest.mark.parametrize("rest", ["", "/check"])
def test_a_type_of_move_that_is_no_text_is_refused_with_a_pointer(
    mover: Client, game: Any, rest: str
) -> None:
    body = {"turn": game["turn"], "move": {"type": "\ud800"}}
    path = f"/v1/games/{game['id']}/moves{rest}"
    problem = mover.refused("invalid_request", "POST", path, body)
    assert [error["pointer"] for error in problem["errors"]] == ["#/move/type"]


def test_a_card_named_twice_or_another_number_of_cards_is_refused(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob])["id"]
    while ada.game(game_id)["table"]["phase"] != "discard":
        play_out([ada, bob], game_id, rng, moves=1)
    game = ada.game(game_id)
    hand = game["table"]["hand"]
    for cards, rule in (
        ([hand[0], hand[0]], "repeated_card"),
        (hand[:1], "wrong_card_count"),
        (hand[:3], "wrong_card_count"),
        ([], "wrong_card_count"),
    ):
        body = {"turn": game["turn"], "move": {"type": "discard", "cards": cards}}
        assert refuse_move(ada, game, "illegal_move", body)["rule"] == rule
    unchanged(ada, game)


@pytest.mark.parametrize(
    ("move", "pointer"),
    [
        (7, "#/move"),
        (None, "#/move"),
        ([], "#/move"),
        ({}, "#/move/type"),
        ({"type": "fly"}, "#/move/type"),
        ({"type": ["play"]}, "#/move/type"),
        ({"type": "play"}, "#/move/card"),
        ({"type": "play", "card": 7}, "#/move/card"),
        ({"type": "play", "card": "red 7"}, "#/move/card"),
        ({"type": "play", "card": "RED-7"}, "#/move/card"),
        ({"type": "play", "card": "red-7\n"}, "#/move/card"),
        ({"type": "play", "card": "red-7", "cards": []}, "#/move/cards"),
        ({"type": "play", "card": "red-7", "a~/b": 1}, "#/move/a~0~1b"),
        ({"type": "discard", "cards": "red-7"}, "#/move/cards"),
        ({"type": "discard", "cards": ["red-7", 8]}, "#/move/cards/1"),
        ({"type": "discard", "cards": ["red-7"] * 21}, "#/move/cards"),
        ({"type": "pick", "cells": ["A1"]}, "#/move/cells/0"),
        ({"type": "choose", "symbol": "purple"}, "#/move/symbol"),
        ({"type": "keep", "colors": ["red", "purple"]}, "#/move/colors/1"),
    ],
)
def test_a_malformed_move_is_refused_with_a_pointer(
    mover: Client, game: Any, move: Any, pointer: str
) -> None:
    problem = refuse_move(mover, game, "invalid_request", {"turn": game["turn"], "move": move})
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    unchanged(mover, game)


@pytest.mark.parametrize("turn", ["1", 1.5, True, None, -1, 0, 2**60, [1]])
def test_a_turn_that_is_no_count_is_refused_with_a_pointer(
    mover: Client, game: Any, turn: Any
) -> None:
    body = {"turn": turn, "move": game["legal_moves"][0]}
    problem = refuse_move(mover, game, "invalid_request", body)
    assert problem["errors"][0]["pointer"] == "#/turn"


def test_a_turn_that_has_gone_or_not_come_is_stale(
    mover: Client, waiter: Client, game: Any
) -> None:
    mover.play(game["id"], game["turn"], game["legal_moves"][0])
    card = game["legal_moves"][1]
    refuse_move(mover, game, "stale_turn", {"turn": game["turn"], "move": card})
    refuse_move(mover, game, "stale_turn", {"turn": game["turn"] + 7, "move": card})
    body = {"turn": game["turn"] + 1, "move": card}
    refuse_move(mover, game, "not_your_turn", body)
    assert mover.game(game["id"])["version"] == game["version"] + 1


def test_a_second_choice_in_a_shared_turn_is_refused(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob])["id"]
    while ada.game(game_id)["table"]["phase"] != "discard":
        play_out([ada, bob], game_id, rng, moves=1)
    game = ada.game(game_id)
    ada.play(game_id, game["turn"], game["legal_moves"][0])
    after = ada.game(game_id)
    assert after["turn"] == game["turn"]
    assert after["version"] == game["version"] + 1
    body = {"turn": game["turn"], "move": game["legal_moves"][1]}
    refuse_move(ada, after, "already_moved", body)
    unchanged(ada, after)
    # Ada's choice does not make Bob's stale.
    assert bob.play(game_id, game["turn"], bob.game(game_id)["legal_moves"][0])["items"]


def test_a_move_in_a_game_that_is_not_played_is_refused(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    started = seated([ada, bob])
    mover = (ada, bob)[started["to_move"][0]]
    first, other, *_ = mover.game(started["id"])["legal_moves"]
    body = {"turn": 1, "move": other}
    waiting = ada.create()
    refuse_move(ada, waiting, "game_not_started", body)
    # Not the move of turn 1: to send that one again is a repeat, which is answered with 200.
    mover.play(started["id"], 1, first)
    finished = play_out([ada, bob], started["id"], rng)
    refuse_move(ada, finished, "game_over", body)
    called_off = ada.create()
    ada.delete(f"/v1/games/{called_off['id']}")
    refuse_move(ada, called_off, "game_over", body)


def test_only_a_seat_may_move_or_list_its_moves(mover: Client, eve: Client, game: Any) -> None:
    body = {"turn": game["turn"], "move": game["legal_moves"][0]}
    refuse_move(eve, game, "not_seated", body)
    eve.refused("not_seated", "GET", f"/v1/games/{game['id']}/legal-moves")
    unchanged(mover, game)


def test_an_unknown_game_is_not_found_on_any_route(ada: Client) -> None:
    move = {"turn": 1, "move": {"type": "play", "card": "red-7"}}
    for game_id in (NOWHERE, "x", "%00", "a" * 3000, "{}"):
        root = f"/v1/games/{game_id}"
        for path in ("", "/legal-moves", "/events", "/record"):
            ada.refused("game_not_found", "GET", root + path)
        ada.refused("game_not_found", "POST", f"{root}/moves", move)
        ada.refused("game_not_found", "POST", f"{root}/moves/check", move)
        ada.refused("game_not_found", "POST", f"{root}/seats", {})
        ada.refused("game_not_found", "POST", f"{root}/start")
        ada.refused("game_not_found", "DELETE", f"{root}/seats/me")
        ada.refused("game_not_found", "DELETE", root)


# --- Who is calling ------------------------------------------------------------------------

NEED_A_TOKEN = [
    ("GET", "/v1/me", None),
    ("POST", "/v1/me/token", None),
    ("GET", "/v1/me/games", None),
    ("GET", "/v1/me/turns", None),
    ("GET", "/v1/me/stream", None),
    ("POST", "/v1/me/stream-tickets", None),
    ("POST", "/v1/games", {"ruleset": "parade", "seat_count": 2}),
    ("DELETE", "/v1/games/{id}", None),
    ("POST", "/v1/games/{id}/seats", {}),
    ("DELETE", "/v1/games/{id}/seats/me", None),
    ("POST", "/v1/games/{id}/start", None),
    ("POST", "/v1/games/{id}/rematch", None),
    ("POST", "/v1/games/{id}/stream-tickets", None),
    ("GET", "/v1/games/{id}/legal-moves", None),
    ("POST", "/v1/games/{id}/moves", {"turn": 1, "move": {"type": "play", "card": "red-7"}}),
    ("POST", "/v1/games/{id}/moves/check", {"turn": 1, "move": {"type": "play", "card": "red-7"}}),
]
TAKE_A_TOKEN = [
    ("GET", "/v1/games", None),
    ("GET", "/v1/games/{id}", None),
    ("GET", "/v1/games/{id}/events", None),
    ("GET", "/v1/games/{id}/record", None),
]


@pytest.mark.parametrize(("method", "path", "body"), NEED_A_TOKEN)
def test_a_request_without_a_token_is_refused(
    stranger: Client, mover: Client, game: Any, method: str, path: str, body: Any
) -> None:
    path = path.format(id=game["id"])
    stranger.refused("missing_token", method, path, body)
    assert stranger.log[-1].headers["WWW-Authenticate"] == 'Bearer realm="ludotheque"'
    unchanged(mover, game)


@pytest.mark.parametrize(("method", "path", "body"), NEED_A_TOKEN + TAKE_A_TOKEN)
def test_a_bad_token_is_refused(
    stranger: Client, mover: Client, game: Any, method: str, path: str, body: Any
) -> None:
    path = path.format(id=game["id"])
    assert mover.token is not None
    for header in (
        f"Bearer {mover.token[:-1]}!",
        f"Bearer {mover.token.partition('.')[0]}.{'A' * 43}",
        f"Bearer {NOWHERE}.{'A' * 43}",
        f"Basic {mover.token}",
        f"Bearer {mover.token} {mover.token}",
        "Bearer",
        "Bearer ",
        mover.token,
        "",
    ):
        headers = {"Authorization": header}
        problem = stranger.refused("invalid_token", method, path, body, headers=headers)
        answer = stranger.log[-1]
        assert (
            answer.headers["WWW-Authenticate"] == 'Bearer realm="ludotheque", error="invalid_token"'
        )
        assert mover.token.partition(".")[2] not in json.dumps(problem)
    unchanged(mover, game)


def test_the_scheme_of_a_token_may_be_written_in_any_case(ada: Client) -> None:
    assert ada.get("/v1/me", headers={"Authorization": f"bearer {ada.token}"})["id"] == ada.id


# --- Bodies --------------------------------------------------------------------------------

WITH_BODY = [
    "/v1/players",
    "/v1/games",
    "/v1/games/{id}/seats",
    "/v1/games/{id}/moves",
    "/v1/games/{id}/moves/check",
    "/v1/analysis",
]


@pytest.mark.parametrize("path", WITH_BODY)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"not json", "invalid_json"),
        (b'{"a": NaN}', "invalid_json"),
        (b'{"a": Infinity}', "invalid_json"),
        (b"\xff\xfe{\x00}\x00", "invalid_json"),
        (b'{"a": "\xff"}', "invalid_json"),
        (b"[" * 2000 + b"]" * 2000, "invalid_json"),
        (b"7", "invalid_request"),
        (b"[]", "invalid_request"),
        (b'"text"', "invalid_request"),
        (b"null", "invalid_request"),
        (b"true", "invalid_request"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(
    ada: Client, path: str, body: bytes, code: str
) -> None:
    game_id = ada.create()["id"] if "{id}" in path else ""
    headers = {"Content-Type": "application/json"}
    problem = ada.refused(code, "POST", path.format(id=game_id), data=body, headers=headers)
    if code == "invalid_request":
        assert [error["pointer"] for error in problem["errors"]] == ["#"]


@pytest.mark.parametrize("path", WITH_BODY)
@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type_is_refused(
    ada: Client, path: str, content_type: str | None
) -> None:
    game_id = ada.create()["id"] if "{id}" in path else ""
    headers = {"Content-Type": content_type} if content_type else {}
    ada.refused(
        "unsupported_media_type", "POST", path.format(id=game_id), data=b"{}", headers=headers
    )


@pytest.mark.parametrize("path", [path for path in WITH_BODY if path != "/v1/analysis"])
def test_an_unknown_member_is_refused_with_a_pointer(ada: Client, path: str) -> None:
    game_id = ada.create()["id"] if "{id}" in path else ""
    body = {"surprise": 1}
    problem = ada.refused("invalid_request", "POST", path.format(id=game_id), body)
    (detail,) = [each["detail"] for each in problem["errors"] if each["pointer"] == "#/surprise"]
    assert detail.startswith("`surprise` is unknown; the members here are: ")


@pytest.mark.parametrize("path", [path for path in WITH_BODY if path != "/v1/players"])
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 4000 + b"1" + b"}" * 4000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
    ids=["deep lists", "deep objects", "a long number"],
)
def test_a_body_that_is_too_deep_or_has_too_long_a_number_is_refused(
    ada: Client, path: str, body: bytes
) -> None:
    game_id = ada.create()["id"] if "{id}" in path else ""
    headers = {"Content-Type": "application/json"}
    ada.refused("invalid_json", "POST", path.format(id=game_id), data=body, headers=headers)


@pytest.mark.parametrize("path", WITH_BODY)
def test_a_body_that_is_too_large_is_refused(ada: Client, path: str) -> None:
    game_id = ada.create()["id"] if "{id}" in path else ""
    limit = {"/v1/analysis": 256 * 1024, "/v1/players": 4 * 1024}.get(path, 64 * 1024)
    headers = {"Content-Type": "application/json"}
    path = path.format(id=game_id)
    padding = b" " * (limit - 2)
    assert ada.request("POST", path, data=b"{}" + padding, headers=headers).status_code != 413
    ada.refused("body_too_large", "POST", path, data=b"{}" + padding + b" ", headers=headers)


def test_a_body_where_none_is_expected_does_no_harm(ada: Client) -> None:
    assert ada.get("/v1/me", data=b"{", headers={"Content-Type": "application/json"})


# --- Names from strangers ------------------------------------------------------------------

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    "name",
    [
        '"\\ud800"',
        '"\\udc00x"',
        '""',
        '"   "',
        '"a\\u0000b"',
        '"a\\nb"',
        '"a\\u202eb"',
        '"a\\u2066b"',
        '"a\\u2028b"',
        '"a\\u200eb"',
        '"\\u200f"',
        json.dumps("a\U000e0067\U000e007f"),  # tags that follow no flag
        json.dumps("\U0001f3f4\U000e0067"),  # a flag without an end
        json.dumps("x" * 41),
        "7",
        "null",
        '["x"]',
        "{}",
    ],
)
def test_a_name_that_is_none_is_refused_with_a_pointer(stranger: Client, name: str) -> None:
    body = f'{{"name": {name}, "kind": "bot"}}'.encode()
    headers = {"Content-Type": "application/json"}
    problem = stranger.refused("invalid_request", "POST", "/v1/players", data=body, headers=headers)
    assert [error["pointer"] for error in problem["errors"]] == ["#/name"]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("x" * 40, "x" * 40),
        ("e\u0301" * 40, "é" * 40),
        ("  Zoë  ", "Zoë"),
        ("王さん 🎲", "王さん 🎲"),
        ('<b>"&', '<b>"&'),
        (f"Zoë {ENGLAND}", f"Zoë {ENGLAND}"),
        (ENGLAND, ENGLAND),
        ("דנה\u200f", "דנה"),
        ("\u200e Zoë\u200e \u061c", "Zoë"),
    ],
)
def test_a_name_is_kept_as_people_read_it(stranger: Client, name: str, kept: str) -> None:
    player = stranger.post("/v1/players", {"name": name, "kind": "human"}, 201)
    assert player["name"] == kept


# --- Whatever else -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/index.html", "not_found"),
        ("GET", "/v1", "not_found"),
        ("GET", "/v1/games/", "not_found"),
        ("GET", "/v2/games", "not_found"),
        ("POST", "/v1/nothing", "not_found"),
        ("PUT", "/v1/games", "method_not_allowed"),
        ("DELETE", "/v1/players", "method_not_allowed"),
        ("PATCH", "/v1/me", "method_not_allowed"),
        ("GET", "/v1/rulesets/chess", "ruleset_not_found"),
        ("GET", "/problems/none", "problem_not_found"),
        ("GET", "/v1/games?limit=0", "invalid_request"),
        ("GET", "/v1/games?limit=101", "invalid_request"),
        ("GET", "/v1/games?limit=x", "invalid_request"),
        ("GET", "/v1/games?limit=１", "invalid_request"),
        ("GET", "/v1/games?status=gone", "invalid_request"),
        ("GET", "/v1/games?cursor=x", "invalid_request"),
        ("GET", f"/v1/games?cursor=1-{NOWHERE}x", "invalid_request"),
        ("GET", "/v1/me/turns?since=x", "invalid_request"),
        ("GET", "/v1/me/turns?since=1.AAA", "invalid_request"),
        ("GET", "/v1/me/games?status=", "invalid_request"),
    ],
)
def test_every_wrong_request_is_answered_in_the_one_problem_shape(
    ada: Client, method: str, path: str, code: str
) -> None:
    problem = ada.refused(code, method, path)
    if code == "method_not_allowed":
        assert ada.log[-1].headers["Allow"]
    if code == "invalid_request":
        assert problem["errors"][0]["parameter"] in ("limit", "status", "cursor", "since")


def test_history_is_asked_for_by_a_cursor_and_a_whole_number(ada: Client) -> None:
    events = f"/v1/games/{ada.create()['id']}/events"
    # The numbers that release 0.1 took are no cursors, nor is the id of an end.
    wrong = ("", "0", "1", "-1", "x", f"{2**70}-", "2-1-", "1-x", "1-0123456789abcdef-end")
    for query in (*(f"since={each}" for each in wrong), "limit=0", "limit=501", "limit=1.5"):
        problem = ada.refused("invalid_request", "GET", f"{events}?{query}")
        assert problem["errors"][0]["parameter"] == query.partition("=")[0]


@pytest.mark.parametrize(
    "path", ["/v1/games/%ff", "/v1/games/%00", "/v1/games?cursor=%ff", "/v1/games?status=%00"]
)
def test_bytes_that_are_no_text_are_refused(ada: Client, path: str) -> None:
    assert ada.request("GET", path).status_code in (404, 422)


def test_a_request_that_is_no_http_is_answered_in_the_one_problem_shape(stranger: Client) -> None:
    client = HttpClient(stranger.url)
    answer = client.request("GET", "/livez", headers={"X-Long": "x" * 100_000})
    assert answer.status_code == 431
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.code == "headers_too_large"


def test_every_problem_code_is_explained(stranger: Client) -> None:
    for code, kind in CATALOGUE.items():
        explained = stranger.get(f"/problems/{code}")
        assert explained["status"] == kind.status
        assert (explained["title"], explained["meaning"]) == (kind.title, kind.meaning)
        assert explained["advice"] == kind.advice


def test_players_of_a_private_game_alone_know_that_it_exists(
    new_players: NewPlayers, stranger: Client
) -> None:
    ada, bob, eve = new_players(3)
    game = ada.create(visibility="private")
    path = f"/v1/games/{game['id']}"
    assert game["invite"]
    for reader in (eve, stranger):
        for method, below in (("GET", ""), ("GET", "/events"), ("GET", "/record")):
            reader.refused("game_not_found", method, path + below)
        listed = reader.get("/v1/games?limit=100")["items"]
        assert game["id"] not in [each["id"] for each in listed]
    for body in ({}, {"invite": "wrong"}, {"invite": game["invite"] + "x"}, {"invite": ""}):
        eve.refused("game_not_found", "POST", f"{path}/seats", body)
    eve.refused("game_not_found", "DELETE", path)
    eve.refused("game_not_found", "DELETE", f"{path}/seats/me")
    eve.refused("game_not_found", "POST", f"{path}/start")

    joined = bob.join(game["id"], invite=game["invite"])
    assert joined["status"] == "playing"
    assert joined["invite"] is None  # only the host may pass it on
    assert bob.game(game["id"])["you"] == 1
    eve.refused("game_not_found", "GET", path)
    assert game["id"] in [each["id"] for each in bob.get("/v1/me/games")["items"]]


def test_a_body_that_does_not_come_is_refused_in_time(service: Service) -> None:
    cut = (
        b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b'Content-Length: 30\r\n\r\n{"n'
    )
    answer = exchange(service.port, cut, half_close=False)
    assert (answer.status, answer.code) == (408, "body_too_slow")


def test_a_deal_that_is_no_text_is_refused(stranger: Client) -> None:
    body = {"ruleset": "parade", "seat_count": 2, "deal": {"\ud800": 1}, "moves": []}
    stranger.refused("invalid_deal", "POST", "/v1/analysis", body)


def test_a_path_with_empty_steps_is_not_found(stranger: Client) -> None:
    stranger.refused("not_found", "GET", "//v1//games")


@pytest.mark.parametrize("name", ["\u200b", "\u3164", "\ufeff", "a\u200b", "\u2060", "\u0301"])
def test_a_name_that_cannot_be_seen_is_refused(stranger: Client, name: str) -> None:
    body = {"name": name, "kind": "bot"}
    problem = stranger.refused("invalid_request", "POST", "/v1/players", body)
    assert problem["errors"][0]["pointer"] == "#/name"
