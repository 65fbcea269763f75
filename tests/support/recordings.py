"""The recorded games in ``tests/playthroughs``: whole games that another program played.

Each file is one ruleset, seat count and option, and holds a list of games. Games that are not laid
as today's default say so: those of Tea Time name their grid. A game is its deal
and its steps: who is to move, the legal moves of every seat that has any, and the move then
played, or that the countdown ran out. Legal moves compare as sets, and so do the members of a
move that name a set: `as_set` brings both to one form.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from tests.support.paths import ROOT

PLAYTHROUGHS = ROOT / "tests" / "playthroughs"


class Step(TypedDict):
    """A position's legal moves, and the step from it: ``seat`` and ``move``, or ``expire``."""

    to_move: list[int]
    legal: dict[str, list[dict[str, Any]]]
    seat: NotRequired[int]
    move: NotRequired[dict[str, Any]]
    expire: NotRequired[bool]


class Game(TypedDict):
    """One whole recorded game."""

    ruleset: str
    seats: int
    options: dict[str, Any]
    deal: dict[str, Any]
    steps: list[Step]
    result: dict[str, list[int]]


@dataclass(frozen=True)
class Recording:
    """A file of recorded games, all of one ruleset, seat count and option set."""

    name: str
    games: tuple[Game, ...]

    @property
    def ruleset(self) -> str:
        """The ruleset's id."""
        return self.games[0]["ruleset"]

    @property
    def seats(self) -> int:
        """The number of seats."""
        return self.games[0]["seats"]

    @property
    def options(self) -> dict[str, Any]:
        """The options that are named; others have the default."""
        return self.games[0]["options"]


def load(path: Path) -> Recording:
    """Read a file of recorded games."""
    games = json.loads(gzip.decompress(path.read_bytes()))
    return Recording(path.name.removesuffix(".json.gz"), tuple(games))


@cache
def recordings() -> tuple[Recording, ...]:
    """Return all recordings, in the order of their names."""
    return tuple(load(path) for path in sorted(PLAYTHROUGHS.glob("*.json.gz")))


def as_set(moves: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return moves in JSON as a set, equal for any order of moves and of members that are sets.

    >>> as_set([{"type": "discard", "cards": ["red-7", "blue-3"]}]) == as_set(
    ...     [{"cards": ["blue-3", "red-7"], "type": "discard"}]
    ... )
    True
    """
    return frozenset(
        json.dumps(
            {
                name: sorted(value) if isinstance(value, (list, tuple)) else value
                for name, value in move.items()
            },
            sort_keys=True,
        )
        for move in moves
    )


def legal_by_seat(step: Step, seats: int) -> list[frozenset[str]]:
    """Return a step's legal moves as one set for each seat."""
    return [as_set(step["legal"].get(str(seat), ())) for seat in range(seats)]
