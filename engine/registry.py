"""All games of the service. A new game is registered here, and here alone in ``engine/``.

CONTRIBUTING.md lists the files of a new game. A test fails for each one that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, get_args

import msgspec

from engine.careful import contrast, mit_list_und_tuecke, parade, tea_time
from engine.contrast import CONTRAST
from engine.mit_list_und_tuecke import MIT_LIST_UND_TUECKE
from engine.parade import PARADE
from engine.ruleset import AnyRuleset, Move, Seat
from engine.tea_time import TEA_TIME

CarefulPlayer = Callable[[Any, Seat, Sequence[Any], Random], Move]
"""``careful(table, seat, moves, rng)``: the chosen one of a seat's legal moves, given its view."""

GAMES: tuple[tuple[AnyRuleset, CarefulPlayer], ...] = (
    (PARADE, parade.careful),
    (TEA_TIME, tea_time.careful),
    (CONTRAST, contrast.careful),
    (MIT_LIST_UND_TUECKE, mit_list_und_tuecke.careful),
)
"""Each ruleset with its careful player, in the order of the catalogue."""

RULESETS: dict[str, AnyRuleset] = {ruleset.id: ruleset for ruleset, _ in GAMES}
CAREFUL_PLAYERS: dict[str, CarefulPlayer] = {ruleset.id: careful for ruleset, careful in GAMES}

MOVE_TYPES: dict[str, type[Move]] = {
    move.__struct_config__.tag: move
    for ruleset in RULESETS.values()
    for move in get_args(ruleset.move_type) or (ruleset.move_type,)
}
"""Every type of move by its name. Games that use the same name share the class."""


def read_move(members: Mapping[str, Any]) -> Move:
    """Read a move from its JSON members.

    Raises:
        KeyError: the type is missing or unknown.
        msgspec.ValidationError: a member is missing or has a wrong value.
    """
    return msgspec.convert(members, MOVE_TYPES[members["type"]])
