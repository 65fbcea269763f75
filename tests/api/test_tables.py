"""Creating, finding, joining, leaving and cancelling games."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, new_player, play_out, seated
from tests.support.event_stream import Stream
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
    assert "table" not in game
    assert game["turn"] is game["deal_sha256"] is game["invite"] is None
    assert ada.game(game["id"]) == game


@pytest.mark.parametrize(("asked", "told"), [({}, 86_400), ({"turn_seconds": 60}, 60)])
def test_games_and_lists_tell_the_time_for_a_turn(ada: Client, asked: Any, told: int) -> None:
    game = ada.create(2, **asked)
    assert game["turn_seconds"] == told
    assert ada.get("/v1/me/games")["items"][0]["turn_seconds"] == told


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


def test_when_the_host_leaves_an_open_table_the_player_who_sat_down_next_is_host(
    ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create(4, visibility="private")
    path = f"/v1/games/{game['id']}"
    bob.join(game["id"], seat=3, invite=game["invite"])
    eve.join(game["id"], seat=1, invite=game["invite"])
    left = ada.delete(f"{path}/seats/me")
    assert (left["host"]["id"], left["you"], left["invite"]) == (bob.id, None, None)
    assert ada.delete(f"{path}/seats/me") == left
    ada.refused("game_not_found", "GET", path)
    assert bob.game(game["id"])["invite"] == game["invite"]
    assert eve.game(game["id"])["invite"] is None
    eve.refused("not_host", "POST", f"{path}/start")
    started = bob.post(f"{path}/start")
    assert started["status"] == "playing"
    assert seat_players(started) == [None, eve.id, None, bob.id]


def test_an_open_table_that_its_last_player_leaves_is_cancelled(
    ada: Client, bob: Client, stranger: Client
) -> None:
    game = ada.create(3)
    path = f"/v1/games/{game['id']}"
    bob.join(game["id"])
    ada.delete(f"{path}/seats/me")
    over = bob.delete(f"{path}/seats/me")
    assert (over["status"], over["result"]) == ("cancelled", None)
    assert bob.delete(f"{path}/seats/me") == over
    types = [
        event["type"]
        for item in stranger.get(f"{path}/events")["items"]
        for event in item["events"]
    ]
    assert types == [*["seat_taken"] * 2, *["seat_left"] * 2, "game_cancelled"]
    ada.refused("game_over", "POST", f"{path}/seats", {})


def test_a_host_without_a_seat_stays_host_when_players_leave(ada: Client, bob: Client) -> None:
    game = ada.create(2, take_seat=False)
    path = f"/v1/games/{game['id']}"
    assert ada.delete(f"{path}/seats/me") == game
    bob.join(game["id"])
    left = bob.delete(f"{path}/seats/me")
    assert (left["status"], left["host"]["id"]) == ("open", ada.id)


def test_the_ticket_of_a_host_ends_when_it_leaves_and_that_of_the_next_host_goes_on(
    ada: Client, bob: Client
) -> None:
    game = ada.create(3, visibility="private")
    path = f"/v1/games/{game['id']}"
    bob.join(game["id"], invite=game["invite"])
    tickets = [each.post(f"{path}/stream-tickets", status=201)["ticket"] for each in (ada, bob)]
    ada.delete(f"{path}/seats/me")
    bob.refused("game_not_found", "GET", f"{path}/stream?ticket={tickets[0]}")
    stream = Stream(bob, game["id"], ticket=tickets[1])
    stream.until(lambda each: each.events)
    snapshot = stream.close()[0].data
    assert (snapshot["you"], snapshot["invite"]) == (1, game["invite"])


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
    game = ada.create(3, reserved_seats=[{"seat": 1, "player_id": bob.id}], visibility="private")
    assert seat_players(game) == [ada.id, None, None]
    assert game["seats"][1]["reserved_for"]["id"] == bob.id
    # The player finds it without an invite.
    assert [each["id"] for each in bob.get("/v1/me/games?status=invited")["items"]] == [game["id"]]
    assert bob.game(game["id"])["you"] is None
    path = f"/v1/games/{game['id']}/seats"
    eve.refused("seat_reserved", "POST", path, {"seat": 1, "invite": game["invite"]})
    assert eve.join(game["id"], invite=game["invite"])["you"] == 2
    assert bob.join(game["id"])["you"] == 1


def test_games_in_which_a_seat_is_only_reserved_are_a_list_of_their_own(
    ada: Client, bob: Client
) -> None:
    def listed(query: str = "") -> list[str]:
        return [each["id"] for each in bob.get(f"/v1/me/games{query}")["items"]]

    reserved = [{"seat": 1, "player_id": bob.id}]
    first, second, third = (ada.create(3, reserved_seats=reserved)["id"] for _ in range(3))
    assert listed("?status=invited") == [third, second, first]
    page = bob.get("/v1/me/games?status=invited&limit=2")
    assert listed(f"?status=invited&limit=2&cursor={page['next']}") == [first]
    assert listed() == listed("?status=open") == []

    bob.join(first)
    bob.delete(f"/v1/games/{second}/seats/me")
    assert listed("?status=invited") == [third]
    assert listed() == listed("?status=open") == [first]
    ada.delete(f"/v1/games/{third}")
    for query in ("?status=invited", "?status=cancelled"):
        assert listed(query) == []
    # A place that is given up is no invitation any more.
    bob.delete(f"/v1/games/{first}/seats/me")
    assert listed("?status=invited") == listed() == []


def test_of_many_invitations_the_newest_are_listed(
    service: Service, new_players: NewPlayers
) -> None:
    ada, eve, bob = new_players(3)
    reserved = [{"seat": 1, "player_id": bob.id}]
    games = []
    for host in (ada, eve):
        with host.unchecked():
            games += [host.create(3, reserved_seats=reserved)["id"] for _ in range(60)]
    page = bob.get("/v1/me/games?status=invited&limit=100")
    assert [each["id"] for each in page["items"]] == games[:-101:-1]
    assert page["next"] is None
    with service.store.client() as redis:
        for end in ("", ":until"):
            assert redis.zcard(f"index:{{invited:{bob.id}}}:open{end}") == 100
    # The others are still open to the player.
    assert bob.join(games[0])["you"] == 1


def test_a_table_may_be_set_for_others_alone(new_players: NewPlayers) -> None:
    ada, bob, eve = new_players(3)
    game = ada.create(
        2,
        reserved_seats=[{"seat": 0, "player_id": bob.id}, {"seat": 1, "player_id": eve.id}],
        take_seat=False,
    )
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
        ({"reserved_seats": [{"seat": 1, "player_id": "0" * 32}]}, "#/reserved_seats/0/player_id"),
        ({"reserved_seats": [{"seat": 1, "player_id": 7}]}, "#/reserved_seats/0/player_id"),
        ({"reserved_seats": [{"seat": 2, "player_id": "0" * 32}]}, "#/reserved_seats/0/seat"),
        ({"reserved_seats": [{"seat": -1, "player_id": "0" * 32}]}, "#/reserved_seats/0/seat"),
        ({"reserved_seats": [{"seat": 1}]}, "#/reserved_seats/0/player_id"),
        ({"reserved_seats": [None]}, "#/reserved_seats/0"),
        ({"reserved_seats": ["0" * 32]}, "#/reserved_seats/0"),
        ({"reserved_seats": [{}] * 7}, "#/reserved_seats"),
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


def test_a_reservation_that_cannot_be_is_refused_with_a_pointer_to_its_member(
    ada: Client, bob: Client
) -> None:
    nobody = "1" * 32

    def reserved(*seats: tuple[int, str], **members: Any) -> Any:
        entries = [{"seat": seat, "player_id": player_id} for seat, player_id in seats]
        body = {"ruleset": "parade", "seat_count": 3, "reserved_seats": entries, **members}
        (error,) = ada.refused("invalid_request", "POST", "/v1/games", body)["errors"]
        return error["pointer"], error["detail"]

    at = "#/reserved_seats"
    assert reserved((0, bob.id), (1, bob.id))[0] == f"{at}/1/player_id"
    assert reserved((1, bob.id), (1, ada.id))[0] == f"{at}/1/seat"
    assert reserved((1, ada.id), (2, bob.id), house=["random"])[0] == f"{at}/1/seat"
    pointer, detail = reserved((0, bob.id), (1, nobody))
    assert pointer == f"{at}/1/player_id"
    assert f"There is no player '{nobody}'" in detail
    pointer, detail = reserved((3, bob.id))
    assert pointer == f"{at}/0/seat"
    assert detail == "There is no seat 3. The seats of this game are 0 to 2."
    all_seats = [(0, bob.id), (1, new_player(ada.url).id), (2, new_player(ada.url).id)]
    assert reserved(*all_seats)[0] == at


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


def test_the_lobby_lists_games_by_their_number_of_seats_and_by_free_seats(
    new_players: NewPlayers, stranger: Client
) -> None:
    ada, bob, eve = new_players(3)
    free = ada.create(3, "contrast")["id"]
    reserved = ada.create(
        3,
        "contrast",
        reserved_seats=[
            {"seat": 1, "player_id": bob.id},
            {"seat": 2, "player_id": eve.id},
        ],
    )["id"]
    for_two = ada.create(2, "contrast")["id"]
    full = seated([ada, bob], ruleset="contrast")["id"]

    def listed(reader: Client, query: str) -> set[str]:
        return {
            each["id"]
            for each in reader.get(f"/v1/games?limit=100&ruleset=contrast{query}")["items"]
        }

    ours = {free, reserved, for_two, full}
    assert listed(stranger, "&seat_count=3") & ours == {free, reserved}
    assert listed(stranger, "&seat_count=2&status=playing") & ours == {full}
    assert listed(stranger, "&free_seats=true") & ours == {free, for_two}
    assert listed(bob, "&free_seats=true") & ours == {free, for_two, reserved}
    assert listed(bob, "&free_seats=true&seat_count=3&status=open") & ours == {free, reserved}
    assert listed(bob, "&free_seats=true&status=playing") & ours == set()
    assert listed(bob, "&free_seats=false") & ours == ours
    for parameter, value in (("seat_count", "7"), ("seat_count", "two"), ("free_seats", "yes")):
        problem = stranger.refused("invalid_request", "GET", f"/v1/games?{parameter}={value}")
        assert problem["errors"][0]["parameter"] == parameter


def test_a_filtered_list_is_paged_without_gaps_or_repetitions(ada: Client) -> None:
    games = []
    with ada.unchecked():
        for _ in range(5):
            games.append(ada.create(5, "contrast")["id"])
            for seat_count in (2, 3, 4):
                ada.create(seat_count, "contrast")
    path = "/v1/games?ruleset=contrast&seat_count=5&free_seats=true&limit=2"
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = ada.get(f"{path}{cursor and '&cursor=' + cursor}")
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert [each for each in seen if each in games] == games[::-1]
    assert len(seen) == len(set(seen))


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


def test_events_are_read_in_pages_from_any_cursor(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    events = f"/v1/games/{game['id']}/events"
    everything = ada.get(events)["items"]
    assert [item["version"] for item in everything] == [1, 2, 3]
    page = ada.get(f"{events}?limit=1")
    assert (page["items"], page["more"], page["reset"]) == (everything[:1], True, False)
    page = ada.get(f"{events}?since={page['cursor']}&limit=1")
    assert (page["items"], page["more"]) == (everything[1:2], True)
    page = ada.get(f"{events}?since={page['cursor']}&limit=1")
    assert (page["items"], page["more"], page["reset"]) == (everything[2:], False, False)
    assert page["cursor"] == game["cursor"]
    page = ada.get(f"{events}?since={page['cursor']}")
    assert (page["items"], page["cursor"], page["more"]) == ([], game["cursor"], False)
    assert not page["reset"]
    for never in ("99-0123456789abcdef", "3-0123456789abcdef", "1-3-0123456789abcdef"):
        page = ada.get(f"{events}?since={never}")
        assert (page["items"], page["cursor"], page["reset"]) == ([], game["cursor"], True)


def test_a_cursor_goes_on_where_it_was_given_whatever_happens_after_it(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    game = seated([ada, bob])
    events = f"/v1/games/{game['id']}/events"
    pages = [ada.get(f"{events}?limit=2"), ada.get(events)]
    cursors = [game["cursor"], *(page["cursor"] for page in pages)]
    had = [3, 2, 3]
    play_out([ada, bob], game["id"], rng)
    everything = ada.get(events)["items"]
    for cursor, number in zip(cursors, had, strict=True):
        page = ada.get(f"{events}?since={cursor}")
        assert (page["items"], page["reset"]) == (everything[number:], False)


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
    invitations = players[0].get("/v1/me/games?status=invited")["items"]
    assert [each["id"] for each in invitations] == [new["id"]]
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
