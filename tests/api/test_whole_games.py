"""Whole games over HTTP, and what nobody may learn from any answer on the way."""

import hashlib
import json
import random
import re
from typing import Any

import pytest

from tests.api.client import Client, play_out, seated
from tests.api.conftest import NewPlayers

CARD = re.compile(r"\b(?:red|blue|purple|green|grey|orange)-(?:10|[0-9])\b")


@pytest.mark.parametrize("seats", range(2, 7))
def test_a_game_is_played_to_its_end_and_its_record_replays(
    new_players: NewPlayers, rng: random.Random, seats: int
) -> None:
    players = new_players(seats)
    game = play_out(players, seated(players)["id"], rng)

    assert game["status"] == "finished"
    assert game["to_move"] == game["legal_moves"] == []
    assert game["turn"] is None
    record = players[0].get(f"/v1/games/{game['id']}/record")
    assert record["result"] == game["result"]
    analysis = Client(players[0].url).post("/v1/analysis", record)
    assert analysis["result"] == game["result"]
    assert analysis["views"][0] == game["table"]


def test_the_deal_was_fixed_at_the_start_and_can_be_checked_at_the_end(
    new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(2)
    start = seated(players)
    game = play_out(players, start["id"], rng)

    record = players[0].get(f"/v1/games/{game['id']}/record")
    digest = hashlib.sha256(record["deal_text"].encode("ascii")).hexdigest()
    assert digest == start["deal_sha256"] == record["deal_sha256"]
    told = json.loads(record["deal_text"])
    assert len(bytes.fromhex(told.pop("salt"))) == 32
    assert told == record["deal"]


def test_a_bot_lives_on_its_turns_alone(ada: Client, bob: Client, rng: random.Random) -> None:
    """It needs no other route to play, and learns there that the game ended."""
    game_id = seated([ada, bob])["id"]
    cursors: dict[str | None, str] = {}
    ended: dict[str | None, Any] = {}
    while len(ended) < 2:
        for bot in (ada, bob):
            since = f"?since={cursors[bot.id]}" if bot.id in cursors else ""
            turns = bot.get(f"/v1/me/turns{since}")
            for game in turns["items"]:
                assert game["you"] in game["to_move"]
                bot.play(game["id"], game["turn"], rng.choice(game["legal_moves"]))
            for each in turns["ended"]:
                ended[bot.id] = each
            cursors[bot.id] = turns["cursor"]
    result = ada.game(game_id)["result"]
    assert set(ended) == {ada.id, bob.id}
    assert list(ended.values()) == [{"id": game_id, "result": result}] * 2


def test_items_are_numbered_by_version_and_name_the_turn_that_a_move_answered(
    new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(3)
    game = play_out(players, seated(players)["id"], rng)

    page = players[0].get(f"/v1/games/{game['id']}/events")
    assert [item["version"] for item in page["items"]] == list(range(1, game["version"] + 1))
    assert page["version"] == game["version"]
    assert not page["more"]
    moves = [item for item in page["items"] if item["turn"] is not None]
    # The last decision, the discard, is one turn for all.
    assert [item["turn"] for item in moves[-3:]] == [moves[-1]["turn"]] * 3
    assert [item["turn"] for item in moves[:-2]] == list(range(1, len(moves) - 1))
    first, last = page["items"][3], page["items"][-1]
    assert (first["by"], first["events"][0]["type"]) == ("table", "game_started")
    assert (last["by"], [event["type"] for event in last["events"]]) == ("table", ["game_finished"])


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_no_answer_names_a_card_that_its_reader_may_not_know(
    new_players: NewPlayers, rng: random.Random, seats: int
) -> None:
    """Every byte of every answer of every route, to seats, outsiders and strangers, all game."""
    *players, outsider = new_players(seats + 1)
    anybody = Client(outsider.url)
    readers = [*players, outsider, anybody]
    for reader in readers:
        reader.checked = False  # the other tests hold the same answers against the document
    game_id = seated(players)["id"]
    heard: list[tuple[int, int, str, str]] = []

    def note(version: int) -> None:
        for index, reader in enumerate(readers):
            for response in reader.log:
                text = response.text + json.dumps(dict(response.headers))
                heard.append((index, version, str(response.request.path_url), text))
            reader.log.clear()

    def ask_everything(game: Any) -> None:
        note(game["version"])
        for reader in readers:
            reader.game(game_id)
            reader.get(f"/v1/games/{game_id}/events?since=0")
            reader.get("/v1/games?status=playing")
            reader.request("GET", f"/v1/games/{game_id}/record")
        for reader in (*players, outsider):
            reader.request("GET", f"/v1/games/{game_id}/legal-moves")
            reader.get("/v1/me/games")
            reader.get("/v1/me/turns")
        for player in players:
            for move in player.game(game_id)["legal_moves"]:
                body = {"turn": game["turn"], "move": move}
                player.post(f"/v1/games/{game_id}/moves/check", body)
        note(game["version"])

    while True:
        game = anybody.game(game_id)
        if game["status"] != "playing":
            break
        ask_everything(game)
        player = players[game["to_move"][-1]]
        moves = player.game(game_id)["legal_moves"]
        note(game["version"])
        player.play(game_id, game["turn"], rng.choice(moves))
        note(game["version"] + 1)
    record = players[0].get(f"/v1/games/{game_id}/record")
    players[0].log.clear()
    note(game["version"])
    for reader in readers:  # the end reveals the two cards that each seat kept, and no more
        reader.game(game_id)
        reader.get(f"/v1/games/{game_id}/events")
    note(game["version"])

    assert len(heard) > 500
    known = known_cards(record, seats)
    for index, version, path, text in heard:
        seat = index if index < seats else None
        unknown = set(CARD.findall(text)) - known[seat][version]
        assert not unknown, f"{path} told seat {seat} of {unknown} at version {version}"


def known_cards(record: Any, seats: int) -> dict[int | None, list[set[str]]]:
    """By reader and version, the cards that it may know, worked out from the record alone."""
    deal, pile = record["deal"], list(record["deal"]["pile"])
    public = set(deal["parade"])
    own = [set(hand) for hand in deal["hands"]]
    hands = [set(hand) for hand in deal["hands"]]
    known: dict[int | None, list[set[str]]] = {seat: [] for seat in [None, *range(seats)]}

    def remember() -> None:
        known[None].append(set(public))
        for seat in range(seats):
            known[seat].append(public | own[seat])

    for _ in range(seats + 2):  # before the first move: the seats are taken, the game starts
        remember()
    discards = 0
    for recorded in record["moves"]:
        seat, move = recorded["seat"], recorded["move"]
        if move["type"] == "play":
            public.add(move["card"])
            hands[seat].discard(move["card"])
            if not last_round(record, recorded):
                drawn = pile.pop(0)
                hands[seat].add(drawn)
                own[seat].add(drawn)
        else:
            hands[seat] -= set(move["cards"])
            discards += 1
            if discards == seats:
                public = public.union(*hands)
        remember()
    remember()  # the end
    return known


def last_round(record: Any, recorded: Any) -> bool:
    """Whether this card was played in the last round, in which nobody draws."""
    plays = [each for each in record["moves"] if each["move"]["type"] == "play"]
    return plays.index(recorded) >= len(plays) - record["seat_count"]
