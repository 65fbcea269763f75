"""Analysis: the recorded games of another program, and what is refused."""

import json
from typing import Any

import pytest

from tests.support.api_client import Client, play_out, seated
from tests.support.recordings import Game, Recording, as_set, recordings


@pytest.mark.parametrize(
    "recording",
    recordings(),
    ids=lambda recording: recording.name,
)
def test_recorded_games_replay_step_by_step(stranger: Client, recording: Recording) -> None:
    for game in recording.games:
        body = {
            "ruleset": game["ruleset"],
            "seat_count": game["seats"],
            "options": game["options"],
            "deal": game["deal"],
            "moves": [
                {"type": "countdown_ran_out"}
                if step.get("expire")
                else {"type": "move", "seat": step["seat"], "move": step["move"]}
                for step in game["steps"]
            ],
            "trace": True,
        }
        analysis = stranger.post("/v1/analysis", body)
        # The other program told the scores and the winners.
        result = {name: analysis["result"][name] for name in game["result"]}
        assert result == game["result"]
        assert analysis["to_move"] == []
        for step, seen in zip(game["steps"], analysis["steps"], strict=True):
            assert seen["to_move"] == step["to_move"]
            for seat, moves in enumerate(seen["legal_moves"]):
                assert as_set(moves) == as_set(step["legal"].get(str(seat), []))


def test_a_trace_shows_what_the_game_showed_before_each_move(stranger: Client, record: Any) -> None:
    moves = record["moves"]
    whole = {reader: stranger.post("/v1/analysis", traced(record, reader)) for reader in (0, None)}
    for count in range(0, len(moves), 7):
        part = stranger.post("/v1/analysis", {**record, "moves": moves[:count]})
        for reader, analysis in whole.items():
            step = analysis["steps"][count]
            assert step["table"] == (part["spectator"] if reader is None else part["views"][reader])
            assert analysis["events"][: step["event_count"]] == part["events"]
            assert step["to_move"] == part["to_move"]


def traced(record: Any, reader: int | None) -> dict[str, Any]:
    return {**record, "trace": True, "seat": reader}


def test_a_trace_is_seen_from_a_seat_of_the_game_only(stranger: Client, record: Any) -> None:
    problem = stranger.refused("invalid_request", "POST", "/v1/analysis", traced(record, 2))
    assert problem["errors"][0]["pointer"] == "#/seat"


@pytest.fixture
def record(ada: Client, bob: Client, rng: Any) -> Any:
    game = play_out([ada, bob], seated([ada, bob])["id"], rng)
    return ada.get(f"/v1/games/{game['id']}/record")


def test_a_record_names_its_ruleset_in_the_deal_and_in_the_text_of_the_deal(record: Any) -> None:
    assert record["deal"]["ruleset"] == record["ruleset"]
    text = json.loads(record["deal_text"])
    assert {name: text[name] for name in record["deal"]} == record["deal"]
    assert text.keys() - record["deal"].keys() == {"salt"}


@pytest.mark.parametrize("name", ["parade-2", "contrast-3"])
def test_a_record_of_0_1_is_accepted(stranger: Client, name: str) -> None:
    """Its moves have no type, and its deal does not name the ruleset."""
    (recording,) = (each for each in recordings() if each.name == name)
    game = next(each for each in recording.games if name[0] == "p" or expires(each))
    moves = [
        {"expire": True, "turn": 1, "at": "2026-11-29T00:00:00.000Z"}
        if step.get("expire")
        else {"seat": step["seat"], "move": step["move"], "turn": 1, "by": "player"}
        for step in game["steps"]
    ]
    body = {
        "ruleset": game["ruleset"],
        "seat_count": game["seats"],
        "options": game["options"],
        "deal": game["deal"],
        "moves": moves,
    }
    assert "ruleset" not in game["deal"]
    assert stranger.post("/v1/analysis", body)["result"]["scores"] == game["result"]["scores"]


def expires(game: Game) -> bool:
    return any(step.get("expire") for step in game["steps"])


def test_an_illegal_move_is_named_by_its_index(stranger: Client, record: Any) -> None:
    record["moves"][3], record["moves"][4] = record["moves"][4], record["moves"][3]
    problem = stranger.refused("illegal_move", "POST", "/v1/analysis", record)
    assert problem["errors"][0]["pointer"] == "#/moves/3"
    assert problem["rule"] == "not_your_turn"
    assert problem["detail"].startswith("Move 3:")


def test_a_move_after_the_end_is_illegal(stranger: Client, record: Any) -> None:
    record["moves"].append(record["moves"][-1])
    problem = stranger.refused("illegal_move", "POST", "/v1/analysis", record)
    assert problem["rule"] == "game_over"


def test_a_countdown_that_does_not_run_cannot_run_out(stranger: Client, record: Any) -> None:
    record["moves"][0] = {"type": "countdown_ran_out"}
    problem = stranger.refused("illegal_move", "POST", "/v1/analysis", record)
    assert (problem["rule"], problem["errors"][0]["pointer"]) == ("no_countdown", "#/moves/0")


def test_a_part_of_a_game_tells_whose_move_it_is(stranger: Client, record: Any) -> None:
    start = stranger.post("/v1/analysis", {**record, "moves": []})
    assert start["to_move"] == [record["deal"]["first_seat"]]
    assert start["result"] is None
    assert [view["hand"] for view in start["views"]] == record["deal"]["hands"]
    assert start["spectator"]["hand"] is None
    assert "steps" not in start


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        (["deal", "first_seat"], 2, "#/deal/first_seat"),
        (["deal", "first_seat"], "0", "#/deal/first_seat"),
        (["deal", "hands", 0], [], "#/deal/hands/0"),
        (["deal", "hands", 1, 2], "red-11", "#/deal/hands/1/2"),
        (["deal", "hands", 1, 2], 7, "#/deal/hands/1/2"),
        (["deal", "pile"], [], "#/deal/pile"),
        (["deal", "parade"], None, "#/deal/parade"),
        (["deal", "jokers"], 2, "#/deal/jokers"),
        (["deal", "ruleset"], "tea-time", "#/deal/ruleset"),
        (["deal", "ruleset"], None, "#/deal/ruleset"),
    ],
)
def test_a_deal_that_no_shuffle_could_give_is_refused_with_a_pointer(
    stranger: Client, record: Any, path: list[Any], value: Any, pointer: str
) -> None:
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    problem = stranger.refused("invalid_deal", "POST", "/v1/analysis", record)
    assert problem["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"deal": 7}, "#/deal"),
        ({"moves": 7}, "#/moves"),
        ({"moves": [7]}, "#/moves/0"),
        ({"moves": [{}]}, "#/moves/0/type"),
        ({"moves": [{"seat": 0}]}, "#/moves/0/type"),
        ({"moves": [{"type": "pass"}]}, "#/moves/0/type"),
        ({"moves": [{"type": "move", "seat": 0}]}, "#/moves/0/move"),
        (
            {"moves": [{"type": "move", "move": {"type": "play", "card": "red-7"}}]},
            "#/moves/0/seat",
        ),
        ({"moves": [{"move": {"type": "play", "card": "red-7"}}]}, "#/moves/0/seat"),
        ({"moves": [{"seat": 2, "move": {"type": "play", "card": "red-7"}}]}, "#/moves/0/seat"),
        ({"moves": [{"seat": 0, "move": {"type": "fly"}}]}, "#/moves/0/move/type"),
        ({"moves": [{"seat": 1, "move": {"type": "fly"}}]}, "#/moves/0/move/type"),
        ({"moves": [{"expire": False}]}, "#/moves/0/type"),
        (
            {"moves": [{"expire": True, "seat": 0, "move": {"type": "play", "card": "red-7"}}]},
            "#/moves/0",
        ),
        ({"ruleset": "chess"}, "#/ruleset"),
        ({"seat_count": 9}, "#/seat_count"),
        ({"options": {"x": 1}}, "#/options/x"),
        ({"trace": 1}, "#/trace"),
        ({"seat": 6}, "#/seat"),
    ],
)
def test_a_malformed_analysis_is_refused_with_a_pointer(
    stranger: Client, record: Any, members: Any, pointer: str
) -> None:
    problem = stranger.refused("invalid_request", "POST", "/v1/analysis", {**record, **members})
    assert pointer in [error["pointer"] for error in problem["errors"]]
