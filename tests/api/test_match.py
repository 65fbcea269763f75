"""Quick matches over HTTP: which players meet, also if all ask two workers at the same moment."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from tests.support.api_client import Client, NewPlayers
from tests.support.service import Service

LONELY: Any = {"ruleset": "parade", "seat_count": 3, "turn_seconds": 71, "house_after_seconds": 5}


def match(player: Client, seat_count: int, **members: Any) -> Any:
    body = {"ruleset": "parade", "seat_count": seat_count, **members}
    return player.post("/v1/match", body)


def test_players_who_ask_two_workers_at_once_fill_their_games(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(14)
    barrier = Barrier(len(players))

    def ask(player: Client) -> Any:
        caller = Client(player.url, player.token, player.id)
        caller.request("GET", "/livez")  # so that the connection is open, to one worker or another
        barrier.wait(30)
        return match(caller, 4, turn_seconds=70)

    with ThreadPoolExecutor(len(players)) as threads:
        matched = list(threads.map(ask, players))
    ids = {game["id"] for game in matched}
    assert len(ids) == 4
    games = [players[0].game(each) for each in ids]
    assert Counter(game["status"] for game in games) == {"playing": 3, "open": 1}
    for player, game in zip(players, matched, strict=True):
        assert game["seats"][game["you"]]["player"]["id"] == player.id


def test_wishes_that_differ_only_in_spelling_are_one_wish(new_players: NewPlayers) -> None:
    players = new_players(6)
    spellings = [
        '{"ruleset": "tea-time", "seat_count": 4, "turn_seconds": 72}',
        '{"turn_seconds": 72.0, "seat_count": 4.0, "ruleset": "tea-time", "house": null}',
        '{"ruleset": "tea-time", "seat_count": 4, "turn_seconds": 72, "options": {}}',
        '{"ruleset": "tea-time", "seat_count": 4, "turn_seconds": 72, "options": {"grid": null}}',
    ]
    ids = {
        player.post("/v1/match", data=text, headers={"Content-Type": "application/json"})["id"]
        for player, text in zip(players, spellings, strict=False)
    }
    assert len(ids) == 1
    assert players[0].game(ids.pop())["status"] == "playing"


def test_a_lonely_player_who_waits_for_a_turn_plays_the_house_after_the_time(ada: Client) -> None:
    opened = ada.post("/v1/match", LONELY)
    assert opened["status"] == "open"
    assert opened["deadline"] > opened["created_at"]
    turns, cursor = ada.get("/v1/me/turns?wait=20"), ""
    while not turns["items"]:
        cursor = turns["cursor"]
        turns = ada.get(f"/v1/me/turns?wait=20&since={cursor}")
    (game,) = turns["items"]
    assert game["id"] == opened["id"]
    assert [seat["house"] for seat in game["seats"]] == [None, "careful", "careful"]
    assert game["started_at"] >= opened["deadline"]


def test_a_seat_that_is_left_is_the_next_callers(new_players: NewPlayers) -> None:
    ada, bob, eve, max_ = new_players(4)
    game_id = match(ada, 3, turn_seconds=73)["id"]
    match(bob, 3, turn_seconds=73)
    bob.delete(f"/v1/games/{game_id}/seats/me")
    assert match(eve, 3, turn_seconds=73)["id"] == game_id
    ada.delete(f"/v1/games/{game_id}/seats/me")
    game = match(max_, 3, turn_seconds=73)
    assert (game["id"], game["host"]["id"]) == (game_id, eve.id)


def test_a_request_with_its_key_finds_its_game_after_the_start(new_players: NewPlayers) -> None:
    ada, bob = new_players(2)
    key = {"Idempotency-Key": "a key"}
    body = {"ruleset": "parade", "seat_count": 2, "turn_seconds": 74}
    first = ada.post("/v1/match", body, headers=key)
    match(bob, 2, turn_seconds=74)
    again = ada.post("/v1/match", body, headers=key)
    assert (again["id"], again["status"]) == (first["id"], "playing")
    assert match(ada, 2, turn_seconds=74)["id"] != first["id"]


def test_a_game_whose_queue_was_lost_is_still_in_the_lobby(
    service: Service, new_players: NewPlayers
) -> None:
    ada, bob, eve = new_players(3)
    first = match(ada, 2, turn_seconds=75)
    with service.store.client() as store:
        for key in store.scan_iter("match:*"):
            store.delete(key)
    second = match(bob, 2, turn_seconds=75)
    assert second["id"] != first["id"]
    assert match(eve, 2, turn_seconds=75)["id"] == second["id"]
    assert bob.join(first["id"])["status"] == "playing"
