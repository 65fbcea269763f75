"""Every game to try, and random play of any of them.

Knows no game: the option sets come from a ruleset's catalogue, the moves from its lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from engine.registry import RULESETS
from engine.ruleset import Event, Move, Option, Ruleset, Seat, Table, Told

encode = msgspec.json.encode

MOVES_AT_MOST = 3000
"""No random game of any ruleset takes this many moves."""

EXPIRY = 0.3
"""How often a running countdown runs out before the next move."""


def plain(value: Any) -> Any:
    """A value as whoever reads its JSON gets it."""
    return msgspec.json.decode(encode(value))


@dataclass(frozen=True)
class Case:
    """A ruleset with a number of seats and the options that differ from their defaults."""

    ruleset_id: str
    seats: int
    given: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return "-".join([self.ruleset_id, str(self.seats), *(f"{n}={v}" for n, v in self.given)])

    @property
    def ruleset(self) -> Ruleset[Any, Any, Any, Any, Any]:
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


def other_values(option: Option) -> list[Any]:
    """The values of an option worth a game of their own, besides its default."""
    if option.choices is not None:
        values: list[Any] = list(option.choices)
    elif isinstance(option.default, bool):
        values = [True, False]
    elif isinstance(option.default, int):
        values = [bound for bound in (option.minimum, option.maximum) if bound is not None]
    else:
        values = []
    return [value for value in values if value != option.default]


def all_cases() -> list[Case]:
    """Every ruleset and seat count, with the default options and with each other value of each."""
    return [
        Case(ruleset.id, seats, given)
        for ruleset in RULESETS.values()
        for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
        for given in [
            (),
            *(
                ((option.name, value),)
                for option in ruleset.options
                for value in other_values(option)
            ),
        ]
    ]


@dataclass(frozen=True)
class Step:
    """What happened in a position: a seat's move, or (``seat`` None) the countdown ran out."""

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


def random_game(case: Case, seed: int) -> list[Step]:
    """A whole random game, the same for the same seed."""
    rng = Random(seed)
    state, _ = case.start(case.deal(rng))
    return list(play(case, state, rng))


def positions(case: Case, seed: int) -> list[Any]:
    """All the positions of a random game, from the first to the last."""
    steps = random_game(case, seed)
    return [steps[0].before, *(step.after for step in steps)]


def views(case: Case, state: Any) -> dict[Seat | None, Table]:
    """What each reader sees."""
    return {reader: case.ruleset.view(state, reader) for reader in case.readers}


def legal(case: Case, state: Any) -> tuple[tuple[Move, ...], ...]:
    """The legal moves by seat."""
    return tuple(case.ruleset.legal_moves(state, seat) for seat in range(case.seats))


def strings(value: Any) -> Iterator[str]:
    """All strings in a value's JSON, member names left out."""
    match value:
        case Struct():
            yield from strings(msgspec.to_builtins(value))
        case str():
            yield value
        case dict():
            for member in value.values():
                yield from strings(member)
        case list() | tuple():
            for member in value:
                yield from strings(member)


def component_names(case: Case) -> frozenset[str]:
    """The names of everything in the box, and of what its things are made of."""
    return frozenset(
        name for component in case.ruleset.components for name in (component.name, *component.parts)
    )


def named(case: Case, *values: Any) -> set[str]:
    """The things from the box that these values name."""
    names = component_names(case)
    return {string for value in values for string in strings(value) if string in names}
