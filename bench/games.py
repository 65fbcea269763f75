"""Games whose every move is known beforehand, so that clients can play them without thinking.

A game is created over HTTP and its deal read from the store; the moves are then chosen at random
on a copy of it, as the service itself would go on with them.
"""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any, NamedTuple

import msgspec

from api.games.progress import Progress
from api.model.game import Game
from api.storage.codec import decode_state
from bench.running import Caller, Refused, Running, request
from engine.ruleset import Move, Seat

CLOCK = "count"
"""A move that starts a clock: games with one would go on by themselves."""

SEATS = {"parade": 4, "tea-time": 3, "contrast": 4, "mit-list-und-tuecke": 4}
"""With how many players each game is played here."""


class PlannedMove(NamedTuple):
    """A move that will be made: whose it is, and what is sent."""

    seat: Seat
    body: bytes

    def in_batch(self, game_id: str) -> bytes:
        """It, as one of many in the body of playMoves."""
        return b'{"game_id": "%s", %s' % (game_id.encode(), self.body[1:])

    def request(self, game_id: str, tokens: list[str]) -> bytes:
        """It, in a game of these players."""
        return request("POST", f"/v1/games/{game_id}/moves", tokens[self.seat], self.body)


class Planned(NamedTuple):
    """A game that waits for its first move: its id, its players' tokens, its moves."""

    id: str
    tokens: list[str]
    moves: list[PlannedMove]

    @property
    def requests(self) -> list[bytes]:
        """Its moves as they are sent."""
        return [move.request(self.id, self.tokens) for move in self.moves]

    @property
    def half(self) -> int:
        """After how many moves it is half played."""
        return len(self.moves) // 2

    def play(self, caller: Caller, first: int, last: int) -> None:
        """Make its moves from one to before another."""
        for each in self.requests[first:last]:
            status, body = caller.send(each)
            if status >= 300:
                raise Refused(f"a move: {status} {body.decode()[:300]}")


def player(caller: Caller) -> str:
    """A new player's token."""
    body = {"name": "Bench", "kind": "bot"}
    token: str = caller.ask("POST", "/v1/players", body=body)["token"]
    return token


def start(caller: Caller, ruleset: str, tokens: list[str]) -> str:
    """A game of these players that has begun."""
    body = {"ruleset": ruleset, "seat_count": len(tokens)}
    game_id: str = caller.ask("POST", "/v1/games", tokens[0], body)["id"]
    for token in tokens[1:]:
        caller.ask("POST", f"/v1/games/{game_id}/seats", token, {})
    return game_id


def planned(
    caller: Caller,
    service: Running,
    ruleset: str,
    seats: int,
    rng: Random,
    *,
    tokens: list[str] | None = None,
) -> Planned:
    """A game that has begun, with all its moves; of new players, unless their tokens are given."""
    tokens = tokens or [player(caller) for _ in range(seats)]
    return plan(service, start(caller, ruleset, tokens), tokens, rng)


def plan(service: Running, game_id: str, tokens: list[str], rng: Random) -> Planned:
    """A game that has begun, with all its moves."""
    values = service.redis().hmget(f"game:{{{game_id}}}", "game", "state")
    game = msgspec.json.decode(values[0], type=Game)
    course = Progress(game, decode_state(game, values[1]), int(time.time() * 1000), rng)
    moves = []
    while course.game.to_move:
        seat = rng.choice(course.game.to_move)
        legal = course.ruleset.legal_moves(course.state, seat)
        move, wire = rng.choice([each for each in map(_sent, legal) if each[1]["type"] != CLOCK])
        body = {"turn": course.game.turn, "move": wire}
        moves.append(PlannedMove(seat, json.dumps(body).encode()))
        course.apply_move(seat, move, course.ruleset.apply(course.state, seat, move))
    return Planned(game_id, tokens, moves)


def _sent(move: Move) -> tuple[Move, dict[str, Any]]:
    """A move, and how it is sent."""
    return move, json.loads(msgspec.json.encode(move))
