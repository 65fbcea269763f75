"""How fast the rules are: what one process does in a second, for each game, in random play.

Checked moves (a move is refused if it is illegal), lists of legal moves, views, and positions
written to JSON and read back. Each figure is the best of several rounds, since whatever else the
machine does can only slow it down; how much it did is told by the median beside it.

    python -m bench.engine [--quick] [--json FILE]
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import msgspec

from bench.running import arguments, keep, machine, table
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, Move, Seat

GAMES, ROUNDS = 60, 9
QUICK_GAMES, QUICK_ROUNDS = 6, 2


class Decision(NamedTuple):
    """A position of a random game, and the move that was made in it."""

    state: Any
    seat: Seat
    move: Move


def decisions(ruleset: AnyRuleset, games: int) -> list[Decision]:
    """All decisions of some random games, of every number of seats."""
    rng = Random(1)
    found = []
    for game in range(games):
        seats = ruleset.min_seats + game % (ruleset.max_seats - ruleset.min_seats + 1)
        options = ruleset.read_options(seats, {})
        state, _ = ruleset.start(seats, options, ruleset.deal(seats, options, rng))
        while to_move := ruleset.to_move(state):
            seat = rng.choice(to_move)
            move = rng.choice(ruleset.legal_moves(state, seat))
            found.append(Decision(state, seat, move))
            state, _ = ruleset.apply(state, seat, move)
    return found


def per_second(
    call: Callable[[Decision], Any], made: list[Decision], rounds: int
) -> dict[str, int]:
    """How many calls a second, in the best of some rounds and in the median."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for decision in made:
            call(decision)
        times.append(time.perf_counter() - begin)
    return {
        "best": round(len(made) / min(times)),
        "median": round(len(made) / statistics.median(times)),
    }


def measure(ruleset: AnyRuleset, games: int, rounds: int) -> dict[str, dict[str, int]]:
    """One game's figures, all per second."""
    made = decisions(ruleset, games)
    decoder = msgspec.json.Decoder(ruleset.state_type)
    written = {id(each.state): msgspec.json.encode(each.state) for each in made}
    calls: dict[str, Callable[[Decision], Any]] = {
        "checked moves": lambda d: ruleset.apply(d.state, d.seat, d.move),
        "legal moves": lambda d: ruleset.legal_moves(d.state, d.seat),
        "views": lambda d: ruleset.view(d.state, d.seat),
        "encode": lambda d: msgspec.json.encode(d.state),
        "decode": lambda d: decoder.decode(written[id(d.state)]),
    }
    return {name: per_second(call, made, rounds) for name, call in calls.items()}


def tables(measured: dict[str, Any]) -> str:
    """The figures for people."""
    figures = measured["per_second"]
    columns = list(next(iter(figures.values())))
    rows = [
        [name, *(f"{of_game[column]['best']:,}" for column in columns)]
        for name, of_game in figures.items()
    ]
    return table(["in a second", *columns], rows)


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__).parse_args()
    games, rounds = (QUICK_GAMES, QUICK_ROUNDS) if given.quick else (GAMES, ROUNDS)
    figures = {name: measure(ruleset, games, rounds) for name, ruleset in RULESETS.items()}
    measured = {"machine": machine(), "rounds": rounds, "per_second": figures}
    print(measured["machine"])
    print("In one process:\n")
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
