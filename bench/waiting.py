"""How many can wait on one worker: memory for each, and how fast a move wakes who waits for it.

Starts the service with one worker and a store of its own, lets clients wait for the events of
games, four to a game, and plays moves in some of them at an even pace. A wake-up is measured from
the move's sending to the answer's arrival at each client that waits for that game.

    python -m bench.waiting [--quick] [--clients N] [--moves N] [--json FILE]
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import gc  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402

from bench.crowd import FOR_EACH_GAME, address_of, open_gently, waiting  # noqa: E402
from bench.games import player, start  # noqa: E402
from bench.running import (  # noqa: E402
    Caller,
    Refused,
    Running,
    allow_open_files,
    arguments,
    keep,
    machine,
    service,
    table,
    waiters,
)

PACE_SECONDS = 0.05
SETTLING_SECONDS = 2
CLIENTS, MOVES = 10_000, 300
PLAYED_GAMES = 100
QUICK_CLIENTS, QUICK_MOVES = 40, 12


class Game:
    """A game between two, and who waits for its events."""

    def __init__(self, caller: Caller) -> None:
        self.tokens = [player(caller) for _ in range(2)]
        self.id = start(caller, "parade", self.tokens)
        self.cursor: str = caller.ask("GET", f"/v1/games/{self.id}")["cursor"]
        self.moved_at = 0.0

    def move(self, caller: Caller) -> None:
        """Play one move; when it was sent is noted."""
        path = f"/v1/games/{self.id}"
        views = [caller.ask("GET", path, token) for token in self.tokens]
        token, view = next(
            (t, v) for t, v in zip(self.tokens, views, strict=True) if v["you"] in v["to_move"]
        )
        self.moved_at = time.perf_counter()
        move = {"turn": view["turn"], "move": view["legal_moves"][0]}
        caller.ask("POST", f"{path}/moves", token, move)

    def follow(self, caller: Caller, times: list[float], failures: list[str]) -> None:
        """Wait for its events, until something fails."""
        try:
            self._follow(caller, times)
        except (OSError, Refused) as error:
            failures.append(f"{type(error).__name__}: {error}")

    def _follow(self, caller: Caller, times: list[float]) -> None:
        # Half of the quota is for strangers, so with a token.
        path, token, since = f"/v1/games/{self.id}/events", self.tokens[0], self.cursor
        while True:
            page = caller.ask("GET", f"{path}?since={since}&wait=25", token)
            if page["items"]:
                times.append(time.perf_counter() - self.moved_at)
            since = page["cursor"]


def measure(running: Running, clients: int, moves: int) -> dict[str, Any]:
    """All figures."""
    caller = Caller(running.port)
    games = [Game(caller) for _ in range(max(clients // FOR_EACH_GAME, 1))]
    clients = len(games) * FOR_EACH_GAME
    before = sum(running.memory())
    played, others = games[:PLAYED_GAMES], [game.id for game in games[PLAYED_GAMES:]]
    # The others run in a process of their own, so that their polls do not delay this one.
    with waiting(running, others, len(others) * FOR_EACH_GAME):
        return _measure(running, played, clients, moves, before)


def _measure(
    running: Running, games: list[Game], clients: int, moves: int, before: int
) -> dict[str, Any]:
    times: list[float] = []
    failures: list[str] = []
    greenlets = open_gently(
        running.port,
        len(games) * FOR_EACH_GAME,
        lambda at: gevent.spawn(
            games[at % len(games)].follow, Caller(running.port, address_of(at)), times, failures
        ),
    )
    # The pauses of this process are none of the service's.
    gc.disable()
    gevent.sleep(SETTLING_SECONDS)
    held = sum(running.memory()) - before
    held_polls = waiters(running.port)
    caller = Caller(running.port)  # the first one has been silent for too long
    for number in range(moves):
        begin = time.perf_counter()
        games[number % len(games)].move(caller)
        gevent.sleep(max(PACE_SECONDS - (time.perf_counter() - begin), 0))
    gevent.sleep(1)
    gevent.killall(greenlets)
    if failures:
        raise SystemExit(f"{len(failures)} of {clients} clients have failed: {failures[:3]}")
    parts = statistics.quantiles(times, n=100)
    return {
        "machine": machine(),
        "clients": clients,
        "waiting": held_polls,
        "moves": moves,
        "wakes": len(times),
        "kb_each": round(held / clients / 1000, 1),
        "p50_ms": round(parts[49] * 1000, 1),
        "p99_ms": round(parts[98] * 1000, 1),
    }


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    return table(
        ["clients on one worker", "kB each", "moves", "woken", "p50 ms", "p99 ms"],
        [
            [
                f"{measured['clients']:,}",
                f"{measured['kb_each']}",
                f"{measured['moves']:,}",
                f"{measured['wakes']:,}",
                f"{measured['p50_ms']}",
                f"{measured['p99_ms']}",
            ]
        ],
    )


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--clients", type=int)
    parser.add_argument("--moves", type=int)
    given = parser.parse_args()
    clients = given.clients or (QUICK_CLIENTS if given.quick else CLIENTS)
    allow_open_files(2 * clients + 1000)
    with service(workers=1) as running:
        measured = measure(running, clients, given.moves or (QUICK_MOVES if given.quick else MOVES))
    print(measured["machine"])
    print(f"{FOR_EACH_GAME} clients to a game, a move every 50 ms:\n")
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
