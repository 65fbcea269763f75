"""Workers and stores that die in the middle of a game: nothing acknowledged is lost."""

import itertools
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import Client, new_player, seat_two, seated
from tests.support.http_client import until_answered
from tests.support.service import Service, fresh_metrics, start_service, stop_service
from tests.support.stored_games import make_late
from tests.support.waiting import wait_until


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Callable[[], Service]]:
    """Starts a service of this test's own; again on the same data, if called again."""
    services: list[Service] = []

    def start() -> Service:
        services.append(start_service(str(tmp_path)))
        return services[-1].await_ready()

    try:
        yield start
    finally:
        for service in services:
            stop_service(service)


def play_and_note(
    players: list[Client], game_id: str, rng: random.Random, disturb: Callable[[int], None]
) -> list[Any]:
    """Play to the end; the moves that were acknowledged. `disturb` is called before each."""
    acknowledged = []
    for count in itertools.count():
        game = until_answered(lambda: players[0].request("GET", f"/v1/games/{game_id}")).json()
        if game["status"] != "playing":
            return acknowledged
        player = players[game["to_move"][0]]
        own = until_answered(lambda: player.request("GET", f"/v1/games/{game_id}")).json()  # noqa: B023
        body = {"turn": own["turn"], "move": rng.choice(own["legal_moves"])}
        disturb(count)
        answer = until_answered(
            lambda: player.request("POST", f"/v1/games/{game_id}/moves", json=body)  # noqa: B023
        )
        assert answer.status_code == 200, answer.text
        acknowledged.append((own["you"], body["turn"], body["move"]))
    raise AssertionError


def recorded(player: Client, game_id: str) -> list[Any]:
    record = until_answered(lambda: player.request("GET", f"/v1/games/{game_id}/record")).json()
    return [(each["seat"], each["turn"], each["move"]) for each in record["moves"]]


def test_a_killed_worker_loses_no_acknowledged_move(
    own_service: Callable[[], Service], rng: random.Random
) -> None:
    service = own_service()
    players, game_id = seat_two(service.url, keep_alive=True)

    def kill_a_worker(count: int) -> None:
        if count % 4 == 0:
            victim = rng.choice(
                sorted(wait_until(lambda: service.worker_pids, "there is a worker"))
            )
            # Some time during the request that follows, or just before it.
            threading.Timer(rng.uniform(0, 0.004), os.kill, (victim, signal.SIGKILL)).start()

    acknowledged = play_and_note(players, game_id, rng, kill_a_worker)
    assert recorded(players[0], game_id) == acknowledged


def test_a_worker_that_is_killed_in_a_batch_leaves_each_game_as_before_or_after_its_move(
    own_service: Callable[[], Service], rng: random.Random
) -> None:
    service = own_service()
    ada = new_player(service.url, keep_alive=True)
    ids = [ada.create(2, house=["random"])["id"] for _ in range(12)]
    for _ in range(4):
        before = [until_answered(lambda: ada.request("GET", f"/v1/games/{each}")).json()  # noqa: B023
                  for each in ids]  # fmt: skip
        body = {
            "moves": [
                {"game_id": each["id"], "turn": each["turn"], "move": each["legal_moves"][0]}
                for each in before
            ]
        }
        (victim, *_) = sorted(wait_until(lambda: service.worker_pids, "there is a worker"))
        threading.Timer(rng.uniform(0, 0.02), os.kill, (victim, signal.SIGKILL)).start()
        answer = until_answered(lambda: ada.request("POST", "/v1/me/moves", json=body))  # noqa: B023
        assert {each["status"] for each in answer.json()["items"]} == {200}
        for game, item in zip(before, answer.json()["items"], strict=True):
            # The move and what the house replied, once.
            version = item["game"]["version"]
            assert [each["version"] for each in item["items"]] == [
                *range(game["version"] + 1, version + 1)
            ]
            assert [each["by"] for each in item["items"]].count("player") == 1


def test_a_killed_store_loses_no_acknowledged_move(
    own_service: Callable[[], Service], rng: random.Random
) -> None:
    service = own_service()
    players, game_id = seat_two(service.url, keep_alive=True)

    def kill_the_store(count: int) -> None:
        if count in (5, 15, 25):
            pid = wait_until(lambda: service.store.pid, "the store runs")
            threading.Timer(rng.uniform(0, 0.004), os.kill, (pid, signal.SIGKILL)).start()

    acknowledged = play_and_note(players, game_id, rng, kill_the_store)
    assert recorded(players[0], game_id) == acknowledged


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_service_that_is_stopped_in_the_middle_of_a_game_goes_on_with_it(
    own_service: Callable[[], Service], rng: random.Random, number: signal.Signals
) -> None:
    service = own_service()
    players, game_id = seat_two(service.url, keep_alive=True)
    first = players[0].game(game_id)
    mover = players[first["to_move"][0]]
    mover.play_first(game_id)
    before = [player.game(game_id) for player in players]

    service.signal(number)
    service.process.wait(30)
    again = own_service()
    for player in players:
        player.url = again.url
    assert [player.game(game_id) for player in players] == before
    play_and_note(players, game_id, rng, lambda count: None)


def test_a_store_that_is_away_is_a_503_with_retry_after_and_comes_back(
    own_service: Callable[[], Service],
) -> None:
    service = own_service()
    ada = new_player(service.url)
    pid = wait_until(lambda: service.store.pid, "the store runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        answer = ada.request("GET", "/v1/me")
        assert answer.status_code == 503
        assert answer.json()["code"] == "store_unavailable"
        assert int(answer.headers["Retry-After"]) >= 1
        assert ada.request("GET", "/readyz").status_code == 503
        assert ada.get("/livez")
        move = {"game_id": "0" * 32, "turn": 1, "move": {"type": "count"}}
        moves = ada.request("POST", "/v1/me/moves", json={"moves": [move]})
        assert moves.json()["code"] == "store_unavailable"
    finally:
        os.kill(pid, signal.SIGCONT)
    assert until_answered(lambda: ada.request("GET", "/v1/me")).json()["id"] == ada.id


def test_a_store_that_is_full_can_still_be_read_and_goes_on_when_there_is_room(
    own_service: Callable[[], Service],
) -> None:
    service = own_service()
    players, game_id = seat_two(service.url, keep_alive=True)
    game = players[0].game(game_id)
    mover = players[game["to_move"][0]]
    own = mover.game(game_id)
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    with service.store.client() as redis:
        redis.config_set("maxmemory", "1mb")
        refused = mover.refused("store_full", "POST", f"/v1/games/{game_id}/moves", body)
        assert refused["status"] == 503
        assert mover.game(game_id) == own
        ready = mover.get("/readyz")
        assert ready["status"] == "ready"
        assert "its memory is full" in ready["detail"]
        counted = fresh_metrics(service)
        assert 'ludotheque_store_errors_total{kind="full"} 1.0' in counted
        redis.config_set("maxmemory", "0")
    assert mover.play(game_id, **body)["game"]["version"] > own["version"]


def test_a_store_that_is_full_can_be_read_where_a_read_would_change_something(
    own_service: Callable[[], Service],
) -> None:
    service = own_service()
    players = [new_player(service.url), new_player(service.url)]
    game = seated(players, turn_seconds=5)
    path = f"/v1/games/{game['id']}"
    mover = players[game["to_move"][0]]
    own = mover.game(game["id"])
    played = {"turn": own["turn"], "move": own["legal_moves"][0]}
    game = mover.play(game["id"], **played)["game"]
    renewed = Client(service.url, players[0].post("/v1/me/token")["token"], players[0].id)
    late = (renewed, players[1])[game["to_move"][0]]
    make_late(service, game["id"], 5000)
    with service.store.client() as store:
        store.config_set("maxmemory", 1)
        # A new token that is used for the first time, and a game whose clock has run out.
        for caller in (renewed, players[1]):
            assert caller.game(game["id"])["version"] == game["version"]
            assert caller.get("/v1/me")["id"] == caller.id
        (waiting,) = late.get("/v1/me/turns")["items"]
        assert waiting["id"] == game["id"]
        assert late.get(f"{path}/events?since={game['cursor']}&wait=1")["items"] == []
        move = {"turn": waiting["turn"], "move": waiting["legal_moves"][0]}
        late.refused("store_full", "POST", f"{path}/moves", move)
        # A move that was played before has the same outcome again.
        assert mover.play(game["id"], **played)["game"]["version"] == game["version"]
        store.config_set("maxmemory", 0)
    # The time was up: the house has moved.
    late.refused("stale_turn", "POST", f"{path}/moves", move)
    assert late.game(game["id"])["version"] == game["version"] + 1
    # Used again, the new token replaces the old one.
    assert renewed.get("/v1/me")["id"] == renewed.id
    players[0].refused("invalid_token", "GET", "/v1/me")
