"""What a request costs, beside the least that this stack can do.

Starts the real service (gunicorn, two gevent workers, a real Valkey on a Unix socket) and the bare
application of `bench.bare` under the same workers on the same store, drives both in turn, again
and again, and prints the ratios: of what reads, to the bare read, of what writes, to the bare
compare-and-set.

    python -m bench.http [--rounds N] [--seconds S] [--only TEXT] [--json FILE]

Reads are driven by wrk, moves by clients that play real games, each its moves in order.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pickle
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench.bare import READ_KEY, SWAP_KEY
from bench.games import Planned, planned, player
from bench.running import Caller, Running, bare_service, machine, request, service

CONNECTIONS = 32
LOBBY = 10_000
SEATS = {"parade": 4, "tea-time": 3, "contrast": 4, "mit-list-und-tuecke": 4}
AT_ONCE = (1, 8, 32)
TABLE = b'{"ruleset": "parade", "seat_count": 2}'
PLACES = 90
"""In so many games a player may be, and in some more."""

BODY = b'{"turn": 12, "move": {"type": "play", "card": "red-7"}}'

READ, SWAP = "bare read", "bare compare-and-set"


class Measured(NamedTuple):
    """One run: answers a second, and how long they took (ms)."""

    per_second: float
    p50_ms: float
    p99_ms: float


class Scenario(NamedTuple):
    """Something to measure, and what it is compared with."""

    name: str
    run: Callable[[float], Measured]
    beside: str | None = READ


def wrk(running: Running, path: str, seconds: float, headers: dict[str, str]) -> Measured:
    """Many connections that ask for the same again and again."""
    command = ["wrk", "--latency", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    text = subprocess.run(
        [*command, running.url + path], capture_output=True, text=True, check=True
    ).stdout
    if failed := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", text):
        raise SystemExit(f"{path}: {failed[0]}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    assert rate is not None
    return Measured(float(rate[1]), _latency(text, 50), _latency(text, 99))


def _latency(text: str, percent: int) -> float:
    found = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)\b", text)
    assert found is not None
    return float(found[1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[2]]


def lanes(running: Running, requests: list[list[bytes]], seconds: float) -> Measured:
    """Clients that each send their requests in order."""
    program = [sys.executable, "-m", "bench.lanes", str(running.port), str(seconds)]
    done = subprocess.run(program, input=pickle.dumps(requests), capture_output=True, check=True)
    found = json.loads(done.stdout)
    if found["failed"]:
        raise SystemExit(f"refused: {found['failed']}")
    return Measured(found["per_second"], found["p50_ms"], found["p99_ms"])


class Bench:
    """The scenarios, on a service and a bare one that run."""

    def __init__(self, real: Running, bare: Running, seconds: float) -> None:
        self.real = real
        self.bare = bare
        self.seconds = seconds
        self.rng = Random(1)
        self.caller = Caller(real.port)

    def again(self) -> Caller:
        """A connection; one that was silent for long has been closed."""
        self.caller = Caller(self.real.port)
        return self.caller

    def scenarios(self) -> list[Scenario]:
        """All that is measured."""
        caller = self.again()
        game = self._half_played("mit-list-und-tuecke")
        turn = self._half_played("parade")
        ended = self._half_played("parade", 1.0)
        path = f"/v1/games/{game.id}"
        token = {"Authorization": f"Bearer {game.tokens[0]}"}
        nobody = {"Authorization": f"Bearer {player(caller)}"}
        mover = {"Authorization": f"Bearer {self._mover(turn)}"}
        etag = self._etag(path, game.tokens[0])
        _, body = caller.raw("GET", path, game.tokens[0])
        self._set_up_bare(body)
        middle = json.loads(body)["version"] // 2
        record = caller.raw("GET", f"/v1/games/{ended.id}/record", ended.tokens[0])[1]
        return [
            Scenario(READ, lambda s: wrk(self.bare, "/read", s, {}), None),
            Scenario("getGame", lambda s: wrk(self.real, path, s, token)),
            Scenario(
                "getGame, 304", lambda s: wrk(self.real, path, s, token | {"If-None-Match": etag})
            ),
            Scenario("listLegalMoves", lambda s: wrk(self.real, path + "/legal-moves", s, token)),
            Scenario("listTurns, none", lambda s: wrk(self.real, "/v1/me/turns", s, nobody)),
            Scenario("listTurns, one", lambda s: wrk(self.real, "/v1/me/turns", s, mover)),
            Scenario(
                "listEvents, 20 from the middle",
                lambda s: wrk(self.real, f"{path}/events?since={middle}&limit=20", s, token),
            ),
            Scenario(
                f"listGames, 20 of {LOBBY:,}",
                lambda s: wrk(self.real, "/v1/games?status=open&limit=20", s, nobody),
            ),
            *(
                scenario
                for number in AT_ONCE
                for scenario in (
                    Scenario(_name(SWAP, number), self._swaps(number), None),
                    Scenario(_name("playMove", number), self._moves(number), _name(SWAP, number)),
                )
            ),
            Scenario("createGame", self._creations, _name(SWAP, 8)),
            Scenario("joinGame, which starts it", self._joins, _name(SWAP, 8)),
            Scenario(
                "analyse, a whole game",
                lambda s: lanes(
                    self.real, [[request("POST", "/v1/analysis", "", record)] * 2000] * 8, s
                ),
            ),
        ]

    def fill_lobby(self) -> None:
        """As many open games as a busy lobby has."""
        caller = self.again()
        for number in range(LOBBY):
            if number % PLACES == 0:
                host = player(caller)
            caller.ask("POST", "/v1/games", host, json.loads(TABLE))

    def _half_played(self, ruleset: str, part: float = 0.5) -> Planned:
        game = planned(self.caller, self.real, ruleset, SEATS[ruleset], self.rng)
        for each in game.requests[: int(len(game.requests) * part)]:
            self.caller.socket.sendall(each)
            self.caller.answer()
        return game

    def _mover(self, game: Planned) -> str:
        found = self.caller.ask("GET", f"/v1/games/{game.id}")
        return game.tokens[found["to_move"][0]]

    def _etag(self, path: str, token: str) -> str:
        self.caller.socket.sendall(request("GET", path, token))
        head = self.caller.socket.recv(65536).decode()
        found = re.search(r"(?i)^etag: (.*)\r$", head, re.MULTILINE)
        self.again()
        assert found is not None
        return found[1]

    def _set_up_bare(self, body: bytes) -> None:
        store = self.real.redis()
        store.set(READ_KEY, body)
        for number in range(max(AT_ONCE)):
            store.hset(SWAP_KEY % number, mapping={"version": "1", "answer": body})

    def _swaps(self, number: int) -> Callable[[float], Measured]:
        def run(seconds: float) -> Measured:
            tracks = [[request("POST", f"/swap/{n}", "", BODY)] * 20_000 for n in range(number)]
            return lanes(self.bare, tracks, seconds)

        return run

    def _moves(self, number: int) -> Callable[[float], Measured]:
        """So many games at once, of all rulesets; when one has ended the next begins."""

        def run(seconds: float) -> Measured:
            caller = self.again()
            enough = 3000 * seconds / number
            tracks = [self._track(caller, at, enough) for at in range(number)]
            return lanes(self.real, tracks, seconds)

        return run

    def _track(self, caller: Caller, first: int, enough: float) -> list[bytes]:
        track: list[bytes] = []
        for number in itertools.count(first):
            if len(track) >= enough:
                break
            ruleset = list(SEATS)[number % len(SEATS)]
            track += planned(caller, self.real, ruleset, SEATS[ruleset], self.rng).requests
        return track

    def _creations(self, seconds: float) -> Measured:
        caller = self.again()
        return lanes(self.real, [self._creating(caller, seconds) for _ in range(8)], seconds)

    def _joins(self, seconds: float) -> Measured:
        """Games for two, each with its host at the table."""
        caller = self.again()
        tracks = []
        for _ in range(8):
            track = []
            for number, creation in enumerate(self._creating(caller, seconds)):
                if number % PLACES == 0:
                    guest = player(caller)
                caller.socket.sendall(creation)
                game_id = json.loads(caller.answer()[1])["id"]
                track.append(request("POST", f"/v1/games/{game_id}/seats", guest, b"{}"))
            tracks.append(track)
        return lanes(self.real, tracks, seconds)

    def _creating(self, caller: Caller, seconds: float) -> list[bytes]:
        enough = int(200 * seconds)
        hosts = [player(caller) for _ in range(enough // PLACES + 1)]
        return [request("POST", "/v1/games", hosts[n // PLACES], TABLE) for n in range(enough)]


def _name(what: str, number: int) -> str:
    return f"{what}, {number} game{'s' if number > 1 else ''}"


def measure(rounds: int, seconds: float, only: str) -> dict[str, Any]:
    """All scenarios, in turn and again."""
    with service() as real, bare_service(real) as bare:
        bench = Bench(real, bare, seconds)
        scenarios = bench.scenarios()
        wanted = {s.name for s in scenarios if only in s.name}
        wanted |= {s.beside for s in scenarios if s.name in wanted and s.beside}
        scenarios = [s for s in scenarios if s.name in wanted]
        if any("listGames" in s.name for s in scenarios):
            bench.fill_lobby()
        found: dict[str, list[Measured]] = {s.name: [] for s in scenarios}
        for number in range(rounds):
            for scenario in scenarios:
                print(f"\r{number + 1}/{rounds} {scenario.name:40}", end="", file=sys.stderr)
                found[scenario.name].append(scenario.run(seconds))
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return {
        "machine": machine(),
        "rounds": rounds,
        "seconds": seconds,
        "scenarios": [_figures(s, found) for s in scenarios],
    }


def _figures(scenario: Scenario, found: dict[str, list[Measured]]) -> dict[str, Any]:
    runs = found[scenario.name]
    figures: dict[str, Any] = {
        "name": scenario.name,
        "per_second": round(statistics.median(run.per_second for run in runs)),
        "p50_ms": round(statistics.median(run.p50_ms for run in runs), 2),
        "p99_ms": round(statistics.median(run.p99_ms for run in runs), 2),
    }
    if scenario.beside is not None:
        # Of each round its own: what else the machine did was the same for both.
        ratios = [
            run.per_second / other.per_second
            for run, other in zip(runs, found[scenario.beside], strict=True)
        ]
        figures["beside"] = scenario.beside
        figures["ratio"] = round(statistics.median(ratios), 2)
        figures["ratios"] = [round(min(ratios), 2), round(max(ratios), 2)]
    return figures


def table(measured: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [
        "| request | a second | p50 ms | p99 ms | of the bare one | from, to |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in measured["scenarios"]:
        ratio = spread = ""
        if "ratio" in each:
            ratio = f"{each['ratio']:.2f}"
            spread = "{:.2f}-{:.2f}".format(*each["ratios"])
        lines.append(
            f"| {each['name']} | {each['per_second']:,} | {each['p50_ms']:.1f} "
            f"| {each['p99_ms']:.1f} | {ratio} | {spread} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is needed: apt-get install wrk, or brew install wrk")
    measured = measure(arguments.rounds, arguments.seconds, arguments.only)
    print(measured["machine"])
    print(table(measured))
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
