"""The house: it takes empty seats, plays on for who leaves, and moves for who takes too long."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine.registry import RULESETS
from tests.support.api_client import Client, NewPlayers, play_out, seated, start_countdown
from tests.support.service import Service
from tests.support.stored_games import make_late


def of_house(item: Any) -> bool:
    return item["by"] == "house"


@pytest.mark.parametrize("level", ["random", "careful"])
@pytest.mark.parametrize("ruleset", RULESETS)
def test_one_player_plays_against_the_house_with_two_calls_a_move(
    ada: Client, rng: random.Random, ruleset: str, level: str
) -> None:
    seats = 4
    game = ada.create(seats, ruleset, house=[level] * 3)
    assert game["status"] == "playing"
    assert [seat["house"] for seat in game["seats"]] == [None, *[level] * 3]
    ada.checked = False
    result = None
    while result is None:
        (waiting,) = ada.get("/v1/me/turns")["items"]
        assert waiting["you"] == 0
        assert 0 in waiting["to_move"]
        played = ada.play(game["id"], waiting["turn"], rng.choice(waiting["legal_moves"]))
        result = played["game"]["result"]
        assert played["items"][0]["by"] == "player"
        assert {item["by"] for item in played["items"][1:]} <= {"house", "table"}
    assert len(result["scores"]) == seats
    record = ada.get(f"/v1/games/{game['id']}/record")
    assert {move["by"] for move in record["moves"]} == {"player", "house"}
    ada.checked = True
    assert ada.post("/v1/analysis", record)["result"] == result


def test_a_move_is_answered_with_the_replies_of_the_house_again_and_again(ada: Client) -> None:
    game = ada.create(4, house=["random"] * 3)
    own = ada.game(game["id"])
    first = ada.play(game["id"], own["turn"], own["legal_moves"][0])
    assert [item["by"] for item in first["items"]] == ["player", "house", "house", "house"]
    assert first["game"]["to_move"] == [0]
    assert ada.play(game["id"], own["turn"], own["legal_moves"][0]) == first
    assert first["game"]["turn"] == own["turn"] + 4


def test_the_host_starts_with_the_house_in_the_empty_seats(ada: Client, bob: Client) -> None:
    game = ada.create(4)
    bob.join(game["id"])
    path = f"/v1/games/{game['id']}"
    bob.refused("not_host", "POST", f"{path}/start")
    started = ada.post(f"{path}/start")
    assert started["status"] == "playing"
    assert [seat["house"] for seat in started["seats"]] == [None, None, "careful", "careful"]
    assert set(started["to_move"]) <= {0, 1}
    items = ada.get(f"{path}/events")["items"]
    types = [item["events"][0]["type"] for item in items[:5]]
    assert types == [*["seat_taken"] * 2, *["seat_handed_over"] * 2, "game_started"]
    assert [item["version"] for item in items] == list(range(1, started["version"] + 1))


def test_the_house_does_not_play_alone(ada: Client) -> None:
    game = ada.create(2, take_seat=False)
    ada.refused("no_players", "POST", f"/v1/games/{game['id']}/start")
    assert ada.game(game["id"])["status"] == "open"


def test_the_house_plays_on_for_who_leaves_and_gives_the_seat_back_to_nobody_else(
    ada: Client, bob: Client, eve: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob])["id"]
    path = f"/v1/games/{game_id}"
    left = bob.delete(f"{path}/seats/me")
    assert (left["you"], left["table"]["hand"], left["legal_moves"]) == (None, None, [])
    assert left["seats"][1]["player"]["id"] == bob.id
    assert left["seats"][1]["house"] == "careful"
    assert left["to_move"] == [0]
    assert bob.delete(f"{path}/seats/me") == left
    assert bob.get("/v1/me/turns")["items"] == []
    body = {"turn": left["turn"], "move": ada.game(game_id)["legal_moves"][0]}
    bob.refused("not_seated", "POST", f"{path}/moves", body)
    eve.refused("game_full", "POST", f"{path}/seats", {})
    eve.refused("game_full", "POST", f"{path}/seats", {"seat": 1})
    bob.refused("game_full", "POST", f"{path}/seats", {"seat": 0})

    played = ada.play(game_id, body["turn"], body["move"])
    assert [item["by"] for item in played["items"]] == ["player", "house"]
    back = bob.join(game_id)
    assert back["you"] == 1
    assert back["seats"][1]["house"] is None
    assert len(back["table"]["hand"]) == 5
    assert bob.join(game_id) == back
    assert ada.play_first(game_id)["game"]["to_move"] == [1]
    game = play_out([ada, bob], game_id, rng)
    assert game["status"] == "finished"
    types = {
        event["type"] for item in ada.get(f"{path}/events")["items"] for event in item["events"]
    }
    assert {"seat_handed_over", "seat_taken_back"} <= types


def test_a_player_who_left_is_told_which_seat_to_take_back(
    ada: Client, bob: Client, eve: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob])["id"]
    path = f"/v1/games/{game_id}"
    assert bob.game(game_id)["left_seat"] is None
    bob.delete(f"{path}/seats/me")
    assert [each.game(game_id)["left_seat"] for each in (ada, bob, eve)] == [None, 1, None]
    tags = {each.request("GET", path).headers["ETag"] for each in (bob, eve)}
    assert len(tags) == 2
    (mine,) = bob.get("/v1/me/games")["items"]
    assert (mine["you"], mine["left_seat"]) == (None, 1)
    assert bob.join(game_id, seat=mine["left_seat"])["left_seat"] is None
    bob.delete(f"{path}/seats/me")
    assert play_out([ada, bob], game_id, rng)["status"] == "finished"
    assert bob.game(game_id)["left_seat"] is None


def test_a_game_that_the_last_person_leaves_is_cancelled(ada: Client, bob: Client) -> None:
    game_id = seated([ada, bob])["id"]
    path = f"/v1/games/{game_id}"
    ada.delete(f"{path}/seats/me")
    over = bob.delete(f"{path}/seats/me")
    assert (over["status"], over["result"], over["to_move"]) == ("cancelled", None, [])
    last = ada.get(f"{path}/events")["items"][-1]
    assert (last["by"], last["events"]) == ("table", [{"type": "game_cancelled"}])
    assert {"id": game_id, "result": None} in ada.get("/v1/me/turns")["ended"]
    record = ada.get(f"{path}/record")
    assert record["result"] is None
    assert ada.post("/v1/analysis", record)["result"] is None
    ada.refused("game_over", "POST", f"{path}/seats", {})


def test_who_left_a_game_has_room_for_another(new_players: NewPlayers) -> None:
    ada, bob = new_players(2)
    ada.checked = bob.checked = False
    games = [ada.create(3, house=["random"])["id"] for _ in range(100)]
    body = {"ruleset": "parade", "seat_count": 2}
    ada.refused("too_many_games", "POST", "/v1/games", body)
    bob.join(games[0])
    ada.delete(f"/v1/games/{games[0]}/seats/me")
    assert ada.create()["status"] == "open"


# --- Clocks ---------------------------------------------------------------------------------


def test_a_turn_has_a_deadline_that_the_next_one_moves(ada: Client, bob: Client) -> None:
    game = seated([ada, bob], turn_seconds=3600)
    mover = (ada, bob)[game["to_move"][0]]
    after = mover.play_first(game["id"])["game"]
    assert game["started_at"] < game["deadline"] < after["deadline"]


def test_the_house_makes_one_move_for_a_seat_whose_time_is_up(
    service: Service, ada: Client, bob: Client
) -> None:
    game = seated([ada, bob], turn_seconds=3600)
    path = f"/v1/games/{game['id']}"
    late = (ada, bob)[game["to_move"][0]]
    own = late.game(game["id"])
    make_late(service, game["id"], 3_600_000)
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    late.refused("stale_turn", "POST", f"{path}/moves", body)
    after = late.game(game["id"])
    assert after["version"] == own["version"] + 1
    assert after["turn"] == own["turn"] + 1
    assert after["to_move"] == [1 - own["you"]]
    assert after["deadline"] > own["deadline"]
    (item,) = ada.get(f"{path}/events?since={own['cursor']}")["items"]
    assert (item["by"], item["seat"], item["turn"]) == ("clock", own["you"], own["turn"])
    assert item["events"][0] == {"type": "time_ran_out", "seat": own["you"]}
    assert item["events"][1]["type"] == "card_played"
    assert late.game(game["id"])["seats"][own["you"]]["house"] is None


def test_the_house_takes_the_seat_of_a_player_who_misses_two_turns_in_a_row(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(4)
    game = seated(players, turn_seconds=3600)
    path = f"/v1/games/{game['id']}"
    gone = players[game["to_move"][0]]
    seat = players.index(gone)
    make_late(service, game["id"], 3_600_000)
    game = players[seat - 1].game(game["id"])
    assert game["seats"][seat]["house"] is None
    for _ in range(3):
        game = players[game["to_move"][0]].play_first(game["id"])["game"]
    assert game["to_move"] == [seat]
    make_late(service, game["id"], 3_600_000)

    after = gone.game(game["id"])
    assert (after["you"], after["seats"][seat]["house"]) == (None, "careful")
    assert after["seats"][seat]["player"]["id"] == gone.id
    items = gone.get(f"{path}/events?since={game['cursor']}")["items"]
    assert [(item["by"], item["seat"]) for item in items] == [("clock", seat), ("table", seat)]
    (event,) = items[1]["events"]
    assert event == {"type": "seat_handed_over", "seat": seat, "house": "careful", "cause": "time"}
    body = {
        "turn": after["turn"],
        "move": players[after["to_move"][0]].game(game["id"])["legal_moves"][0],
    }
    gone.refused("not_seated", "POST", f"{path}/moves", body)
    for _ in range(3):
        played = players[after["to_move"][0]].play_first(game["id"])
        after = played["game"]
    # From now on the house plays at once.
    assert [item["by"] for item in played["items"]] == ["player", "house"]

    back = gone.join(game["id"])
    assert (back["you"], back["seats"][seat]["house"]) == (seat, None)


def test_a_table_of_four_whose_player_vanishes_waits_for_two_turns_in_all(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(4)
    gone = players[1]
    game_id = seated(players, turn_seconds=5)["id"]
    waited = 0
    game = players[0].game(game_id)
    for player in players:
        player.checked = False
    while game["status"] == "playing":
        mover = players[game["to_move"][0]]
        if mover is gone:
            waited += 1
            make_late(service, game_id, 5000)
        else:
            mover.play_first(game_id)
        game = players[0].game(game_id)
    assert (game["status"], waited) == ("finished", 2)


def test_the_event_of_a_seat_that_the_house_gets_tells_its_cause(ada: Client, bob: Client) -> None:
    game_id = ada.create(3)["id"]
    bob.join(game_id)
    ada.post(f"/v1/games/{game_id}/start")
    bob.delete(f"/v1/games/{game_id}/seats/me")
    events = [
        event
        for item in ada.get(f"/v1/games/{game_id}/events")["items"]
        for event in item["events"]
        if event["type"] == "seat_handed_over"
    ]
    assert [(each["seat"], each["cause"]) for each in events] == [(2, "start"), (1, "left")]


def test_who_asks_for_turns_is_told_of_the_end_that_the_clock_then_brings(
    service: Service, new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(3)
    game_id = seated(players)["id"]
    while players[0].game(game_id)["table"]["phase"] != "discard":
        play_out(players, game_id, rng, moves=1)
    before = players[0].get("/v1/me/turns")
    assert [game["id"] for game in before["items"]] == [game_id]
    make_late(service, game_id, 86_400_000)
    told = players[0].get(f"/v1/me/turns?since={before['cursor']}")
    assert told["items"] == []
    assert [game["id"] for game in told["ended"]] == [game_id]


def test_every_seat_that_has_not_moved_in_a_shared_turn_is_late_at_once(
    service: Service, new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(3)
    game_id = seated(players)["id"]
    while players[0].game(game_id)["table"]["phase"] != "discard":
        play_out(players, game_id, rng, moves=1)
    players[1].play_first(game_id)
    make_late(service, game_id, 86_400_000)
    over = players[0].game(game_id)
    assert over["status"] == "finished"
    record = players[0].get(f"/v1/games/{game_id}/record")
    assert [(move["seat"], move["by"]) for move in record["moves"][-3:]] == [
        (1, "player"),
        (0, "clock"),
        (2, "clock"),
    ]


def test_a_real_clock_runs_out_for_whoever_looks_first(ada: Client, bob: Client) -> None:
    game = seated([ada, bob], turn_seconds=5)
    time.sleep(5.2)
    waiting = [len(player.get("/v1/me/turns")["items"]) for player in (ada, bob)]
    after = ada.game(game["id"])
    assert after["turn"] == 2
    assert sorted(waiting) == [0, 1]


def test_many_who_touch_a_game_at_its_deadline_settle_it_once(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(2)
    game = seated(players, turn_seconds=3600)
    make_late(service, game["id"], 3_600_000)

    def touch(number: int) -> int:
        reader = Client(service.url, players[number % 2].token, checked=False)
        return int(reader.game(game["id"])["turn"])

    with ThreadPoolExecutor(40) as threads:
        assert set(threads.map(touch, range(200))) == {2}
    items = players[0].get(f"/v1/games/{game['id']}/events?since={game['cursor']}")["items"]
    assert [item["by"] for item in items] == ["clock"]


def test_contrasts_countdown_is_earlier_than_the_turns_end_or_the_turns_end_counts(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(3)
    options = {"countdown_seconds": 3600}
    game_id = seated(players, ruleset="contrast", options=options, turn_seconds=60)["id"]
    turn_ends = players[0].game(game_id)["deadline"]
    counted = start_countdown(players, game_id)
    assert counted["deadline"] == turn_ends  # the turn ends before the countdown would
    make_late(service, game_id, 60_000)
    after = players[0].game(game_id)
    assert after["table"]["last_turn"]["counted_out"] is None
    choices = after["table"]["last_turn"]["choices"]
    assert [each["seat"] for each in choices] == [0, 1, 2]


def test_a_countdown_that_was_looked_at_very_late_has_still_run_out_first(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(3)
    options = {"countdown_seconds": 3}
    game_id = seated(players, ruleset="contrast", options=options, turn_seconds=60)["id"]
    start_countdown(players, game_id)
    make_late(service, game_id, 3_600_000)
    assert players[0].game(game_id)["table"]["last_turn"]["counted_out"] == 2


@pytest.mark.parametrize("sooner_ms", [15, 5, 0, -5])
def test_all_copies_of_a_move_that_meets_the_deadline_have_one_outcome(
    service: Service, new_players: NewPlayers, sooner_ms: int
) -> None:
    """Either it was in time, for every copy, or the clock came first, for every copy."""
    players = new_players(3)
    options = {"countdown_seconds": 1}
    game_id = seated(players, ruleset="contrast", options=options)["id"]
    start_countdown(players, game_id)
    counted_at = time.monotonic()
    own = players[2].game(game_id)
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    path = f"/v1/games/{game_id}/moves"

    def send(_: int) -> int:
        copy = Client(service.url, players[2].token, checked=False)
        copy.request("GET", "/livez")
        time.sleep(max(counted_at + 1 - sooner_ms / 1000 - time.monotonic(), 0))
        return copy.request("POST", path, json=body).status_code

    with ThreadPoolExecutor(12) as threads:
        statuses = set(threads.map(send, range(12)))
    assert statuses in ({200}, {409})
    items = players[0].get(f"/v1/games/{game_id}/events?since={own['cursor']}")["items"]
    assert [item["by"] for item in items] == (["player"] if statuses == {200} else ["clock"])


def test_games_that_one_has_left_hide_none_that_waits(new_players: NewPlayers) -> None:
    ada, bob = new_players(2)
    ada.checked = bob.checked = False
    waiting = ada.create(2, house=["random"])
    for _ in range(103):
        game = ada.create(3, house=["random"])
        bob.join(game["id"])
        ada.delete(f"/v1/games/{game['id']}/seats/me")
        bob.delete(f"/v1/games/{game['id']}/seats/me")
    left = ada.create(3, house=["random"])
    bob.join(left["id"])
    ada.delete(f"/v1/games/{left['id']}/seats/me")
    turns = ada.get("/v1/me/turns")["items"]
    assert [each["id"] for each in turns] == [waiting["id"]]
    back = ada.join(left["id"])
    assert back["you"] == 0
    if 0 in back["to_move"]:
        assert len(ada.get("/v1/me/turns")["items"]) == 2


def test_a_ticket_ends_when_its_player_leaves_though_it_comes_back(
    ada: Client, bob: Client
) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}"
    ticket = bob.post(f"{path}/stream-tickets", status=201)["ticket"]
    bob.delete(f"{path}/seats/me")
    bob.join(path.rpartition("/")[2])
    bob.refused("invalid_ticket", "GET", f"{path}/stream?ticket={ticket}")


def test_a_rematch_without_room_is_not_announced_and_one_called_off_can_be_had_again(
    new_players: NewPlayers, rng: random.Random
) -> None:
    ada, bob = new_players(2)
    old = play_out([ada, bob], seated([ada, bob])["id"], rng)
    path = f"/v1/games/{old['id']}/rematch"
    with ada.unchecked():
        games = [ada.create()["id"] for _ in range(100)]
    ada.refused("too_many_games", "POST", path)
    assert bob.game(old["id"])["rematch"] is None
    ada.delete(f"/v1/games/{games[0]}")
    first = bob.post(path, status=201)
    bob.delete(f"/v1/games/{first['id']}")
    second = ada.post(path, status=201)
    assert second["id"] != first["id"]
    assert bob.post(path)["status"] == "playing"
