"""The players of the house: whoever plays where nobody sits, or for somebody who is away.

A house player sees what its seat sees, a view and a list of moves, and never the state. It is
asked only where the game waits for its seat; so it never does what a seat may do out of turn,
such as Contrast's counting. Nothing here knows any game: a careful player is one function a
ruleset, and a ruleset without one is played at random.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from engine.careful import contrast, mit_list_und_tuecke, parade, tea_time
from engine.ruleset import AnyRuleset, Move, Seat, Table

RANDOM = "random"
CAREFUL = "careful"
HOUSE_LEVELS = (RANDOM, CAREFUL)

Strategy = Callable[[Any, Seat, Sequence[Any], Random], Move]
"""From the view of a seat, its number and its legal moves: one of these moves."""

CAREFUL_PLAY: Mapping[str, Strategy] = {
    "parade": parade.careful,
    "tea-time": tea_time.careful,
    "contrast": contrast.careful,
    "mit-list-und-tuecke": mit_list_und_tuecke.careful,
}
"""How each ruleset is played with care, by its id."""

log = logging.getLogger(__name__)


def choose(
    ruleset: AnyRuleset,
    table: Table,
    seat: Seat,
    moves: Sequence[Move],
    *,
    level: str,
    rng: Random,
) -> Move:
    """One of the legal moves of a seat that the game waits for, at one of `HOUSE_LEVELS`."""
    if level not in HOUSE_LEVELS:
        raise ValueError(f"The house has no level {level}.")
    if level == CAREFUL and (strategy := CAREFUL_PLAY.get(ruleset.id)):
        try:
            move = strategy(table, seat, moves, rng)
        except Exception:
            # Whatever is wrong with a strategy, a table with people at it must go on.
            log.exception("The careful player of %s failed", ruleset.id)
        else:
            if move in moves:
                return move
            log.error("The careful player of %s chose an illegal move: %r", ruleset.id, move)
    return rng.choice(moves)
