"""The phone that lost the network after the move was sent, and the bot that tries again."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, play_out, seated


def mover_of(players: list[Client], game_id: str) -> tuple[Client, Any]:
    game = players[0].game(game_id)
    mover = players[game["to_move"][0]]
    return mover, mover.game(game_id)


def to_the_discard(players: list[Client], rng: random.Random) -> str:
    game_id: str = seated(players)["id"]
    while players[0].game(game_id)["table"]["phase"] != "discard":
        play_out(players, game_id, rng, moves=1)
    return game_id


def test_a_move_sent_twice_is_played_once_with_the_same_outcome(ada: Client, bob: Client) -> None:
    mover, game = mover_of([ada, bob], seated([ada, bob])["id"])
    move = game["legal_moves"][0]
    first = mover.play(game["id"], game["turn"], move)
    assert mover.play(game["id"], game["turn"], move) == first
    assert mover.game(game["id"])["version"] == game["version"] + 1


def test_a_retry_much_later_gets_the_present_view_and_the_items_of_then(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    players = [ada, bob]
    mover, game = mover_of(players, seated(players)["id"])
    move = game["legal_moves"][0]
    first = mover.play(game["id"], game["turn"], move)
    play_out(players, game["id"], rng, moves=5)

    again = mover.play(game["id"], game["turn"], move)
    assert again["items"] == first["items"]
    assert again["game"] == mover.game(game["id"])
    assert again["game"]["version"] == game["version"] + 6


def test_a_retry_after_the_end_still_finds_its_move(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    players = [ada, bob]
    game_id = to_the_discard(players, rng)
    mover, game = mover_of(players, game_id)
    move = game["legal_moves"][0]
    first = mover.play(game_id, game["turn"], move)
    last, game = mover_of(players, game_id)
    last_move = game["legal_moves"][0]
    end = last.play(game_id, game["turn"], last_move)
    assert end["game"]["status"] == "finished"
    assert [item["by"] for item in end["items"]] == ["player", "table"]

    assert mover.play(game_id, game["turn"], move)["items"] == first["items"]
    assert last.play(game_id, game["turn"], last_move) == end
    body = {"turn": game["turn"], "move": game["legal_moves"][1]}
    last.refused("game_over", "POST", f"/v1/games/{game_id}/moves", body)


def test_the_order_in_which_a_set_is_named_makes_no_other_move(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    players = [ada, bob]
    mover, game = mover_of(players, to_the_discard(players, rng))
    cards = game["legal_moves"][0]["cards"]
    first = mover.play(game["id"], game["turn"], {"type": "discard", "cards": cards})
    turned = {"type": "discard", "cards": cards[::-1]}
    assert mover.play(game["id"], game["turn"], turned) == first


def test_another_seats_move_is_no_retry_of_mine(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    players = [ada, bob]
    mover, game = mover_of(players, seated(players)["id"])
    other = bob if mover is ada else ada
    move = game["legal_moves"][0]
    mover.play(game["id"], game["turn"], move)
    body = {"turn": game["turn"], "move": move}
    other.refused("stale_turn", "POST", f"/v1/games/{game['id']}/moves", body)


def test_joining_leaving_and_cancelling_again_answers_with_the_present_game(
    ada: Client, bob: Client
) -> None:
    game = ada.create(3)
    path = f"/v1/games/{game['id']}"
    joined = bob.join(game["id"])
    assert bob.join(game["id"]) == joined
    assert bob.join(game["id"], seat=joined["you"]) == joined
    left = bob.delete(f"{path}/seats/me")
    assert left["you"] is None
    assert bob.delete(f"{path}/seats/me") == left
    cancelled = ada.delete(path)
    assert cancelled["status"] == "cancelled"
    assert ada.delete(path) == cancelled
    assert ada.delete(f"{path}/seats/me") == cancelled


def test_starting_again_answers_with_the_present_game_even_after_its_end(
    ada: Client, bob: Client
) -> None:
    path = f"/v1/games/{ada.create(3)['id']}"
    bob.join(path.rpartition("/")[2])
    started = ada.post(f"{path}/start")
    assert ada.post(f"{path}/start") == started
    for each in (ada, bob):
        each.delete(f"{path}/seats/me")
    ended = ada.get(path)
    assert ended["status"] == "cancelled"
    assert ada.post(f"{path}/start") == ended


def test_a_game_that_was_called_off_cannot_be_started(ada: Client) -> None:
    path = f"/v1/games/{ada.create(3)['id']}"
    ada.delete(path)
    ada.refused("game_over", "POST", f"{path}/start")


def test_who_left_a_private_game_may_leave_again_and_learns_no_more_of_it(
    ada: Client, bob: Client
) -> None:
    game = ada.create(3, visibility="private")
    path = f"/v1/games/{game['id']}"
    bob.join(game["id"], invite=game["invite"])
    left = bob.delete(f"{path}/seats/me")
    assert bob.delete(f"{path}/seats/me") == left
    bob.refused("game_not_found", "GET", path)


@pytest.mark.parametrize("key", ["k", "a" * 100, "~ !"])
def test_a_creation_with_a_key_can_be_sent_again(ada: Client, key: str) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    headers = {"Idempotency-Key": key}
    game = ada.post("/v1/games", body, 201, headers=headers)
    assert ada.post("/v1/games", body, 200, headers=headers) == game
    assert len(ada.get("/v1/me/games")["items"]) == 1


def test_a_key_stands_for_one_request_of_one_player(ada: Client, bob: Client) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    headers = {"Idempotency-Key": "key"}
    mine = ada.post("/v1/games", body, 201, headers=headers)
    other = {**body, "seat_count": 3}
    ada.refused("idempotency_key_reused", "POST", "/v1/games", other, headers=headers)
    theirs = bob.post("/v1/games", body, 201, headers=headers)
    assert theirs["id"] != mine["id"]


@pytest.mark.parametrize("key", ["", "a" * 101, "\u00e9"])
def test_a_key_that_is_none_is_refused(ada: Client, key: str) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    headers: Any = {"Idempotency-Key": key.encode("latin-1")}
    problem = ada.refused("invalid_request", "POST", "/v1/games", body, headers=headers)
    assert problem["errors"][0]["parameter"] == "Idempotency-Key"


def test_simultaneous_creations_with_one_key_make_one_game(new_players: NewPlayers) -> None:
    (ada,) = new_players(1)
    body = {"ruleset": "parade", "seat_count": 2}

    def create(_: int) -> str:
        client = Client(ada.url, ada.token, checked=False)
        headers = {"Idempotency-Key": "one"}
        response = client.request("POST", "/v1/games", json=body, headers=headers)
        assert response.status_code in (200, 201)
        return str(response.json()["id"])

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(create, range(24)))) == 1
    assert len(ada.get("/v1/me/games")["items"]) == 1
