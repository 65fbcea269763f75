"""Many moves in one request: each has the outcome that it would have alone."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, new_player, seated
from tests.support.http_client import Response
from tests.support.service import Service

PATH = "/v1/me/moves"

Move = dict[str, Any]


def move_of(player: Client, game_id: str, number: int = 0) -> Move:
    """A legal move of a player, as playMoves takes it."""
    game = player.game(game_id)
    return {"game_id": game_id, "turn": game["turn"], "move": game["legal_moves"][number]}


def first_to_move(player: Client, other: Client, **members: Any) -> str:
    """The id of a new game of two players in which the first one is to move."""
    while True:
        game = seated([player, other], **members)
        if game["to_move"] == [0]:
            game_id: str = game["id"]
            return game_id


def play(player: Client, *moves: Move, **how: Any) -> list[Any]:
    items: list[Any] = player.post(PATH, {"moves": moves}, **how)["items"]
    return items


def alone(player: Client, move: Move) -> Response:
    body = {"turn": move["turn"], "move": move["move"]}
    return player.request("POST", f"/v1/games/{move['game_id']}/moves", json=body)


def codes(items: list[Any]) -> list[Any]:
    """The code of each problem; of a move that was played, the version of its first item."""
    return [
        each["items"][0]["version"] if each["problem"] is None else each["problem"]["code"]
        for each in items
    ]


def test_each_move_of_a_batch_is_answered_as_alone(ada: Client, bob: Client, eve: Client) -> None:
    good, repeated, stale, illegal, wrong_type = (first_to_move(ada, bob) for _ in range(5))
    foreign = seated([bob, eve])["id"]
    hidden = eve.create(2, visibility="private")["id"]
    before_start = ada.create(2)["id"]
    card = bob.game(illegal)["table"]["hand"][0]
    again = move_of(ada, repeated)
    ada.play(repeated, again["turn"], again["move"])
    base = move_of(ada, good)
    refused = [
        {**move_of(ada, stale), "turn": 9},
        {**move_of(ada, illegal), "move": {"type": "play", "card": card}},
        {**move_of(ada, wrong_type), "move": {"type": "pick", "cells": ["a1"]}},
        {**base, "game_id": foreign},
        {**base, "game_id": hidden},
        {**base, "game_id": before_start},
        {**base, "game_id": "0" * 32},
    ]
    unchanged = [foreign, stale, illegal, wrong_type, before_start]
    before = [eve.game(each) for each in unchanged]
    batch = [*refused[:3], again, *refused[3:], base]
    items = play(ada, *batch)
    assert [each["game_id"] for each in items] == [each["game_id"] for each in batch]
    for at, (item, move) in enumerate(zip(items, batch, strict=True)):
        response = alone(ada, move)
        assert item["status"] == response.status_code
        if item["status"] == 200:
            assert item["problem"] is None
            assert {"game": item["game"], "items": item["items"]} == response.json()
            continue
        assert item["game"] is item["items"] is None
        in_batch = json.dumps(response.json()).replace('"#/', f'"#/moves/{at}/')
        assert item["problem"] == json.loads(in_batch)
    assert [each["status"] for each in items] == [
        409, 422, 422, 200, 403, 404, 409, 404, 200,
    ]  # fmt: skip
    assert [eve.game(each) for each in unchanged] == before


def test_moves_of_all_games_are_played_to_the_end_as_one_by_one(
    new_players: NewPlayers, rng: random.Random
) -> None:
    """Every game with its ends, with the last moves among others."""
    players = new_players(3)
    rulesets = ["parade", "tea-time", "contrast", "parade"]
    ids = [seated(players, ruleset=ruleset)["id"] for ruleset in rulesets]
    ended: list[Any] = []
    for _ in range(400):
        for player in players:
            games = [player.game(each) for each in ids]
            batch = [
                {"game_id": each["id"], "turn": each["turn"], "move": rng.choice(own)}
                for each in games
                if (own := [m for m in each["legal_moves"] if m["type"] != "count"])
            ]
            if batch:
                items = play(player, *batch)
                assert {each["status"] for each in items} == {200}
                assert all(each["game"] == player.game(each["game_id"]) for each in items)
                ended += [each for each in items if each["game"]["status"] == "finished"]
        if len(ended) == len(ids):
            break
    assert {each["game_id"] for each in ended} == set(ids)
    for player in players:
        listed = player.get("/v1/me/games?status=finished")["items"]
        assert {each["id"] for each in listed} == set(ids)
        assert player.get("/v1/me/turns")["items"] == []
    for game_id in ids:
        record = players[0].get(f"/v1/games/{game_id}/record")
        players[0].post("/v1/analysis", record)


def test_several_moves_in_one_game_are_played_in_their_order(ada: Client) -> None:
    game = ada.create(2, house=["random"])
    cards = [move["card"] for move in game["legal_moves"]]
    base = {"game_id": game["id"]}
    first, second, third = (
        {**base, "turn": game["turn"] + 2 * at, "move": {"type": "play", "card": card}}
        for at, card in enumerate(cards[:3])
    )
    illegal = {**first, "move": {"type": "play", "card": cards[0]}, "turn": game["turn"] + 4}
    version = game["version"]
    items = play(ada, second, first, second, first, illegal, third)
    assert codes(items) == [
        "stale_turn", version + 1, version + 3, version + 1, "illegal_move", version + 5,
    ]  # fmt: skip
    assert [each["game"]["version"] for each in items if each["game"]] == [
        version + 2, version + 4, version + 4, version + 6,
    ]  # fmt: skip


def test_a_batch_that_is_sent_again_changes_nothing(ada: Client, bob: Client) -> None:
    batch = [move_of(ada, first_to_move(ada, bob)) for _ in range(4)]
    first = play(ada, *batch)
    assert play(ada, *batch) == first


def test_with_a_preference_for_minimal_answers_games_and_items_are_left_out(
    ada: Client, bob: Client
) -> None:
    moves = [move_of(ada, first_to_move(ada, bob)) for _ in range(2)]
    for prefer, is_minimal in (
        ("return=minimal", True),
        ('respond-async, return="minimal"; wait=3', True),
        ("return=minimalistic", False),
        ("return=representation", False),
    ):
        response = ada.request("POST", PATH, json={"moves": moves}, headers={"Prefer": prefer})
        applied = response.headers.get("Preference-Applied")
        assert applied == ("return=minimal" if is_minimal else None)
        for item in response.json()["items"]:
            assert item["status"] == 200
            assert (item["game"] is item["items"] is None) is is_minimal


def test_a_condition_is_not_applied_to_a_batch(ada: Client, bob: Client) -> None:
    move = move_of(ada, first_to_move(ada, bob))
    (item,) = play(ada, move, headers={"If-Match": '"other"'})
    assert item["status"] == 200


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/moves"),
        ({"moves": {}}, "#/moves"),
        ({"moves": []}, "#/moves"),
        ({"moves": [1]}, "#/moves/0"),
        ({"moves": "all"}, "#/moves"),
        ({"moves": [], "more": 1}, "#/more"),
        ({"moves": [{"game_id": 7}]}, "#/moves/0/game_id"),
        ({"moves": [{"game_id": "chess"}]}, "#/moves/0/game_id"),
        ({"moves": [{"turn": 0}]}, "#/moves/0/turn"),
        ({"moves": [{"move": {"type": "play"}}]}, "#/moves/0/move/card"),
        ({"moves": [{"move": {"type": "play", "card": 7}}]}, "#/moves/0/move/card"),
        ({"moves": [{"move": {"type": "castle"}}]}, "#/moves/0/move/type"),
        ({"moves": [{"move": 7}]}, "#/moves/0/move"),
        ({"moves": [{"house": True}]}, "#/moves/0/house"),
    ],
)
def test_a_body_of_a_wrong_form_is_refused_as_a_whole(
    ada: Client, bob: Client, body: Any, pointer: str
) -> None:
    move = move_of(ada, first_to_move(ada, bob))
    moves = body.get("moves")
    if isinstance(moves, list) and moves and isinstance(moves[0], dict):
        body = {"moves": [move | moves[0], move]}
    problem = ada.refused("invalid_request", "POST", PATH, body)
    assert pointer in [each["pointer"] for each in problem["errors"]]
    assert move_of(ada, move["game_id"]) == move


def test_a_batch_has_1_to_100_moves(ada: Client, bob: Client) -> None:
    move = move_of(ada, first_to_move(ada, bob))
    problem = ada.refused("invalid_request", "POST", PATH, {"moves": [move] * 101})
    assert problem["errors"] == [
        {"detail": "`moves` has 101 items; 1 to 100 are allowed.", "pointer": "#/moves"}
    ]
    items = play(ada, *[{**move, "turn": 900 + at} for at in range(99)], move)
    assert codes(items) == ["stale_turn"] * 99 + [items[-1]["items"][0]["version"]]


def test_100_games_are_played_at_once(service: Service) -> None:
    ada, bob = (new_player(service.url) for _ in range(2))
    with ada.unchecked(), bob.unchecked():
        ids = [seated([ada, bob])["id"] for _ in range(100)]
        moves = {each: [] for each in (ada, bob)}
        for game_id in ids:
            mover = ada if ada.game(game_id)["to_move"] == [0] else bob
            moves[mover].append(move_of(mover, game_id))
        for player, batch in moves.items():
            assert {each["status"] for each in play(player, *batch)} == {200}
    assert ada.get("/v1/me/turns")["items"]


def test_a_batch_needs_a_token(stranger: Client, ada: Client, bob: Client) -> None:
    body = {"moves": [move_of(ada, first_to_move(ada, bob))]}
    stranger.refused("missing_token", "POST", PATH, body)
    wrong = Client(stranger.url, f"{'0' * 32}.{'a' * 43}")
    wrong.refused("invalid_token", "POST", PATH, body)


def test_a_batch_may_come_in_chunks(ada: Client, bob: Client) -> None:
    batch = [move_of(ada, first_to_move(ada, bob)) for _ in range(2)]
    text = json.dumps({"moves": batch}).encode()
    parts = (text[at : at + 50] for at in range(0, len(text), 50))
    headers = {"Content-Type": "application/json"}
    response = ada.request("POST", PATH, data=parts, headers=headers)
    assert [each["status"] for each in response.json()["items"]] == [200, 200]


def test_the_same_batch_of_many_requests_at_once_is_played_once(ada: Client, bob: Client) -> None:
    """By all workers of the service."""
    batch = [move_of(ada, first_to_move(ada, bob)) for _ in range(5)]
    versions = {each["game_id"]: ada.game(each["game_id"])["version"] for each in batch}

    def send(_: int) -> list[Any]:
        return play(Client(ada.url, ada.token, checked=False), *batch)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(send, range(16)))
    for answer in answers:
        assert [each["status"] for each in answer] == [200] * 5
        assert [each["items"] for each in answer] == [each["items"] for each in answers[0]]
    for game_id, version in versions.items():
        assert ada.game(game_id)["version"] == version + 1


def test_a_batch_wakes_the_waiters_of_every_game(ada: Client, bob: Client) -> None:
    ids = [first_to_move(ada, bob) for _ in range(4)]
    batch = [move_of(ada, each) for each in ids]

    cursors = {each: bob.game(each)["cursor"] for each in ids}

    def await_event(game_id: str) -> Any:
        waiting = Client(bob.url, bob.token, checked=False)
        return waiting.get(f"/v1/games/{game_id}/events?since={cursors[game_id]}&wait=20")

    since = bob.get("/v1/me/turns")["cursor"]
    with ThreadPoolExecutor(5) as threads:
        waits = [threads.submit(await_event, each) for each in ids]
        turns = threads.submit(bob.get, f"/v1/me/turns?since={since}&wait=20")
        play(ada, *batch)
        for each in waits:
            assert each.result(timeout=15)["items"]
        assert turns.result(timeout=15)["items"]
