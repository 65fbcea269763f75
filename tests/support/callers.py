"""Callers of a service without a check of the document."""

from typing import Any

import requests

from tests.support.service import Service

NAMES = ("Ada", "Bob")


def ask(service: Service, method: str, path: str, **more: Any) -> requests.Response:
    return requests.request(method, service.url + path, timeout=30, **more)


def authorized(token: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **headers}


def seat_two(service: Service) -> tuple[list[dict[str, str]], str]:
    """Two players with their tokens, and the id of their game."""
    players = [
        ask(service, "POST", "/v1/players", json={"name": name, "kind": "bot"}).json()
        for name in NAMES
    ]
    tokens = [authorized(player["token"]) for player in players]
    body = {"ruleset": "parade", "seat_count": 2}
    game = ask(service, "POST", "/v1/games", json=body, headers=tokens[0]).json()
    ask(service, "POST", f"/v1/games/{game['id']}/seats", json={}, headers=tokens[1])
    return players, game["id"]


class Person:
    def __init__(self, service: Service, name: str) -> None:
        self.url = service.url
        player = self.call("POST", "/v1/players", json={"name": name, "kind": "bot"})
        self.headers = {"Authorization": f"Bearer {player['token']}"}

    def call(self, method: str, path: str, **options: Any) -> Any:
        headers = getattr(self, "headers", {}) | options.pop("headers", {})
        answer = requests.request(method, self.url + path, headers=headers, timeout=60, **options)
        assert answer.ok, answer.text
        return answer.json()


def sit_down(service: Service) -> tuple[Person, Person, str]:
    """Two people at a table of Parade that has begun."""
    ada, bob = Person(service, "Ada"), Person(service, "Bob")
    body = {"ruleset": "parade", "seat_count": 2}
    game_id: str = ada.call("POST", "/v1/games", json=body)["id"]
    bob.call("POST", f"/v1/games/{game_id}/seats")
    return ada, bob, game_id


def play_to_the_end(game_id: str, *people: Person) -> list[int]:
    """Whoever is to move moves; the versions of the games that were acknowledged."""
    versions = []
    for person in people:
        person.call("GET", "/v1/me/turns")
    while True:
        waiting = [
            (person, game)
            for person in people
            for game in person.call("GET", "/v1/me/turns")["items"]
        ]
        if not waiting:
            return versions
        for person, game in waiting:
            body = {"turn": game["turn"], "move": game["legal_moves"][0]}
            played = person.call("POST", f"/v1/games/{game_id}/moves", json=body)
            versions.append(played["game"]["version"])
