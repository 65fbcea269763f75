"""All games over HTTP alike: catalogue, options, previews, and Contrast's countdown."""

import random
import time
from typing import Any

import pytest

from engine.registry import RULESETS
from tests.support.api_client import Client, NewPlayers, play_out, seated
from tests.support.service import Service
from tests.support.stored_games import make_late


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_rules_are_told_in_the_readers_language(
    stranger: Client, ruleset: str, language: str
) -> None:
    headers = {"Accept-Language": f"xx, {language};q=0.8"}
    answer = stranger.request("GET", f"/v1/rulesets/{ruleset}", headers=headers)
    assert answer.headers["Content-Language"] == language
    assert "Accept-Language" in answer.headers["Vary"]
    heading = {"en": "## Rulings", "fr": "## Décisions"}[language]
    assert heading in answer.json()["rules"]


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        ("en-US, fr;q=0.5", "en"),
        ("fr-CA, en;q=0.5", "fr"),
        ("fr-CH, en-US;q=0.7, en;q=0.3", "fr"),
        ("en-GB,fr", "en"),
        ("en;q=0.2, FR;q=0.9", "fr"),
        ("fr;q=0, en", "en"),
        ("fr;q=0", "en"),
        ("*", "en"),
    ],
)
def test_the_region_of_a_language_does_not_matter_but_its_order_does(
    stranger: Client, wanted: str, language: str
) -> None:
    answer = stranger.request("GET", "/v1/rulesets", headers={"Accept-Language": wanted})
    assert answer.headers["Content-Language"] == language


def test_the_rules_are_told_in_english_to_whom_does_not_say(stranger: Client) -> None:
    answer = stranger.request("GET", "/v1/rulesets", headers={"Accept-Language": "de"})
    assert answer.headers["Content-Language"] == "en"
    assert [each["ruleset"] for each in answer.json()["items"]] == list(RULESETS)


def test_the_words_of_a_game_are_told_in_the_readers_language(stranger: Client) -> None:
    told = {}
    for language in ("en", "fr"):
        answer = stranger.request(
            "GET", "/v1/rulesets/parade", headers={"Accept-Language": language}
        ).json()
        cards = {each["name"]: each["title"] for each in answer["components"]}
        titles = {each["name"]: each["title"] for each in answer["titles"]}
        moves = {each["type"]: each["title"] for each in answer["move_types"]}
        told[language] = (cards["red-7"], titles["purple"], moves["play"])
    assert told == {
        "en": ("red 7", "purple", "Play a card"),
        "fr": ("7 rouge", "violet", "Jouer une carte"),
    }


def test_the_choices_of_an_option_have_titles(stranger: Client) -> None:
    (grid,) = stranger.get("/v1/rulesets/tea-time")["options"]
    assert grid["title"] == "Grid"
    assert [each["value"] for each in grid["choices"]] == ["checkerboard", "rows"]
    assert all(each["title"] for each in grid["choices"])


def test_the_reason_for_which_a_move_is_refused_has_a_text_for_people(
    ada: Client, bob: Client
) -> None:
    game = seated([ada, bob])
    path = f"/v1/games/{game['id']}/moves"
    mover = (ada, bob)[game["to_move"][0]]
    other = next(
        card["name"]
        for card in mover.get("/v1/rulesets/parade")["components"]
        if card["name"] not in mover.game(game["id"])["table"]["hand"]
    )
    body = {"turn": 1, "move": {"type": "play", "card": other}}
    rule = mover.refused("illegal_move", "POST", path, body)["rule"]
    texts = {each["rule"]: each["text"] for each in mover.get("/v1/rulesets/parade")["refusals"]}
    assert texts[rule] == "This card is not in your hand. Choose a card of your hand."


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_option_is_shown_with_its_default(ada: Client, ruleset: str) -> None:
    described = ada.get(f"/v1/rulesets/{ruleset}")
    game = ada.create(described["seat_counts"]["minimum"], ruleset)
    assert game["options"] == {
        option["name"]: option["default"]
        for option in described["options"]
        if option["default"] is not None
    }


@pytest.mark.parametrize(
    ("ruleset", "options", "pointer"),
    [
        ("parade", {"grid": "rows"}, "#/options/grid"),
        ("tea-time", {"grid": "hexagons"}, "#/options/grid"),
        ("tea-time", {"grid": 1}, "#/options/grid"),
        ("tea-time", {"expert": True}, "#/options/expert"),
        ("contrast", {"expert": "yes"}, "#/options/expert"),
        ("contrast", {"expert": 1}, "#/options/expert"),
        ("contrast", {"countdown_seconds": 0}, "#/options/countdown_seconds"),
        ("contrast", {"countdown_seconds": 86401}, "#/options/countdown_seconds"),
        ("contrast", {"countdown_seconds": 3.5}, "#/options/countdown_seconds"),
        ("contrast", {"pictures": "cat"}, "#/options/pictures"),
        ("contrast", {"pictures": ["cat"]}, "#/options/pictures"),
        ("contrast", {"pictures": [f"p{i}" for i in range(75)]}, "#/options/pictures"),
        ("contrast", {"pictures": [*(f"p{i}" for i in range(50)), "p7"]}, "#/options/pictures/50"),
        ("contrast", {"pictures": [*(f"p{i}" for i in range(50)), 7]}, "#/options/pictures/50"),
        (
            "contrast",
            {"pictures": [*(f"p{i}" for i in range(50)), "http://x.example/a.png"]},
            "#/options/pictures/50",
        ),
        (
            "contrast",
            {"pictures": [*(f"p{i}" for i in range(50)), "javascript:alert(1)"]},
            "#/options/pictures/50",
        ),
        ("contrast", {"pictures": ["é" * 190 + f"{i}" for i in range(50)]}, "#/options/pictures"),
        ("mit-list-und-tuecke", {"open_piles": "no"}, "#/options/open_piles"),
    ],
)
def test_a_wrong_option_is_refused_with_a_pointer(
    ada: Client, ruleset: str, options: Any, pointer: str
) -> None:
    body = {"ruleset": ruleset, "seat_count": 4, "options": options}
    problem = ada.refused("invalid_request", "POST", "/v1/games", body)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_pictures_of_ones_own_are_played_with_and_left_out_of_lists(
    ada: Client, bob: Client
) -> None:
    pictures = [f"https://pictures.example/{i}.jpg" for i in range(52)]
    game = seated([ada, bob], ruleset="contrast", options={"pictures": pictures})
    assert game["options"]["pictures"] == pictures
    assert game["table"]["picture"] in pictures
    (listed,) = ada.get("/v1/me/games")["items"]
    assert listed["options"] == {"expert": False, "countdown_seconds": 3}


# --- Previews ------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_moves_are_listed_with_the_previews_that_checking_gives(
    new_players: NewPlayers, rng: random.Random, ruleset: str
) -> None:
    players = new_players(RULESETS[ruleset].min_seats)
    game_id = seated(players, ruleset=ruleset)["id"]
    told = 0
    for _ in range(12):
        play_out(players, game_id, rng, moves=3)
        game = players[0].game(game_id)
        if game["status"] != "playing":
            break
        player = players[game["to_move"][0]]
        path = f"/v1/games/{game_id}/legal-moves"
        assert player.get(path)["previews"] is None
        listed = player.get(f"{path}?previews=true")
        assert listed["moves"] == player.game(game_id)["legal_moves"]
        for move, preview in zip(listed["moves"], listed["previews"], strict=True):
            body = {"turn": listed["turn"], "move": move}
            checked = player.post(f"/v1/games/{game_id}/moves/check", body)
            assert checked["legal"]
            assert checked["preview"] == preview
            told += preview != {"type": "nothing"}
    assert (told > 0) == bool(RULESETS[ruleset].preview_types)


def test_previews_are_asked_for_by_true_or_false(ada: Client, bob: Client) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}/legal-moves"
    assert ada.get(f"{path}?previews=false")["previews"] is None
    for value in ("1", "yes", "True", ""):
        problem = ada.refused("invalid_request", "GET", f"{path}?previews={value}")
        assert problem["errors"][0]["parameter"] == "previews"


# --- Contrast's countdown -------------------------------------------------------------------


def all_but_the_last_choose(players: list[Client], game_id: str) -> Any:
    for player in players[:-1]:
        player.play_first(game_id)
    return players[0].game(game_id)


def test_who_has_laid_a_card_may_count_without_being_waited_for(new_players: NewPlayers) -> None:
    players = new_players(3)
    game_id = seated(players, ruleset="contrast", options={"countdown_seconds": 60})["id"]
    first = players[0].game(game_id)
    players[0].play(game_id, first["turn"], first["legal_moves"][0])
    moves = f"/v1/games/{game_id}/moves"
    body = {"turn": first["turn"], "move": {"type": "count"}}
    assert players[0].refused("illegal_move", "POST", moves, body)["rule"] == "several_missing"
    again = {"turn": first["turn"], "move": first["legal_moves"][1]}
    players[0].refused("already_moved", "POST", moves, again)

    players[1].play_first(game_id)
    game = players[0].game(game_id)
    assert game["to_move"] == [2]
    assert game["legal_moves"] == [{"type": "count"}]
    counted = players[0].play(game_id, game["turn"], {"type": "count"})
    assert counted["game"]["turn"] == game["turn"]
    assert counted["game"]["version"] == game["version"] + 1
    assert counted["game"]["to_move"] == [2]
    assert counted["game"]["table"]["countdown"] == {"by": 0, "missing": 2}
    (event,) = counted["items"][0]["events"]
    assert event == {
        "type": "countdown_started",
        "deadline": counted["game"]["deadline"],
        "by": 0,
        "missing": 2,
    }
    assert players[0].play(game_id, game["turn"], {"type": "count"}) == counted
    players[1].refused("countdown_running", "POST", moves, body)
    # The missing seat is in time, and the turn goes on as any other.
    after = players[2].play_first(game_id)["game"]
    assert after["turn"] == game["turn"] + 1
    assert after["deadline"] > counted["game"]["deadline"]  # the next turn's, in a day


def test_whoever_touches_the_game_after_the_deadline_commits_what_follows_once(
    new_players: NewPlayers,
) -> None:
    players = new_players(3)
    game_id = seated(players, ruleset="contrast", options={"countdown_seconds": 1})["id"]
    game = all_but_the_last_choose(players, game_id)
    late = players[2].game(game_id)
    counted = players[0].play(game_id, game["turn"], {"type": "count"})["game"]
    time.sleep(1.1)

    move = {"turn": late["turn"], "move": late["legal_moves"][0]}
    players[2].refused("stale_turn", "POST", f"/v1/games/{game_id}/moves", move)
    after = Client(players[0].url).game(game_id)
    assert after["turn"] == game["turn"] + 1
    assert after["deadline"] > game["deadline"]
    assert after["table"]["last_turn"]["counted_out"] == 2
    items = players[1].get(f"/v1/games/{game_id}/events?since={counted['cursor']}")["items"]
    assert [(item["by"], item["seat"], item["turn"]) for item in items] == [
        ("clock", None, game["turn"])
    ]


def test_a_missed_deadline_shows_in_the_turns_of_those_who_wait_then(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(3)
    game_id = seated(players, ruleset="contrast", options={"countdown_seconds": 3600})["id"]
    game = all_but_the_last_choose(players, game_id)
    players[1].play(game_id, game["turn"], {"type": "count"})
    assert players[0].get("/v1/me/turns")["items"] == []
    make_late(service, game_id, 3_600_000)
    (waiting,) = players[0].get("/v1/me/turns")["items"]
    assert waiting["turn"] == game["turn"] + 1


def test_a_countdown_that_ran_out_is_in_the_record_and_replays(
    new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(3)
    pictures = [f"p{i}" for i in range(40)]
    options = {"countdown_seconds": 1, "pictures": pictures}
    game_id = seated(players, ruleset="contrast", options=options)["id"]
    game = all_but_the_last_choose(players, game_id)
    players[0].play(game_id, game["turn"], {"type": "count"})
    time.sleep(1.1)
    game = play_out(players, game_id, rng)
    assert game["status"] == "finished"
    record = players[0].get(f"/v1/games/{game_id}/record")
    types = [each["type"] for each in record["moves"][:5]]
    assert types == ["move", "move", "move", "countdown_ran_out", "move"]
    analysis = players[0].post("/v1/analysis", record)
    assert analysis["result"] == game["result"]
