"""How much better the house's careful player is than its random one.

In each game one careful seat plays among random ones, a different seat in every game. Its
margin is its score less the others' average, positive where it is the better, and its wins are
set beside those of a seat that is like the others. Where all seats play together, as two do in
Contrast, the margin is that of careful seats over random ones in the same deals.

    python -m bench.house [--quick] [--games N] [--json FILE]
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from statistics import mean, stdev

import msgspec
from msgspec import Struct

from bench.running import arguments, keep
from engine.house import CAREFUL, RANDOM, choose
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, GameResult

GAMES, QUICK_GAMES = 200, 4
LOWEST_WINS = {"parade"}
TOGETHER = {("contrast", 2)}


class Margin(Struct, frozen=True):
    """What a careful seat gains on random ones with a number of seats; errors are standard ones.

    ``fair_wins`` is the share of games that a seat among its like would win: of a game played
    together, the share that random seats won.
    """

    ruleset: str
    seats: int
    games: int
    margin: float
    margin_error: float
    wins: float
    wins_error: float
    fair_wins: float
    milliseconds_a_move: float


class Timer:
    """How long the careful moves took, all together."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.moves = 0


def play(ruleset: AnyRuleset, levels: Sequence[str], seed: int, timer: Timer) -> GameResult:
    """A whole game of house players, a level for each seat: the same deal for the same seed."""
    seats = len(levels)
    options = ruleset.read_options(seats, {})
    state, _ = ruleset.start(seats, options, ruleset.deal(seats, options, Random(seed)))
    rng = Random(seed + 1)
    while to_move := ruleset.to_move(state):
        seat = to_move[0]
        table, moves = ruleset.view(state, seat), ruleset.legal_moves(state, seat)
        began = time.perf_counter()
        move = choose(ruleset, table, seat, moves, level=levels[seat], rng=rng)
        if levels[seat] == CAREFUL:
            timer.seconds += time.perf_counter() - began
            timer.moves += 1
        state, _ = ruleset.apply(state, seat, move)
    result = ruleset.result(state)
    assert result is not None
    return result


def one_among_random(
    ruleset: AnyRuleset, seats: int, seed: int, timer: Timer
) -> tuple[float, float, float]:
    """The margin and the wins of one careful seat in a game, and the wins to expect of any."""
    careful = seed % seats
    levels = [CAREFUL if seat == careful else RANDOM for seat in range(seats)]
    result = play(ruleset, levels, seed, timer)
    others = mean(score for seat, score in enumerate(result.scores) if seat != careful)
    margin = result.scores[careful] - others
    if ruleset.id in LOWEST_WINS:
        margin = -margin
    return margin, (careful in result.winners) / len(result.winners), 1 / seats


def all_together(
    ruleset: AnyRuleset, seats: int, seed: int, timer: Timer
) -> tuple[float, float, float]:
    """The margin of careful seats over random ones, and the wins of both."""
    careful = play(ruleset, [CAREFUL] * seats, seed, timer)
    random = play(ruleset, [RANDOM] * seats, seed, timer)
    return mean(careful.scores) - mean(random.scores), bool(careful.winners), bool(random.winners)


def measure(ruleset: AnyRuleset, seats: int, games: int) -> Margin:
    """The margin over so many games, with the same deals in every run."""
    timer = Timer()
    play_one = all_together if (ruleset.id, seats) in TOGETHER else one_among_random
    margins, wins, fair = zip(
        *(play_one(ruleset, seats, seed, timer) for seed in range(games)), strict=True
    )
    return Margin(
        ruleset=ruleset.id,
        seats=seats,
        games=games,
        margin=mean(margins),
        margin_error=stdev(margins) / games**0.5,
        wins=mean(wins),
        wins_error=stdev(wins) / games**0.5,
        fair_wins=mean(fair),
        milliseconds_a_move=1000 * timer.seconds / timer.moves,
    )


def measure_all(games: int, rulesets: Sequence[str] = tuple(RULESETS)) -> list[Margin]:
    """The margins for every number of seats of these rulesets."""
    return [
        measure(RULESETS[name], seats, games)
        for name in rulesets
        for seats in range(RULESETS[name].min_seats, RULESETS[name].max_seats + 1)
    ]


HEADING = f"{'ruleset':<20} {'seats':>5} {'games':>6} {'margin':>14} {'wins':>16} {'fair':>7}  ms"


def line(margin: Margin) -> str:
    """A line of the table."""
    return (
        f"{margin.ruleset:<20} {margin.seats:>5} {margin.games:>6} "
        f"{margin.margin:>+7.2f} ± {margin.margin_error:4.2f} "
        f"{margin.wins:>8.1%} ± {margin.wins_error:5.1%} {margin.fair_wins:>7.1%} "
        f"{margin.milliseconds_a_move:>5.2f}"
    )


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    parser = arguments(__doc__)
    parser.add_argument("--games", type=int, help="for each number of seats")
    parser.add_argument("--ruleset", action="append", choices=RULESETS, help="only these")
    given = parser.parse_args()
    games = given.games or (QUICK_GAMES if given.quick else GAMES)
    margins = measure_all(games, given.ruleset or tuple(RULESETS))
    print("\n".join([HEADING, *map(line, margins)]))
    keep({"margins": msgspec.to_builtins(margins)}, given.json)


if __name__ == "__main__":
    main()
