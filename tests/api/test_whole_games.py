"""Whole games over HTTP, and what nobody may learn from any answer on the way."""

import hashlib
import json
import random
import re
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, play_out, seated

TRICK_CARD = re.compile(r"\b(?:red|yellow|blue|green)-[0-9]+\b")
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
    assert page["cursor"] == game["cursor"]
    assert not page["more"]
    moves = [item for item in page["items"] if item["turn"] is not None]
    # The last decision, the discard, is one turn for all.
    assert [item["turn"] for item in moves[-3:]] == [moves[-1]["turn"]] * 3
    assert [item["turn"] for item in moves[:-2]] == list(range(1, len(moves) - 1))
    first, last = page["items"][3], page["items"][-1]
    assert (first["by"], first["events"][0]["type"]) == ("table", "game_started")
    assert (last["by"], [event["type"] for event in last["events"]]) == ("table", ["game_finished"])


class Listener:
    """Everybody at and around a table, asking everything; and every byte of what they are told."""

    def __init__(self, new_players: NewPlayers, seats: int, ruleset: str) -> None:
        *self.players, outsider = new_players(seats + 1)
        self.anybody = Client(outsider.url)
        self.readers = [*self.players, outsider, self.anybody]
        for reader in self.readers:
            reader.checked = False  # the other tests hold the same answers against the document
        self.game_id = seated(self.players, ruleset=ruleset)["id"]
        self.heard: list[tuple[int | None, int, str, str]] = []
        """Seat (None: a spectator), version, path, and the text of the answer with its headers."""

    def note(self, version: int) -> None:
        for index, reader in enumerate(self.readers):
            seat = index if index < len(self.players) else None
            for response in reader.log:
                text = response.text + json.dumps(dict(response.headers))
                self.heard.append((seat, version, response.path, text))
            reader.log.clear()

    def ask_everything(self, game: Any) -> None:
        path = f"/v1/games/{self.game_id}"
        self.note(game["version"])
        for reader in self.readers:
            reader.game(self.game_id)
            reader.get(f"{path}/events")
            reader.get("/v1/games?status=playing")
            for below in ("/record", "/presence", "/legal-moves?previews=true"):
                reader.request("GET", path + below)
            for below, body in (("/seats", {}), ("/start", None), ("/rematch", None)):
                reader.request("POST", path + below, json=body)
            reader.request("DELETE", path)
            for below in ("", "/games", "/turns"):
                reader.request("GET", f"/v1/me{below}")
        for player in self.players:
            for move in player.game(self.game_id)["legal_moves"]:
                body = {"turn": game["turn"], "move": move}
                player.post(f"{path}/moves/check", body)
                if player is not self.players[game["to_move"][0]]:
                    player.request("POST", f"{path}/moves", json={**body, "turn": 9999})
        self.note(game["version"])

    def play(self, rng: random.Random, moves: int | None = None) -> Any:
        """Random play with everybody listening, to the end or so many moves; the game then."""
        while moves is None or moves > 0:
            game = self.anybody.game(self.game_id)
            if game["status"] != "playing":
                break
            self.ask_everything(game)
            player = self.players[game["to_move"][-1]]
            choices = player.game(self.game_id)["legal_moves"]
            self.note(game["version"])
            move = rng.choice(choices)
            player.play(self.game_id, game["turn"], move)
            player.play(self.game_id, game["turn"], move)  # and as a retry
            self.note(game["version"] + 1)
            moves = None if moves is None else moves - 1
        return self.anybody.game(self.game_id)


@pytest.mark.parametrize("seats", [2, 3, pytest.param(5, marks=pytest.mark.slow)])
def test_no_answer_names_a_card_that_its_reader_may_not_know(
    new_players: NewPlayers, rng: random.Random, seats: int
) -> None:
    """Every byte of every answer of every route, to seats, outsiders and strangers, all game."""
    listener = Listener(new_players, seats, "parade")
    game = listener.play(rng)
    record = listener.players[0].get(f"/v1/games/{game['id']}/record")
    listener.players[0].log.clear()
    listener.note(game["version"])
    for reader in listener.readers:  # the end shows the two cards that each kept, and no more
        reader.game(game["id"])
        reader.get(f"/v1/games/{game['id']}/events")
    listener.note(game["version"])

    assert len(listener.heard) > 500
    known = known_cards(record, seats)
    for seat, version, path, text in listener.heard:
        unknown = set(CARD.findall(text)) - known[seat][version]
        assert not unknown, f"{path} told seat {seat} of {unknown} at version {version}"


def test_no_answer_names_a_card_in_anothers_hand_of_mit_list_und_tuecke(
    new_players: NewPlayers, rng: random.Random
) -> None:
    """In the first round: in a later one the same cards have been seen before."""
    listener = Listener(new_players, 4, "mit-list-und-tuecke")
    dealt = [set(player.game(listener.game_id)["table"]["hand"]) for player in listener.players]
    listener.play(rng, moves=24)
    items = listener.anybody.get(f"/v1/games/{listener.game_id}/events")["items"]
    listener.anybody.log.clear()

    played: list[set[str]] = [set()]  # by version
    for item in items:
        cards = {e["card"] for e in item["events"] if e["type"] == "card_played"}
        played.append(played[-1] | cards)
    assert {e["round"] for i in items for e in i["events"] if e["type"] == "round_started"} == {1}
    assert len(listener.heard) > 500
    for seat, version, path, text in listener.heard:
        known = played[version] | (set() if seat is None else dealt[seat])
        unknown = set(TRICK_CARD.findall(text)) - known
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
