"""Positions as release 0.1 stored them, for rolling upgrades: its workers must read them.

That release wrote Alice's card as `tea-time`, only the points of a round of Mit List und Tücke,
and the symbols chosen in Contrast's last turn as a list by seat.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.contrast import CONTRAST
from engine.mit_list_und_tuecke import MIT_LIST_UND_TUECKE
from engine.tea_time import ALICE, TEA_TIME


def position_of_0_1(ruleset: str, state: Any) -> dict[str, Any]:
    """Return a position of a ruleset as JSON members that release 0.1 reads.

    >>> from random import Random
    >>> deal = TEA_TIME.deal(2, TEA_TIME.options_type(), Random(1))
    >>> state, _ = TEA_TIME.start(2, TEA_TIME.options_type(), deal)
    >>> state, _ = TEA_TIME.apply(state, deal.first_seat, TEA_TIME.move_type(("a1",)))
    >>> position_of_0_1("tea-time", state)["grid"][0]
    'tea-time'
    """
    members: dict[str, Any] = msgspec.to_builtins(state)
    if ruleset == TEA_TIME.id:
        members["grid"] = ["tea-time" if card == ALICE else card for card in members["grid"]]
    if ruleset == CONTRAST.id and members["last_turn"] is not None:
        chosen = {each["seat"]: each["symbol"] for each in members["last_turn"]["choices"]}
        members["last_turn"]["choices"] = [chosen.get(seat) for seat in range(len(state.scores))]
    if ruleset == MIT_LIST_UND_TUECKE.id:
        members["round_scores"] = [
            [each["points"] for each in of_round] for of_round in members["round_scores"]
        ]
    return members
