"""Messages that tell mistakes apart which look alike, and suggest what was meant."""

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
    for header in (f"Basic {ada.token}", "Bearer x", "x"):
        problem = ada.refused("invalid_token", "GET", "/v1/me", headers={"Authorization": header})
        assert "without its scheme" not in problem["detail"]


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
