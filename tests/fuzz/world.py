"""The games under attack, and a valid request to each route, to be mutated."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.support.api_client import Client, new_player
from tests.support.document import METHODS, document

WEEK = 604_800
SEATS = {"parade": 2, "tea-time": 2, "contrast": 2, "mit-list-und-tuecke": 4}
UNDOCUMENTED = ("/", "/docs", "/metrics", "/assets/docs.css", "/favicon.ico", "/robots.txt")
"""Paths that are not in the document."""

REQUESTS_OF_AN_ATTACKER = 400
"""An attacker that went on would lose its token, or reach the limit of a hundred games."""


@dataclass
class Request:
    """A request. Its body is bytes, or a value to write as JSON.

    `hopeless`: it must be refused whatever the sender and the game.
    """

    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: Any = None
    hopeless: bool = False
    operation_id: str = "playMove"


@dataclass(frozen=True)
class Attacked:
    """A game that no request may change, and its players."""

    id: str
    players: list[Client]
    moves: list[dict[str, Any]]
    """Bodies of playMove for the current turn."""

    def state(self) -> list[Any]:
        """Return all readers' views of the game. The ETag has the id of its last commit."""
        readers = [*self.players, Client(self.players[0].url, checked=False)]
        answers = [reader.request("GET", f"/v1/games/{self.id}") for reader in readers]
        return [(each.status_code, each.headers.get("ETag"), each.json()) for each in answers]


class World:
    """A service with games in play, a private game, finished games with records, and attackers."""

    def __init__(self, url: str, rng: random.Random) -> None:
        self.url = url
        self.attacked = [_attacked(url, ruleset, rng) for ruleset in SEATS]
        self.attacked.append(_attacked(url, "parade", rng, visibility="private"))
        self.records = [_ended(url, ruleset, rng) for ruleset in SEATS]
        self.operations = [
            (operation["operationId"], method.upper(), path)
            for path, methods in document()["paths"].items()
            for method, operation in methods.items()
            if method in METHODS
            # More requests where there is more to mutate.
            for _ in range(4 if "requestBody" in operation else 1)
        ]
        self.operations += [("undocumented", "GET", path) for path in UNDOCUMENTED]
        self._attackers: dict[int, tuple[Client, str]] = {}

    def attacker(self, index: int) -> tuple[Client, str]:
        """Return the player for the requests around this number, and a game of that player."""
        block = index // REQUESTS_OF_AN_ATTACKER
        if block not in self._attackers:
            player = new_player(self.url)
            game = player.create(2, house=["random"], turn_seconds=WEEK)
            self._attackers[block] = player, game["id"]
        return self._attackers[block]

    def request(self, index: int, rng: random.Random) -> Request:
        """Return a valid request about any game, by an attacker or without a token."""
        operation_id, method, path = rng.choice(self.operations)
        attacker, own = self.attacker(index)
        game = rng.choice([own, *(each.id for each in self.attacked), self.records[0][0]])
        made = Request(method, path.replace("{game_id}", game), operation_id=operation_id)
        made.path = made.path.replace("{ruleset}", rng.choice(list(SEATS)))
        made.path = made.path.replace("{code}", "illegal_move")
        if rng.random() < 0.8:
            made.headers.append(("Authorization", f"Bearer {attacker.token}"))
        self._fill(made, operation_id, attacker, rng)
        return made

    def _fill(  # noqa: PLR0912 - one case a route
        self, made: Request, operation_id: str, attacker: Client, rng: random.Random
    ) -> None:
        """Add the body and the parameters of an operation."""
        tag = f'"game-{rng.randrange(9)}-{attacker.id}-x"'
        match operation_id:
            case "createPlayer":
                made.body = {"name": "Mallory", "kind": "human"}
            case "createGame":
                made.body = {
                    "ruleset": "mit-list-und-tuecke",
                    "seat_count": 4,
                    "options": {"open_piles": True},
                    "visibility": "private",
                    "take_seat": True,
                    "house": ["random"],
                    "reserved_seats": [{"seat": 0, "player_id": attacker.id}],
                    "turn_seconds": 60,
                }
                made.headers.append(("Idempotency-Key", str(rng.random())))
            case "quickMatch":
                made.body = {
                    "ruleset": "mit-list-und-tuecke",
                    "seat_count": 6,
                    "options": {"open_piles": True},
                    "turn_seconds": 60,
                    "house_after_seconds": 3600,
                    "house": "random",
                }
                made.headers.append(("Idempotency-Key", str(rng.random())))
            case "joinGame":
                made.body = {"seat": 1, "invite": "x" * 22}
            case "playMove" | "checkMove":
                made.body = rng.choice(rng.choice(self.attacked).moves)
            case "analyse":
                made.body = rng.choice(self.records)[1] | {"trace": True}
            case "listEvents":
                made.query = [("since", "0-"), ("limit", "10"), ("wait", "0")]
            case "listTurns":
                made.query = [("since", "0."), ("wait", "0"), ("view", "false")]
            case "listGames" | "listMyGames":
                made.query = [("status", "playing"), ("limit", "3"), ("cursor", "1-" + "0" * 32)]
            case "listLegalMoves":
                made.query = [("previews", "true")]
            case "streamEvents":
                made.query = [("ticket", "x" * 60)] * rng.randrange(2)
                made.headers.append(("Last-Event-ID", "1-"))
            case "streamTurns":
                made.query = [("ticket", "x" * 60), ("last_event_id", "0.")][: rng.randrange(3)]
                made.headers.append(("Last-Event-ID", "0."))
            case "getGame":
                made.headers.append(("Prefer", "wait=0"))
        if made.method == "GET":
            made.headers.append(("If-None-Match", tag))
        elif made.path.startswith("/v1/games/"):
            made.headers.append(("If-Match", rng.choice([tag, "*"])))


def _attacked(url: str, ruleset: str, rng: random.Random, **members: Any) -> Attacked:
    """Create a game of two players, and play some moves."""
    players = [new_player(url), new_player(url)]
    house = ["random"] * (SEATS[ruleset] - len(players))
    game = players[0].create(SEATS[ruleset], ruleset, house=house, turn_seconds=WEEK, **members)
    invite = {"invite": game["invite"]} if game["invite"] else {}
    players[1].join(game["id"], **invite)
    for _ in range(6):
        _move(players, game["id"], rng)
    moves = [
        {"turn": seen["turn"], "move": move}
        for seen in (player.game(game["id"]) for player in players)
        for move in seen["legal_moves"]
    ]
    return Attacked(game["id"], players, moves)


def _ended(url: str, ruleset: str, rng: random.Random) -> tuple[str, Any]:
    """Play a game to its end, and return its id and its record."""
    player = new_player(url)
    seats = SEATS[ruleset]
    game = player.create(seats, ruleset, house=["random"] * (seats - 1))
    while _move([player], game["id"], rng):
        pass
    return game["id"], player.get(f"/v1/games/{game['id']}/record")


def _move(players: list[Client], game_id: str, rng: random.Random) -> bool:
    """Play a move of one of these players; return whether there was one."""
    for player in players:
        seen = player.game(game_id)
        # A count starts a countdown, after which the game changes without a request.
        moves = [move for move in seen["legal_moves"] if move["type"] != "count"]
        if moves:
            player.play(game_id, seen["turn"], rng.choice(moves))
            return True
    return False
