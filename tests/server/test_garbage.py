"""Requests leave nothing that only a garbage collection could free, but for what routing leaves.

A full collection stops a worker with thousands of waiting clients for long, so it is rare.
"""

import json
import random
import threading
from collections.abc import Callable

import pytest

from tests.support.api_client import Client, new_player, play_out, seated
from tests.support.event_stream import events
from tests.support.paths import PROGRAMS
from tests.support.service import UNLIMITED, Service, Start
from tests.support.waiting import wait_until

TIMES = 2
OF_ROUTING = {"builtins.function", "builtins.cell", "builtins.set", "builtins.tuple"}


@pytest.fixture
def service(start: Start) -> Service:
    return start(program=PROGRAMS / "garbage.py", **UNLIMITED)


class Callers:
    """Two players in a game, and what they do with the service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.players = [new_player(service.url, checked=False) for _ in range(2)]
        self.game_id = seated(self.players)["id"]
        self.path = f"/v1/games/{self.game_id}"
        self.statuses: list[int] = []

    def read(self) -> None:
        ada = self.players[0]
        for path in (self.path, f"{self.path}/events", "/v1/games", "/v1/me/games", "/v1/me/turns"):
            ada.get(path)

    def be_refused(self) -> None:
        ada, stranger = self.players[0], Client(self.players[0].url, checked=False)
        moves = f"{self.path}/moves"
        ada.refused("not_found", "GET", "/v1/nowhere")
        ada.refused("method_not_allowed", "PUT", "/v1/games")
        ada.refused("game_not_found", "GET", f"/v1/games/{'0' * 32}")
        ada.refused("invalid_json", "POST", "/v1/games", data=b"{", headers=JSON)
        ada.refused("invalid_request", "GET", "/v1/games?status=odd")
        ada.refused("invalid_request", "GET", "/v1/games?odd=1")
        ada.refused("invalid_request", "POST", "/v1/games", {"odd": 1})
        ada.refused("invalid_request", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 99})
        ada.refused("invalid_request", "POST", moves, {"turn": 1, "move": {"type": "odd"}})
        ada.refused("invalid_request", "POST", "/v1/me/moves", {"moves": [{"move": {}}, 1]})
        stranger.refused("missing_token", "GET", "/v1/me")

    def play(self) -> None:
        game_id = seated(self.players)["id"]
        play_out(self.players, game_id, random.Random(1))
        record = self.players[0].get(f"/v1/games/{game_id}/record")
        self.players[0].post("/v1/analysis", record)

    def be_matched(self) -> None:
        wish = {"ruleset": "parade", "seat_count": 2}
        games = [each.post("/v1/match", wish) for each in self.players]
        self.players[0].delete(f"/v1/games/{games[0]['id']}/seats/me")

    def play_a_batch_in_vain(self) -> None:
        game = self.players[0].game(self.game_id)
        mover = game["to_move"][0]
        codes = []
        for seat, turn in ((mover, 99), (mover, game["turn"]), (1 - mover, game["turn"])):
            card = next(each for each in CARDS if each not in self.hand(seat))
            move = {"game_id": self.game_id, "turn": turn, "move": {"type": "play", "card": card}}
            (outcome,) = self.players[seat].post("/v1/me/moves", {"moves": [move]})["items"]
            codes.append(outcome["problem"]["code"])
        assert codes == ["stale_turn", "illegal_move", "not_your_turn"]

    def play_what_is_illegal(self) -> None:
        game = self.players[0].game(self.game_id)
        mover = self.players[game["to_move"][0]]
        move = {"turn": game["turn"], "move": {"type": "play", "card": "red-99"}}
        assert not mover.request("POST", f"{self.path}/moves", json=move).ok

    def hand(self, seat: int) -> list[str]:
        hand: list[str] = self.players[seat].game(self.game_id)["table"]["hand"]
        return hand

    def wait(self, *paths: str) -> list[threading.Thread]:
        """Send polls of the first player, and return when they wait."""
        polls = [threading.Thread(target=self._poll, args=(path,)) for path in paths]
        for each in polls:
            each.start()
        wait_until(lambda: self.service.waiters() == len(polls), "they wait")
        return polls

    def _poll(self, path: str) -> None:
        self.statuses.append(self.players[0].request("GET", path).status_code)

    def end(self, polls: list[threading.Thread]) -> list[int]:
        """Wait until polls have been answered, and return their statuses."""
        for each in polls:
            each.join()
        statuses, self.statuses = self.statuses, []
        return statuses

    def poll(self) -> None:
        game_id = seated(self.players)["id"]
        reader = self.players[0]
        polls = self.wait(
            f"/v1/games/{game_id}/events?since={reader.game(game_id)['cursor']}&wait=20",
            f"/v1/me/turns?since={reader.get('/v1/me/turns')['cursor']}&wait=20",
        )
        for _ in range(2):
            play_out(self.players, game_id, random.Random(1), moves=1)
        assert self.end(polls) == [200, 200]

    def poll_a_game_that_goes(self) -> None:
        game_id = seated(self.players)["id"]
        cursor = self.players[0].game(game_id)["cursor"]
        polls = self.wait(f"/v1/games/{game_id}/events?since={cursor}&wait=2")
        with self.service.store.client() as store:
            store.delete(*store.keys(f"game:{{{game_id}}}*"))
        assert self.end(polls) == [404]

    def poll_in_vain(self) -> None:
        cursor = self.players[0].game(self.game_id)["cursor"]
        self.players[0].get(f"{self.path}/events?since={cursor}&wait=1")

    def follow(self) -> None:
        game_id = seated(self.players)["id"]
        for path in (f"/v1/games/{game_id}/stream", "/v1/me/stream"):
            with self.players[0].open("GET", path) as stream:
                next(events(stream))
        # The service notices that nobody reads when it writes.
        play_out(self.players, game_id, random.Random(1))
        wait_until(lambda: self.service.waiters() == 0, "the streams have ended")


CARDS = [f"red-{number}" for number in range(11)]
JSON = {"Content-Type": "application/json"}


def test_requests_leave_no_cycles_but_those_of_routing(service: Service) -> None:
    callers = Callers(service)
    acts: list[Callable[[], None]] = [
        callers.read,
        callers.be_refused,
        callers.play,
        callers.be_matched,
        callers.play_a_batch_in_vain,
        callers.play_what_is_illegal,
        callers.poll,
        callers.poll_in_vain,
        callers.poll_a_game_that_goes,
        callers.follow,
    ]
    left = {}
    for act in acts:
        # The first time, scripts are loaded into the store.
        act()
        service.get("/garbage")
        for _ in range(TIMES):
            act()
        left[act.__name__] = json.loads(service.get("/garbage")).keys() - OF_ROUTING
    assert left == {act.__name__: set() for act in acts}
