"""The service beside boardgame.io: three seats of Parade, on one Redis.

Both keep their games in one `redis-server`, the service with two workers, boardgame.io with two
processes of Node, each of which has games of its own. One program drives both (`bench.lanes`): at
each game, one connection sends the moves of all seats, each after the answer to the one before. To
the service it speaks HTTP, to boardgame.io the WebSocket protocol of its clients. Either no other
client is connected, or each seat follows its game: by an event stream, or by a WebSocket.

`bench/rival` has the server of boardgame.io: Parade with the same checks, and a storage in Redis.

    python -m bench.boardgame_io [--quick] [--json FILE]

It needs `npm`, `node` and `redis-server`, and installs boardgame.io as its lock file says.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from random import Random
from typing import Any, NamedTuple, Protocol

from bench.games import planned, player, start
from bench.http import AT_ONCE, Measured, Run, Scenario, compare, drive, games
from bench.running import (
    Caller,
    Refused,
    Running,
    Stream,
    Track,
    arguments,
    keep,
    machine,
    redis_server,
    service,
    table,
)
from bench.sockets import Socket, event
from engine.cards import Play
from engine.parade import PARADE, Options, ParadeDeal
from tests.support.paths import ROOT

DIRECTORY = ROOT / "bench" / "rival"
PROGRAMS = ("npm", "node", "redis-server")

RIVAL = "boardgame.io"
SEATS = 3
PROCESSES = 2

FASTEST, FASTEST_SETUP = 3_000, 500
"""So many moves, and games, are never answered in a second here: as many as that are made ready."""

GAMES_OF_A_PLAYER = 50
MOMENTS = ("start", "half", "end")
KB = 1000

SETTLING_SECONDS = 0.1
"""boardgame.io answers a move before it has stored it."""


class Load(NamedTuple):
    """How much is measured: how often, for how long, how many games are weighed."""

    rounds: int
    seconds: float
    games: int


LONG = Load(5, 2, 9)
QUICK = Load(1, 0.2, 1)


class Game(NamedTuple):
    """A game that waits for its first move.

    It has the pattern of its keys, its moves to the end, and a part of the answer to the last one.
    """

    keys: str
    track: Track
    ending: bytes


class Side(Protocol):
    """One of the two servers that are compared."""

    running: Running

    def new_players(self, games: int) -> None:
        """Create the players of games that will be set up."""

    def set_up(self) -> Any:
        """Set up a game, with all its players."""

    def game(self, rng: Random, *, followed: bool) -> Game:
        """A game that has begun; its moves are chosen at random."""


class Service:
    """The service."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.caller = Caller(running.port)
        self.tokens: list[list[str]] = []

    def new_players(self, games: int) -> None:
        self.caller = Caller(self.running.port)
        for _ in range(0, games, GAMES_OF_A_PLAYER):
            tokens = [player(self.caller) for _ in range(SEATS)]
            self.tokens += [tokens] * GAMES_OF_A_PLAYER

    def set_up(self) -> None:
        start(self.caller, "parade", self.tokens.pop())

    def game(self, rng: Random, *, followed: bool) -> Game:
        self.caller = Caller(self.running.port)
        plan = planned(self.caller, self.running, "parade", SEATS, rng)
        port = self.running.port
        followers = [partial(Stream, port, plan.id, each) for each in plan.tokens]
        track = Track(partial(Caller, port), plan.requests, followers if followed else ())
        return Game(f"game:{{{plan.id}}}*", track, b'"status":"finished"')


class Rival:
    """boardgame.io, some processes of it."""

    def __init__(self, running: Running, ports: list[int]) -> None:
        self.running = running
        self.ports = ports
        self.number = count()
        self.caller = Caller(ports[0])

    def new_players(self, games: int) -> None:
        """Connect; players exist only within a match."""
        self.caller = Caller(self.ports[0])

    def set_up(self) -> tuple[str, list[str]]:
        path, body = "/games/parade", {"numPlayers": SEATS}
        match_id: str = self.caller.ask("POST", f"{path}/create", body=body)["matchID"]
        joined = [
            self.caller.ask("POST", f"{path}/{match_id}/join", body={"playerName": "Bench"})
            for _ in range(SEATS)
        ]
        return match_id, [each["playerCredentials"] for each in joined]

    def game(self, rng: Random, *, followed: bool) -> Game:
        # A process orders the moves of its own connections only: a game stays with one.
        port = self.ports[next(self.number) % len(self.ports)]
        self.caller = Caller(port)
        match_id, credentials = self.set_up()
        seats = [partial(Socket, port, match_id, *seat, SEATS) for seat in enumerate(credentials)]
        requests, scores = _moves(self._deal(match_id), match_id, credentials, rng)
        track = Track(seats[0], requests, seats[1:] if followed else ())
        return Game(f"match:{match_id}*", track, b'"gameover":{"scores":[%s]}' % scores)

    def _deal(self, match_id: str) -> ParadeDeal:
        """Read the deal from the store; the server shows it to no client."""
        state = self.running.redis().hget(f"match:{match_id}", "state")
        assert isinstance(state, bytes)
        dealt = json.loads(state)["G"]
        hands = tuple(map(tuple, dealt["hands"]))
        return ParadeDeal(dealt["firstSeat"], hands, tuple(dealt["parade"]), tuple(dealt["pile"]))


def _moves(
    deal: ParadeDeal, match_id: str, credentials: list[str], rng: Random
) -> tuple[list[bytes], bytes]:
    """A whole game as its moves are sent to boardgame.io, and the scores at its end."""
    state, _ = PARADE.start(SEATS, Options(), deal)
    requests: list[bytes] = []
    while to_move := PARADE.to_move(state):
        seat = rng.choice(to_move)
        move = rng.choice(PARADE.legal_moves(state, seat))
        state, _ = PARADE.apply(state, seat, move)
        kind, arg = ("play", move.card) if isinstance(move, Play) else ("discard", move.cards)
        payload = {
            "type": kind,
            "args": [arg],
            "playerID": f"{seat}",
            "credentials": credentials[seat],
        }
        action = {"type": "MAKE_MOVE", "payload": payload}
        requests.append(event("update", action, len(requests), match_id, f"{seat}"))
    result = PARADE.result(state)
    assert result is not None
    return requests, ",".join(map(str, result.scores)).encode()


# --- The processes --------------------------------------------------------------------------


def obstacle() -> str | None:
    """Install what the lock file names, unless it is installed; return why that is impossible."""
    if missing := [each for each in PROGRAMS if shutil.which(each) is None]:
        return f"there is no {', '.join(missing)}"
    installed, lock = DIRECTORY / "node_modules/.package-lock.json", DIRECTORY / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return None
    options = ("--ignore-scripts", "--engine-strict", "--no-audit", "--no-fund", "--loglevel=error")
    done = subprocess.run(["npm", "ci", *options], cwd=DIRECTORY, check=False)
    return "npm cannot install it" if done.returncode else None


@contextlib.contextmanager
def rival(store: str) -> Iterator[Rival]:
    """Start the server of boardgame.io on a Redis."""
    environment = {**os.environ, "NODE_ENV": "production"}
    with contextlib.ExitStack() as ending:
        servers, ports = [], []
        for _ in range(PROCESSES):
            server = ending.enter_context(
                subprocess.Popen(
                    ["node", "server.mjs", store],
                    cwd=DIRECTORY,
                    env=environment,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            ending.callback(server.terminate)
            assert server.stdout is not None
            said = server.stdout.readline().split()
            if said[:1] != ["port"]:
                raise SystemExit(f"The server of {RIVAL} does not start: {said}")
            servers.append(server.pid)
            ports.append(int(said[1]))
        yield Rival(Running(ports[0], servers, store), ports)


def version() -> str:
    """The version of boardgame.io that is measured."""
    lock = json.loads((DIRECTORY / "package-lock.json").read_text(encoding="utf-8"))
    found: str = lock["packages"][f"node_modules/{RIVAL}"]["version"]
    return found


# --- What is measured -----------------------------------------------------------------------


def moves(side: Side, number: int, *, followed: bool) -> Run:
    """So many games at once; when one has ended the next begins."""
    rng = Random(1)

    def run(seconds: float) -> Measured:
        enough = FASTEST * seconds / number
        return drive(side.running, [lane(enough) for _ in range(number)], seconds)

    def lane(enough: float) -> list[Track]:
        tracks: list[Track] = []
        while sum(len(each.requests) for each in tracks) < enough:
            tracks.append(side.game(rng, followed=followed).track)
        return tracks

    return run


def set_ups(side: Side) -> Run:
    """Set up games, one after the other, with players that exist already."""

    def run(seconds: float) -> Measured:
        most = int(FASTEST_SETUP * seconds)
        side.new_players(most)
        times: list[float] = []
        before, begin = side.running.cpu_seconds(), time.perf_counter()
        while len(times) < most and time.perf_counter() - begin < seconds:
            began = time.perf_counter()
            side.set_up()
            times.append(time.perf_counter() - began)
        cpu = side.running.cpu_seconds() - before
        p50, p99 = (statistics.quantiles(times, n=100)[at] * 1000 for at in (49, 98))
        return Measured(len(times) / sum(times), p50, p99, 1000 * cpu / len(times), len(times))

    return run


def weigh(side: Side, games: int) -> dict[str, int]:
    """The bytes of a game in Redis: the medians of some games."""
    rng = Random(1)
    weighed = [_weights(side, side.game(rng, followed=False)) for _ in range(games)]
    medians = (round(statistics.median(each)) for each in zip(*weighed, strict=True))
    return dict(zip(("moves", *MOMENTS), medians, strict=True))


def _weights(side: Side, game: Game) -> list[int]:
    connection, requests = game.track.connect(), game.track.requests
    half = len(requests) // 2
    weights = [len(requests), side.running.store_bytes(game.keys)]
    for part in (requests[:half], requests[half:]):
        for each in part:
            status, body = connection.send(each)
            if status >= 300:
                raise Refused(f"{status} {body.decode()[:300]}")
        time.sleep(SETTLING_SECONDS)
        weights.append(side.running.store_bytes(game.keys))
    if game.ending not in body:
        raise Refused(f"The game does not end as planned: {body.decode()[:2000]}")
    return weights


def scenarios(ours: Side, theirs: Side) -> list[Scenario]:
    """All that is compared in speed."""
    plays = [
        Scenario(
            f"a move, {games(number)}{' that each seat follows' if followed else ''}",
            moves(ours, number, followed=followed),
            RIVAL,
            moves(theirs, number, followed=followed),
        )
        for followed in (False, True)
        for number in AT_ONCE
    ]
    return [*plays, Scenario("a game set up", set_ups(ours), RIVAL, set_ups(theirs))]


def measure(load: Load) -> dict[str, Any]:
    """All figures."""
    with redis_server() as store, service(store=store) as running, rival(store) as theirs:
        ours = Service(running)
        return {
            "machine": machine(),
            "store": running.store_version(),
            "rival": f"{RIVAL} {version()}, Node {_node_version()}",
            "rounds": load.rounds,
            "seconds": load.seconds,
            "scenarios": compare(scenarios(ours, theirs), load.rounds, load.seconds),
            "bytes": {"ours": weigh(ours, load.games), "theirs": weigh(theirs, load.games)},
        }


def _node_version() -> str:
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip().lstrip("v")


def heading(measured: dict[str, Any]) -> str:
    """What is compared, and where."""
    return (
        f"Three seats of Parade beside {measured['rival']} (in brackets), on "
        f"{measured['machine']}. Both have their games in one {measured['store']}; the service has "
        f"two workers, {RIVAL} {PROCESSES} processes. Medians of {measured['rounds']} rounds of "
        f"{measured['seconds']:g} seconds; the ratio is that of the moves, or games, a second. "
        f"{RIVAL} answers a move before it has stored it."
    )


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    rows = [
        [
            each["name"],
            f"{each['per_second']:,} ({each['bare']['per_second']:,})",
            f"{each['p50_ms']:.1f} ({each['bare']['p50_ms']:.1f})",
            f"{each['p99_ms']:.1f} ({each['bare']['p99_ms']:.1f})",
            f"{each['cpu_ms']:.2f} ({each['bare']['cpu_ms']:.2f})",
            f"**{each['ratio']:.2f}** ({each['ratios'][0]:.2f} to {each['ratios'][1]:.2f})",
        ]
        for each in measured["scenarios"]
    ]
    speed = table([f"what ({RIVAL})", "a second", "p50 ms", "p99 ms", "CPU ms", "ratio"], rows)
    ours, theirs = measured["bytes"]["ours"], measured["bytes"]["theirs"]
    weights = [
        [name, *(f"{each[moment] / KB:.1f}" for moment in MOMENTS)]
        for name, each in (("Ludothèque", ours), (RIVAL, theirs))
    ]
    ratios = [f"**{ours[moment] / theirs[moment]:.2f}**" for moment in MOMENTS]
    weights.append(["ratio", *ratios])
    memory = table(["kB of Redis for a game", "at its start", "half played", "at its end"], weights)
    return f"{speed}\n\n{memory}"


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__).parse_args()
    if reason := obstacle():
        print(f"{RIVAL} is left out: {reason}.")
        return
    measured = measure(QUICK if given.quick else LONG)
    print(f"{heading(measured)}\n")
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
