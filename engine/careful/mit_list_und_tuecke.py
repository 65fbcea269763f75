"""A careful player of Mit List und Tücke.

It likes two large piles and hates a third: its points are the product of two, divided by the
rest. Where piles are closed it guesses their sizes, as everybody must, from how many tricks
have been played.

- Playing a card, it imagines a few times how the trick may end, the others laying any cards
  that it has not seen, and what it would then get as the high or the low seat.
- As the high seat it takes the cards that are best for it and worst for the low seat.
- It keeps its two largest piles; if it cannot tell, the colours that it holds fewest cards of,
  which the others have to play.
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

IMAGINED = 8
"""How many ends of a trick are imagined for each decision."""
ENVY = 0.25
"""What the low seat's gain counts against a choice of cards."""
GROWTH = 3
"""How many cards each of the two scoring piles may still grow by."""
KEPT_SHARE = 0.35
"""The guessed share of each kept colour in the cards of a seat that has chosen."""


class Holding(Struct, frozen=True):
    """A seat's cards, counted or guessed: of each of `COLORS`, and face down."""

    piles: tuple[float, ...]
    """For each of `COLORS` the number of cards face up."""

    face_down: float
    """How many cards lie face down."""

    kept: tuple[Color, ...] | None
    """The two colours that score; None until the seat has chosen them."""


def careful(table: MitListTable, seat: Seat, moves: Sequence[AnyMove], rng: Random) -> AnyMove:
    """The card, the take or the colours that promise the most points."""
    holdings = [holding_of(table, other) for other in range(len(table.hand_sizes))]
    if isinstance(moves[0], Play):
        ends = imagine(table, seat, rng)
        return best(moves, lambda move: value_of_card(table, seat, move, holdings, ends), rng)
    if isinstance(moves[0], Take):
        return best(moves, lambda move: value_of_take(table, seat, move, holdings), rng)
    return best(moves, lambda move: value_of_colors(table, move, holdings[seat]), rng)


# --- What a seat has ----------------------------------------------------------------------------


def holding_of(table: MitListTable, seat: Seat) -> Holding:
    """A seat's cards: counted where piles are open, else guessed."""
    piles, face_down = table.piles[seat], table.face_down[seat]
    cards = guessed_cards(table)
    share = KEPT_SHARE if face_down.any else 1 / max(len(piles), 1)
    sizes = [0.0] * len(COLORS)
    for pile in piles:
        size = max(cards * share, 1) if pile.cards is None else len(pile.cards)
        sizes[COLORS.index(pile.color)] = size
    down = 0.0
    if face_down.any:
        guess = max(cards * (1 - COLORS_KEPT * KEPT_SHARE), 2)
        down = guess if face_down.size is None else face_down.size
    return Holding(tuple(sizes), down, table.kept[seat])


def guessed_cards(table: MitListTable) -> float:
    """How many cards a seat has that has any: the tricks' cards, shared out evenly."""
    with_cards = sum([1 for piles in table.piles if piles])
    return table.tricks_played * len(table.piles) / max(with_cards, 1)


def received(holding: Holding, cards: Sequence[Card]) -> Holding:
    """A holding once these cards have joined it."""
    piles, face_down = list(holding.piles), holding.face_down
    for card in cards:
        if holding.kept is None or COLOR_OF[card] in holding.kept:
            piles[PILE_OF[card]] += 1
        else:
            face_down += 1
    return Holding(tuple(piles), face_down, holding.kept)


def worth(holding: Holding) -> float:
    """The points of a holding once its piles have grown: a clean start counts before any points."""
    *others, second, largest = sorted(holding.piles)
    rest = sum(others) + holding.face_down
    return (largest + GROWTH) * (second + GROWTH) / (rest + 1)


# --- Cards out of a trick -------------------------------------------------------------------------


def value_of_take(table: MitListTable, seat: Seat, move: AnyMove, holdings: list[Holding]) -> float:
    """What a take brings the high seat, less for what the rest brings the low seat."""
    assert isinstance(move, Take)
    value = gain(holdings[seat], move.cards)
    if table.low is not None:
        rest = [played.card for played in table.trick if played.card not in move.cards]
        value -= ENVY * gain(holdings[table.low], rest)
    return value


def gain(holding: Holding, cards: Sequence[Card]) -> float:
    """How much better a holding is with these cards."""
    return worth(received(holding, cards)) - worth(holding)


def value_of_colors(table: MitListTable, move: AnyMove, holding: Holding) -> float:
    """What the piles of two colours score; if that is level, few cards of them left in hand."""
    assert isinstance(move, Keep)
    sizes = dict(zip(COLORS, holding.piles, strict=True))
    one, other = move.colors
    hand = [COLOR_OF[card] for card in table.hand or ()]
    in_hand = hand.count(one) + hand.count(other)
    return sizes[one] * sizes[other] - in_hand / 1000


# --- Playing a card -------------------------------------------------------------------------------


def imagine(table: MitListTable, seat: Seat, rng: Random) -> list[list[Card]]:
    """Several times, unseen cards in the order in which the others may come to play them."""
    tops = [pile.top for piles in table.piles for pile in piles]
    seen = {*(table.hand or ()), *tops, *(played.card for played in table.trick)}
    unseen = [card for card in DECKS[len(table.hand_sizes)] if card not in seen]
    wanted = min(len(unseen), 3 * len(table.hand_sizes))
    return [rng.sample(unseen, wanted) for _ in range(IMAGINED)]


def value_of_card(
    table: MitListTable, seat: Seat, move: AnyMove, holdings: list[Holding], ends: list[list[Card]]
) -> float:
    """What a card brings its seat, on average over the imagined ends of the trick."""
    assert isinstance(move, Play)
    trick = (*table.trick, PlayedCard(seat, move.card))
    return sum(gain_from(finished(trick, end, len(holdings)), seat, holdings) for end in ends)


def finished(trick: Trick, cards: list[Card], seats: int) -> Trick:
    """A trick once each seat still to play has laid the first of these cards that it may."""
    for card in cards:
        if len(trick) == seats:
            break
        if playable((card,), trick):
            trick = (*trick, PlayedCard((trick[-1].seat + 1) % seats, card))
    return trick


def gain_from(trick: Trick, seat: Seat, holdings: list[Holding]) -> float:
    """What a complete trick brings a seat, if the high seat takes what is best for itself."""
    high, low = high_seat(trick), low_seat(trick)
    if seat not in (high, low):
        return 0
    cards = [played.card for played in trick]
    takes = list(combinations(cards, TAKEN_BY_HIGH[len(holdings)]))
    taken = max(takes, key=lambda take: worth(received(holdings[high], take)))
    if seat == high:
        return gain(holdings[high], taken)
    return gain(holdings[seat], [card for card in cards if card not in taken])
