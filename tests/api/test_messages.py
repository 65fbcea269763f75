"""Messages that tell mistakes apart which look alike, and suggest what was meant."""

import json
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, seated
from tests.support.document import document

POSSIBLE = {
    "parade": "play",
    "tea-time": "pick",
    "contrast": "choose",
    "mit-list-und-tuecke": "play",
}
SEATS = {"mit-list-und-tuecke": 4}


def mover_of(players: list[Client], ruleset: str) -> tuple[Client, Any]:
    """The player to move in a new game, and the game."""
    game = seated(players[: SEATS.get(ruleset, 2)], ruleset=ruleset)
    mover = players[game["to_move"][0]]
    return mover, mover.game(game["id"])


@pytest.mark.parametrize("ruleset", POSSIBLE)
@pytest.mark.parametrize("below", ["", "/check"])
def test_an_unknown_type_of_move_names_those_that_are_possible_now(
    new_players: NewPlayers, ruleset: str, below: str
) -> None:
    mover, game = mover_of(new_players(4), ruleset)
    body = {"turn": game["turn"], "move": {"type": "pass"}}
    path = f"/v1/games/{game['id']}/moves{below}"
    (error,) = mover.refused("invalid_request", "POST", path, body)["errors"]
    assert error["pointer"] == "#/move/type"
    assert error["detail"].startswith('A move of type "pass" is not possible now in ')
    assert f"only: {POSSIBLE[ruleset]}." in error["detail"]


@pytest.mark.parametrize("below", ["", "/check"])
def test_an_unknown_type_of_move_is_told_whatever_the_state_of_the_game_is(
    new_players: NewPlayers, below: str
) -> None:
    ada, bob = new_players(2)
    game = ada.create(2)
    path = f"/v1/games/{game['id']}/moves{below}"

    def is_told(turn: int) -> None:
        body = {"turn": turn, "move": {"type": "pass"}}
        (error,) = ada.refused("invalid_request", "POST", path, body)["errors"]
        assert error["pointer"] == "#/move/type"
        assert "only: play" in error["detail"]

    is_told(1)
    bob.join(game["id"])
    for turn in (1, 2):
        is_told(turn)
    bob.delete(f"/v1/games/{game['id']}/seats/me")
    is_told(1)


def test_an_unknown_type_of_move_is_told_before_a_condition_that_fails(
    new_players: NewPlayers,
) -> None:
    mover, game = mover_of(new_players(2), "parade")
    path, of_another_state = f"/v1/games/{game['id']}/moves", {"If-Match": 'W/"another"'}
    body = {"turn": game["turn"], "move": {"type": "pass"}}
    mover.refused("invalid_request", "POST", path, body, headers=of_another_state)
    body["move"] = game["legal_moves"][0]
    mover.refused("precondition_failed", "POST", path, body, headers=of_another_state)


@pytest.mark.parametrize(
    ("ruleset", "move"),
    [
        ("parade", {"type": "pick", "cells": ["a1"]}),
        ("parade", {"type": "discard", "cards": ["red-1", "red-2"]}),
        ("tea-time", {"type": "play", "card": "red-1"}),
        ("contrast", {"type": "keep", "colors": ["red", "blue"]}),
        ("mit-list-und-tuecke", {"type": "take", "cards": ["red-1", "red-2"]}),
    ],
)
def test_a_move_of_the_wrong_type_names_those_that_are_possible_now(
    new_players: NewPlayers, ruleset: str, move: Any
) -> None:
    mover, game = mover_of(new_players(4), ruleset)
    body = {"turn": game["turn"], "move": move}
    problem = mover.refused("illegal_move", "POST", f"/v1/games/{game['id']}/moves", body)
    assert problem["rule"] == "wrong_move_type"
    assert f'"{move["type"]}" is not possible now' in problem["detail"]
    assert f"only: {POSSIBLE[ruleset]}." in problem["detail"]


def test_an_unknown_type_of_move_names_those_that_were_possible_in_an_analysis(
    ada: Client,
) -> None:
    game = ada.create(2, house=["random"])
    ada.delete(f"/v1/games/{game['id']}/seats/me")
    record = ada.get(f"/v1/games/{game['id']}/record")
    first = ada.post("/v1/analysis", {**record, "moves": []})["to_move"][0]
    body = {**record, "moves": [{"type": "move", "seat": first, "move": {"type": "pass"}}]}
    (error,) = ada.refused("invalid_request", "POST", "/v1/analysis", body)["errors"]
    assert error["pointer"] == "#/moves/0/move/type"
    assert "only: play." in error["detail"]


def test_a_card_that_does_not_exist_is_told_apart_from_one_that_is_not_in_the_hand(
    ada: Client, bob: Client
) -> None:
    mover, game = mover_of([ada, bob], "parade")
    hand = [move["card"] for move in game["legal_moves"]]
    elsewhere = next(f"red-{value}" for value in range(11) if f"red-{value}" not in hand)
    path = f"/v1/games/{game['id']}/moves"
    for card, text in (
        ("red-99", "There is no card red-99. Choose a card of your hand."),
        ("pink-7", "There is no card pink-7. Choose a card of your hand."),
        (elsewhere, f"{elsewhere} is not in your hand. Choose a card of your hand."),
    ):
        body = {"turn": game["turn"], "move": {"type": "play", "card": card}}
        problem = mover.refused("illegal_move", "POST", path, body)
        assert (problem["rule"], problem["detail"]) == ("card_not_in_hand", text)


def test_a_token_without_bearer_is_told_so(ada: Client) -> None:
    assert ada.token is not None
    for header in (ada.token, f" {ada.token} "):
        problem = ada.refused("invalid_token", "GET", "/v1/me", headers={"Authorization": header})
        assert "a token without its scheme" in problem["detail"]
        assert "Bearer" in problem["detail"]
        assert ada.token not in str(problem)
    for header in (f"Basic {ada.token}", f"Token {ada.token}", f"Bearer:{ada.token}", "x"):
        problem = ada.refused("invalid_token", "GET", "/v1/me", headers={"Authorization": header})
        assert "another scheme than Bearer" in problem["detail"]
    for header in ("Bearer", "Bearer "):
        problem = ada.refused("invalid_token", "GET", "/v1/me", headers={"Authorization": header})
        assert "no token after the word Bearer" in problem["detail"]
    problem = ada.refused("invalid_token", "GET", "/v1/me", headers={"Authorization": "Bearer x"})
    assert "scheme" not in problem["detail"]


def test_a_method_that_is_not_allowed_names_those_that_are(ada: Client) -> None:
    problem = ada.refused("method_not_allowed", "PUT", "/v1/me")
    assert problem["detail"].startswith("PUT is not allowed here, only: ")
    assert "GET" in problem["detail"]


def test_an_option_of_another_game_names_the_options_of_this_one(ada: Client) -> None:
    for ruleset, seats, option, allowed in (
        ("parade", 2, {"grid": "rows"}, "It has no options."),
        ("contrast", 3, {"grid": "rows"}, "Its options are: expert, countdown_seconds, pictures."),
        ("tea-time", 2, {"expert": True}, "Its options are: grid."),
    ):
        body = {"ruleset": ruleset, "seat_count": seats, "options": option}
        problem = ada.refused("invalid_request", "POST", "/v1/games", body)
        (name,) = option
        assert f" has no option `{name}`. {allowed}" in problem["detail"]
        assert problem["errors"][0]["pointer"] == f"#/options/{name}"


@pytest.mark.parametrize(
    ("change", "pointer", "text"),
    [
        (
            {"piel": []},
            "#/deal/piel",
            "`piel` is unknown; the members here are: ruleset, first_seat, hands, parade, pile.",
        ),
        ({"hands": 5}, "#/deal/hands", "`hands` is an integer; it must be an array."),
        (
            {"hands": [[None]]},
            "#/deal/hands/0/0",
            "Item 0 of item 0 of `hands` is null; it must be a string.",
        ),
        (
            {"first_seat": "0"},
            "#/deal/first_seat",
            "`first_seat` is a string; it must be an integer.",
        ),
    ],
)
def test_a_deal_of_another_form_is_told_in_the_words_of_json(
    stranger: Client, change: Any, pointer: str, text: str
) -> None:
    deal = {"first_seat": 0, "hands": [], "parade": [], "pile": [], **change}
    body = {"ruleset": "parade", "seat_count": 2, "deal": deal, "moves": []}
    problem = stranger.refused("invalid_deal", "POST", "/v1/analysis", body)
    assert problem["errors"] == [{"detail": text, "pointer": pointer}]


def test_a_deal_that_lacks_a_member_and_one_with_a_strange_card_are_told_so(
    stranger: Client,
) -> None:
    body = {"ruleset": "parade", "seat_count": 2, "deal": {"first_seat": 0}, "moves": []}
    problem = stranger.refused("invalid_deal", "POST", "/v1/analysis", body)
    assert problem["detail"] == "`hands` is missing, but required."
    strange = {"first_seat": 0, "hands": [["Red 1"] * 5] * 2, "parade": ["x"] * 6, "pile": []}
    problem = stranger.refused("invalid_deal", "POST", "/v1/analysis", {**body, "deal": strange})
    assert problem["detail"] == "This game has no card 'Red 1'. Deal each of its cards once."


def test_an_integer_that_is_too_large_is_told_its_bounds_in_every_form(
    ada: Client, bob: Client
) -> None:
    mover, game = mover_of([ada, bob], "parade")
    move = json.dumps(game["legal_moves"][0])
    for number in ("9007199254740993", "9e99", "1" + "0" * 99 + ".0"):
        problem = mover.refused(
            "invalid_request",
            "POST",
            f"/v1/games/{game['id']}/moves",
            data=f'{{"turn": {number}, "move": {move}}}'.encode(),
            headers={"Content-Type": "application/json"},
        )
        assert problem["detail"].endswith("it must be from 1 to 9007199254740991.")


def test_a_turn_that_has_not_begun_is_told_apart_from_one_that_is_over(
    ada: Client, bob: Client
) -> None:
    mover, game = mover_of([ada, bob], "parade")
    path = f"/v1/games/{game['id']}/moves"
    body = {"turn": 99, "move": game["legal_moves"][0]}
    problem = mover.refused("stale_turn", "POST", path, body)
    assert problem["detail"].startswith("Turn 99 has not begun: the game is at turn 1.")
    mover.play(game["id"], 1, game["legal_moves"][0])
    body = {"turn": 1, "move": game["legal_moves"][1]}
    problem = mover.refused("stale_turn", "POST", path, body)
    assert problem["detail"].startswith("Turn 1 is over: the game is at turn 2.")


@pytest.mark.parametrize(
    ("path", "body", "pointer", "meant"),
    [
        ("/v1/players", {"name": "A", "knd": "bot"}, "#/knd", "kind"),
        ("/v1/games", {"ruleset": "parade", "seatCount": 2}, "#/seatCount", "seat_count"),
        (
            "/v1/games",
            {"ruleset": "contrast", "seat_count": 2, "options": {"expertt": True}},
            "#/options/expertt",
            "expert",
        ),
        ("/v1/games", {"ruleset": "parade", "seat_count": 2, "zzz": 1}, "#/zzz", None),
    ],
)
def test_a_misspelt_member_suggests_the_nearest(
    ada: Client, path: str, body: Any, pointer: str, meant: str | None
) -> None:
    errors = ada.refused("invalid_request", "POST", path, body)["errors"]
    (detail,) = (each["detail"] for each in errors if each["pointer"] == pointer)
    assert " is unknown; the members here are: " in detail
    assert (f"Did you mean `{meant}`?" in detail) == (meant is not None)


def test_a_misspelt_member_of_a_move_suggests_the_nearest(ada: Client, bob: Client) -> None:
    mover, game = mover_of([ada, bob], "parade")
    body = {"turn": game["turn"], "move": {"type": "play", "crad": "red-7"}}
    problem = mover.refused("invalid_request", "POST", f"/v1/games/{game['id']}/moves", body)
    details = {each["pointer"]: each["detail"] for each in problem["errors"]}
    assert "Did you mean `card`?" in details["#/move/crad"]


# --- Null for an absent member -------------------------------------------------------------

BODIES = ["NewGameBody", "JoinBody", "AnalysisBody", "ChosenOptions"]


def optional_members(name: str) -> dict[str, Any]:
    schema = document()["components"]["schemas"][name]
    required = schema.get("required", ())
    return {key: each for key, each in schema["properties"].items() if key not in required}


@pytest.mark.parametrize("name", BODIES)
def test_the_document_allows_null_for_every_optional_member_of_a_request(name: str) -> None:
    assert optional_members(name)
    for key, schema in optional_members(name).items():
        types = schema.get("type") or [each.get("type") for each in schema["anyOf"]]
        assert "null" in types, key


def test_null_stands_for_an_absent_member_of_a_request(ada: Client, bob: Client) -> None:
    given = {"ruleset": "contrast", "seat_count": 2}
    options = dict.fromkeys(optional_members("ChosenOptions"))
    absent = dict.fromkeys(optional_members("NewGameBody"))
    first = ada.post("/v1/games", given, 201)
    for body in ({**absent, **given}, {**absent, **given, "options": options}):
        game = ada.post("/v1/games", body, 201)
        for member in ("options", "visibility", "seat_count", "ruleset"):
            assert game[member] == first[member]
        assert game["seats"][0]["player"]["id"] == ada.id
    joined = bob.post(f"/v1/games/{first['id']}/seats", {"seat": None, "invite": None})
    assert joined["status"] == "playing"


def test_null_and_an_absent_member_are_the_same_body_for_an_idempotency_key(ada: Client) -> None:
    key = {"Idempotency-Key": "one"}
    first = ada.post("/v1/games", {"ruleset": "parade", "seat_count": 2}, 201, headers=key)
    body = {"ruleset": "parade", "seat_count": 2, "options": None, "house": None}
    assert ada.post("/v1/games", body, 200, headers=key)["id"] == first["id"]


def test_null_is_refused_for_a_required_member(ada: Client) -> None:
    body = {"ruleset": None, "seat_count": 2}
    problem = ada.refused("invalid_request", "POST", "/v1/games", body)
    assert [each["pointer"] for each in problem["errors"]] == ["#/ruleset"]
