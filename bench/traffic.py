"""What a request costs the store and the networks: CPU time, commands, reads and bytes.

Games of each ruleset are played over HTTP, one request after the other, on a service with one
worker and a store of its own. INFO of the store is read before and after many requests of a kind.
The requests accept no compression. Concurrent requests would share commands, so a busy store does
less for each. The store reads a round trip at once, or a long one in two parts.

    python -m bench.traffic [--quick] [--json FILE]
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

from bench.games import SEATS, Planned, plan, planned, player
from bench.running import Caller, Running, arguments, keep, machine, request, service, table

GAMES, QUICK_GAMES = 8, 1
"""Games of each ruleset."""

LISTED = 40
"""Open games in the lobby while it is read."""

READS = 200

PLAYERS = "player:*"
"""The keys of the players."""


class Counts(NamedTuple):
    """Totals of the store and of the client."""

    cpu_seconds: float
    commands: int
    reads: int
    store_in: int
    store_out: int
    client_in: int
    client_out: int

    def minus(self, other: Counts) -> Counts:
        """The difference of two totals."""
        return Counts(*(mine - others for mine, others in zip(self, other, strict=True)))


class CountingCaller(Caller):
    """A connection that counts the bytes in each direction."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.sent = self.received = 0

    def send(self, data: bytes) -> tuple[int, bytes]:
        """Send a request, and return the status and body of its answer."""
        self.sent += len(data)
        return super().send(data)

    def _more(self) -> bytes:
        chunk = super()._more()
        self.received += len(chunk)
        return chunk


class Traffic:
    """The costs of requests, by kind."""

    def __init__(self, running: Running) -> None:
        self.store = running.redis()
        self.caller = CountingCaller(running.port)
        self._costs: dict[str, list[Counts]] = {}
        self._requests: dict[str, int] = {}
        before = self._counts()
        self._own = self._counts().minus(before)

    @contextmanager
    def counted(self, kind: str, requests: int) -> Iterator[None]:
        """Count what requests of one kind cost, without the second INFO."""
        before = self._counts()
        yield
        cost = self._counts().minus(before).minus(self._own)
        self._costs.setdefault(kind, []).append(cost)
        self._requests[kind] = self._requests.get(kind, 0) + requests

    def _counts(self) -> Counts:
        info: dict[str, Any] = self.store.info()
        return Counts(
            info["used_cpu_user_main_thread"] + info["used_cpu_sys_main_thread"],
            info["total_commands_processed"],
            info["total_reads_processed"],
            info["total_net_input_bytes"],
            info["total_net_output_bytes"],
            self.caller.sent,
            self.caller.received,
        )

    def used_memory(self) -> int:
        """The memory of the store."""
        used: int = self.store.info("memory")["used_memory"]
        return used

    def requests(self) -> dict[str, dict[str, float]]:
        """What a request of each kind costs."""
        found = {}
        for kind, costs in self._costs.items():
            cpu, *others = (sum(each) / self._requests[kind] for each in zip(*costs, strict=True))
            amounts = zip(Counts._fields[1:], others, strict=True)
            found[kind] = {"store_cpu_ms": round(1000 * cpu, 4)} | {
                name: round(amount, 1) for name, amount in amounts
            }
        return found


def measure(number: int) -> dict[str, Any]:
    """All figures."""
    with service(workers=1) as running:
        traffic, rng = Traffic(running), Random(1)
        # Once without counting: then the worker has a connection, and the store its scripts.
        warm = planned(traffic.caller, running, "parade", 2, rng)
        warm.play(traffic.caller, 0, len(warm.moves))
        empty = traffic.used_memory()
        games = _begin(traffic, number)
        plans = [plan(running, game_id, tokens, rng) for game_id, tokens in games]
        cursors = _play_first_halves(traffic, plans)
        half = traffic.used_memory()
        _read(traffic, plans, cursors)
        with traffic.counted("playMove", sum(len(each.moves) - each.half for each in plans)):
            for each in plans:
                each.play(traffic.caller, each.half, len(each.moves))
        ended = traffic.used_memory()
        players = running.store_bytes(PLAYERS) / sum(1 for _ in traffic.store.scan_iter(PLAYERS))
        _read_lobby(traffic)
    return {
        "machine": machine(),
        "games": len(plans),
        "seats": sum(len(each.tokens) for each in plans) / len(plans),
        "moves": sum(len(each.moves) for each in plans) / len(plans),
        "half": round((half - empty) / len(plans)),
        "end": round((ended - empty) / len(plans)),
        "player": round(players),
        "requests": traffic.requests(),
    }


def _begin(traffic: Traffic, number: int) -> list[tuple[str, list[str]]]:
    """Start games of all rulesets, each with players of its own."""
    caller = traffic.caller
    tables = [(name, seats) for name, seats in SEATS.items() for _ in range(number)]
    with traffic.counted("createPlayer", sum(seats for _, seats in tables)):
        players = [[player(caller) for _ in range(seats)] for _, seats in tables]
    with traffic.counted("createGame", len(tables)):
        ids = [
            caller.ask("POST", "/v1/games", tokens[0], {"ruleset": name, "seat_count": seats})["id"]
            for (name, seats), tokens in zip(tables, players, strict=True)
        ]
    games = list(zip(ids, players, strict=True))
    with traffic.counted("joinGame", sum(seats - 1 for _, seats in tables)):
        for game_id, tokens in games:
            for token in tokens[1:]:
                caller.ask("POST", f"/v1/games/{game_id}/seats", token, {})
    return games


def _play_first_halves(traffic: Traffic, plans: list[Planned]) -> list[list[str]]:
    """Play the games to the half; return the cursors of each before its moves."""
    caller, found = traffic.caller, []
    for each in plans:
        cursors = [caller.ask("GET", f"/v1/games/{each.id}")["cursor"]]
        with traffic.counted("playMove", each.half):
            for move in each.requests[: each.half]:
                _, body = caller.send(move)
                cursors.append(json.loads(body)["game"]["cursor"])
        found.append(cursors[:-1])
    return found


def _read(traffic: Traffic, plans: list[Planned], cursors: list[list[str]]) -> None:
    """Read each item of the first halves as a client that follows the game, and the games."""
    caller = traffic.caller
    with traffic.counted("listEvents", sum(map(len, cursors))):
        for each, own in zip(plans, cursors, strict=True):
            for cursor in own:
                path = f"/v1/games/{each.id}/events?since={cursor}&limit=1"
                caller.send(request("GET", path, each.tokens[0]))
    with traffic.counted("getGame", READS):
        for at in range(READS):
            each = plans[at % len(plans)]
            caller.send(request("GET", f"/v1/games/{each.id}", each.tokens[0]))


def _read_lobby(traffic: Traffic) -> None:
    caller = traffic.caller
    token = player(caller)
    for at in range(LISTED):
        ruleset = list(SEATS)[at % len(SEATS)]
        caller.ask("POST", "/v1/games", token, {"ruleset": ruleset, "seat_count": SEATS[ruleset]})
    with traffic.counted("listGames", READS):
        for _ in range(READS):
            caller.ask("GET", "/v1/games?status=open&limit=20", token)


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    head = ["request", "store CPU ms", "commands", "reads"]
    head += ["bytes to the store", "from it", "bytes from the client", "to it"]
    rows = [
        [kind, f"{costs['store_cpu_ms']:.3f}", f"{costs['commands']:.1f}", f"{costs['reads']:.1f}"]
        + [f"{costs[name]:,.0f}" for name in Counts._fields[3:]]
        for kind, costs in measured["requests"].items()
    ]
    return table(head, rows)


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__).parse_args()
    measured = measure(QUICK_GAMES if given.quick else GAMES)
    print(measured["machine"])
    print(
        f"{measured['games']} games of {measured['seats']:.2f} seats and {measured['moves']:.0f} "
        f"moves, {measured['half']:,} bytes each at the half and {measured['end']:,} at the end\n"
    )
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
