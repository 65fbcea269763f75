"""House players: they play for free seats and for players who are away or out of time.

A house player sees what its seat sees, a view and a list of legal moves, and never the state.
The service asks it only when the game waits for its seat, so it never makes a move out of turn,
such as Contrast's ``count``. Nothing here knows any game.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from random import Random

from engine.registry import CAREFUL_PLAYERS
from engine.ruleset import AnyRuleset, Move, Seat, Table

RANDOM = "random"
CAREFUL = "careful"
HOUSE_LEVELS = (RANDOM, CAREFUL)

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
    """Choose one of the legal moves of a seat that the game waits for, at one of `HOUSE_LEVELS`.

    If the careful player fails, the move is random and the failure is logged: a bug in it must
    not stop a game.
    """
    if level not in HOUSE_LEVELS:
        raise ValueError(f"There is no level {level}; the levels are {', '.join(HOUSE_LEVELS)}.")
    if level == CAREFUL:
        try:
            move = CAREFUL_PLAYERS[ruleset.id](table, seat, moves, rng)
        except Exception:
            log.exception("The careful player of %s failed", ruleset.id)
        else:
            if move in moves:
                return move
            log.error("The careful player of %s chose an illegal move: %r", ruleset.id, move)
    return rng.choice(moves)
