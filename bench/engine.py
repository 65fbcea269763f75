"""How fast the rules are: what one process does in a second, for each game, in random play.

Checked moves, lists of legal moves, views, and positions written to JSON and read back. Each
figure is the best of several rounds, since whatever else the machine does can only slow it down.

    python -m bench.engine [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, Move, Seat

GAMES = 60
ROUNDS = 5


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


def per_second(call: Callable[[Decision], Any], made: list[Decision]) -> int:
    """How many calls a second, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for decision in made:
            call(decision)
        best = min(best, time.perf_counter() - begin)
    return round(len(made) / best)


def measure(ruleset: AnyRuleset) -> dict[str, int]:
    """One game's figures, all per second."""
    made = decisions(ruleset, GAMES)
    decoder = msgspec.json.Decoder(ruleset.state_type)
    written = {id(each.state): msgspec.json.encode(each.state) for each in made}
    return {
        "moves": per_second(lambda d: ruleset.apply(d.state, d.seat, d.move), made),
        "legal_moves": per_second(lambda d: ruleset.legal_moves(d.state, d.seat), made),
        "view": per_second(lambda d: ruleset.view(d.state, d.seat), made),
        "encode": per_second(lambda d: msgspec.json.encode(d.state), made),
        "decode": per_second(lambda d: decoder.decode(written[id(d.state)]), made),
    }


def main() -> None:
    """Print the table; with --json also write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    figures = {name: measure(ruleset) for name, ruleset in RULESETS.items()}
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"In one process, per second ({python}, {platform.machine()}):\n")
    columns = list(next(iter(figures.values())))
    print(f"{'':22}" + "".join(f"{column:>14}" for column in columns))
    for name, of_game in figures.items():
        print(f"{name:22}" + "".join(f"{of_game[column]:>14,}" for column in columns))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
