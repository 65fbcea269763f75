"""A careful player of Mit List und Tücke.

It wants two large piles and no third one: its points are the product of two piles, divided by
the other cards. Where piles are closed, it estimates their sizes from the number of tricks played.

- To play a card, it simulates the end of the trick a few times with random unseen cards, and
  averages what it would get as the high or the low seat.
- As the high seat it takes the cards that are best for itself and worst for the low seat.
- It keeps its two largest piles; in a tie, the colours that it holds fewest cards of, since the
  other seats have to play those.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from msgspec import Struct

from engine.cards import Play
from engine.careful.best import best
from engine.mit_list_und_tuecke import (
    COLOR_OF,
    COLORS,
    COLORS_KEPT,
    DECKS,
    PILE_OF,
    TAKEN_BY_HIGH,
    AnyMove,
    Color,
    Keep,
    MitListTable,
    PlayedCard,
    Take,
    Trick,
    high_seat,
    low_seat,
    playable,
)
from engine.ruleset import Card, Seat

SIMULATIONS = 8
"""How many ends of a trick are simulated for each decision."""
ENVY = 0.25
"""The weight of the low seat's gain against a choice of cards."""
GROWTH = 3
"""How many cards each of the two scoring piles is expected to gain."""
KEPT_SHARE = 0.35
"""The estimated share of each kept colour in the cards of a seat that has chosen."""


class Holding(Struct, frozen=True):
    """The numbers of cards before a seat, counted or estimated."""

    piles: tuple[float, ...]
    """For each of `COLORS` the number of cards face up."""

    face_down: float
    """How many cards lie face down."""

    kept: tuple[Color, ...]
    """The two colours that score; empty until the seat has chosen them."""


def careful(table: MitListTable, seat: Seat, moves: Sequence[AnyMove], rng: Random) -> AnyMove:
    """Choose the card, the take or the colours with the most points to expect."""
    holdings = [holding_of(table, other) for other in range(len(table.hand_sizes))]
    if isinstance(moves[0], Play):
        ends = simulated_ends(table, seat, rng)
        return best(moves, lambda move: value_of_card(table, seat, move, holdings, ends), rng)
    if isinstance(moves[0], Take):
        return best(moves, lambda move: value_of_take(table, seat, move, holdings), rng)
    return best(moves, lambda move: value_of_colors(table, move, holdings[seat]), rng)


# --- What a seat has ----------------------------------------------------------------------------


def holding_of(table: MitListTable, seat: Seat) -> Holding:
    """Count the cards before a seat where piles are open, and estimate them elsewhere."""
    piles, face_down = table.piles[seat], table.face_down[seat]
    cards = estimated_cards(table)
    share = KEPT_SHARE if face_down.any else 1 / max(len(piles), 1)
    sizes = [0.0] * len(COLORS)
    for pile in piles:
        size = max(cards * share, 1) if pile.cards is None else len(pile.cards)
        sizes[COLORS.index(pile.color)] = size
    down = 0.0
    if face_down.any:
        estimate = max(cards * (1 - COLORS_KEPT * KEPT_SHARE), 2)
        down = estimate if face_down.size is None else face_down.size
    return Holding(tuple(sizes), down, table.kept[seat])


def estimated_cards(table: MitListTable) -> float:
    """Estimate the cards before a seat: all cards of the tricks, divided among seats with cards."""
    with_cards = sum([1 for piles in table.piles if piles])
    return table.tricks_played * len(table.piles) / max(with_cards, 1)


def received(holding: Holding, cards: Sequence[Card]) -> Holding:
    """Return a holding with these cards added."""
    piles, face_down = list(holding.piles), holding.face_down
    for card in cards:
        if not holding.kept or COLOR_OF[card] in holding.kept:
            piles[PILE_OF[card]] += 1
        else:
            face_down += 1
    return Holding(tuple(piles), face_down, holding.kept)


def worth(holding: Holding) -> float:
    """Estimate the points of a holding at the end, when its two largest piles have grown."""
    *others, second, largest = sorted(holding.piles)
    rest = sum(others) + holding.face_down
    return (largest + GROWTH) * (second + GROWTH) / (rest + 1)


# --- Cards out of a trick -------------------------------------------------------------------------


def value_of_take(table: MitListTable, seat: Seat, move: AnyMove, holdings: list[Holding]) -> float:
    """Return what a take brings the high seat, less a share of what the low seat gets."""
    assert isinstance(move, Take)
    value = gain(holdings[seat], move.cards)
    if table.low is not None:
        rest = [played.card for played in table.trick if played.card not in move.cards]
        value -= ENVY * gain(holdings[table.low], rest)
    return value


def gain(holding: Holding, cards: Sequence[Card]) -> float:
    """Return how much better a holding is with these cards."""
    return worth(received(holding, cards)) - worth(holding)


def value_of_colors(table: MitListTable, move: AnyMove, holding: Holding) -> float:
    """Return the points of two colours; fewer cards of them in hand decide between equals."""
    assert isinstance(move, Keep)
    sizes = dict(zip(COLORS, holding.piles, strict=True))
    one, other = move.colors
    hand = [COLOR_OF[card] for card in table.hand or ()]
    in_hand = hand.count(one) + hand.count(other)
    return sizes[one] * sizes[other] - in_hand / 1000


# --- Playing a card -------------------------------------------------------------------------------


def simulated_ends(table: MitListTable, seat: Seat, rng: Random) -> list[list[Card]]:
    """Draw several random lists of unseen cards, for the other seats to play in this order."""
    tops = [pile.top for piles in table.piles for pile in piles]
    seen = {*(table.hand or ()), *tops, *(played.card for played in table.trick)}
    unseen = [card for card in DECKS[len(table.hand_sizes)] if card not in seen]
    wanted = min(len(unseen), 3 * len(table.hand_sizes))
    return [rng.sample(unseen, wanted) for _ in range(SIMULATIONS)]


def value_of_card(
    table: MitListTable, seat: Seat, move: AnyMove, holdings: list[Holding], ends: list[list[Card]]
) -> float:
    """Return what a card brings its seat, summed over the simulated ends of the trick."""
    assert isinstance(move, Play)
    trick = (*table.trick, PlayedCard(seat, move.card))
    return sum(gain_from(finished(trick, end, len(holdings)), seat, holdings) for end in ends)


def finished(trick: Trick, cards: list[Card], seats: int) -> Trick:
    """Complete a trick: each seat still to play plays the first remaining card that is allowed."""
    for card in cards:
        if len(trick) == seats:
            break
        if playable((card,), trick):
            trick = (*trick, PlayedCard((trick[-1].seat + 1) % seats, card))
    return trick


def gain_from(trick: Trick, seat: Seat, holdings: list[Holding]) -> float:
    """Return what a complete trick brings a seat, if the high seat takes what is best for it."""
    high, low = high_seat(trick), low_seat(trick)
    if seat not in (high, low):
        return 0
    cards = [played.card for played in trick]
    takes = list(combinations(cards, TAKEN_BY_HIGH[len(holdings)]))
    taken = max(takes, key=lambda take: worth(received(holdings[high], take)))
    if seat == high:
        return gain(holdings[high], taken)
    return gain(holdings[seat], [card for card in cards if card not in taken])
