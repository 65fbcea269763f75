"""What is held in memory: of a game by the store, and by a worker.

Some games of each ruleset are played at random over HTTP, with every number of players. What the
store holds of one is what it says of all keys of the game together (MEMORY USAGE, every element
counted): when it has started, when it is half played, and at its end. The store is the system's
Redis if there is one, else the Valkey of the service. A worker's memory is what it holds for
itself: as it starts, after it has shown and played many games, and while it holds many polls.

    python -m bench.memory [--quick] [--json FILE]
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
from random import Random
from typing import Any, NamedTuple

from bench.crowd import FOR_EACH_GAME, waiting
from bench.games import planned
from bench.running import (
    Caller,
    Running,
    allow_open_files,
    arguments,
    keep,
    machine,
    redis_server,
    service,
    table,
)
from bench.stock import GAMES_EACH, Stock, Template
from engine.registry import RULESETS

TABLES = tuple(
    (name, seats)
    for name, ruleset in RULESETS.items()
    for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
)
"""The rulesets, each with every number of seats."""

MOMENTS = ("start", "half", "end")
KB, MB = 1000, 1_000_000


class Load(NamedTuple):
    """How many games of each ruleset are played, and what a worker does."""

    games: int
    shown: int
    waiters: int


LONG = Load(games=3, shown=5_000, waiters=10_000)
QUICK = Load(games=1, shown=20, waiters=40)


def games(running: Running, load: Load) -> list[dict[str, Any]]:
    """The bytes and the moves of a game at each table: the medians of some games."""
    rng = Random(1)
    found = []
    for ruleset, seats in TABLES:
        played = [_game(running, ruleset, seats, rng) for _ in range(load.games)]
        medians = {
            what: round(statistics.median(each[what] for each in played)) for what in played[0]
        }
        found.append({"ruleset": ruleset, "seats": seats, **medians})
    return found


def _game(running: Running, ruleset: str, seats: int, rng: Random) -> dict[str, int]:
    caller = Caller(running.port)
    plan = planned(caller, running, ruleset, seats, rng)
    keys = f"game:{{{plan.id}}}*"
    start = running.store_bytes(keys)
    plan.play(caller, 0, plan.half)
    half = running.store_bytes(keys)
    plan.play(caller, plan.half, len(plan.moves))
    status = caller.ask("GET", f"/v1/games/{plan.id}")["status"]
    assert status == "finished"
    return {
        "moves": len(plan.moves),
        **dict(zip(MOMENTS, (start, half, running.store_bytes(keys)), strict=True)),
    }


def worker(load: Load) -> dict[str, Any]:
    """The bytes of a worker."""
    with service(workers=1) as running:
        caller = Caller(running.port)
        caller.ask("GET", "/v1/games")
        started = sum(running.memory())
        rng = Random(1)
        template = Template.play(running, planned(caller, running, "parade", 2, rng))
        stock = Stock(running, template)
        in_play = []
        for number in range(load.shown):
            if number % GAMES_EACH == 0:
                players = stock.players()
            in_play.append(stock.copy("half", players))
        stock.flush()
        caller = Caller(running.port)
        for game_id in in_play:
            caller.ask("GET", f"/v1/games/{game_id}")
        worked = sum(running.memory())
        with waiting(running, in_play[: load.waiters // FOR_EACH_GAME], load.waiters):
            held = sum(running.memory())
    return {
        "started": started,
        "games": load.shown,
        "after_games": worked,
        "waiters": load.waiters,
        "with_waiters": held,
        "a_waiter": round((held - worked) / load.waiters),
    }


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    found = measured["worker"]
    of_worker = table(
        ["a worker", "MB"],
        [
            ["as it starts", f"{found['started'] / MB:.0f}"],
            [f"after it has shown {found['games']:,} games", f"{found['after_games'] / MB:.0f}"],
            [
                f"while {found['waiters']:,} wait ({found['a_waiter'] / KB:.0f} kB each)",
                f"{found['with_waiters'] / MB:.0f}",
            ],
        ],
    )
    return f"{table_of_games(measured)}\n\n{of_worker}"


def table_of_games(measured: dict[str, Any]) -> str:
    """What the store holds of a game, for people."""
    return table(
        ["kB of a game", "players", "moves", "at its start", "half played", "at its end"],
        [
            [
                f"`{each['ruleset']}`",
                f"{each['seats']}",
                f"{each['moves']}",
                *(f"{each[moment] / KB:.1f}" for moment in MOMENTS),
            ]
            for each in measured["games"]
        ],
    )


def measure(load: Load) -> dict[str, Any]:
    """All figures."""
    with contextlib.ExitStack() as ending:
        has_redis = shutil.which("redis-server") is not None
        store = ending.enter_context(redis_server()) if has_redis else None
        running = ending.enter_context(service(store=store))
        version, of_games = running.store_version(), games(running, load)
    return {
        "machine": machine(),
        "games_store": version,
        "games": of_games,
        "worker": worker(load),
    }


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__).parse_args()
    load = QUICK if given.quick else LONG
    allow_open_files(2 * load.waiters + 1000)
    measured = measure(load)
    print(f"{measured['machine']}; games in {measured['games_store']}")
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
