"""A crowd of requests from one address, each of them allowed, keeps nobody else from playing."""

from __future__ import annotations

import socket
from typing import Any

import requests

from tests.support.service import Start

CROWD = 100
GAMES = 30
SCARCE = {"REDIS_CONNECTIONS": 4, "REDIS_TIMEOUT_SECONDS": 0.5}
LONG = [f"https://pictures.example/{number}".ljust(200, "x") for number in range(74)]
COSTLY = {"ruleset": "contrast", "options": {"pictures": LONG}}


class Person:
    """A player at an address of its own, as the proxy in front says."""

    def __init__(self, url: str, address: str) -> None:
        self.url = url
        self.headers = {"X-Forwarded-For": address}
        player = self.ask("POST", "/v1/players", {"name": "Ada", "kind": "bot"})
        self.headers["Authorization"] = f"Bearer {player['token']}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = requests.request(
            method, self.url + path, json=body, headers=self.headers, timeout=60
        )
        assert answer.ok, answer.text
        return answer.json()


def test_a_crowd_that_asks_for_much_gets_no_move_of_others_refused(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=1, TRUSTED_PROXIES="127.0.0.1", **SCARCE)
    crowd, other = Person(service.url, "192.0.2.1"), Person(service.url, "192.0.2.2")
    for _ in range(GAMES):
        crowd.ask("POST", "/v1/games", COSTLY | {"seat_count": 6, "house": ["random"] * 5})
    game = other.ask(
        "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2, "house": ["random"]}
    )
    asked = "".join(f"{name}: {value}\r\n" for name, value in crowd.headers.items())
    request = f"GET /v1/me/turns HTTP/1.1\r\nHost: crowd\r\n{asked}\r\n".encode()
    connections = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(CROWD)]
    try:
        for each in connections:
            each.sendall(request * 3)
        for _ in range(5):
            move = {"turn": game["turn"], "move": game["legal_moves"][0]}
            game = other.ask("POST", f"/v1/games/{game['id']}/moves", move)["game"]
        # Not because the crowd was refused.
        for each in connections:
            each.settimeout(60)
            assert each.recv(12) == b"HTTP/1.1 200"
    finally:
        for each in connections:
            each.close()
