"""What a front end needs to draw a table: names instead of positions, and results that add up."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, new_player, play_out, seated
from tests.support.service import Service

SEATS = {"parade": 3, "tea-time": 2, "contrast": 3, "mit-list-und-tuecke": 4}

PREVIEWS = {
    "parade": "parade_play",
    "tea-time": "tea_time_pick",
    "contrast": "nothing",
    "mit-list-und-tuecke": "mit_list_und_tuecke_play",
}
"""The type of the previews at the first turn of each game."""


def new_game(players: list[Client], ruleset: str, **members: Any) -> Any:
    return seated(players[: SEATS[ruleset]], ruleset=ruleset, **members)


def mover_of(players: list[Client], game: Any) -> Client:
    return players[game["to_move"][0]]


def cards_by_cell(game: Any) -> dict[str, str | None]:
    return {each["cell"]: each["card"] for line in game["table"]["grid"] for each in line}


def events_of(played: Any) -> list[Any]:
    return [event for item in played["items"] for event in item["events"]]


def lists_in(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from lists_in(each)


def points_of(breakdown: Any) -> list[int]:
    """The points of each seat, added up from the lines of a breakdown."""
    if breakdown["ruleset"] == "parade":
        return [sum(line["points"] for line in seat["colors"]) for seat in breakdown["seats"]]
    if breakdown["ruleset"] == "tea-time":
        return [
            sum(line["points"] for line in seat["characters"]) + seat["alice"]
            for seat in breakdown["seats"]
        ]
    if breakdown["ruleset"] == "contrast":
        pictures: list[int] = breakdown["pictures"]
        return pictures
    rounds = [[seat["points"] for seat in each] for each in breakdown["rounds"]]
    return [sum(points) for points in zip(*rounds, strict=True)]


def test_the_card_of_alice_is_named_alice_and_not_as_the_game_is(
    new_players: NewPlayers,
) -> None:
    players = new_players(2)
    names = [each["name"] for each in players[0].get("/v1/rulesets/tea-time")["components"]]
    assert "alice" in names
    assert "tea-time" not in names
    game = new_game(players, "tea-time")
    # The first seat takes one card, and lays Alice into the cell.
    played = mover_of(players, game).play_first(game["id"])
    (laid,) = (each for each in events_of(played) if each["type"] == "alice_laid")
    assert cards_by_cell(played["game"])[laid["cell"]] == "alice"


def test_tea_time_lies_on_a_checkerboard_unless_rows_are_asked_for(
    new_players: NewPlayers,
) -> None:
    players = new_players(2)
    assert new_game(players, "tea-time")["options"]["grid"] == "checkerboard"
    rows = new_game(players, "tea-time", options={"grid": "rows"})
    assert rows["options"]["grid"] == "rows"


def test_each_cell_of_the_grid_tells_its_name_and_its_card(new_players: NewPlayers) -> None:
    players = new_players(2)
    game = new_game(players, "tea-time")
    mover = mover_of(players, game)
    own = mover.game(game["id"])
    for row, line in enumerate(own["table"]["grid"], 1):
        names = [f"{letter}{row}" for letter in "abcdefghij"[: len(line)]]
        assert [each["cell"] for each in line] == names
    cards = cards_by_cell(own)
    assert all(cards[cell] for move in own["legal_moves"] for cell in move["cells"])
    (taken,) = own["legal_moves"][0]["cells"]
    played = mover.play(game["id"], own["turn"], own["legal_moves"][0])
    after = cards_by_cell(played["game"])
    assert {cell for cell in cards if after[cell] != cards[cell]} == {taken}


@pytest.mark.parametrize("ruleset", SEATS)
def test_previews_are_told_apart_by_their_type(new_players: NewPlayers, ruleset: str) -> None:
    players = new_players(4)
    game = new_game(players, ruleset)
    moves = mover_of(players, game).get(f"/v1/games/{game['id']}/legal-moves?previews=true")
    assert {each["type"] for each in moves["previews"]} == {PREVIEWS[ruleset]}


@pytest.fixture(scope="module", params=SEATS)
def played(request: pytest.FixtureRequest, service: Service) -> list[Any]:
    """What is answered about a game from its start to its end. The last one shows its end."""
    rng = random.Random(20_141_101)
    players = [new_player(service.url) for _ in range(SEATS[request.param])]
    game_id = seated(players, ruleset=request.param)["id"]
    path = f"/v1/games/{game_id}"
    answers = [players[0].game(game_id)]
    for _ in range(6):
        game = play_out(players, game_id, rng, moves=1)
        answers += [each.game(game_id) for each in players]
        if game["status"] == "playing":
            answers.append(mover_of(players, game).get(f"{path}/legal-moves?previews=true"))
    ended = play_out(players, game_id, rng)
    return [*answers, players[0].get(f"{path}/events"), players[0].get(f"{path}/record"), ended]


def test_no_list_of_an_answer_holds_null(played: list[Any]) -> None:
    assert all(None not in each for answer in played for each in lists_in(answer))


def test_the_time_for_a_turn_is_told_in_games_and_in_lists(new_players: NewPlayers) -> None:
    (ada,) = new_players(1)
    game = ada.create(2, turn_seconds=90)
    assert ada.game(game["id"])["turn_seconds"] == 90
    (listed,) = ada.get("/v1/me/games")["items"]
    assert listed["turn_seconds"] == 90


def test_a_result_is_explained_by_a_breakdown_that_adds_up_and_by_ranks(played: list[Any]) -> None:
    ruleset, result = played[-1]["ruleset"], played[-1]["result"]
    assert result["breakdown"]["ruleset"] == ruleset
    assert points_of(result["breakdown"]) == result["scores"]
    assert result["best"] == ("lowest" if ruleset == "parade" else "highest")
    winners = [seat for seat, rank in enumerate(result["ranks"]) if rank == 1]
    assert winners == result["winners"]
    sign = 1 if result["best"] == "lowest" else -1
    for rank, score in zip(result["ranks"], result["scores"], strict=True):
        better = sum(sign * other < sign * score for other in result["scores"])
        assert rank > better


def test_the_standing_of_a_game_becomes_its_scores(played: list[Any]) -> None:
    first, ended = played[0], played[-1]
    assert len(first["table"]["standing"]) == SEATS[ended["ruleset"]]
    assert ended["table"]["standing"] == ended["result"]["scores"]
