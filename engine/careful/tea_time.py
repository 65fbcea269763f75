"""A careful player of Tea Time.

It values the cards of a character by what they may become: one card scores less than none, but
early in the game it is a start. It takes the line with the largest gain, cancelled cards and Alice
included, minus a share of the best gain that it leaves to the next seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.careful.best import best
from engine.ruleset import Card, Seat
from engine.tea_time import (
    ALICE,
    MAX_CARDS,
    POINTS,
    POINTS_FOR_ALICE,
    SETUPS,
    Cell,
    Pick,
    TeaTimeTable,
    cards_in,
    collect,
    count_cards,
)

EARLY_WORTH = (5, 4, 6, 9, 12, 15, 15.5, 16)
"""The worth of 0, 1, 2, … cards of a character early in the game. Cards after the fifth protect
against opposite faces."""
REPLY = 0.5
"""The weight of a point that a move leaves to the next seat."""
MANY_CARDS = 40
"""With this many cards still to be taken, `EARLY_WORTH` counts alone; with none, the points."""
EARLY_ALICE = -1.0
"""The worth of Alice before the last round: no points, and only one card in the next turn."""


def careful(table: TeaTimeTable, seat: Seat, moves: Sequence[Pick], rng: Random) -> Pick:
    """Choose the line with the largest gain, minus a share of what it leaves to the next seat."""
    replies = gains_of_next(table, (seat + 1) % len(table.collections))

    def value(move: Pick) -> float:
        taken = set(move.cells)
        reply = next((gain for gain, cells in replies if taken.isdisjoint(cells)), 0)
        return gain_of(table, seat, move.cells) - REPLY * reply

    return best(moves, value, rng)


def gains_of_next(table: TeaTimeTable, seat: Seat) -> list[tuple[float, tuple[Cell, ...]]]:
    """List what each line of the grid would bring the next seat, the largest gain first."""
    longest = min(table.turn_in_round + 1, MAX_CARDS)
    lines = [
        pick.cells
        for pick in SETUPS[len(table.collections)].picks
        if len(pick.cells) <= longest and len(cards_in(table, pick.cells)) == len(pick.cells)
    ]
    return sorted([(gain_of(table, seat, line), line) for line in lines], reverse=True)


def gain_of(table: TeaTimeTable, seat: Seat, cells: tuple[Cell, ...]) -> float:
    """Return how much the cards of these cells are worth to a seat."""
    taken = cards_in(table, cells)
    owned = table.collections[seat]
    after, _ = collect(owned, taken)
    alice = 0.0
    if ALICE in taken:
        alice = POINTS_FOR_ALICE if table.round == table.rounds else EARLY_ALICE
    return worth(table, after) - worth(table, owned) + alice


def worth(table: TeaTimeTable, collection: tuple[Card, ...]) -> float:
    """Return the worth of a collection: early worth and points, weighted by the cards left."""
    left = table.pile_size + sum([cell.card is not None for row in table.grid for cell in row])
    early = min(left / MANY_CARDS, 1)
    total = 0.0
    for cards in count_cards(collection):
        total += (1 - early) * POINTS[cards] + early * EARLY_WORTH[min(cards, len(EARLY_WORTH) - 1)]
    return total
