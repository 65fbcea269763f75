"""Parade, a card game for 2 to 6 by Naoki Homma.

The rules are those of the sheet of Filosofia's edition (2014), with what it leaves open
decided as follows.

- The sheet names no number of players: 2 to 6.
- The two cards that a seat discards at the end stay face down for good.
- Seats that tie in points and in the number of their cards share the win.
- The cards that a seat keeps at the end are laid down sorted, so that the other seats do not
  learn in which order they came to that hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import (
    CardPlayed,
    Path,
    Play,
    card_not_in_hand,
    check_dealt_once,
    check_hand_sizes,
    check_seat,
)
from engine.published import MAX_SEATS, NamedChoice, bounded, by_seat, described, published_as
from engine.ruleset import (
    BestScore,
    Breakdown,
    Card,
    Component,
    Deal,
    Event,
    GameResult,
    IllegalMove,
    InvalidDeal,
    Move,
    NothingPreview,
    Outcome,
    Preview,
    Ruleset,
    Score,
    Seat,
    Table,
    TieBreak,
    Told,
    ranked,
    replaced,
    sort_set,
)

# --- The cards --------------------------------------------------------------------------

COLORS = ("red", "blue", "purple", "green", "grey", "orange")
Color = Annotated[
    str, published_as(NamedChoice("ParadeColor", COLORS, "A colour of a card of Parade."))
]
VALUES = range(11)
CARDS: tuple[Card, ...] = tuple(f"{color}-{value}" for color in COLORS for value in VALUES)

COLOR_OF = {card: card.rpartition("-")[0] for card in CARDS}
VALUE_OF = {card: int(card.rpartition("-")[2]) for card in CARDS}
SORT_KEY = {card: number for number, card in enumerate(CARDS)}

HAND_SIZE = 5
PARADE_SIZE = 6
DISCARDED = 2
HAND_LEFT = 2
MAX_PILE_SIZE = len(CARDS) - 2 * HAND_SIZE - PARADE_SIZE
"""The cards left to draw when two play."""

LAST_ROUND_CAUSE = NamedChoice(
    "LastRoundCause",
    ("colors", "pile", "both"),
    "Why Parade's last round began: all six colours, an empty pile, or both at once.",
)
MAJORITY_WITH_TWO_SEATS = 2
"""By how many cards of a colour a majority leads with two seats."""

LEAVING_FOR = {
    played: frozenset(
        card
        for card in CARDS
        if COLOR_OF[card] == COLOR_OF[played] or VALUE_OF[card] <= VALUE_OF[played]
    )
    for played in CARDS
}
"""For each played card, the cards that leave the parade for it if they are in removal mode.

A lookup table, since computing this would be most of the work of a turn.
"""


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Sort cards by colour, then by value."""
    return tuple(sorted(cards, key=SORT_KEY.__getitem__))


# --- Deal, moves, events, state -------------------------------------------------------------


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Parade has no options."""


class ParadeDeal(Deal, frozen=True, tag="parade"):
    """All that chance decides: the seat that starts, and where each card lies."""

    first_seat: Annotated[Seat, described("The seat that plays first.")]
    hands: Annotated[
        tuple[Annotated[tuple[Card, ...], described("A seat's hand.")], ...],
        by_seat("By seat: five cards, in the order in which they were dealt."),
    ]
    parade: Annotated[
        tuple[Card, ...], described("The six cards that begin the parade, front first.")
    ]
    pile: Annotated[tuple[Card, ...], described("All other cards, the next one drawn first.")]


class Discard(Move, frozen=True, tag="discard"):
    """Throw two hand cards away, named in any order."""

    cards: tuple[Card, ...]
    """The two cards, sorted by name."""

    def __post_init__(self) -> None:
        sort_set(self, "cards")


class CardsCollected(Event, frozen=True, tag="cards_collected"):
    """Cards left the parade for a seat's collection."""

    seat: Annotated[Seat, described("The seat that played, which takes the cards.")]
    cards: Annotated[
        tuple[Card, ...],
        described("The cards, in the order in which they stood.", minItems=1, maxItems=len(CARDS)),
    ]


class CardDrawn(Event, frozen=True, tag="card_drawn"):
    """A seat drew a card; `card` is null to all but its owner."""

    seat: Annotated[Seat, described("The seat that drew.")]
    card: Annotated[Card | None, described("The card; null unless the seat is yours.")]
    pile_size: Annotated[
        int, described("How many cards are left to draw.", minimum=0, maximum=MAX_PILE_SIZE)
    ]


class LastRoundStarted(Event, frozen=True, tag="last_round_started"):
    """After this seat's turn, every seat has one more."""

    seat: Annotated[Seat, described("The seat whose turn started the last round.")]
    cause: Annotated[
        str,
        published_as(
            LAST_ROUND_CAUSE, "Why it began: all six colours collected, the pile empty, or both."
        ),
    ]


class CardsDiscarded(Event, frozen=True, tag="cards_discarded"):
    """A seat threw two cards away; `cards` is null to all but itself."""

    seat: Annotated[Seat, described("The seat that threw them away.")]
    cards: Annotated[
        tuple[Card, ...] | None,
        described(
            "The two cards; null unless the seat is yours.",
            minItems=DISCARDED,
            maxItems=DISCARDED,
        ),
    ]


class HandsLaidDown(Event, frozen=True, tag="hands_laid_down"):
    """All have discarded; the two cards left in each hand join the seat's collection."""

    cards: Annotated[
        tuple[
            Annotated[
                tuple[Card, ...],
                described("The two cards of a seat.", minItems=HAND_LEFT, maxItems=HAND_LEFT),
            ],
            ...,
        ],
        by_seat("By seat: the two cards."),
    ]


class Phase(StrEnum):
    """The phase of a game."""

    PLAY = "play"
    LAST_ROUND = "last_round"
    DISCARD = "discard"
    FINISHED = "finished"


class State(Struct, frozen=True):
    """Everything on the table, hidden cards included."""

    phase: Phase
    """What the next move is, or that the game is over."""

    seat_to_play: Seat
    """The seat whose turn it is while cards are played; without meaning after the last round."""

    parade: tuple[Card, ...]
    """The cards that parade, front first; a played card joins at the end."""

    pile: tuple[Card, ...]
    """The cards to draw, the next one first."""

    hands: tuple[tuple[Card, ...], ...]
    """By seat: its hand, a drawn card last; empty once the game is over."""

    collections: tuple[tuple[Card, ...], ...]
    """By seat: the cards that it has collected, in the order in which they came."""

    discards: tuple[tuple[Card, ...] | None, ...]
    """By seat: the two cards that it discarded, by colour and value; None before."""

    last_turns_left: int | None
    """How many turns are left in the last round; None before it, 0 after it."""


class ParadeTable(Table, frozen=True, tag="parade"):
    """What a seat or a spectator sees of Parade."""

    phase: Annotated[
        Phase, described("What the next move is, or that the game is over.", title="ParadePhase")
    ]
    parade: Annotated[
        tuple[Card, ...],
        described("The cards that parade, front first.", minItems=1, maxItems=len(CARDS)),
    ]
    collections: Annotated[
        tuple[
            Annotated[
                tuple[Card, ...],
                described("What a seat has collected.", maxItems=len(CARDS)),
            ],
            ...,
        ],
        by_seat("By seat: the cards that it has collected, in the order in which they came."),
    ]
    standing: Annotated[
        tuple[Score, ...],
        by_seat("By seat: its points if the game ended now, with the collections as they are."),
    ]
    pile_size: Annotated[
        int, described("How many cards are left to draw.", minimum=0, maximum=MAX_PILE_SIZE)
    ]
    hand_sizes: Annotated[
        tuple[Annotated[int, bounded(minimum=0, maximum=HAND_SIZE)], ...],
        by_seat("By seat: how many cards it holds."),
    ]
    hand: Annotated[
        tuple[Card, ...] | None,
        described("Your hand; null for a spectator.", maxItems=HAND_SIZE),
    ]
    has_discarded: Annotated[
        tuple[bool, ...], by_seat("By seat: whether it has thrown two cards away.")
    ]
    discard: Annotated[
        tuple[Card, ...] | None,
        described(
            "The two cards that you threw away; null before, and for a spectator.",
            minItems=DISCARDED,
            maxItems=DISCARDED,
        ),
    ]
    last_turns_left: Annotated[
        int | None,
        described(
            "Turns still to play in the last round; null before it.", minimum=0, maximum=MAX_SEATS
        ),
    ]


class ParadePlayPreview(Preview, frozen=True, tag="parade_play"):
    """What a card of Parade played now would do."""

    collected: Annotated[
        tuple[Card, ...],
        described(
            "The cards that would leave the parade, for your collection.",
            maxItems=len(CARDS),
        ),
    ]


class ParadeColorScore(Struct, frozen=True):
    """The points of a seat of Parade for one colour."""

    color: Annotated[Color, described("The colour.")]
    cards: Annotated[
        int, described("How many cards of it the seat has.", minimum=0, maximum=len(VALUES))
    ]
    has_majority: Annotated[
        bool, described("Whether each of them counts 1 point, since the seat has the majority.")
    ]
    points: Annotated[int, described("The points for them.", minimum=0, maximum=sum(VALUES))]


class ParadeSeatScore(Struct, frozen=True):
    """What the score of a seat of Parade is made of."""

    colors: Annotated[
        tuple[ParadeColorScore, ...],
        described("The points for each colour.", minItems=len(COLORS), maxItems=len(COLORS)),
    ]
    cards: Annotated[
        int,
        described("How many cards it has; in a tie the fewest win.", minimum=0, maximum=len(CARDS)),
    ]


class ParadeBreakdown(Breakdown, frozen=True, tag="parade"):
    """What the scores of Parade are made of."""

    seats: Annotated[tuple[ParadeSeatScore, ...], by_seat("By seat: what its score is made of.")]


# --- Setup ------------------------------------------------------------------------------------


def deal(seats: int, options: Options, rng: Random) -> ParadeDeal:
    """Shuffle, deal five cards to each seat, line up the parade, choose the first seat."""
    first_seat = rng.randrange(seats)
    cards = list(CARDS)
    rng.shuffle(cards)
    dealt = seats * HAND_SIZE
    return ParadeDeal(
        first_seat=first_seat,
        hands=tuple(tuple(cards[i : i + HAND_SIZE]) for i in range(0, dealt, HAND_SIZE)),
        parade=tuple(cards[dealt : dealt + PARADE_SIZE]),
        pile=tuple(cards[dealt + PARADE_SIZE :]),
    )


def start(seats: int, options: Options, deal: ParadeDeal) -> Outcome[State]:
    """Return the position before the first turn. Raises `InvalidDeal`."""
    check_deal(seats, deal)
    state = State(
        phase=Phase.PLAY,
        seat_to_play=deal.first_seat,
        parade=deal.parade,
        pile=deal.pile,
        hands=deal.hands,
        collections=((),) * seats,
        discards=(None,) * seats,
        last_turns_left=None,
    )
    return state, ()


def check_deal(seats: int, deal: ParadeDeal) -> None:
    """Raise `InvalidDeal` unless all 66 cards are dealt as the sheet says."""
    check_seat(deal.first_seat, seats, "first_seat")
    check_hand_sizes(deal.hands, seats, HAND_SIZE, ("hands",))
    if len(deal.parade) != PARADE_SIZE:
        raise InvalidDeal(
            f"The parade has {len(deal.parade)} cards. It begins with {PARADE_SIZE}.", ("parade",)
        )
    hands: list[tuple[Path, tuple[Card, ...]]] = [
        (("hands", seat), hand) for seat, hand in enumerate(deal.hands)
    ]
    check_dealt_once(CARDS, [*hands, (("parade",), deal.parade), (("pile",), deal.pile)])


# --- Whose move, and which ----------------------------------------------------------------------


def to_move(state: State) -> tuple[Seat, ...]:
    """Return the seat whose turn it is; in the discard every seat that has not discarded."""
    if state.phase is Phase.DISCARD:
        return tuple(seat for seat, discard in enumerate(state.discards) if discard is None)
    if state.phase is Phase.FINISHED:
        return ()
    return (state.seat_to_play,)


def legal_moves(state: State, seat: Seat) -> tuple[Play | Discard, ...]:
    """List a play of each card of the hand; in the discard, each two cards of it."""
    if seat not in to_move(state):
        return ()
    hand = in_order(state.hands[seat])
    if state.phase is Phase.DISCARD:
        return tuple(Discard(cards) for cards in combinations(hand, DISCARDED))
    return tuple(Play(card) for card in hand)


def apply(state: State, seat: Seat, move: Play | Discard) -> Outcome[State]:
    """Play a card or discard two, and return the new position and what happened.

    A red 2 is played. The last two cards of the parade are safe; of the four others one leaves
    since it is red, and three leave since they are 2 or less.

    >>> hands, parade = (CARDS[:5], CARDS[5:10]), CARDS[10:16]
    >>> parade
    ('red-10', 'blue-0', 'blue-1', 'blue-2', 'blue-3', 'blue-4')
    >>> state, _ = start(2, Options(), ParadeDeal(0, hands, parade, CARDS[16:]))
    >>> state, told = apply(state, 0, Play("red-2"))
    >>> state.collections[0], state.parade
    (('red-10', 'blue-0', 'blue-1', 'blue-2'), ('blue-3', 'blue-4', 'red-2'))
    >>> [type(each.everybody).__name__ for each in told]
    ['CardPlayed', 'CardsCollected', 'CardDrawn']

    Raises:
        IllegalMove: the rules forbid it.
    """
    if state.phase is Phase.FINISHED:
        raise IllegalMove("game_over", "The game is over.")
    if state.phase is Phase.DISCARD:
        return apply_discard(state, seat, move)
    return apply_play(state, seat, move)


# --- A turn -----------------------------------------------------------------------------------


def cards_leaving(parade: tuple[Card, ...], played: Card) -> tuple[Card, ...]:
    """Return the cards that leave the parade when this card is played to its end.

    Counting back from the end, as many cards are safe as the value of the played card. Of the
    cards before them, those of its colour leave, and those of its value or less.

    The sheet's example, a green 3 played to seven cards:

    >>> parade = ("green-0", "red-3", "blue-9", "green-7", "red-1", "green-2", "blue-2")
    >>> cards_leaving(parade, "green-3")
    ('green-0', 'red-3', 'green-7')
    """
    in_removal_mode = parade[: max(len(parade) - VALUE_OF[played], 0)]
    leaving = LEAVING_FOR[played]
    return tuple([card for card in in_removal_mode if card in leaving])


def apply_play(state: State, seat: Seat, move: Play | Discard) -> Outcome[State]:
    """Play a turn: play a card, collect what leaves the parade, draw a card, end the turn."""
    check_play(state, seat, move)
    assert isinstance(move, Play)
    state, collected = play_card(state, seat, move.card)
    drawn: tuple[Told, ...] = ()
    if state.phase is Phase.PLAY:
        state, drawn = draw_card(state, seat)
    state, started = end_turn(state, seat)
    return state, (Told(CardPlayed(seat, move.card)), *collected, *drawn, *started)


def check_play(state: State, seat: Seat, move: Play | Discard) -> None:
    """Raise `IllegalMove` unless this seat may play this card."""
    if seat != state.seat_to_play:
        raise IllegalMove(
            "not_your_turn", f"It is the turn of seat {state.seat_to_play}, not yours."
        )
    if not isinstance(move, Play):
        raise IllegalMove(
            "wrong_move_type", "Discards come after the last round. Until then, play a card."
        )
    if move.card not in state.hands[seat]:
        raise card_not_in_hand(move.card, CARDS)


def play_card(state: State, seat: Seat, played: Card) -> Outcome[State]:
    """Move a card to the end of the parade, and the cards that leave to the seat's collection."""
    hand = tuple([card for card in state.hands[seat] if card != played])
    leaving = cards_leaving(state.parade, played)
    if not leaving:
        hands = replaced(state.hands, seat, hand)
        return replace(state, parade=(*state.parade, played), hands=hands), ()
    staying = [card for card in state.parade if card not in leaving]
    after = replace(
        state,
        parade=(*staying, played),
        hands=replaced(state.hands, seat, hand),
        collections=replaced(state.collections, seat, state.collections[seat] + leaving),
    )
    return after, (Told(CardsCollected(seat, leaving)),)


def draw_card(state: State, seat: Seat) -> Outcome[State]:
    """Draw a card, which only its seat sees."""
    drawn, pile = state.pile[0], state.pile[1:]
    hands = replaced(state.hands, seat, (*state.hands[seat], drawn))
    told = Told(CardDrawn(seat, None, len(pile)), ((seat, CardDrawn(seat, drawn, len(pile))),))
    return replace(state, pile=pile, hands=hands), (told,)


def end_turn(state: State, seat: Seat) -> Outcome[State]:
    """Give the turn to the next seat; start or end the last round when it is time."""
    following = (seat + 1) % len(state.hands)
    if state.last_turns_left is not None:
        left = state.last_turns_left - 1
        phase = Phase.LAST_ROUND if left else Phase.DISCARD
        return replace(state, phase=phase, seat_to_play=following, last_turns_left=left), ()
    cause = last_round_cause(state.collections[seat], state.pile)
    if cause is None:
        return replace(state, seat_to_play=following), ()
    after = replace(
        state,
        phase=Phase.LAST_ROUND,
        seat_to_play=following,
        last_turns_left=len(state.hands),
    )
    return after, (Told(LastRoundStarted(seat, cause)),)


def last_round_cause(collection: tuple[Card, ...], pile: tuple[Card, ...]) -> str | None:
    """Return why the last round begins: `colors`, `pile` or `both`; None if it does not."""
    if len({COLOR_OF[card] for card in collection}) == len(COLORS):
        return "colors" if pile else "both"
    return None if pile else "pile"


# --- The discard --------------------------------------------------------------------------------


def apply_discard(state: State, seat: Seat, move: Play | Discard) -> Outcome[State]:
    """Discard two cards in secret; after the last seat's discard, all lay their hands down."""
    if seat not in to_move(state):
        raise IllegalMove("not_your_turn", "You have discarded. The game waits for other seats.")
    if not isinstance(move, Discard):
        raise IllegalMove("wrong_move_type", "The last round is over. Discard two cards.")
    check_discard(state.hands[seat], move.cards)

    kept = tuple(card for card in state.hands[seat] if card not in move.cards)
    after = replace(
        state,
        hands=replaced(state.hands, seat, kept),
        discards=replaced(state.discards, seat, in_order(move.cards)),
    )
    told = Told(CardsDiscarded(seat, None), ((seat, CardsDiscarded(seat, after.discards[seat])),))
    if to_move(after):
        return after, (told,)
    finished, laid_down = lay_hands_down(after)
    return finished, (told, laid_down)


def check_discard(hand: tuple[Card, ...], cards: tuple[Card, ...]) -> None:
    """Raise `IllegalMove` unless these are two different cards of the hand."""
    if len(cards) != DISCARDED:
        raise IllegalMove(
            "wrong_card_count", f"The move names {len(cards)} cards. Discard exactly {DISCARDED}."
        )
    if len(set(cards)) != len(cards):
        raise IllegalMove("repeated_card", "A card is named twice. Name each card once.")
    for card in cards:
        if card not in hand:
            raise card_not_in_hand(card, CARDS)


def lay_hands_down(state: State) -> tuple[State, Told]:
    """Move the two cards left in each hand to the seat's collection, and end the game."""
    laid_down = tuple(in_order(hand) for hand in state.hands)
    finished = replace(
        state,
        phase=Phase.FINISHED,
        hands=((),) * len(state.hands),
        collections=tuple(
            collection + cards
            for collection, cards in zip(state.collections, laid_down, strict=True)
        ),
    )
    return finished, Told(HandsLaidDown(laid_down))


# --- The end ------------------------------------------------------------------------------------


@lru_cache(512)
def scores(collections: tuple[tuple[Card, ...], ...]) -> tuple[int, ...]:
    """Return the points of each seat: the sum over the six colours.

    Cached, since every view of a position shows them, and most turns leave them as they are.

    >>> scores((("red-8", "blue-1"), ("red-6",), ("red-2", "green-0")))
    (2, 1, 2)
    """
    return tuple([total(of_seat) for of_seat in breakdown(collections).seats])


def total(score: ParadeSeatScore) -> int:
    """Return the sum of a seat's points over the six colours."""
    return sum([of_color.points for of_color in score.colors])


def breakdown(collections: tuple[tuple[Card, ...], ...]) -> ParadeBreakdown:
    """Return what the points of each seat are made of."""
    by_color = [color_scores(*of_color) for of_color in values_by_color(collections).items()]
    return ParadeBreakdown(
        tuple(
            [
                ParadeSeatScore(colors=of_seat, cards=len(collection))
                for of_seat, collection in zip(
                    zip(*by_color, strict=True), collections, strict=True
                )
            ]
        )
    )


def values_by_color(collections: tuple[tuple[Card, ...], ...]) -> dict[Color, list[list[int]]]:
    """Return for each colour, by seat, the values of the cards."""
    values: dict[Color, list[list[int]]] = {color: [[] for _ in collections] for color in COLORS}
    for seat, collection in enumerate(collections):
        for card in collection:
            values[COLOR_OF[card]][seat].append(VALUE_OF[card])
    return values


def color_scores(color: Color, values: list[list[int]]) -> list[ParadeColorScore]:
    """Return the points of a colour by seat, given the values of the cards that each seat has.

    With a majority each card counts 1 point, whatever its value.

    >>> [score.points for score in color_scores("red", [[8, 3], [10]])]
    [11, 10]
    >>> [score.points for score in color_scores("red", [[8, 3], []])]
    [2, 0]
    """
    return [
        ParadeColorScore(
            color,
            cards=len(of_seat),
            has_majority=has_majority,
            points=len(of_seat) if has_majority else sum(of_seat),
        )
        for of_seat, has_majority in zip(values, majorities(values), strict=True)
    ]


def majorities(values: list[list[int]]) -> list[bool]:
    """Return by seat whether it has the majority in a colour, given the values of its cards.

    The most cards are a majority, in a tie for all tied seats. With two seats a majority takes
    two cards more than the other seat has.

    >>> majorities([[8, 3, 1], [10, 4]]), majorities([[8, 3, 1], [10]])
    ([False, False], [True, False])
    >>> majorities([[8, 3], [10, 4], [2]])
    [True, True, False]
    """
    counts = [len(of_seat) for of_seat in values]
    if len(counts) == 2:
        lead = counts[0] - counts[1]
        return [lead >= MAJORITY_WITH_TWO_SEATS, -lead >= MAJORITY_WITH_TWO_SEATS]
    most = max(counts)
    return [count == most > 0 for count in counts]


def result(state: State) -> GameResult | None:
    """Return the result: the lowest total wins, in a tie the fewest cards, else all share."""
    if state.phase is not Phase.FINISHED:
        return None
    return ranked(
        scores(state.collections),
        BestScore.LOWEST,
        breakdown(state.collections),
        tie_break=TieBreak.FEWEST_CARDS,
        preferred=[len(collection) for collection in state.collections],
    )


# --- What a seat sees ---------------------------------------------------------------------------


def view(state: State, seat: Seat | None) -> ParadeTable:
    """Return the open cards, the sizes of what is hidden, and the reader's own cards."""
    return ParadeTable(
        phase=state.phase,
        parade=state.parade,
        collections=state.collections,
        standing=scores(state.collections),
        pile_size=len(state.pile),
        hand_sizes=tuple([len(hand) for hand in state.hands]),
        hand=None if seat is None else state.hands[seat],
        has_discarded=tuple([discard is not None for discard in state.discards]),
        discard=None if seat is None else state.discards[seat],
        last_turns_left=state.last_turns_left,
    )


def preview(table: ParadeTable, seat: Seat, move: Play | Discard) -> Preview:
    """Return the cards that would leave the parade for a played card; nothing for a discard."""
    if not isinstance(move, Play):
        return NothingPreview()
    return ParadePlayPreview(cards_leaving(table.parade, move.card))


def redeal_hidden(state: State, seat: Seat | None, rng: Random) -> State:
    """Deal again what a reader does not see: the other hands and discards, and the pile."""
    others = [other for other in range(len(state.hands)) if other != seat]
    unseen = [*state.pile]
    for other in others:
        unseen.extend(state.hands[other])
        unseen.extend(state.discards[other] or ())
    # Sorted first, so that the outcome depends on nothing hidden but on rng alone.
    unseen.sort(key=SORT_KEY.__getitem__)
    rng.shuffle(unseen)

    def take(count: int) -> tuple[Card, ...]:
        taken = tuple(unseen[:count])
        del unseen[:count]
        return taken

    hands, discards = state.hands, state.discards
    for other in others:
        hands = replaced(hands, other, take(len(hands[other])))
        if (discard := discards[other]) is not None:
            discards = replaced(discards, other, in_order(take(len(discard))))
    return replace(state, pile=tuple(unseen), hands=hands, discards=discards)


PARADE: Ruleset[Options, ParadeDeal, State, Play | Discard, ParadeTable] = Ruleset(
    id="parade",
    title="Parade",
    min_seats=2,
    max_seats=6,
    options=(),
    components=tuple(
        Component("card", card, color=COLOR_OF[card], value=VALUE_OF[card]) for card in CARDS
    ),
    options_type=Options,
    deal_type=ParadeDeal,
    state_type=State,
    move_type=Play | Discard,
    event_types=(
        CardPlayed,
        CardsCollected,
        CardDrawn,
        LastRoundStarted,
        CardsDiscarded,
        HandsLaidDown,
    ),
    table_type=ParadeTable,
    breakdown_type=ParadeBreakdown,
    preview_types=(ParadePlayPreview,),
    deal=deal,
    start=start,
    to_move=to_move,
    legal_moves=legal_moves,
    apply=apply,
    view=view,
    result=result,
    redeal_hidden=redeal_hidden,
    preview=preview,
)
