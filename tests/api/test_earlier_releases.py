"""Games of earlier releases: this release plays them, or says that it cannot."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_client import Client, play_out, seated
from tests.support.earlier_releases import LAST, STORED, EarlierGame, load, with_illegal_move
from tests.support.event_stream import Stream
from tests.support.service import UNLIMITED, Service, serving
from tests.support.waiting import wait_until

UNSUPPORTED = STORED["b574b42"]["games"]
"""Of the first commit with an API: Parade only. One move in each is not a legal one."""

IN_PLAY = [
    ("1578b5f", "tea-time playing"),
    ("1578b5f", "contrast playing"),
    ("1578b5f", "mit-list-und-tuecke playing"),
    ("bd62803", "parade playing"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on these games. The tests that play them, and replace tokens, come last."""
    directory = str(tmp_path_factory.mktemp("service"))
    more = {"APPEND_FSYNC": "everysec", "WEB_CONCURRENCY": "1"}
    with serving(directory, **UNLIMITED, **more) as running:
        with running.store.client() as store:
            for commit, each in STORED.items():
                keys = each["keys"]
                if commit == "b574b42":
                    for name in ("playing", "finished"):
                        keys = with_illegal_move(keys, UNSUPPORTED[name])
                load(store, keys)
        yield running


def players_of(service: Service, commit: str) -> list[Client]:
    return [
        Client(service.url, each["token"], each["id"])
        for each in STORED[commit]["players"].values()
    ]


@pytest.mark.parametrize("name", ["playing", "finished"])
def test_a_game_that_cannot_be_converted_is_refused_by_every_route(
    service: Service, name: str
) -> None:
    ada, _, eve, _ = players_of(service, "b574b42")
    path = f"/v1/games/{UNSUPPORTED[name]}"
    move = {"turn": 6, "move": {"type": "play", "card": "red-4"}}
    for caller in (ada, eve):
        for method, below, body in (
            ("GET", "", None),
            ("GET", "/events", None),
            ("GET", "/events?since=1-&wait=1", None),
            ("GET", "/stream", None),
            ("GET", "/legal-moves", None),
            ("GET", "/presence", None),
            ("GET", "/record", None),
            ("POST", "/moves", move),
            ("POST", "/moves/check", move),
            ("POST", "/seats", {}),
            ("POST", "/start", None),
            ("POST", "/rematch", None),
            ("POST", "/stream-tickets", None),
            ("DELETE", "/seats/me", None),
            ("DELETE", "", None),
        ):
            problem = caller.refused("unsupported_format", method, path + below, body)
            assert problem["status"] == 410
            assert "Retry-After" not in caller.log[-1].headers


def test_the_log_warns_once_of_each_request_for_such_a_game(service: Service) -> None:
    game_id = UNSUPPORTED["playing"]
    ada = players_of(service, "b574b42")[0]
    wanted = f"game {game_id} has a format of an earlier release that is not supported"
    before = service.output.count(wanted)
    for _ in range(2):
        ada.refused("unsupported_format", "GET", f"/v1/games/{game_id}")
    wait_until(lambda: service.output.count(wanted) == before + 2, "both are logged")
    lines = [each for each in service.output.splitlines() if wanted in each]
    assert all("[WARNING]" in each for each in lines)
    assert "Traceback" not in service.output


def test_lists_leave_such_a_game_out_and_hide_no_other(service: Service) -> None:
    ada, bob, eve, _ = players_of(service, "b574b42")
    unsupported = {UNSUPPORTED["playing"], UNSUPPORTED["finished"]}
    new = seated([ada, bob])["id"]
    for caller, path in (
        (eve, "/v1/games"),
        (eve, "/v1/games?ruleset=parade&status=playing"),
        (ada, "/v1/me/games"),
        (bob, "/v1/me/games?status=playing"),
    ):
        ids = {each["id"] for each in caller.get(path)["items"]}
        assert new in ids
        assert not ids & unsupported
    assert UNSUPPORTED["open"] in {each["id"] for each in eve.get("/v1/games")["items"]}
    assert STORED["bd62803"]["games"]["parade playing"] in {
        each["id"] for each in eve.get("/v1/games?ruleset=parade&status=playing")["items"]
    }
    turns = [each for one in (ada, bob) for each in one.get("/v1/me/turns")["items"]]
    assert [each["id"] for each in turns] == [new]
    assert not {each["id"] for one in (ada, bob) for each in one.get("/v1/me/turns")["ended"]}


def test_a_game_that_was_open_is_joined_and_played_to_its_end(
    service: Service, rng: random.Random
) -> None:
    ada, bob, _, _ = players_of(service, "b574b42")
    assert bob.join(UNSUPPORTED["open"])["status"] == "playing"
    assert play_out([ada, bob], UNSUPPORTED["open"], rng)["status"] == "finished"
    check_record(ada, UNSUPPORTED["open"])


@pytest.mark.parametrize(("commit", "name"), IN_PLAY)
def test_a_game_of_an_early_commit_is_played_to_its_end(
    service: Service, rng: random.Random, commit: str, name: str
) -> None:
    game_id = STORED[commit]["games"][name]
    players = players_of(service, commit)
    game = players[0].game(game_id)
    assert game["status"] == "playing"
    assert len(players[0].get(f"/v1/games/{game_id}/events")["items"]) == game["version"]
    assert play_out(players, game_id, rng)["status"] == "finished"
    check_record(players[0], game_id)


def test_a_finished_game_of_an_early_commit_has_its_record(service: Service) -> None:
    check_record(players_of(service, "1578b5f")[0], STORED["1578b5f"]["games"]["tea-time finished"])


def test_a_stream_of_a_game_of_an_early_commit_opens(service: Service) -> None:
    ada = players_of(service, "1578b5f")[0]
    stream = Stream(ada, STORED["1578b5f"]["games"]["tea-time playing"])
    stream.until(lambda each: each.events)
    assert stream.events[0].name == "snapshot"


# --- The last commit of 0.1 ------------------------------------------------------------------


def last(name: str) -> EarlierGame:
    return EarlierGame("8bd2c63", name)


def with_status(*statuses: str) -> list[str]:
    return [name for name in LAST["games"] if last(name).document["status"] in statuses]


def moves_of(name: str) -> list[Any]:
    """The moves of a game as they were stored, each with its turn, seat and cause."""
    members = ("seat", "move", "turn", "by")
    return [
        {member: each[member] for member in members}
        for each in last(name).items
        if each["move"] is not None
    ]


@pytest.mark.parametrize("name", with_status("open", "playing", "finished", "cancelled"))
def test_a_game_of_the_last_release_is_as_it_was(service: Service, name: str) -> None:
    stored = last(name).document
    players = players_of(service, "8bd2c63")
    game = players[0].game(stored["id"])
    same = ("ruleset", "seat_count", "visibility", "status", "host", "version", "turn", "to_move")
    assert {each: game[each] for each in same} == {each: stored[each] for each in same}
    assert game["options"] == stored["options"]
    assert [each["player"] for each in game["seats"]] == [
        each["player"] for each in stored["seats"]
    ]
    assert [each["reserved_for"] for each in game["seats"]] == [
        each["reserved_for"] for each in stored["seats"]
    ]
    items = players[0].get(f"/v1/games/{stored['id']}/events")["items"]
    assert len(items) == game["version"]


@pytest.mark.parametrize("name", with_status("finished"))
def test_a_finished_game_of_the_last_release_has_its_record(service: Service, name: str) -> None:
    stored = last(name).document
    ada = players_of(service, "8bd2c63")[0]
    record = ada.get(f"/v1/games/{stored['id']}/record")
    check_record(ada, stored["id"])
    for member, value in stored["result"].items():
        assert record["result"][member] == value
    assert record["deal_sha256"] == stored["deal_sha256"]
    moves = [each for each in record["moves"] if "move" in each]
    for stored_move, move in zip(moves_of(name), moves, strict=True):
        assert {each: move[each] for each in stored_move} == stored_move


@pytest.mark.parametrize("name", with_status("playing"))
def test_a_game_of_the_last_release_is_played_to_its_end(
    service: Service, rng: random.Random, name: str
) -> None:
    game_id = LAST["games"][name]
    players = players_of(service, "8bd2c63")
    assert play_out(players, game_id, rng)["status"] == "finished"
    check_record(players[0], game_id)


def test_the_record_of_a_game_that_the_last_release_cancelled_can_be_replayed(
    service: Service,
) -> None:
    ada = players_of(service, "8bd2c63")[0]
    game_id = LAST["games"]["tea-time cancelled after the start"]
    record = ada.get(f"/v1/games/{game_id}/record")
    assert record["result"] is None
    assert ada.post("/v1/analysis", record)["events"]


def test_games_that_the_last_release_opened_are_joined_and_played(
    service: Service, rng: random.Random
) -> None:
    ada, bob, eve, dan, _, _ = players_of(service, "8bd2c63")
    reserved = LAST["games"]["tea-time open and reserved"]
    dan.refused("game_full", "POST", f"/v1/games/{reserved}/seats", {})
    eve.join(reserved)
    assert bob.join(reserved)["status"] == "playing"
    private = LAST["games"]["parade private"]
    dan.refused("game_not_found", "GET", f"/v1/games/{private}")
    assert dan.join(private, invite=LAST["invite"])["status"] == "playing"
    rematch = LAST["games"]["tea-time rematch"]
    for each in (bob, eve):
        game = each.post(f"/v1/games/{LAST['games']['tea-time finished']}/rematch", None, 200)
        assert game["id"] == rematch
    assert game["status"] == "playing"
    for players, game_id in (
        ([ada, bob, eve], reserved),
        ([ada, dan], private),
        ([ada, bob, eve], rematch),
    ):
        assert play_out(players, game_id, rng)["status"] == "finished"
        check_record(ada, game_id)


def test_a_creation_that_the_last_release_remembers_is_repeated(service: Service) -> None:
    ada = players_of(service, "8bd2c63")[0]
    body = {"ruleset": "tea-time", "seat_count": 2}
    again = ada.request("POST", "/v1/games", json=body, headers={"Idempotency-Key": "one"})
    assert again.status_code == 200
    assert again.json()["id"] == LAST["games"]["tea-time with an idempotency key"]


def test_a_move_that_the_last_release_played_is_repeated(service: Service) -> None:
    """A move of a finished game, so that no other test changes what it finds."""
    ada, bob, eve, *_ = players_of(service, "8bd2c63")
    game_id = LAST["games"]["tea-time finished"]
    move = moves_of("tea-time finished")[3]
    player = (ada, bob, eve)[move["seat"]]
    played = player.play(game_id, move["turn"], move["move"])
    assert played["items"][0]["turn"] == move["turn"]
    assert played["game"]["status"] == "finished"


@pytest.mark.parametrize("commit", STORED)
def test_players_of_the_earliest_releases_keep_their_tokens(service: Service, commit: str) -> None:
    for player in players_of(service, commit):
        assert player.get("/v1/me")["id"] == player.id
        token = player.post("/v1/me/token")["token"]
        assert Client(service.url, token).get("/v1/me")["id"] == player.id


def check_record(player: Client, game_id: str) -> None:
    """The record of a game can be replayed, and then ends as the game did."""
    record = player.get(f"/v1/games/{game_id}/record")
    result = player.post("/v1/analysis", record)["result"]
    assert result == record["result"] == player.game(game_id)["result"]
