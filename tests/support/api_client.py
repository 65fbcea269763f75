"""Players of a service. Each of their responses is checked against the published document."""

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.support import document
from tests.support.http_client import HttpClient, Response

_numbers = itertools.count(1)


class Client(HttpClient):
    """A caller, with a player's token or without. `log` keeps every response that it got."""

    def __init__(
        self, url: str, token: str | None = None, id_: str = "", *, checked: bool = True, **how: Any
    ) -> None:
        super().__init__(url, token, **how)
        self.id = id_
        self.checked = checked
        self.log: list[Response] = []

    def request(self, method: str, path: str, **how: Any) -> Response:
        return self._noted(super().request(method, path, **how))

    def open(self, method: str, path: str, **how: Any) -> Response:
        return self._noted(super().open(method, path, **how))

    def _noted(self, response: Response) -> Response:
        if self.checked:
            document.check(response)
        self.log.append(response)
        return response

    def get(self, path: str, status: int = 200, **how: Any) -> Any:
        return self._json("GET", path, status, **how)

    def post(self, path: str, body: Any = None, status: int = 200, **how: Any) -> Any:
        if body is not None:
            how["json"] = body
        return self._json("POST", path, status, **how)

    def delete(self, path: str, status: int = 200, **how: Any) -> Any:
        return self._json("DELETE", path, status, **how)

    def _json(self, method: str, path: str, status: int, **how: Any) -> Any:
        response = self.request(method, path, **how)
        assert response.status_code == status, f"{response.status_code}: {response.text}"
        return response.json()

    # --- What the tests do again and again ---------------------------------------------

    def refused(
        self, code: str, method: str, path: str, body: Any = None, **how: Any
    ) -> dict[str, Any]:
        """Send a request that must fail with this problem; return the problem."""
        if body is not None:
            how["json"] = body
        response = self.request(method, path, **how)
        assert response.headers["Content-Type"] == "application/problem+json", response.text
        problem: dict[str, Any] = response.json()
        assert problem["code"] == code, problem
        assert problem["status"] == response.status_code
        assert problem["type"] == f"/problems/{code}"
        return problem

    def game(self, game_id: str) -> Any:
        return self.get(f"/v1/games/{game_id}")

    def create(self, seat_count: int = 2, ruleset: str = "parade", **members: Any) -> Any:
        body = {"ruleset": ruleset, "seat_count": seat_count, **members}
        return self.post("/v1/games", body, 201)

    def join(self, game_id: str, **body: Any) -> Any:
        return self.post(f"/v1/games/{game_id}/seats", body)

    def play(self, game_id: str, turn: int, move: Any) -> Any:
        return self.post(f"/v1/games/{game_id}/moves", {"turn": turn, "move": move})

    def play_first(self, game_id: str) -> Any:
        """Play the first of the legal moves."""
        own = self.game(game_id)
        return self.play(game_id, own["turn"], own["legal_moves"][0])

    @contextmanager
    def unchecked(self) -> Iterator[None]:
        """Check no response: for tests of speed or number, if another test checks the same."""
        before, self.checked = self.checked, False
        try:
            yield
        finally:
            self.checked = before


NewPlayers = Callable[[int], list[Client]]
"""The `new_players` fixture of `tests/api`: returns this many new players."""


def new_player(url: str, *, name: str = "", checked: bool = True, **how: Any) -> Client:
    body = {"name": name or f"Player {next(_numbers)}", "kind": "bot"}
    created = Client(url, checked=checked, **how).post("/v1/players", body, 201)
    return Client(url, created["token"], created["id"], checked=checked, **how)


def seated(players: list[Client], **members: Any) -> Any:
    """Seat these players, in order, at a new game; return it as the last one sees its start."""
    game = players[0].create(len(players), **members)
    for player in players[1:]:
        game = player.join(game["id"])
    assert game["status"] == "playing"
    return game


def play_out(
    players: list[Client], game_id: str, rng: random.Random, moves: int | None = None
) -> Any:
    """Play this many random legal moves, or to the end; return what the first player then sees."""
    game = players[0].game(game_id)
    while game["status"] == "playing" and (moves is None or moves > 0):
        player = players[game["to_move"][0]]
        own = player.game(game_id)
        game = player.play(game_id, own["turn"], rng.choice(own["legal_moves"]))["game"]
        moves = None if moves is None else moves - 1
    return players[0].game(game_id)


def start_countdown(players: list[Client], game_id: str) -> Any:
    """Let all players of a new game of Contrast but the last one choose, and the first one count.

    Return the game in which the countdown runs.
    """
    for player in players[:-1]:
        player.play_first(game_id)
    turn = players[0].game(game_id)["turn"]
    return players[0].play(game_id, turn, {"type": "count"})["game"]


def seat_two(url: str, *, keep_alive: bool = False) -> tuple[list[Client], str]:
    """Return two players and the id of their game of Parade, which has begun.

    Their responses are not checked, and each request has its own connection by default: for tests
    of the processes, where any worker may answer.
    """
    players = [
        new_player(url, name=name, checked=False, keep_alive=keep_alive) for name in ("Ada", "Bob")
    ]
    return players, seated(players)["id"]


def play_by_turns(players: list[Client]) -> list[int]:
    """Play all games of these players to their ends; return the versions that their moves got.

    Each asks which games wait for them, and plays the first legal move.
    """
    versions = []
    for player in players:
        player.get("/v1/me/turns")
    while True:
        waiting = [
            (player, game) for player in players for game in player.get("/v1/me/turns")["items"]
        ]
        if not waiting:
            return versions
        for player, game in waiting:
            played = player.play(game["id"], game["turn"], game["legal_moves"][0])
            versions.append(played["game"]["version"])
