"""All games to try, and random play of each of them.

Knows no game: the options come from a ruleset's catalogue, the moves from its lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random
from typing import Any

import msgspec

from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, Event, GameResult, Move, Option, Seat, Table, Told

encode = msgspec.json.encode

MOVES_AT_MOST = 3000
"""No random game has this many moves."""

GAMES_AT_MOST = 1000

EXPIRY = 0.3
"""The probability that a running countdown ends before the next move."""


def plain(value: Any) -> Any:
    """The value as a client decodes it from JSON."""
    return msgspec.json.decode(encode(value))


def outcome(result: GameResult | None) -> tuple[tuple[int, ...], tuple[Seat, ...], str | None]:
    """The scores of a game that is over, the winners, and what decided between them."""
    assert result is not None
    return result.scores, result.winners, result.tie_break


@dataclass(frozen=True)
class Case:
    """A ruleset with a number of seats and the options that differ from their defaults."""

    ruleset_id: str
    seats: int
    given: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        given = (f"{name}={short(value)}" for name, value in self.given)
        return "-".join([self.ruleset_id, str(self.seats), *given])

    @property
    def ruleset(self) -> AnyRuleset:
        return RULESETS[self.ruleset_id]

    @property
    def options(self) -> Any:
        return self.ruleset.read_options(self.seats, dict(self.given))

    @property
    def readers(self) -> tuple[Seat | None, ...]:
        """Every seat, and the spectator."""
        return (*range(self.seats), None)

    def deal(self, rng: Random) -> Any:
        return self.ruleset.deal(self.seats, self.options, rng)

    def start(self, deal: Any) -> tuple[Any, tuple[Told, ...]]:
        return self.ruleset.start(self.seats, self.options, deal)


def short(value: Any) -> Any:
    """An option's value in a test's name; of a list its length."""
    return len(value) if isinstance(value, tuple) else value


def closed_values(option: Option) -> list[Any]:
    """All values of an option that has few; else none."""
    if isinstance(option.default, bool):
        return [True, False]
    return list(option.choices or ())


def extreme_values(option: Option) -> list[Any]:
    """The bounds of an option with many values: of an integer, or of the number of strings."""
    if closed_values(option):
        return []
    if option.type == "integer":
        return [bound for bound in (option.minimum, option.maximum) if bound is not None]
    if option.type == "strings":
        return [tuple(f"{option.name}-{n}" for n in range(option.maximum or 0))]
    raise NotImplementedError(f"values for an option of type {option.type}")


def cases_of(ruleset: AnyRuleset) -> Iterator[Case]:
    """Every seat count with the default options and with each closed value of one option.

    The extreme values are tried with the fewest and the most seats.
    """
    for seats in range(ruleset.min_seats, ruleset.max_seats + 1):
        yield Case(ruleset.id, seats)
        for option in ruleset.options:
            values = closed_values(option)
            if seats in (ruleset.min_seats, ruleset.max_seats):
                values += extreme_values(option)
            for value in values:
                if value != option.default:
                    yield Case(ruleset.id, seats, ((option.name, value),))


def all_cases() -> list[Case]:
    """The cases of every ruleset."""
    return [case for ruleset in RULESETS.values() for case in cases_of(ruleset)]


@dataclass(frozen=True)
class Step:
    """A move in a position, or (``seat`` None) the end of its countdown."""

    before: Any
    seat: Seat | None
    move: Move | None
    after: Any
    told: tuple[Told, ...]

    def events(self, reader: Seat | None) -> tuple[Event, ...]:
        """What this reader is told of it."""
        return told_to(self.told, reader)


def told_to(told: tuple[Told, ...], reader: Seat | None) -> tuple[Event, ...]:
    return tuple(one.to(reader) for one in told)


def play(case: Case, state: Any, rng: Random) -> Iterator[Step]:
    """Random legal moves from a position to the end of the game."""
    ruleset = case.ruleset
    for _ in range(MOVES_AT_MOST):
        to_move = ruleset.to_move(state)
        if not to_move:
            return
        if ruleset.countdown(state) is not None and rng.random() < EXPIRY:
            after, told = ruleset.expire(state)
            yield Step(state, None, None, after, told)
        else:
            moves = {seat: ruleset.legal_moves(state, seat) for seat in range(case.seats)}
            seat = rng.choice([seat for seat in moves if moves[seat]])
            move = rng.choice(moves[seat])
            after, told = ruleset.apply(state, seat, move)
            yield Step(state, seat, move, after, told)
        state = after
    raise AssertionError(f"no end after {MOVES_AT_MOST} moves")


@lru_cache(maxsize=256)
def random_game(case: Case, seed: int) -> tuple[Step, ...]:
    """A whole random game, the same for the same seed. Tests share the games that are kept."""
    rng = Random(seed)
    state, _ = case.start(case.deal(rng))
    return tuple(play(case, state, rng))


def positions(case: Case, seed: int) -> list[Any]:
    """All positions of a random game, from the first to the last."""
    steps = random_game(case, seed)
    return [steps[0].before, *(step.after for step in steps)]


def several_games(case: Case, enough: int) -> Iterator[tuple[Step, ...]]:
    """Random games until they have enough moves together, but a thousand at most."""
    moves = 0
    for seed in range(GAMES_AT_MOST):
        if moves >= enough:
            return
        game = random_game(case, seed)
        moves += len(game)
        yield game


def several_steps(case: Case, enough: int) -> Iterator[Step]:
    """The moves of several games."""
    for game in several_games(case, enough):
        yield from game


def several_positions(case: Case, enough: int) -> Iterator[Any]:
    """The positions of several games, the first and the last ones included."""
    for game in several_games(case, enough):
        yield game[0].before
        for step in game:
            yield step.after


def views(case: Case, state: Any) -> dict[Seat | None, Table]:
    """What each reader sees."""
    return {reader: case.ruleset.view(state, reader) for reader in case.readers}


def legal(case: Case, state: Any) -> tuple[tuple[Move, ...], ...]:
    """The legal moves by seat."""
    return tuple(case.ruleset.legal_moves(state, seat) for seat in range(case.seats))


def strings(value: Any) -> Iterator[str]:
    """All strings in a JSON value, without the names of members."""
    match value:
        case str():
            yield value
        case dict():
            for member in value.values():
                yield from strings(member)
        case list():
            for member in value:
                yield from strings(member)


@cache
def component_names(case: Case) -> frozenset[str]:
    """The names of the things in the box, and of their sides and ends."""
    return frozenset(
        name for component in case.ruleset.components for name in (component.name, *component.parts)
    )


QUOTED = re.compile(r'"([^"]*)"')


def named(case: Case, *values: Any) -> frozenset[str]:
    """The things from the box that these values name."""
    return component_names(case).intersection(QUOTED.findall(encode(values).decode()))
