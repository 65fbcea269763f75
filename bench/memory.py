"""What is held in memory: of a game by the store, and by a worker.

Some games of each ruleset are played at random over HTTP; what the store holds of one is what it
says of the game's keys (MEMORY USAGE, every element counted), when it is half played and at its
end. A worker's memory is what it holds for itself: as it starts, after it has shown and played
many games, and while it holds many polls.

    python -m bench.memory [--quick] [--json FILE]
"""

from __future__ import annotations

import statistics
from random import Random
from typing import Any, NamedTuple

from bench.crowd import FOR_EACH_GAME, waiting
from bench.games import SEATS, planned
from bench.running import (
    Caller,
    Running,
    allow_open_files,
    arguments,
    keep,
    machine,
    service,
    table,
)
from bench.stock import GAMES_EACH, Stock, Template

KEYS = {"game": "game:{%s}", "events": "game:{%s}:items", "moves played": "game:{%s}:played"}
MOMENTS = ("half", "end")
KB, MB = 1000, 1_000_000


class Load(NamedTuple):
    """How many games of each ruleset are played, and what a worker does."""

    games: int
    shown: int
    waiters: int


LONG = Load(games=5, shown=5_000, waiters=5_000)
QUICK = Load(games=1, shown=20, waiters=40)


def games(running: Running, load: Load) -> dict[str, Any]:
    """The bytes of a game, of each ruleset: its median."""
    rng = Random(1)
    return {
        ruleset: _of(ruleset, [_game(running, ruleset, rng) for _ in range(load.games)])
        for ruleset in SEATS
    }


def _of(ruleset: str, played: list[dict[str, dict[str, int]]]) -> dict[str, Any]:
    found: dict[str, Any] = {"seats": SEATS[ruleset]}
    for moment in MOMENTS:
        found[moment] = {
            part: round(statistics.median(each[moment][part] for each in played))
            for part in played[0][moment]
        }
    return found


def _game(running: Running, ruleset: str, rng: Random) -> dict[str, dict[str, int]]:
    caller = Caller(running.port)
    plan = planned(caller, running, ruleset, SEATS[ruleset], rng)
    plan.play(caller, 0, plan.half)
    half = _bytes(running, plan.id)
    plan.play(caller, plan.half, len(plan.moves))
    status = caller.ask("GET", f"/v1/games/{plan.id}")["status"]
    assert status == "finished"
    return {
        "half": half | {"moves": plan.half},
        "end": _bytes(running, plan.id) | {"moves": len(plan.moves)},
    }


def _bytes(running: Running, game_id: str) -> dict[str, int]:
    store = running.redis()
    parts = {part: store.memory_usage(key % game_id, samples=0) for part, key in KEYS.items()}
    return {**parts, "all": sum(parts.values())}


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
    of_games = table(
        ["kB in the store", "seats", "moves", "half played", "at its end", "of it events"],
        [
            [
                ruleset,
                f"{each['seats']}",
                f"{each['end']['moves']}",
                f"{each['half']['all'] / KB:.1f}",
                f"{each['end']['all'] / KB:.1f}",
                f"{each['end']['events'] / KB:.1f}",
            ]
            for ruleset, each in measured["games"].items()
        ],
    )
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
    return f"{of_games}\n\n{of_worker}"


def measure(load: Load) -> dict[str, Any]:
    """All figures."""
    with service() as running:
        of_games = games(running, load)
    return {"machine": machine(), "games": of_games, "worker": worker(load)}


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__).parse_args()
    load = QUICK if given.quick else LONG
    allow_open_files(2 * load.waiters + 1000)
    measured = measure(load)
    print(measured["machine"])
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
