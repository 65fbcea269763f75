"""What a request costs, beside the least that this stack can do.

Starts the real service (gunicorn, two gevent workers, a real Valkey on a Unix socket) and the bare
application of `bench.bare` under the same workers with the same settings, on the same store. Each
request is driven on the one and its counterpart on the other right beside it, in the other order
each round, again and again; the ratio is that of the two. What reads is set beside the bare read,
what writes beside the bare compare-and-set.

    python -m bench.http [--quick] [--rounds N] [--seconds S] [--only TEXT] [--json FILE]

Reads are driven by wrk on 32 connections. It cannot play a game's moves in order: those, and what
else is never sent twice, are driven by `bench.lanes`, and so is what they are set beside. Who
drives shares the machine with who serves, so the CPU that the workers took is told as well.
"""

from __future__ import annotations

import itertools
import json
import pickle
import re
import shutil
import statistics
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, NamedTuple

from bench.bare import READ_KEY, SWAP_KEY
from bench.games import SEATS, Planned, PlannedMove, planned, player
from bench.running import (
    NOT_MODIFIED,
    Caller,
    Refused,
    Running,
    Track,
    arguments,
    bare_service,
    keep,
    machine,
    request,
    service,
    table,
)
from bench.stock import GAMES_EACH, Stock, Template
from tests.support.paths import ROOT

CONNECTIONS = 32
LOBBY = 10_000
AT_ONCE = (1, 8, 32)
LANES = 8
"""So many create and join at once."""

TABLE = b'{"ruleset": "parade", "seat_count": 2}'
WISH = b'{"ruleset": "parade", "seat_count": 2, "turn_seconds": %d}'
TURN_SECONDS = 3600
BODY = b'{"turn": 12, "move": {"type": "play", "card": "red-7"}}'

FASTEST = 4_000
"""So many requests are never answered in a second here: as many as that are made ready."""

READ, SWAP = "a bare read", "a bare compare-and-set"

ONE_BY_ONE = "playMove, one by one"
"""What playMoves is set beside: the same moves in the same order, each with a request of its own.
"""

BATCHED_GAMES, BATCHED_SEATS = 32, 3
MINIMAL = "Prefer: return=minimal\r\n"


class Load(NamedTuple):
    """How much is measured."""

    rounds: int
    seconds: float
    lobby: int


LONG = Load(5, 2, LOBBY)
QUICK = Load(1, 0.2, 100)


class Measured(NamedTuple):
    """One run: answers a second, how long they took (ms), the workers' CPU for each (ms)."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    answers: int


Run = Callable[[float], Measured]


class Scenario(NamedTuple):
    """Something to measure, and what it is set beside."""

    name: str
    run: Run
    beside: str
    bare: Run


def wrk(running: Running, path: str, seconds: float, headers: dict[str, str]) -> Measured:
    """Many connections that ask for the same again and again."""
    command = ["wrk", "--latency", "-t1", f"-c{CONNECTIONS}", f"-d{max(round(seconds), 1)}s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    before = running.cpu_seconds()
    text = subprocess.run(
        [*command, running.url + path], capture_output=True, text=True, check=True
    ).stdout
    cpu = running.cpu_seconds() - before
    if failed := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", text):
        raise Refused(f"{path}: {failed[0]}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    answers = re.search(r"(\d+) requests in", text)
    assert rate is not None
    assert answers is not None
    return Measured(
        float(rate[1]),
        _latency(text, 50),
        _latency(text, 99),
        1000 * cpu / int(answers[1]),
        int(answers[1]),
    )


def _latency(text: str, percent: int) -> float:
    found = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)\b", text)
    assert found is not None
    return float(found[1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[2]]


def lanes(running: Running, requests: list[list[bytes]], seconds: float) -> Measured:
    """Clients that each send their requests in order, on a connection of their own."""
    connect = partial(Caller, running.port)
    return drive(running, [[Track(connect, each)] for each in requests], seconds)


def drive(running: Running, tracks: list[list[Track]], seconds: float) -> Measured:
    """Clients that each send the requests of their tracks in order."""
    program = [sys.executable, "-m", "bench.lanes", str(seconds)]
    client = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert client.stdin is not None
    assert client.stdout is not None
    with client:
        pickle.dump(tracks, client.stdin)
        client.stdin.flush()
        # Opening the connections is not measured.
        client.stdout.readline()
        before = running.cpu_seconds()
        client.stdin.write(b"begin\n")
        client.stdin.close()
        answer = client.stdout.read()
        cpu = running.cpu_seconds() - before
    if client.returncode:
        raise SystemExit(f"bench.lanes ended with {client.returncode}.")
    found = json.loads(answer)
    if found["failed"]:
        raise Refused(f"{found['failed']}")
    return Measured(
        found["per_second"],
        found["p50_ms"],
        found["p99_ms"],
        1000 * cpu / found["answers"],
        found["answers"],
    )


def per_move(batches: Measured, sizes: list[int]) -> Measured:
    """The figures of requests with so many moves each, for one move; the times stay."""
    answered = sizes[: batches.answers]
    moves = statistics.mean(answered)
    return batches._replace(per_second=batches.per_second * moves, cpu_ms=batches.cpu_ms / moves)


class Bench:
    """The scenarios, on a service and a bare one that run."""

    def __init__(self, real: Running, bare: Running, load: Load) -> None:
        self.real = real
        self.bare = bare
        self.rng = Random(1)
        self.caller = Caller(real.port)
        self.template = Template.play(real, planned(self.caller, real, "parade", 2, self.rng))
        self.stock = Stock(real, self.template)
        self._fill_lobby(load.lobby)
        self.caller = Caller(real.port)

    def again(self) -> Caller:
        """A new connection; one that was silent for long has been closed."""
        self.caller = Caller(self.real.port)
        return self.caller

    def _fill_lobby(self, number: int) -> None:
        """As many open games as a busy lobby has."""
        for made in range(number):
            if made % GAMES_EACH == 0:
                players = self.stock.players()
            self.stock.copy("open", players)
        self.stock.flush()

    def scenarios(self) -> list[Scenario]:
        """All that is measured."""
        return [*self._reads(), *self._plays(), *self._others(), *self._batches()]

    # --- What reads --------------------------------------------------------------------

    def _reads(self) -> list[Scenario]:
        caller = self.caller
        whole = self._played("mit-list-und-tuecke", 1.0)
        game = self._played("mit-list-und-tuecke", 0.5)
        turn = self._played("parade", 0.5)
        path, token = f"/v1/games/{game.id}", game.tokens[0]
        to_move = caller.ask("GET", f"/v1/games/{turn.id}")["to_move"]
        mover, nobody = turn.tokens[to_move[0]], player(caller)
        middle = caller.ask("GET", f"/v1/games/{whole.id}")["version"] // 2
        page = caller.ask("GET", f"/v1/games/{whole.id}/events?limit={middle}")
        status, body = caller.raw("GET", path, token)
        assert status == 200
        self._set_up_bare(body)
        events = f"/v1/games/{whole.id}/events?since={page['cursor']}&limit=20"
        return [
            self._read("getGame", path, token),
            self._read("getGame, 304", path, token, self._etag(path, token)),
            self._read("listLegalMoves", path + "/legal-moves", token),
            self._read("listTurns, none", "/v1/me/turns", nobody),
            self._read("listTurns, one", "/v1/me/turns", mover),
            self._read("listEvents, 20 from the middle", events, whole.tokens[0]),
            self._read(f"listGames, 20 of {LOBBY:,}", "/v1/games?status=open&limit=20", nobody),
        ]

    def _read(self, name: str, path: str, token: str, etag: str | None = None) -> Scenario:
        headers = {"Authorization": f"Bearer {token}"}
        expected = 200
        if etag is not None:
            headers["If-None-Match"] = etag
            expected = NOT_MODIFIED

        def run(seconds: float) -> Measured:
            more = "" if etag is None else f"If-None-Match: {etag}\r\n"
            status, _ = self.again().send(request("GET", path, token, headers=more))
            if status != expected:
                raise Refused(f"{path}: {status}")
            return wrk(self.real, path, seconds, headers)

        return Scenario(name, run, READ, lambda seconds: wrk(self.bare, "/read", seconds, {}))

    def _played(self, ruleset: str, part: float) -> Planned:
        game = planned(self.caller, self.real, ruleset, SEATS[ruleset], self.rng)
        game.play(self.caller, 0, int(len(game.moves) * part))
        return game

    def _etag(self, path: str, token: str) -> str:
        caller = Caller(self.real.port)
        caller.socket.sendall(request("GET", path, token))
        head = caller.socket.recv(65536).decode()
        found = re.search(r"(?i)^etag: (.*)\r$", head, re.MULTILINE)
        assert found is not None
        return found[1]

    def _set_up_bare(self, body: bytes) -> None:
        """The bare application sends what getGame does."""
        store = self.real.redis()
        store.set(READ_KEY, body)
        for number in range(max(AT_ONCE)):
            store.hset(SWAP_KEY % number, mapping={"version": "1", "answer": body})

    # --- What writes -------------------------------------------------------------------

    def _plays(self) -> list[Scenario]:
        return [
            Scenario(f"playMove, {games(n)} at once", self._moves(n), SWAP, self._swaps(n))
            for n in AT_ONCE
        ]

    def _others(self) -> list[Scenario]:
        ended = self._played("parade", 1.0)
        status, record = self.caller.raw("GET", f"/v1/games/{ended.id}/record", ended.tokens[0])
        assert status == 200
        analysis = request("POST", "/v1/analysis", "", record)

        def analyses(seconds: float) -> Measured:
            number = int(FASTEST * seconds / LANES)
            return lanes(self.real, [[analysis] * number] * LANES, seconds)

        def bare_reads(seconds: float) -> Measured:
            number = int(4 * FASTEST * seconds / LANES)
            return lanes(self.bare, [[request("GET", "/read")] * number] * LANES, seconds)

        swaps = self._swaps(LANES)
        return [
            Scenario("createGame", self._creations, SWAP, swaps),
            Scenario("joinGame, which starts it", self._joins, SWAP, swaps),
            Scenario("quickMatch, two to a game", self._matches, SWAP, swaps),
            Scenario("analyse, a whole game", analyses, READ, bare_reads),
        ]

    def _swaps(self, number: int) -> Run:
        def run(seconds: float) -> Measured:
            enough = int(4 * FASTEST * seconds / number)
            tracks = [[request("POST", f"/swap/{n}", "", BODY)] * enough for n in range(number)]
            return lanes(self.bare, tracks, seconds)

        return run

    def _moves(self, number: int) -> Run:
        """So many games at once, of all rulesets; when one has ended the next begins."""

        def run(seconds: float) -> Measured:
            caller = self.again()
            enough = FASTEST * seconds / number
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

    # --- Many moves in one request -----------------------------------------------------

    def _batches(self) -> list[Scenario]:
        return [
            Scenario("playMoves, minimal", self._batched(MINIMAL), ONE_BY_ONE, self._one_by_one),
            Scenario("playMoves, games and items", self._batched(""), ONE_BY_ONE, self._one_by_one),
        ]

    def _batched(self, headers: str) -> Run:
        def run(seconds: float) -> Measured:
            steps = self._steps(FASTEST * 2 * seconds)
            track = [
                request(
                    "POST",
                    "/v1/me/moves",
                    step[0][0].tokens[step[0][1].seat],
                    b'{"moves": [%s]}' % b",".join(move.in_batch(game.id) for game, move in step),
                    headers,
                )
                for step in steps
            ]
            sizes = [len(step) for step in steps]
            return per_move(lanes(self.real, [track], seconds), sizes)

        return run

    def _one_by_one(self, seconds: float) -> Measured:
        steps = self._steps(FASTEST * seconds / 2)
        track = [move.request(game.id, game.tokens) for step in steps for game, move in step]
        return lanes(self.real, [track], seconds)

    def _steps(self, enough: float) -> list[list[tuple[Planned, PlannedMove]]]:
        """So many moves, in steps: all that one player can make at once, then those of the next.

        The same players sit in so many games; when these have ended, others begin theirs.
        """
        caller, steps = self.again(), []
        while sum(map(len, steps)) < enough:
            tokens = [player(caller) for _ in range(BATCHED_SEATS)]
            games = [
                planned(caller, self.real, "parade", BATCHED_SEATS, self.rng, tokens=tokens)
                for _ in range(BATCHED_GAMES)
            ]
            rest = [(game, deque(game.moves)) for game in games]
            for seat in itertools.cycle(range(BATCHED_SEATS)):
                step = [
                    (game, moves.popleft())
                    for game, moves in rest
                    if moves and moves[0].seat == seat
                ]
                steps += [step] if step else []
                if not any(moves for _, moves in rest):
                    break
        return steps

    def _creations(self, seconds: float) -> Measured:
        """Tables for two, with their hosts at them."""
        tracks = []
        for _ in range(LANES):
            track: list[bytes] = []
            while len(track) < FASTEST * seconds / LANES:
                host, _ = self.stock.players()
                track += [request("POST", "/v1/games", host.token, TABLE)] * GAMES_EACH
            tracks.append(track)
        self.stock.flush()
        return lanes(self.real, tracks, seconds)

    def _joins(self, seconds: float) -> Measured:
        """Tables for two, each with its host at it."""
        tracks = []
        for _ in range(LANES):
            track: list[bytes] = []
            while len(track) < FASTEST * seconds / LANES:
                host, guest = self.stock.players()
                for _ in range(GAMES_EACH):
                    path = f"/v1/games/{self.stock.copy('open', [host, guest])}/seats"
                    track.append(request("POST", path, guest.token, b"{}"))
            tracks.append(track)
        self.stock.flush()
        return lanes(self.real, tracks, seconds)

    def _matches(self, seconds: float) -> Measured:
        """Pairs of players that are seated together; each lane has a wish of its own."""
        tracks = []
        for at in range(LANES):
            wish = WISH % (TURN_SECONDS + at)
            track: list[bytes] = []
            while len(track) < FASTEST * seconds / LANES:
                pair = self.stock.players()
                asked = [request("POST", "/v1/match", each.token, wish) for each in pair]
                track += asked * GAMES_EACH
            tracks.append(track)
        self.stock.flush()
        return lanes(self.real, tracks, seconds)


def games(number: int) -> str:
    """So many games, in words."""
    return "1 game" if number == 1 else f"{number} games"


def measure(load: Load, only: str) -> dict[str, Any]:
    """All scenarios, each right beside what it is compared with, in turn and again."""
    with service() as real, bare_service(real) as bare:
        scenarios = [s for s in Bench(real, bare, load).scenarios() if only in s.name]
        figures = compare(scenarios, load.rounds, load.seconds)
    return {
        "machine": machine(),
        "rounds": load.rounds,
        "seconds": load.seconds,
        "scenarios": figures,
    }


def compare(scenarios: list[Scenario], rounds: int, seconds: float) -> list[dict[str, Any]]:
    """The figures of scenarios, which are measured in turn, and again."""
    pairs: dict[str, list[tuple[Measured, Measured]]] = {each.name: [] for each in scenarios}
    for number in range(rounds):
        for scenario in scenarios:
            print(f"\r{number + 1}/{rounds} {scenario.name:40}", end="", file=sys.stderr)
            pairs[scenario.name].append(_pair(scenario, seconds, number))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return [_figures(each, pairs[each.name]) for each in scenarios]


def _pair(scenario: Scenario, seconds: float, number: int) -> tuple[Measured, Measured]:
    """Both, in the other order each time."""
    if number % 2:
        bare = scenario.bare(seconds)
        return scenario.run(seconds), bare
    real = scenario.run(seconds)
    return real, scenario.bare(seconds)


def _figures(scenario: Scenario, pairs: list[tuple[Measured, Measured]]) -> dict[str, Any]:
    ratios = [real.per_second / bare.per_second for real, bare in pairs]
    return {
        "name": scenario.name,
        **_medians([real for real, _ in pairs]),
        "beside": scenario.beside,
        "bare": _medians([bare for _, bare in pairs]),
        # Of each pair its own: what else the machine did was the same for both.
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(min(ratios), 3), round(max(ratios), 3)],
    }


def _medians(runs: list[Measured]) -> dict[str, float]:
    rates = [run.per_second for run in runs]
    return {
        "per_second": round(statistics.median(rates)),
        "slowest": round(min(rates)),
        "fastest": round(max(rates)),
        **{
            name: round(statistics.median(getattr(run, name) for run in runs), 3)
            for name in ("p50_ms", "p99_ms", "cpu_ms")
        },
    }


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    scenarios = measured["scenarios"]
    batched = [each for each in scenarios if each["beside"] == ONE_BY_ONE]
    others = [each for each in scenarios if each["beside"] != ONE_BY_ONE]
    found = _beside_bare(others)
    return f"{found}\n\n{_beside_one_by_one(batched)}" if batched else found


def _beside_one_by_one(scenarios: list[dict[str, Any]]) -> str:
    rows = [
        [
            each["name"],
            f"{each['per_second']:,} ({each['bare']['per_second']:,})",
            f"{each['cpu_ms']:.2f} ({each['bare']['cpu_ms']:.2f})",
            f"**{each['ratio']:.1f}** ({each['ratios'][0]:.1f} to {each['ratios'][1]:.1f})",
        ]
        for each in scenarios
    ]
    title = f"{BATCHED_GAMES} games of {BATCHED_SEATS} players (one by one)"
    return table([title, "moves a second", "CPU ms a move", "times as many"], rows)


def _beside_bare(scenarios: list[dict[str, Any]]) -> str:
    rows = []
    for each in scenarios:
        lowest, highest = each["ratios"]
        rows.append(
            [
                each["name"],
                f"{each['per_second']:,}",
                f"{each['p50_ms']:.1f}",
                f"{each['p99_ms']:.1f}",
                f"{each['cpu_ms']:.2f} ({each['bare']['cpu_ms']:.2f})",
                f"{each['bare']['per_second']:,}",
                f"**{each['ratio']:.2f}** ({lowest:.2f} to {highest:.2f})",
            ]
        )
    head = ["request", "a second", "p50 ms", "p99 ms", "CPU ms (bare)", "bare, a second", "ratio"]
    return table(head, rows)


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--only", default="", help="only requests with this in their names")
    given = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is needed: apt-get install wrk, or brew install wrk")
    load = QUICK if given.quick else LONG
    load = load._replace(rounds=given.rounds or load.rounds, seconds=given.seconds or load.seconds)
    measured = measure(load, given.only)
    print(measured["machine"])
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
