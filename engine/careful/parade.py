"""A careful player of Parade.

It knows that points are bad, and that a colour costs its owner little with a majority and much
without: so it weighs every colour by how likely its majority is, more surely the nearer the
end. Of its cards it plays the one after which it expects the fewest points, and

- counts in the cheapest card that it could play next from what is left of its hand: a hand
  that must soon drive out half the parade is a danger;
- in the last round thinks of the two cards that it will keep, and discards the others.
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
DANGER = 0.5
"""What a point that the next turn will cost counts now."""
FULL_PILE = 40
"""With so many cards still to be drawn, nothing is sure of any majority."""

Cards = tuple[Card, ...]


class Outlook(NamedTuple):
    """What a collection will cost depends on this, whichever move is chosen."""

    most_of_others: Mapping[str, int]
    """By colour, the most cards of it that another seat has collected."""

    lead_needed: int
    """By how many cards a majority must lead: a table of two seats demands two."""

    doubt: float
    """How likely majorities still change: 1 with a full pile, 0 once the last round is near."""


def careful(
    table: ParadeTable, seat: Seat, moves: Sequence[Play | Discard], rng: Random
) -> Play | Discard:
    """The move after which this seat expects the fewest points."""
    outlook = outlook_of(table, seat)
    return best(moves, lambda move: -expected_cost(table, seat, move, outlook), rng)


def outlook_of(table: ParadeTable, seat: Seat) -> Outlook:
    """What the other seats have, and how sure it is that this decides the majorities."""
    others = replaced(table.collections, seat, ())
    counts = [Counter(COLOR_OF[card] for card in collection) for collection in others]
    return Outlook(
        most_of_others={color: max(count[color] for count in counts) for color in COLORS},
        lead_needed=1 if len(table.collections) == 2 else 0,
        doubt=min(table.pile_size / FULL_PILE, 1) if table.last_turns_left is None else 0,
    )


def expected_cost(table: ParadeTable, seat: Seat, move: Play | Discard, outlook: Outlook) -> float:
    """The points that this seat must expect after a move."""
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
    """The expected points with the best two cards of the hand kept."""
    return min(cost((*own, *kept), outlook) for kept in combinations(hand, KEPT))


def cost_of_next_turn(own: Cards, parade: Cards, hand: list[Card], outlook: Outlook) -> float:
    """The expected points after the cheapest card that this hand could play to this parade."""
    return min(cost((*own, *cards_leaving(parade, card)), outlook) for card in hand)


# --- What a collection costs --------------------------------------------------------------------


def cost(own: Cards, outlook: Outlook) -> float:
    """The points to expect of a collection, majorities being what they are by chance."""
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
    """How likely a lead in cards of a colour is a majority at the end; ahead or level is 0."""
    now = 1 if lead >= 0 else 0
    later = min(max(0.4 + 0.2 * lead, 0), 0.9)
    return (1 - doubt) * now + doubt * later
