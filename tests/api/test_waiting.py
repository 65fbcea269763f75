"""Long polls over HTTP, between two workers and on a real store.

What a poll waits for and when it is answered is tested in tests/unit/test_long_polls.py.
"""

import json
import os
import random
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import (
    Client,
    NewPlayers,
    new_player,
    seated,
    start_countdown,
)
from tests.support.http_client import Response, until_answered
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

SETTLED = 0.4
"""After so long a request that waits does wait."""

SOON = 2.0
"""Sooner than a lost notification would be noticed."""

Send = Callable[[Client, str], "Future[Timed]"]


class Timed:
    """An answer, and how long it took."""

    def __init__(self, ask: Callable[[], Response]) -> None:
        begin = time.monotonic()
        self.response = ask()
        self.seconds = time.monotonic() - begin
        self.body = self.response.json() if self.response.content else None


@pytest.fixture
def send() -> Iterator[Send]:
    """Sends a GET on a connection of its own, and does not wait for the answer."""
    with ThreadPoolExecutor(64) as threads:

        def start(client: Client, path: str, **headers: str) -> "Future[Timed]":
            own = Client(client.url, client.token, client.id, checked=client.checked)
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            return threads.submit(Timed, lambda: own.request("GET", path, headers=names))

        yield start


def move(players: list[Client], game_id: str) -> Any:
    """Whose move it is makes one; the game as it sees it after."""
    game = players[0].game(game_id)
    mover = players[game["to_move"][0]]
    return mover.play_first(game_id)["game"]


def events_path(game: Any, wait: int = 20, since: str | None = None) -> str:
    since = game["cursor"] if since is None else since
    return f"/v1/games/{game['id']}/events?since={since}&wait={wait}"


# --- Events ------------------------------------------------------------------------------


def test_what_is_new_already_is_answered_at_once(ada: Client, bob: Client, send: Send) -> None:
    game = seated([ada, bob])
    (first,) = ada.get(f"/v1/games/{game['id']}/events?limit=1")["items"]
    cursor = ada.get(f"/v1/games/{game['id']}/events?limit=1")["cursor"]
    answer = send(ada, events_path(game, since=cursor)).result()
    assert answer.seconds < SOON
    assert answer.body["items"][0]["version"] == first["version"] + 1


def test_who_waits_is_told_of_a_move_whichever_worker_it_came_through(
    ada: Client, bob: Client, stranger: Client, send: Send
) -> None:
    game = seated([ada, bob])
    readers = [ada, bob, stranger] * 4
    waits = [send(reader, events_path(game)) for reader in readers]
    time.sleep(SETTLED)
    assert not any(wait.done() for wait in waits)
    after = move([ada, bob], game["id"])
    for reader, wait in zip(readers, waits, strict=True):
        answer = wait.result()
        assert answer.seconds < SETTLED + SOON
        assert answer.response.headers["Server-Time"] >= after["updated_at"]
        at_rest = reader.get(f"/v1/games/{game['id']}/events?since={game['cursor']}")
        assert answer.body == at_rest


def test_a_version_that_never_was_is_answered_at_once(ada: Client, send: Send) -> None:
    game = ada.create()
    answer = send(ada, events_path(game, since="99-0123456789abcdef")).result()
    assert answer.seconds < SOON
    assert answer.body["reset"] is True
    assert answer.body["cursor"] == game["cursor"]


def test_in_a_game_that_has_ended_nobody_waits(ada: Client, send: Send) -> None:
    game = ada.create()
    ada.delete(f"/v1/games/{game['id']}")
    ended = ada.game(game["id"])
    answer = send(ada, events_path(ended)).result()
    assert answer.seconds < SOON
    assert answer.body["status"] == "cancelled"


@pytest.mark.parametrize("wait", ["-1", "soon", "1.5", "", "9999999999999999999"])
def test_a_wait_has_bounds(ada: Client, wait: str) -> None:
    game = ada.create()
    for path in (f"/v1/games/{game['id']}/events", "/v1/me/turns"):
        problem = ada.refused("invalid_request", "GET", f"{path}?wait={wait}")
        assert problem["errors"][0]["parameter"] == "wait"


# --- Turns -------------------------------------------------------------------------------


def turns_path(turns: Any, wait: int = 20) -> str:
    return f"/v1/me/turns?since={turns['cursor']}&wait={wait}"


def test_a_bot_is_told_of_a_game_that_it_is_not_in_yet(
    ada: Client, bob: Client, eve: Client, send: Send
) -> None:
    waits = [send(client, turns_path(client.get("/v1/me/turns"))) for client in (ada, bob)]
    time.sleep(SETTLED)
    game = eve.create(2, take_seat=False)
    ada.join(game["id"])
    first = bob.join(game["id"])["to_move"][0]
    answer = waits[first].result()
    assert answer.seconds < SETTLED + SOON
    assert [each["id"] for each in answer.body["items"]] == [game["id"]]
    assert not waits[1 - first].done()
    move([ada, bob], game["id"])
    assert waits[1 - first].result().seconds < SETTLED + SOON


def test_whole_games_are_played_by_waiting_alone(
    new_players: NewPlayers, rng: random.Random
) -> None:
    """Two calls a move, and no wait that ends in vain."""
    players = new_players(4)
    game = seated(players, ruleset="tea-time")

    def live(player: Client) -> int:
        vain, cursor = 0, ""
        while True:
            turns = player.get(f"/v1/me/turns?wait=20{cursor}")
            cursor = f"&since={turns['cursor']}"
            vain += not turns["items"] and not turns["ended"]
            if turns["ended"]:
                return vain
            for each in turns["items"]:
                player.play(each["id"], each["turn"], rng.choice(each["legal_moves"]))

    begin = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(live, players)) == 0
    assert time.monotonic() - begin < 20
    assert players[0].game(game["id"])["status"] == "finished"


# --- A game's whole view ------------------------------------------------------------------


def test_a_reader_who_has_a_game_can_wait_for_another_one(
    ada: Client, bob: Client, send: Send
) -> None:
    game = seated([ada, bob])
    path = f"/v1/games/{game['id']}"
    tag = ada.request("GET", path).headers["ETag"]
    nothing = send(ada, path, If_None_Match=tag, Prefer="wait=1").result()
    assert nothing.response.status_code == 304
    assert 0.9 < nothing.seconds < 1 + SOON
    assert nothing.response.headers["Preference-Applied"] == "wait=1"
    assert nothing.response.headers["ETag"] == tag
    waits = [send(ada, path, If_None_Match=tag, Prefer="respond-async, wait=600") for _ in range(4)]
    time.sleep(SETTLED)
    move([ada, bob], game["id"])
    for wait in waits:
        answer = wait.result()
        assert answer.response.status_code == 200
        assert answer.seconds < SETTLED + SOON
        assert answer.response.headers["Preference-Applied"] == "wait=25"
        assert answer.body == ada.game(game["id"])
    at_once = send(ada, path, If_None_Match=tag, Prefer="wait=20").result()
    assert at_once.seconds < SOON
    without = send(ada, path, Prefer="wait=20").result()
    assert without.seconds < SOON
    assert "Preference-Applied" not in without.response.headers


# --- Faults -------------------------------------------------------------------------------


def test_a_cut_subscription_is_made_again_and_nothing_is_missed(
    ada: Client, bob: Client, service: Service, send: Send
) -> None:
    game = seated([ada, bob])
    waits = [send(ada, events_path(game)) for _ in range(6)]
    time.sleep(SETTLED)
    with service.store.client() as store:
        store.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    move([ada, bob], game["id"])
    for wait in waits:
        assert wait.result().seconds < SETTLED + SOON
        assert wait.result().body["items"]


def test_a_store_that_is_killed_ends_no_wait_with_an_error(
    fresh_service: Service, rng: random.Random
) -> None:
    """Half of the waits are for a game that goes on after it, half for one where nothing happens.

    The first are long, so that a slow machine has time to bring all of them together.
    """
    long, short = 25, 12
    url = fresh_service.url
    moved, quiet = ([new_player(url) for _ in range(4)] for _ in range(2))
    tables = {id(players): seated(players) for players in (moved, quiet)}
    readers = []
    for players in (moved, quiet):
        for player in players:
            path = events_path(tables[id(players)], wait=long if players is moved else short)
            own = turns_path(player.get("/v1/me/turns"), wait=short)
            readers += [(player, path)] * 57 + [(player, own)] * 6  # 504 in all
    for player in (*moved, *quiet):
        player.checked = False
    with ThreadPoolExecutor(len(readers)) as threads:

        def ask(reader: tuple[Client, str]) -> Timed:
            own = Client(url, reader[0].token, checked=False)
            return Timed(lambda: own.request("GET", reader[1]))

        waits = [threads.submit(ask, reader) for reader in readers]

        def all_wait() -> bool:
            return fresh_service.waiters() + sum(each.done() for each in waits) >= len(waits)

        wait_until(all_wait, "all wait")
        assert sum(each.done() for each in waits) < len(waits) / 10
        fresh_service.kill_valkey()
        game_id = tables[id(moved)]["id"]
        mover = moved[tables[id(moved)]["to_move"][0]]
        own = until_answered(lambda: mover.request("GET", f"/v1/games/{game_id}")).json()
        body = {"turn": own["turn"], "move": own["legal_moves"][0]}
        until_answered(lambda: mover.request("POST", f"/v1/games/{game_id}/moves", json=body))
        answers = [wait.result() for wait in waits]
    assert [answer.response.status_code for answer in answers] == [200] * len(readers)
    for (_, path), answer in zip(readers, answers, strict=True):
        if path.startswith(f"/v1/games/{game_id}/"):
            assert [item["by"] for item in answer.body["items"]] == ["player"], answer.seconds
            assert answer.seconds < long


def commit_unheard(service: Service, game_id: str) -> None:
    """What a commit to a new game writes, without what it publishes."""
    with service.store.client() as store:
        key = f"game:{{{game_id}}}"
        document = store.hget(key, "game")
        assert document is not None
        version_id = json.loads(document)["version_id"].encode()
        other = secrets.token_hex(8).encode()
        step = store.lindex(f"{key}:items", 0) or b""
        store.rpush(f"{key}:items", step.replace(version_id, other))
        changed = document.replace(b'"version":1', b'"version":2')
        changed = changed.replace(b'_id":"%b"' % version_id, b'_id":"%b"' % other)
        store.hset(key, mapping={"game": changed, "version": 2})


@pytest.mark.slow
def test_after_a_store_that_stood_still_lost_notifications_are_noticed_as_before(
    fresh_service: Service,
) -> None:
    ada = new_player(fresh_service.url)
    ada.checked = False
    first, second = ada.create(3), ada.create(3)
    with ThreadPoolExecutor(24) as threads:

        def ask(path: str) -> Timed:
            return Timed(lambda: Client(ada.url, ada.token, checked=False).request("GET", path))

        held = [threads.submit(ask, events_path(first, wait=12)) for _ in range(12)]
        time.sleep(SETTLED)
        pid = fresh_service.store.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        time.sleep(8)  # long enough for a connection on which nothing comes to be given up
        os.kill(pid, signal.SIGCONT)
        assert {wait.result().response.status_code for wait in held} == {200}
        held = [threads.submit(ask, events_path(second, wait=15)) for _ in range(16)]
        time.sleep(SETTLED)
        commit_unheard(fresh_service, second["id"])
        answers = [wait.result() for wait in held]
    assert {item["version"] for answer in answers for item in answer.body["items"]} == {2}
    assert not any(answer.body["reset"] for answer in answers)
    assert max(answer.seconds for answer in answers) < SETTLED + 6
    assert "Traceback" not in fresh_service.output


@pytest.mark.parametrize("change", [b'"format":3', b'"format":3,"to_move":{}', b'"to_move":{}'])
def test_a_game_that_cannot_be_read_hides_no_other(
    ada: Client, bob: Client, service: Service, send: Send, change: bytes
) -> None:
    """Neither from those who wait, nor in a list, nor among somebody's turns."""
    for client in (ada, bob):
        client.checked = False
    healthy, broken = seated([ada, bob]), seated([ada, bob])
    key = f"game:{{{broken['id']}}}"
    mover = (ada, bob)[healthy["to_move"][0]]
    with service.store.client() as store:
        document = store.hget(key, "game") or b""
        parts = [send(ada, events_path(each, wait=8)) for each in (healthy, broken)]
        time.sleep(SETTLED)
        store.hset(
            key,
            "game",
            document.replace(b'"format":2', change, 1).replace(b'"to_move":[', b'"answered":[', 1),
        )
        try:
            expected = 503 if b"format" in change else 500
            assert ada.request("GET", f"/v1/games/{broken['id']}").status_code == expected
            for path in ("/v1/games?limit=100", "/v1/me/games", "/v1/me/games?status=playing"):
                assert healthy["id"] in [each["id"] for each in ada.get(path)["items"]]
            own = mover.game(healthy["id"])
            assert own["id"] in [each["id"] for each in mover.get("/v1/me/turns")["items"]]
            mover.play(own["id"], own["turn"], own["legal_moves"][0])
            answer = parts[0].result()
            assert answer.body["items"]
            assert answer.seconds < SETTLED + SOON
        finally:
            store.hset(key, "game", document)
    # What could not be read for a while is where it was.
    assert broken["id"] in [each["id"] for each in ada.get("/v1/me/games")["items"]]


def test_a_service_that_stops_answers_all_who_wait_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, APPEND_FSYNC="everysec") as running:
        ada = new_player(running.url)
        game = ada.create()
        paths = [events_path(game, wait=25), turns_path(ada.get("/v1/me/turns"), wait=25)]
        with ThreadPoolExecutor(40) as threads:

            def ask(path: str) -> Response:
                return Client(ada.url, ada.token).request("GET", path)

            waits = [threads.submit(ask, path) for path in paths * 20]
            time.sleep(1)
            assert not any(wait.done() for wait in waits)
            begin = time.monotonic()
            running.signal(signal.SIGTERM)
            assert {wait.result().status_code for wait in waits} == {200}
            assert time.monotonic() - begin < SOON
            assert running.exit_code() == 0


# --- Deadlines ------------------------------------------------------------------------------


def test_two_hundred_who_touch_a_game_at_its_deadline_see_one_event(
    new_players: NewPlayers,
) -> None:
    players = new_players(3)
    game = seated(players, ruleset="contrast")
    counted = start_countdown(players, game["id"])
    path = f"/v1/games/{game['id']}"
    paths = [path, events_path(counted, wait=10), f"{path}/events", "/v1/me/turns"]
    deadline = time.monotonic() + seconds_until(counted["deadline"], players[0])
    with ThreadPoolExecutor(200) as threads:

        def touch(number: int) -> int:
            caller = Client(players[0].url, players[number % 3].token, checked=False)
            caller.request("GET", "/livez")
            time.sleep(max(deadline - time.monotonic(), 0))
            return caller.request("GET", paths[number % 4]).status_code

        assert set(threads.map(touch, range(200))) == {200}
    items = players[0].get(f"{path}/events?since={counted['cursor']}")["items"]
    assert [item["by"] for item in items].count("clock") == 1


def seconds_until(deadline: str, client: Client) -> float:
    now = client.request("GET", "/v1/me/turns").headers["Server-Time"]
    moments = [datetime.fromisoformat(each) for each in (deadline, now)]
    return (moments[0] - moments[1]).total_seconds()
