"""A client over HTTP, as the tests use it: every answer is held against the document."""

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.support import document

PATIENCE = 30.0


@dataclass
class Client:
    """A caller, with a token or without. `log` keeps every answer that it got."""

    url: str
    token: str | None = None
    id: str | None = None
    checked: bool = True
    session: requests.Session = field(default_factory=requests.Session)
    log: list[requests.Response] = field(default_factory=list)

    def request(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **how: Any
    ) -> requests.Response:
        headers = dict(headers or {})
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        response = self.session.request(
            method, self.url + path, headers=headers, timeout=PATIENCE, **how
        )
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
        """A request that fails with this problem; the problem."""
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

    @contextmanager
    def unchecked(self) -> Iterator[None]:
        """For tests of speed or number, where another test checks the same answers."""
        before, self.checked = self.checked, False
        try:
            yield
        finally:
            self.checked = before


def seated(players: list[Client], **members: Any) -> Any:
    """A game with these players in their seats, in order, as the last one sees its start."""
    game = players[0].create(len(players), **members)
    for player in players[1:]:
        game = player.join(game["id"])
    assert game["status"] == "playing"
    return game


def play_out(
    players: list[Client], game_id: str, rng: random.Random, moves: int | None = None
) -> Any:
    """Play random legal moves, to the end or so many; the game as the first player sees it."""
    while moves is None or moves > 0:
        game = players[0].game(game_id)
        if game["status"] != "playing":
            return game
        player = players[game["to_move"][0]]
        own = player.game(game_id)
        player.play(game_id, own["turn"], rng.choice(own["legal_moves"]))
        moves = None if moves is None else moves - 1
    return players[0].game(game_id)


NewPlayers = Callable[[int], list[Client]]


_names = itertools.count(1)


def new_player(url: str) -> Client:
    body = {"name": f"Player {next(_names)}", "kind": "bot"}
    created = Client(url).post("/v1/players", body, 201)
    return Client(url, created["token"], created["id"])


def persist(ask: Callable[[], requests.Response]) -> requests.Response:
    """Ask until answered, as a client does whose connection broke."""
    for attempt in itertools.count():
        with contextlib.suppress(requests.RequestException):
            answer = ask()
            if answer.status_code < 500:
                return answer
        assert attempt < 300, "the service does not come back"
        time.sleep(0.1)
    raise AssertionError
