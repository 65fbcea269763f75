"""A careful player of Tea Time.

It knows what the cards of a character will be worth, not only what they are: one card of a
character is worse than none, but early in the game it is a beginning. It takes the line that
brings it most, counting what cancels and what Alice is worth, and leaves little to the next
seat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from engine.careful.best import best
from engine.ruleset import Card, Seat
from engine.tea_time import (
    ALICE,
    CHARACTER_OF,
    CHARACTERS,
    MAX_CARDS,
    POINTS,
    POINTS_FOR_ALICE,
    SETUPS,
    Cell,
    Pick,
    TeaTimeTable,
    collect,
    row_and_column,
)

HOPES = (5, 4, 6, 9, 12, 15, 15.5, 16)
"""What so many cards of a character are worth while there are many more to take; the cards past
the fifth are a shield against opposite faces."""
REPLY = 0.5
"""What a point that the next seat could make counts against a move."""
MANY_CARDS = 40
"""With so many cards still to be taken, hopes are worth all and points nothing."""
EARLY_ALICE = -1.0
"""What Alice is worth before the last round: no points, and one card to start the next with."""


def careful(table: TeaTimeTable, seat: Seat, moves: Sequence[Pick], rng: Random) -> Pick:
    """The line with the best gain, what it leaves to the next seat set against it."""
    replies = gains_of_next(table, (seat + 1) % len(table.collections))

    def value(move: Pick) -> float:
        taken = set(move.cells)
        reply = next((gain for gain, cells in replies if taken.isdisjoint(cells)), 0)
        return gain_of(table, seat, move.cells) - REPLY * reply

    return best(moves, value, rng)


def gains_of_next(table: TeaTimeTable, seat: Seat) -> list[tuple[float, tuple[Cell, ...]]]:
    """What each line of the grid would bring the next seat in its turn, the best first."""
    longest = min(table.turn_in_round + 1, MAX_CARDS)
    lines = [
        pick.cells
        for pick in SETUPS[len(table.collections)].picks
        if len(pick.cells) <= longest and None not in cards_in(table, pick.cells)
    ]
    return sorted([(gain_of(table, seat, line), line) for line in lines], reverse=True)


def cards_in(table: TeaTimeTable, cells: tuple[Cell, ...]) -> list[Card | None]:
    """What lies in these cells."""
    return [table.grid[row][column] for row, column in map(row_and_column, cells)]


def gain_of(table: TeaTimeTable, seat: Seat, cells: tuple[Cell, ...]) -> float:
    """How much better off a seat is with the cards of these cells."""
    taken = tuple([card for card in cards_in(table, cells) if card])
    owned = table.collections[seat]
    after, _ = collect(owned, taken)
    alice = 0.0
    if ALICE in taken:
        alice = POINTS_FOR_ALICE if table.round == table.rounds else EARLY_ALICE
    return worth(table, after) - worth(table, owned) + alice


def worth(table: TeaTimeTable, collection: tuple[Card, ...]) -> float:
    """A collection's points, and in the measure that cards are left its hopes."""
    left = table.pile_size + sum([card is not None for row in table.grid for card in row])
    hope = min(left / MANY_CARDS, 1)
    count = Counter([CHARACTER_OF[card] for card in collection])
    total = 0.0
    for character in CHARACTERS:
        cards = count[character]
        points = POINTS[min(cards, len(POINTS) - 1)]
        total += (1 - hope) * points + hope * HOPES[min(cards, len(HOPES) - 1)]
    return total
