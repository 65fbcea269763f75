"""A careful player of Parade.

Points are bad, and a colour costs few points with a majority and many without. So it weights
each colour by the probability of a majority, which becomes more certain towards the end. It plays
the card after which it expects the fewest points.

- It adds a share of what its next turn will cost, given the cards left in its hand and the
  cheapest of them.
- In the last round it considers the two cards that it will keep, and discards the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from engine.cards import Play
from engine.careful.best import best
from engine.parade import (
    COLOR_OF,
    COLORS,
    VALUE_OF,
    Discard,
    ParadeTable,
    Phase,
    cards_leaving,
)
from engine.ruleset import Card, Seat, replaced

KEPT = 2
"""How many hand cards join the collection at the end."""
DANGER = 0.5
"""The weight of a point that the next turn will cost."""
FULL_PILE = 40
"""With this many cards left to draw, no majority is certain."""

Cards = tuple[Card, ...]


class Outlook(NamedTuple):
    """What the cost of a collection depends on, whichever move is chosen."""

    most_of_others: Mapping[str, int]
    """By colour, the most cards of it that another seat has collected."""

    lead_needed: int
    """By how many cards a majority must lead; 0 if a tie is enough."""

    doubt: float
    """How uncertain majorities are: 1 with a full pile, 0 in the last round."""


def careful(
    table: ParadeTable, seat: Seat, moves: Sequence[Play | Discard], rng: Random
) -> Play | Discard:
    """Choose the move after which this seat expects the fewest points."""
    outlook = outlook_of(table, seat)
    return best(moves, lambda move: -expected_cost(table, seat, move, outlook), rng)


def outlook_of(table: ParadeTable, seat: Seat) -> Outlook:
    """Return the outlook of a seat: what the others have, and how uncertain majorities are."""
    others = replaced(table.collections, seat, ())
    counts = [Counter(COLOR_OF[card] for card in collection) for collection in others]
    return Outlook(
        most_of_others={color: max(count[color] for count in counts) for color in COLORS},
        lead_needed=2 if len(table.collections) == 2 else 0,
        doubt=min(table.pile_size / FULL_PILE, 1) if table.last_turns_left is None else 0,
    )


def expected_cost(table: ParadeTable, seat: Seat, move: Play | Discard, outlook: Outlook) -> float:
    """Return the points that a seat expects after a move."""
    hand = table.hand or ()
    own = table.collections[seat]
    if isinstance(move, Discard):
        kept = [card for card in hand if card not in move.cards]
        return cost((*own, *kept), outlook)
    leaving = cards_leaving(table.parade, move.card)
    own = (*own, *leaving)
    left = [card for card in hand if card != move.card]
    if table.phase is Phase.LAST_ROUND:
        return cost_with_hand(own, left, outlook)
    parade = (*[card for card in table.parade if card not in leaving], move.card)
    now = cost(own, outlook)
    return now + DANGER * (cost_of_next_turn(own, parade, left, outlook) - now)


def cost_with_hand(own: Cards, hand: list[Card], outlook: Outlook) -> float:
    """Return the expected points if the seat keeps the best two cards of its hand."""
    return min(cost((*own, *kept), outlook) for kept in combinations(hand, KEPT))


def cost_of_next_turn(own: Cards, parade: Cards, hand: list[Card], outlook: Outlook) -> float:
    """Return the expected points after the cheapest card that this hand can play."""
    return min(cost((*own, *cards_leaving(parade, card)), outlook) for card in hand)


# --- What a collection costs --------------------------------------------------------------------


def cost(own: Cards, outlook: Outlook) -> float:
    """Return the expected points of a collection, each majority weighted by its probability."""
    values: dict[str, list[int]] = {}
    for card in own:
        values.setdefault(COLOR_OF[card], []).append(VALUE_OF[card])
    total = 0.0
    for color, of_color in values.items():
        lead = len(of_color) - outlook.most_of_others[color] - outlook.lead_needed
        turned = chance_of_majority(lead, outlook.doubt)
        total += turned * len(of_color) + (1 - turned) * sum(of_color)
    return total


def chance_of_majority(lead: int, doubt: float) -> float:
    """Return the probability that a lead becomes a majority; with a lead of 0 it is one now."""
    now = 1 if lead >= 0 else 0
    later = min(max(0.4 + 0.2 * lead, 0), 0.9)
    return (1 - doubt) * now + doubt * later
