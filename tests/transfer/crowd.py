"""Players who play on threads while their store is copied, and what was acknowledged to them."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.support.api_client import Client, new_player, play_out, seated
from tests.support.http_client import BROKEN

RULESETS = ("parade", "tea-time", "contrast", "mit-list-und-tuecke")


class Acknowledged(NamedTuple):
    """A move that was answered 200: when, in which game, and the items that it caused."""

    at: float
    game_id: str
    items: list[Any]


class Pair:
    """Two players who play one game after the other, or as far as they come."""

    def __init__(self, url: str) -> None:
        self.players = [new_player(url, checked=False) for _ in range(2)]
        self.games: list[str] = []
        self.moves: list[Acknowledged] = []

    def play(self, stopped: threading.Event) -> None:
        """Play until told to stop, or until the service is gone."""
        rng = random.Random(len(self.players[0].id))
        try:
            while not stopped.is_set():
                game_id = seated(self.players, ruleset=rng.choice(RULESETS[:3]))["id"]
                self.games.append(game_id)
                while not stopped.is_set() and self._play_one(game_id, rng):
                    pass
        except (*BROKEN, AssertionError):
            if not stopped.is_set():
                raise

    def _play_one(self, game_id: str, rng: random.Random) -> bool:
        """Play a move of each player who has one. Return whether the game goes on."""
        game = self.players[0].game(game_id)
        for seat in game["to_move"]:
            own = self.players[seat].game(game_id)
            if own["legal_moves"]:
                played = self.players[seat].play(
                    game_id, own["turn"], rng.choice(own["legal_moves"])
                )
                self.moves.append(Acknowledged(time.monotonic(), game_id, played["items"]))
        return bool(game["status"] == "playing")

    def check(self, url: str, before: float) -> int:
        """Check that every move acknowledged before a time is there; return how many games are.

        Then play all games to their ends.
        """
        players = [Client(url, each.token, each.id, checked=False) for each in self.players]
        acknowledged = {each.game_id for each in self.moves if each.at < before}
        there = [
            game_id
            for game_id in self.games
            if players[0].request("GET", f"/v1/games/{game_id}").status_code == 200
        ]
        assert acknowledged <= set(there)
        for game_id in there:
            told = {item["version"]: item for each in players for item in items_of(each, game_id)}
            for move in self.moves:
                if move.game_id == game_id and move.at < before:
                    for item in move.items:
                        assert told[item["version"]]["at"] == item["at"]
            assert play_out(players, game_id, random.Random(1))["status"] == "finished"
        listed = {each["id"] for each in players[1].get("/v1/me/games?limit=100")["items"]}
        assert set(there[-50:]) <= listed
        return len(there)


def items_of(player: Client, game_id: str) -> list[Any]:
    """Return the history of a game."""
    page = player.get(f"/v1/games/{game_id}/events?limit=200")
    items: list[Any] = page["items"]
    while page["items"]:
        page = player.get(f"/v1/games/{game_id}/events?limit=200&since={page['cursor']}")
        items += page["items"]
    return items


@contextmanager
def playing(url: str, pairs: int = 3) -> Iterator[list[Pair]]:
    """Let pairs of players play until the end of the block."""
    crowd = [Pair(url) for _ in range(pairs)]
    stopped = threading.Event()
    failures: list[BaseException] = []

    def run(pair: Pair) -> None:
        try:
            pair.play(stopped)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(pair,)) for pair in crowd]
    for each in threads:
        each.start()
    try:
        yield crowd
    finally:
        stopped.set()
        for each in threads:
            each.join()
    assert not failures, failures
