"""A careful player of Contrast.

It cannot see what is on a picture, only the symbol cards, and all of those lie open. So it
plays the hands: a symbol wins if others choose it too, and only a seat that has it in hand can.

- With two seats, who play together, it lays the first symbol, as the cards are listed, that
  both hands hold. Two careful players always agree, and a person soon learns what to expect.
- With more seats it lays a symbol that as many others as possible could lay; of these one whose
  holders have few pictures, since they would win one too. Otherwise it leaves the choice to
  chance, so that careful players do not all choose the same, which wins nothing.

It never counts anybody out.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.careful.best import best
from engine.contrast import CARD_WITH, COOPERATIVE_SEATS, Choose, ContrastTable, Count
from engine.ruleset import Seat


def careful(
    table: ContrastTable, seat: Seat, moves: Sequence[Choose | Count], rng: Random
) -> Choose:
    """The symbol that others are most likely to choose as well."""
    choices = [move for move in moves if isinstance(move, Choose)]
    if len(table.hands) == COOPERATIVE_SEATS:
        shared = [choice for choice in choices if holders(table, seat, choice)]
        return shared[0] if shared else rng.choice(choices)
    return best(choices, lambda choice: promise(table, seat, choice), rng)


def holders(table: ContrastTable, seat: Seat, choice: Choose) -> list[Seat]:
    """The other seats that could choose this symbol."""
    card = CARD_WITH[choice.symbol]
    return [other for other, hand in enumerate(table.hands) if other != seat and card in hand]


def promise(table: ContrastTable, seat: Seat, choice: Choose) -> float:
    """How many could join in a symbol, a little less for each picture that they have."""
    others = holders(table, seat, choice)
    pictures = sum([table.scores[other] for other in others])
    return len(others) - pictures / (1 + len(table.hands) * sum(table.scores))
