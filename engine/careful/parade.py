"""A careful player of Parade.

It knows that points are bad, and that a colour costs its owner little with a majority and much
without: so it weighs every colour by how likely its majority is, more surely the nearer the
end. Of its cards it plays the one after which it expects the fewest points, and

- counts in the cheapest card that it could play next from what is left of its hand: a hand
  that must soon drive out half the parade is a danger;
- is glad of points that others have, but less;
- in the last round thinks of the two cards that it will keep, and discards the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random

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

Collections = tuple[tuple[Card, ...], ...]


def careful(
    table: ParadeTable, seat: Seat, moves: Sequence[Play | Discard], rng: Random
) -> Play | Discard:
    """The move after which this seat expects the fewest points."""
    return best(moves, lambda move: -expected_cost(table, seat, move), rng)


def expected_cost(table: ParadeTable, seat: Seat, move: Play | Discard) -> float:
    """The points that this seat must expect after a move, less for those of others."""
    hand = table.hand or ()
    if isinstance(move, Discard):
        kept = [card for card in hand if card not in move.cards]
        return cost(table, with_cards(table.collections, seat, kept), seat)
    leaving = cards_leaving(table.parade, move.card)
    collections = with_cards(table.collections, seat, leaving)
    left = [card for card in hand if card != move.card]
    if table.phase is Phase.LAST_ROUND:
        return cost_with_hand(table, collections, seat, left)
    parade = (*[card for card in table.parade if card not in leaving], move.card)
    now = cost(table, collections, seat)
    return now + DANGER * (cost_of_next_turn(table, collections, seat, parade, left) - now)


def with_cards(collections: Collections, seat: Seat, cards: Iterable[Card]) -> Collections:
    """The collections once a seat has these cards too."""
    return replaced(collections, seat, (*collections[seat], *cards))


def cost_with_hand(
    table: ParadeTable, collections: Collections, seat: Seat, hand: list[Card]
) -> float:
    """The expected points with the best two cards of the hand kept."""
    return min(
        cost(table, with_cards(collections, seat, kept), seat) for kept in combinations(hand, KEPT)
    )


def cost_of_next_turn(
    table: ParadeTable,
    collections: Collections,
    seat: Seat,
    parade: tuple[Card, ...],
    hand: list[Card],
) -> float:
    """The expected points after the cheapest card that this hand could play to this parade."""
    return min(
        cost(table, with_cards(collections, seat, cards_leaving(parade, card)), seat)
        for card in hand
    )


# --- What a collection costs --------------------------------------------------------------------


def cost(table: ParadeTable, collections: Collections, seat: Seat) -> float:
    """The points to expect of a seat's collection, majorities being what they are by chance."""
    doubt = min(table.pile_size / FULL_PILE, 1) if table.last_turns_left is None else 0
    total = 0.0
    for color in COLORS:
        own = [VALUE_OF[card] for card in collections[seat] if COLOR_OF[card] == color]
        if not own:
            continue
        most = max(
            sum([COLOR_OF[card] == color for card in collection])
            for other, collection in enumerate(collections)
            if other != seat
        )
        lead = len(own) - most - (len(collections) == 2)
        turned = chance_of_majority(lead, doubt)
        total += turned * len(own) + (1 - turned) * sum(own)
    return total


def chance_of_majority(lead: int, doubt: float) -> float:
    """How likely a lead in cards of a colour is a majority at the end; ahead or level is 0."""
    now = 1 if lead >= 0 else 0
    later = min(max(0.4 + 0.2 * lead, 0), 0.9)
    return (1 - doubt) * now + doubt * later
