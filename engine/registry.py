"""The games that there are. A new ruleset is one module and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from engine.contrast import CONTRAST
from engine.mit_list_und_tuecke import MIT_LIST_UND_TUECKE
from engine.parade import PARADE
from engine.ruleset import AnyRuleset, Move
from engine.tea_time import TEA_TIME

RULESETS: dict[str, AnyRuleset] = {
    ruleset.id: ruleset for ruleset in (PARADE, TEA_TIME, CONTRAST, MIT_LIST_UND_TUECKE)
}

MOVE_TYPES: dict[str, type[Move]] = {
    move.__struct_config__.tag: move
    for ruleset in RULESETS.values()
    for move in get_args(ruleset.move_type) or (ruleset.move_type,)
}
"""Every type of move by its name, which belongs to one shape in all the games."""


def read_move(members: Mapping[str, Any]) -> Move:
    """A move from its JSON members. Raises `msgspec.ValidationError`, or KeyError for no type."""
    return msgspec.convert(members, MOVE_TYPES[members["type"]])
