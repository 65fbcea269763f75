"""Creating, finding, joining, leaving and cancelling games."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, play_out, seated
from tests.support.service import Service


def seat_players(game: Any) -> list[str | None]:
    return [seat["player"] and seat["player"]["id"] for seat in game["seats"]]


def test_a_new_game_has_its_host_in_the_first_seat_and_waits_for_others(ada: Client) -> None:
    game = ada.create(3)
    assert ada.log[-1].headers["Location"] == f"/v1/games/{game['id']}"
    assert game["status"] == "open"
    assert game["visibility"] == "public"
    assert game["you"] == 0
    assert seat_players(game) == [ada.id, None, None]
    assert game["host"]["id"] == ada.id
    assert game["version"] == 1
    assert game["turn"] is game["table"] is game["deal_sha256"] is game["invite"] is None
    assert ada.game(game["id"]) == game


def test_the_last_seat_starts_the_game(new_players: NewPlayers) -> None:
    ada, bob, eve = new_players(3)
    game = ada.create(3)
    assert bob.join(game["id"])["status"] == "open"
    started = eve.join(game["id"])
    assert started["status"] == "playing"
    assert started["turn"] == 1
    assert len(started["to_move"]) == 1
    assert started["you"] == 2
    assert len(started["table"]["hand"]) == 5
    assert len(started["deal_sha256"]) == 64
    assert started["started_at"]
    assert ada.post(f"/v1/games/{game['id']}/start") == ada.game(game["id"])


def test_a_host_need_not_play(ada: Client, bob: Client, eve: Client) -> None:
    game = ada.create(take_seat=False)
    assert (game["you"], game["version"]) == (None, 0)
    bob.join(game["id"])
    started = eve.join(game["id"])
    assert started["status"] == "playing"
    seen = ada.game(game["id"])
    assert seen["table"]["hand"] is None
    assert seen["legal_moves"] == []
    assert game["id"] in [each["id"] for each in ada.get("/v1/me/games")["items"]]


def test_a_seat_can_be_chosen(ada: Client, bob: Client, eve: Client) -> None:
    game = ada.create(3)
    path = f"/v1/games/{game['id']}/seats"
    assert bob.join(game["id"], seat=2)["you"] == 2
    eve.refused("seat_taken", "POST", path, {"seat": 2})
    problem = eve.refused("invalid_request", "POST", path, {"seat": 3})
    assert problem["errors"][0]["pointer"] == "#/seat"
    bob.refused("already_seated", "POST", path, {"seat": 1})
    assert eve.join(game["id"])["you"] == 1


def test_a_full_game_takes_nobody_else(ada: Client, bob: Client, eve: Client) -> None:
    game = seated([ada, bob])
    eve.refused("game_full", "POST", f"/v1/games/{game['id']}/seats", {})
    eve.refused("game_full", "POST", f"/v1/games/{game['id']}/seats", {"seat": 0})


def test_joining_needs_no_body_at_all(ada: Client, bob: Client) -> None:
    game = ada.create()
    assert bob.post(f"/v1/games/{game['id']}/seats")["you"] == 1


def test_leaving_before_the_start_frees_the_seat(ada: Client, bob: Client, eve: Client) -> None:
    game = ada.create(3)
    bob.join(game["id"])
    left = bob.delete(f"/v1/games/{game['id']}/seats/me")
    assert seat_players(left) == [ada.id, None, None]
    assert bob.get("/v1/me/games")["items"] == []
    assert eve.join(game["id"])["you"] == 1
    assert bob.join(game["id"])["status"] == "playing"
    assert game["id"] in [each["id"] for each in bob.get("/v1/me/games")["items"]]
    types = [
        event["type"]
        for item in ada.get(f"/v1/games/{game['id']}/events")["items"]
        for event in item["events"]
    ]
    taken, left, started = "seat_taken", "seat_left", "game_started"
    assert types == [taken, taken, left, taken, taken, started]


def test_only_the_host_cancels_and_only_before_the_start(
    ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create(3)
    path = f"/v1/games/{game['id']}"
    bob.join(game["id"])
    bob.refused("not_host", "DELETE", path)
    eve.refused("not_host", "DELETE", path)
    cancelled = ada.delete(path)
    assert (cancelled["status"], cancelled["result"]) == ("cancelled", None)
    assert cancelled["finished_at"]
    eve.refused("game_over", "POST", f"{path}/seats", {})
    ada.refused("game_over", "POST", f"{path}/start")
    ada.refused("record_not_found", "GET", f"{path}/record")
    assert ada.get("/v1/me/turns")["ended"] == [{"id": game["id"], "result": None}]

    started = seated([ada, bob])
    ada.refused("game_already_started", "DELETE", f"/v1/games/{started['id']}")


def test_an_organiser_reserves_seats_for_others(new_players: NewPlayers) -> None:
    ada, bob, eve = new_players(3)
    game = ada.create(3, players=[None, bob.id], visibility="private")
    assert seat_players(game) == [ada.id, None, None]
    assert game["seats"][1]["reserved_for"]["id"] == bob.id
    # Those it is for find it without an invite, among their own.
    assert [each["id"] for each in bob.get("/v1/me/games")["items"]] == [game["id"]]
    assert bob.game(game["id"])["you"] is None
    path = f"/v1/games/{game['id']}/seats"
    eve.refused("seat_reserved", "POST", path, {"seat": 1, "invite": game["invite"]})
    assert eve.join(game["id"], invite=game["invite"])["you"] == 2
    assert bob.join(game["id"])["you"] == 1


def test_a_table_may_be_set_for_others_alone(new_players: NewPlayers) -> None:
    ada, bob, eve = new_players(3)
    game = ada.create(2, players=[bob.id, eve.id], take_seat=False)
    ada.refused("game_full", "POST", f"/v1/games/{game['id']}/seats", {})
    eve.join(game["id"])
    assert bob.join(game["id"])["you"] == 0


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"ruleset": "chess"}, "#/ruleset"),
        ({"ruleset": 7}, "#/ruleset"),
        ({"ruleset": "\ud800"}, "#/ruleset"),
        ({"seat_count": 1}, "#/seat_count"),
        ({"seat_count": 7}, "#/seat_count"),
        ({"seat_count": "2"}, "#/seat_count"),
        ({"seat_count": 2.5}, "#/seat_count"),
        ({"seat_count": True}, "#/seat_count"),
        ({"options": {"grid": 1}}, "#/options/grid"),
        ({"options": []}, "#/options"),
        ({"visibility": "secret"}, "#/visibility"),
        ({"visibility": ["public"]}, "#/visibility"),
        ({"take_seat": 1}, "#/take_seat"),
        ({"take_seat": "yes"}, "#/take_seat"),
        ({"players": ["0" * 32]}, "#/players/0"),
        ({"players": [7]}, "#/players/0"),
        ({"players": [None, None, None]}, "#/players"),
        ({"house": [7]}, "#/house/0"),
        ({"house": ["brilliant"]}, "#/house/0"),
        ({"house": ["random", "random"]}, "#/house"),
        ({"turn_seconds": 4}, "#/turn_seconds"),
        ({"turn_seconds": 604801}, "#/turn_seconds"),
    ],
)
def test_a_game_that_cannot_be_is_refused_with_a_pointer(
    ada: Client, members: Any, pointer: str
) -> None:
    body = {"ruleset": "parade", "seat_count": 2, **members}
    problem = ada.refused("invalid_request", "POST", "/v1/games", body)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert ada.get("/v1/me/games")["items"] == []


def test_players_named_twice_or_in_all_seats_are_refused(ada: Client, bob: Client) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    for players in ([bob.id, bob.id], [bob.id, ada.id, None]):
        ada.refused("invalid_request", "POST", "/v1/games", {**body, "players": players})
    nobody = "1" * 32
    problem = ada.refused(
        "invalid_request", "POST", "/v1/games", {**body, "players": [bob.id, nobody]}
    )
    (error,) = problem["errors"]
    assert error["pointer"] == "#/players/1"
    assert f"There is no player '{nobody}'" in error["detail"]


def test_the_lobby_lists_games_by_status_and_ruleset(
    new_players: NewPlayers, stranger: Client
) -> None:
    ada, bob = new_players(2)
    waiting = ada.create(3)
    started = seated([ada, bob])
    called_off = ada.create()
    ada.delete(f"/v1/games/{called_off['id']}")

    def listed(query: str) -> set[str]:
        return {each["id"] for each in stranger.get(f"/v1/games?limit=100{query}")["items"]}

    ours = {waiting["id"], started["id"], called_off["id"]}
    assert listed("&status=open") & ours == {waiting["id"]}
    assert listed("&status=playing") & ours == {started["id"]}
    assert listed("&status=cancelled") & ours == {called_off["id"]}
    assert listed("&status=finished") & ours == set()
    assert listed("") & ours == ours
    assert listed("&ruleset=parade") & ours == ours
    assert listed("&ruleset=contrast") & ours == set()
    problem = stranger.refused("invalid_request", "GET", "/v1/games?ruleset=chess")
    assert problem["errors"][0]["parameter"] == "ruleset"
    mine = {each["id"] for each in ada.get("/v1/me/games")["items"]}
    assert mine == ours
    assert [each["id"] for each in bob.get("/v1/me/games?status=playing")["items"]] == [
        started["id"]
    ]


def test_a_list_is_paged_without_gaps_or_repetitions_while_games_come_and_go(
    ada: Client, bob: Client
) -> None:
    games = [ada.create(3)["id"] for _ in range(12)]
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = ada.get(f"/v1/me/games?limit=5{cursor and '&cursor=' + cursor}")
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
        ada.delete(f"/v1/games/{games[0]}")
        ada.create(3)
    assert seen == games[::-1]


def test_turns_lists_the_longest_waiting_first(new_players: NewPlayers) -> None:
    ada, bob = new_players(2)
    games = [seated([ada, bob])["id"] for _ in range(6)]
    waiting = [each["id"] for each in ada.get("/v1/me/turns")["items"]]
    assert waiting == [each for each in games if ada.game(each)["to_move"] == [0]]
    for item in ada.get("/v1/me/turns")["items"]:
        assert item == ada.game(item["id"])


def test_a_player_can_be_in_a_hundred_games_and_no_more(ada: Client, bob: Client) -> None:
    with ada.unchecked():
        games = [ada.create()["id"] for _ in range(100)]
    body = {"ruleset": "parade", "seat_count": 2}
    ada.refused("too_many_games", "POST", "/v1/games", body)
    other = bob.create()
    ada.refused("too_many_games", "POST", f"/v1/games/{other['id']}/seats", {})
    ada.delete(f"/v1/games/{games[0]}")
    assert ada.join(other["id"])["status"] == "playing"


def test_events_are_read_in_pages_from_any_version(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    events = f"/v1/games/{game['id']}/events"
    everything = ada.get(events)["items"]
    assert [item["version"] for item in everything] == [1, 2, 3]
    page = ada.get(f"{events}?since=1&limit=1")
    assert (page["items"], page["version"], page["more"]) == (everything[1:2], 2, True)
    page = ada.get(f"{events}?since=2&limit=1")
    assert (page["items"], page["version"], page["more"]) == (everything[2:], 3, False)
    page = ada.get(f"{events}?since=3")
    assert (page["items"], page["version"], page["more"], page["reset"]) == ([], 3, False, False)
    page = ada.get(f"{events}?since=99")
    assert (page["items"], page["version"], page["reset"]) == ([], 3, True)


def test_a_record_is_closed_until_the_end(ada: Client, bob: Client, stranger: Client) -> None:
    game = seated([ada, bob])
    for reader in (ada, stranger):
        reader.refused("game_not_over", "GET", f"/v1/games/{game['id']}/record")


def test_the_catalogue_describes_parade(stranger: Client) -> None:
    (parade,) = (
        each for each in stranger.get("/v1/rulesets")["items"] if each["ruleset"] == "parade"
    )
    assert parade == stranger.get("/v1/rulesets/parade")
    assert parade["title"] == "Parade"
    assert parade["seat_counts"] == {"minimum": 2, "maximum": 6}
    assert len(parade["components"]) == 66
    orange = parade["components"][-1]
    assert (orange["name"], orange["color"], orange["value"]) == ("orange-10", "orange", 10)
    assert {each["type"] for each in parade["move_types"]} == {"play", "discard"}
    assert "removal mode" in parade["rules"]


# --- The same table again, and who is there --------------------------------------------------


def ended(players: list[Client], rng: random.Random, **members: Any) -> Any:
    return play_out(players, seated(players, **members)["id"], rng)


def test_a_rematch_has_the_same_seats_for_the_same_players(
    new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(3)
    old = ended(players, rng, turn_seconds=3600)
    path = f"/v1/games/{old['id']}/rematch"
    new = players[1].post(path, status=201)
    assert players[1].log[-1].headers["Location"] == f"/v1/games/{new['id']}"
    assert (new["status"], new["you"], new["host"]["id"]) == ("open", 1, players[1].id)
    reserved = [seat["reserved_for"]["id"] for seat in new["seats"]]
    assert reserved == [player.id for player in players]
    assert players[0].game(old["id"])["rematch"] == new["id"]
    assert new["id"] in [each["id"] for each in players[0].get("/v1/me/games")["items"]]
    assert players[1].post(path) == new
    assert players[2].post(path)["you"] == 2
    started = players[0].post(path)
    assert (started["status"], started["you"]) == ("playing", 0)
    assert players[2].post(path)["id"] == new["id"]


def test_the_house_keeps_its_seats_in_a_rematch(ada: Client, rng: random.Random) -> None:
    ada.checked = False
    game = ada.create(3, house=["random", "careful"])
    while game["status"] == "playing":
        game = ada.play(game["id"], game["turn"], rng.choice(game["legal_moves"]))["game"]
    new = ada.post(f"/v1/games/{game['id']}/rematch", status=201)
    assert new["status"] == "playing"
    assert [seat["house"] for seat in new["seats"]] == [None, "random", "careful"]


def test_simultaneous_rematches_set_one_table(new_players: NewPlayers, rng: random.Random) -> None:
    players = new_players(4)
    old = ended(players, rng)

    def again(player: Client) -> str:
        mine = Client(player.url, player.token, checked=False)
        response = mine.request("POST", f"/v1/games/{old['id']}/rematch")
        assert response.status_code in (200, 201)
        return str(response.json()["id"])

    with ThreadPoolExecutor(8) as threads:
        (new_id,) = set(threads.map(again, players * 2))
    game = players[0].game(new_id)
    assert game["status"] == "playing"
    assert seat_players(game) == [player.id for player in players]


def test_a_rematch_is_for_the_players_of_a_game_that_has_ended(
    ada: Client, bob: Client, eve: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob])["id"]
    path = f"/v1/games/{game_id}/rematch"
    ada.refused("game_not_over", "POST", path)
    play_out([ada, bob], game_id, rng)
    eve.refused("not_seated", "POST", path)
    called_off = ada.create()["id"]
    ada.delete(f"/v1/games/{called_off}")
    ada.refused("game_not_over", "POST", f"/v1/games/{called_off}/rematch")


def test_presence_tells_when_each_seat_was_last_heard_of(
    service: Service, ada: Client, bob: Client, stranger: Client
) -> None:
    game = ada.create(4, house=["random"])
    bob.join(game["id"])
    path = f"/v1/games/{game['id']}/presence"
    items = stranger.get(path)["items"]
    assert [item["seat"] for item in items] == [0, 1, 2, 3]
    # The first request may have come in the minute before.
    created, seen = (
        datetime.fromisoformat(at) for at in (game["created_at"], items[0]["last_seen"])
    )
    assert created - seen < timedelta(seconds=30)
    assert items[1]["last_seen"]
    assert items[2]["last_seen"] is items[3]["last_seen"] is None
    key = f"player:{{{ada.id}}}"
    with service.store.client() as redis:
        now = int(redis.hget(key, "seen_at") or 0)
        redis.hset(key, "seen_at", str(now - 10_000))
        before = stranger.get(path)["items"][0]
        ada.get("/v1/me/turns")
        assert stranger.get(path)["items"][0] == before
        redis.hset(key, "seen_at", str(now - 21_000))
        ada.get("/v1/me/turns")
        assert stranger.get(path)["items"][0]["last_seen"] > before["last_seen"]
