"""A careful player of Contrast.

It does not know what a picture shows. It knows all symbol cards, since they lie open. A symbol
wins if other seats choose it too, and only a seat that holds it can.

- With two seats, who play together, it chooses the first symbol, as the cards are listed, that
  both hands hold. Two careful players always agree, and a person soon learns what to expect.
- With more seats it chooses a symbol that as many other seats as possible hold; in a tie, one
  whose holders have few pictures, since they would win one too. In a further tie the choice is
  random: if all careful players chose the same symbol, it would win nothing.

It never counts a seat out.
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
    """Choose the symbol that other seats are most likely to choose too."""
    choices = [move for move in moves if isinstance(move, Choose)]
    if len(table.hands) == COOPERATIVE_SEATS:
        shared = [choice for choice in choices if holders(table, seat, choice)]
        return shared[0] if shared else rng.choice(choices)
    return best(choices, lambda choice: promise(table, seat, choice), rng)


def holders(table: ContrastTable, seat: Seat, choice: Choose) -> list[Seat]:
    """List the other seats that hold this symbol."""
    card = CARD_WITH[choice.symbol]
    return [other for other, hand in enumerate(table.hands) if other != seat and card in hand]


def promise(table: ContrastTable, seat: Seat, choice: Choose) -> float:
    """Return how many other seats hold a symbol, a little less for each picture they have."""
    others = holders(table, seat, choice)
    pictures = sum([table.scores[other] for other in others])
    return len(others) - pictures / (1 + len(table.hands) * sum(table.scores))
