"""Mit List und Tücke, a trick-taking game for 4 to 6 by Klaus Palesch (1999).

The rules are those of its French rule sheet, with what it leaves open decided as follows.

- With five seats, the yellow that the sheet names beside green is a slip for blue.
- The first dealer is chosen at random.
- Both seats that receive cards of a trick have them before either chooses colours. If both must
  choose, the high seat chooses first; both choose before the next trick is led, and before the
  round is scored.
- Of several cards of one colour received at once, the one played last lies on top.
- The number of cards in a pile is part of what may not be examined. The option ``open_piles``
  shows every face-up pile in full and how many cards lie face down.
- A trick counts as played once its cards are taken.
- When a round ends early, no hand is shown, not even the one that could not play.
- After the last round all cards stay as they lie, in an unfinished trick and in the hands too.
- Seats with equal totals share the win.

The catalogue lists all 84 cards; ``HIGHEST`` says which of them are dealt.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
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
from engine.published import NamedChoice, bounded, by_seat, described, published_as
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
    Option,
    Outcome,
    Preview,
    Ruleset,
    Score,
    Seat,
    Table,
    Told,
    ranked,
    replaced,
    sort_set,
)

# --- The cards --------------------------------------------------------------------------

COLORS = ("red", "yellow", "blue", "green")
COLOR = NamedChoice("MitListColor", COLORS, "A colour of Mit List und Tücke.")
Color = Annotated[str, published_as(COLOR)]

HIGHEST = {
    4: {"red": 14, "yellow": 14, "blue": 14, "green": 14},
    5: {"red": 18, "yellow": 18, "blue": 17, "green": 17},
    6: {"red": 21, "yellow": 21, "blue": 21, "green": 21},
}
"""By the number of seats, the highest card of each colour that is dealt; the lowest is 1."""

DECKS: dict[int, tuple[Card, ...]] = {
    seats: tuple(f"{color}-{value}" for color in COLORS for value in range(1, highest[color] + 1))
    for seats, highest in HIGHEST.items()
}
MIN_SEATS, MAX_SEATS = min(DECKS), max(DECKS)
CARDS = DECKS[MAX_SEATS]
HIGHEST_CARD = max(HIGHEST[MAX_SEATS].values())

COLOR_OF = {card: card.rpartition("-")[0] for card in CARDS}
VALUE_OF = {card: int(card.rpartition("-")[2]) for card in CARDS}
SORT_KEY = {card: number for number, card in enumerate(CARDS)}
PILE_OF = {card: COLORS.index(COLOR_OF[card]) for card in CARDS}
"""For each card the index of its colour in `COLORS`, and so of its pile before a seat."""

HAND_SIZE = 14
COLORS_IN_A_TRICK = 3
"""How many colours a trick holds at most."""
COLORS_KEPT = 2
KeptColors = Annotated[tuple[Color, ...], bounded(minItems=COLORS_KEPT, maxItems=COLORS_KEPT)]
TAKEN_BY_HIGH = {4: 2, 5: 3, 6: 3}
"""By the number of seats, how many cards the high seat takes out of the trick."""


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Sort cards by colour, then by value."""
    return tuple(sorted(cards, key=SORT_KEY.__getitem__))


# --- Deal, moves, events, state -------------------------------------------------------------

Hands = tuple[tuple[Card, ...], ...]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The variants of Mit List und Tücke."""

    open_piles: bool = False
    """Whether all see every card of a face-up pile, and how many cards lie face down."""


class MitListDeal(Deal, frozen=True, tag="mit-list-und-tuecke"):
    """All that chance decides: the first dealer, and the hands of each round."""

    dealer: Annotated[Seat, described("The seat that deals the first round.")]
    rounds: Annotated[
        tuple[
            Annotated[
                tuple[Annotated[tuple[Card, ...], described("A seat's hand.")], ...],
                by_seat("By seat: its hand.", least=MIN_SEATS),
            ],
            ...,
        ],
        described("For each round, the hands.", minItems=MIN_SEATS, maxItems=MAX_SEATS),
    ]


class Take(Move, frozen=True, tag="take"):
    """Take cards out of the trick as its high seat, named in any order."""

    cards: tuple[Card, ...]
    """The cards, sorted by name: two with four seats, three with more."""

    def __post_init__(self) -> None:
        sort_set(self, "cards")


class Keep(Move, frozen=True, tag="keep"):
    """Choose the two colours that will score, named in any order."""

    colors: tuple[Color, ...]
    """The two colours, sorted by name."""

    def __post_init__(self) -> None:
        sort_set(self, "colors")


AnyMove = Play | Take | Keep


class MitListCounts(Struct, frozen=True):
    """The numbers of cards that a round's points come from."""

    largest: Annotated[
        int,
        described("How many cards the largest face-up pile has.", minimum=0, maximum=HIGHEST_CARD),
    ]
    second: Annotated[
        int,
        described("How many cards the second largest one has.", minimum=0, maximum=HIGHEST_CARD),
    ]
    rest: Annotated[
        int,
        described(
            "How many other cards the seat has, face up or face down.",
            minimum=0,
            maximum=len(CARDS),
        ),
    ]


class MitListRoundScore(MitListCounts, frozen=True):
    """The points of a seat in a round of Mit List und Tücke, and what they are made of."""

    points: Annotated[
        Score,
        described("`largest` times `second`, divided by `rest` unless that is 0, rounded down."),
    ]


class RoundStarted(Event, frozen=True, tag="round_started"):
    """A round began; `hand` is your own, null for a spectator."""

    round: Annotated[int, described("The round, from 1.", minimum=1, maximum=MAX_SEATS)]
    dealer: Annotated[Seat, described("The seat that deals.")]
    leader: Annotated[Seat, described("The seat that leads the first trick.")]
    hand: Annotated[
        tuple[Card, ...] | None,
        described(
            "The cards dealt to you; null for a spectator.",
            minItems=HAND_SIZE,
            maxItems=HAND_SIZE,
        ),
    ]


class TrickCompleted(Event, frozen=True, tag="trick_completed"):
    """Every seat has played; `low` is null if the whole trick is of the led colour."""

    high: Annotated[Seat, described("The high seat, which takes cards of its choice.")]
    low: Annotated[
        Seat | None,
        described(
            "The low seat, which gets the rest; null if the whole trick is of the led colour."
        ),
    ]


class CardsTaken(Event, frozen=True, tag="cards_taken"):
    """A seat took cards, in the order in which they were played; with null they are discarded."""

    seat: Annotated[
        Seat | None, described("The seat that gets the cards; null if they are discarded.")
    ]
    cards: Annotated[
        tuple[Card, ...],
        described("The cards, in the order in which they were played.", minItems=2, maxItems=3),
    ]


class ColorsKept(Event, frozen=True, tag="colors_kept"):
    """A seat chose the two colours that will score."""

    seat: Annotated[Seat, described("The seat that chose.")]
    colors: Annotated[
        KeptColors,
        described("The two colours; the cards of the others are turned face down."),
    ]


class RoundScored(Event, frozen=True, tag="round_scored"):
    """A round is over; `early` if a seat could not play."""

    round: Annotated[
        int, described("The round that is over, from 1.", minimum=1, maximum=MAX_SEATS)
    ]
    early: Annotated[bool, described("Whether it ended because a seat could not play.")]
    scores: Annotated[
        tuple[Score, ...], by_seat("By seat: its points of this round.", least=MIN_SEATS)
    ]
    counts: Annotated[
        tuple[MitListCounts, ...],
        by_seat("By seat: the numbers of cards that its points come from.", least=MIN_SEATS),
    ]


class Phase(StrEnum):
    """The phase of a game."""

    PLAY = "play"
    TAKE = "take"
    KEEP = "keep"
    FINISHED = "finished"


class PlayedCard(Struct, frozen=True):
    """A card of the trick, and the seat that played it."""

    seat: Annotated[Seat, described("The seat that played it.")]
    card: Annotated[Card, described("The card.")]


Trick = tuple[PlayedCard, ...]


class Winnings(Struct, frozen=True):
    """The cards before a seat."""

    piles: tuple[tuple[Card, ...], ...] = ((),) * len(COLORS)
    """The face-up pile of each of `COLORS`, bottom card first; empty if there is none."""

    face_down: tuple[Card, ...] = ()
    """The cards of the colours not kept, bottom card first; empty until the seat has chosen."""

    kept: tuple[Color, ...] | None = None
    """The two colours that score, sorted by name; None until the seat has chosen them."""


class State(Struct, frozen=True):
    """Everything on the table, hidden cards included."""

    phase: Phase
    """What the next move is, or that the game is over."""

    open_piles: bool
    """Whether all see every card of a face-up pile, and how many cards lie face down."""

    round: int
    """The present round, from 1."""

    dealer: Seat
    """The seat that dealt this round."""

    leader: Seat
    """The seat that leads the trick on the table, or else the next one."""

    hands: Hands
    """By seat: the cards that it has not played."""

    trick: Trick
    """The cards of the trick on the table, in the order played."""

    tricks_played: int
    """How many tricks of this round are complete and taken."""

    winnings: tuple[Winnings, ...]
    """By seat: the cards before it."""

    discarded: tuple[Card, ...]
    """The cards of this round that no seat got, in the order played."""

    choosing: tuple[Seat, ...]
    """The seats that must choose their colours now, the next one first."""

    round_scores: tuple[tuple[MitListRoundScore, ...], ...]
    """For each round that is over, the points by seat."""

    later_rounds: tuple[Hands, ...]
    """For each round to come, the hands by seat."""


class Pile(Struct, frozen=True):
    """A face-up pile: its top card; all cards, bottom first, only with open piles."""

    color: Annotated[Color, described("The colour of its cards.")]
    top: Annotated[Card, described("The card on top.")]
    cards: Annotated[
        tuple[Card, ...] | None,
        described(
            "All its cards, bottom first; null unless piles are open.",
            minItems=1,
            maxItems=HIGHEST_CARD,
        ),
    ]


class FaceDown(Struct, frozen=True):
    """A face-down pile: whether there is one; its size only with open piles."""

    any: Annotated[bool, described("Whether any cards lie face down.")]
    size: Annotated[
        int | None,
        described(
            "How many cards lie face down; null unless piles are open.",
            minimum=0,
            maximum=len(CARDS),
        ),
    ]


class MitListTable(Table, frozen=True, tag="mit-list-und-tuecke"):
    """What a seat or a spectator sees of Mit List und Tücke."""

    phase: Annotated[
        Phase, described("What the next move is, or that the game is over.", title="MitListPhase")
    ]
    round: Annotated[int, described("The present round, from 1.", minimum=1, maximum=MAX_SEATS)]
    rounds: Annotated[
        int,
        described(
            "How many rounds the game has: as many as seats.", minimum=MIN_SEATS, maximum=MAX_SEATS
        ),
    ]
    dealer: Annotated[Seat, described("The seat that dealt this round.")]
    hand: Annotated[
        tuple[Card, ...] | None,
        described("Your hand; null for a spectator.", maxItems=HAND_SIZE),
    ]
    hand_sizes: Annotated[
        tuple[Annotated[int, bounded(minimum=0, maximum=HAND_SIZE)], ...],
        by_seat("By seat: how many cards it holds.", least=MIN_SEATS),
    ]
    leader: Annotated[
        Seat, described("The seat that leads the trick on the table, or else the next one.")
    ]
    trick: Annotated[
        Trick,
        described("The trick on the table, in the order played.", maxItems=MAX_SEATS),
    ]
    led_color: Annotated[
        Color | None, described("The colour that is led; null while no card is played.")
    ]
    high: Annotated[
        Seat | None,
        described("The high seat of a complete trick; null while the trick is not complete."),
    ]
    low: Annotated[
        Seat | None,
        described(
            "The low seat of a complete trick; null while it is not complete, and if the whole "
            "trick is of the led colour."
        ),
    ]
    tricks_played: Annotated[
        int,
        described(
            "How many tricks of this round are complete and taken.", minimum=0, maximum=HAND_SIZE
        ),
    ]
    piles: Annotated[
        tuple[
            Annotated[
                tuple[Annotated[Pile, bounded(title="MitListPile")], ...],
                described("A seat's piles.", maxItems=len(COLORS)),
            ],
            ...,
        ],
        by_seat("By seat: its face-up piles.", least=MIN_SEATS),
    ]
    face_down: Annotated[
        tuple[Annotated[FaceDown, bounded(title="MitListFaceDown")], ...],
        by_seat("By seat: its cards of the colours not kept.", least=MIN_SEATS),
    ]
    kept: Annotated[
        tuple[
            Annotated[tuple[Color, ...], described("No colours or two.", maxItems=COLORS_KEPT)],
            ...,
        ],
        by_seat(
            "By seat: the two colours that score; empty while it has not chosen.",
            least=MIN_SEATS,
        ),
    ]
    round_scores: Annotated[
        tuple[
            Annotated[tuple[Score, ...], by_seat("By seat: its points.", least=MIN_SEATS)],
            ...,
        ],
        described("For each round that is over, the points by seat.", maxItems=MAX_SEATS),
    ]
    standing: Annotated[
        tuple[Score, ...],
        by_seat("By seat: its points in all rounds that are over.", least=MIN_SEATS),
    ]


class MitListPlayPreview(Preview, frozen=True, tag="mit_list_und_tuecke_play"):
    """What playing a card of Mit List und Tücke now would do."""

    led_color: Annotated[Color, described("The colour that is led once the card is played.")]
    high: Annotated[
        Seat | None,
        described("The high seat, if the card completes the trick; else null."),
    ]
    low: Annotated[
        Seat | None,
        described("The low seat, if the card completes the trick and there is one; else null."),
    ]


class MitListTakePreview(Preview, frozen=True, tag="mit_list_und_tuecke_take"):
    """What taking cards out of a trick of Mit List und Tücke now would do."""

    rest_to: Annotated[
        Seat | None,
        described("The seat that gets the rest of the trick; null if the rest is discarded."),
    ]


class MitListBreakdown(Breakdown, frozen=True, tag="mit-list-und-tuecke"):
    """What the scores of Mit List und Tücke are made of."""

    rounds: Annotated[
        tuple[
            Annotated[
                tuple[MitListRoundScore, ...],
                by_seat("By seat: its points of the round.", least=MIN_SEATS),
            ],
            ...,
        ],
        described("For each round the points by seat.", minItems=MIN_SEATS, maxItems=MAX_SEATS),
    ]


# --- Setup ------------------------------------------------------------------------------------


def deal(seats: int, options: Options, rng: Random) -> MitListDeal:
    """Choose the first dealer, then shuffle and deal all cards for each round."""
    dealer = rng.randrange(seats)
    return MitListDeal(dealer, tuple(deal_hands(seats, rng) for _ in range(seats)))


def deal_hands(seats: int, rng: Random) -> Hands:
    """Shuffle all cards and deal fourteen to each seat."""
    cards = list(DECKS[seats])
    rng.shuffle(cards)
    return tuple(tuple(cards[i : i + HAND_SIZE]) for i in range(0, len(cards), HAND_SIZE))


def start(seats: int, options: Options, deal: MitListDeal) -> Outcome[State]:
    """Return the position before the first trick. Raises `InvalidDeal`."""
    check_deal(seats, deal)
    return start_round(
        number=1,
        dealer=deal.dealer,
        rounds=deal.rounds,
        round_scores=(),
        open_piles=options.open_piles,
    )


def check_deal(seats: int, deal: MitListDeal) -> None:
    """Raise `InvalidDeal` unless there are as many rounds as seats, each with all of the cards."""
    check_seat(deal.dealer, seats, "dealer")
    if len(deal.rounds) != seats:
        raise InvalidDeal(
            f"{len(deal.rounds)} rounds are dealt. {seats} seats play {seats}.", ("rounds",)
        )
    for number, hands in enumerate(deal.rounds):
        check_hands(seats, hands, ("rounds", number))


def check_hands(seats: int, hands: Hands, path: Path) -> None:
    """Raise `InvalidDeal` unless each card for this number of seats is in one hand."""
    check_hand_sizes(hands, seats, HAND_SIZE, path)
    check_dealt_once(DECKS[seats], [((*path, seat), hand) for seat, hand in enumerate(hands)])


def start_round(
    number: int,
    dealer: Seat,
    rounds: tuple[Hands, ...],
    round_scores: tuple[tuple[MitListRoundScore, ...], ...],
    open_piles: bool,
) -> Outcome[State]:
    """Deal the first of these rounds. The seat after the dealer leads the first trick."""
    hands, later_rounds = rounds[0], rounds[1:]
    leader = (dealer + 1) % len(hands)
    state = State(
        phase=Phase.PLAY,
        open_piles=open_piles,
        round=number,
        dealer=dealer,
        leader=leader,
        hands=hands,
        trick=(),
        tricks_played=0,
        winnings=(Winnings(),) * len(hands),
        discarded=(),
        choosing=(),
        round_scores=round_scores,
        later_rounds=later_rounds,
    )
    told = Told(
        RoundStarted(number, dealer, leader, None),
        tuple(
            (seat, RoundStarted(number, dealer, leader, hand)) for seat, hand in enumerate(hands)
        ),
    )
    return state, (told,)


# --- Whose move, and which ----------------------------------------------------------------------


def to_move(state: State) -> tuple[Seat, ...]:
    """Return the one seat that the game waits for."""
    if state.phase is Phase.FINISHED:
        return ()
    return (seat_to_move(state),)


def seat_to_move(state: State) -> Seat:
    """Return the next seat of the trick, its high seat, or the next to choose colours."""
    if state.phase is Phase.TAKE:
        return high_seat(state.trick)
    if state.phase is Phase.KEEP:
        return state.choosing[0]
    return (state.leader + len(state.trick)) % len(state.hands)


def legal_moves(state: State, seat: Seat) -> tuple[AnyMove, ...]:
    """List each card that the trick allows, each take out of the trick, or each two colours."""
    if seat not in to_move(state):
        return ()
    if state.phase is Phase.TAKE:
        trick = [played.card for played in state.trick]
        return tuple([Take(cards) for cards in combinations(trick, TAKEN_BY_HIGH[len(trick)])])
    if state.phase is Phase.KEEP:
        return tuple([Keep(colors) for colors in combinations(COLORS, COLORS_KEPT)])
    return tuple([Play(card) for card in in_order(playable(state.hands[seat], state.trick))])


def apply(state: State, seat: Seat, move: AnyMove) -> Outcome[State]:
    """Play a card, take cards or keep colours; return the new position and what happened.

    A trick of four seats. Seat 3 has the highest card of the led colour, seat 1 the lowest card
    of another colour:

    >>> hands = tuple(DECKS[4][seat::4] for seat in range(4))
    >>> state, _ = start(4, Options(), MitListDeal(dealer=3, rounds=(hands,) * 4))
    >>> for seat, card in enumerate(("red-1", "yellow-12", "red-3", "red-4")):
    ...     state, told = apply(state, seat, Play(card))
    >>> told[-1].everybody
    TrickCompleted(high=3, low=1)
    >>> state.phase.value, to_move(state)
    ('take', (3,))

    Raises:
        IllegalMove: the rules forbid it.
    """
    if state.phase is Phase.FINISHED:
        raise IllegalMove("game_over", "The game is over.")
    turn = seat_to_move(state)
    if seat != turn:
        raise IllegalMove("not_your_turn", f"It is the turn of seat {turn}, not yours.")
    if state.phase is Phase.TAKE:
        return apply_take(state, seat, move)
    if state.phase is Phase.KEEP:
        return apply_keep(state, seat, move)
    return apply_play(state, seat, move)


# --- A trick ------------------------------------------------------------------------------------


def playable(hand: tuple[Card, ...], trick: Trick) -> tuple[Card, ...]:
    """Return the cards of a hand that may be played: all, until the trick has three colours.

    >>> trick = tuple(map(PlayedCard, (0, 1, 2), ("red-3", "blue-9", "green-1")))
    >>> playable(("yellow-4", "blue-2"), trick[:2])
    ('yellow-4', 'blue-2')
    >>> playable(("yellow-4", "blue-2"), trick)
    ('blue-2',)
    """
    if len(trick) < COLORS_IN_A_TRICK:
        return hand
    colors = {COLOR_OF[played.card] for played in trick}
    if len(colors) < COLORS_IN_A_TRICK:
        return hand
    return tuple([card for card in hand if COLOR_OF[card] in colors])


def apply_play(state: State, seat: Seat, move: AnyMove) -> Outcome[State]:
    """Play a card; it may complete the trick, or leave the next seat without a playable card."""
    if not isinstance(move, Play):
        raise IllegalMove("wrong_move_type", "The trick is not complete. Play a card.")
    hand, card = state.hands[seat], move.card
    check_play(hand, state.trick, card)

    trick = (*state.trick, PlayedCard(seat, card))
    left = tuple([other for other in hand if other != card])
    hands = replaced(state.hands, seat, left)
    after = replace(state, hands=hands, trick=trick)
    told = Told(CardPlayed(seat, card))
    if len(trick) == len(hands):
        completed = TrickCompleted(high_seat(trick), low_seat(trick))
        return replace(after, phase=Phase.TAKE), (told, Told(completed))
    if not playable(hands[(seat + 1) % len(hands)], trick):
        ended, told_of_end = end_round(after, early=True)
        return ended, (told, *told_of_end)
    return after, (told,)


def check_play(hand: tuple[Card, ...], trick: Trick, card: Card) -> None:
    """Raise `IllegalMove` unless this card of the hand may be played to the trick."""
    if card not in hand:
        raise card_not_in_hand(card, CARDS)
    if card not in playable(hand, trick):
        raise IllegalMove(
            "fourth_color", f"{card} is of a fourth colour. Play one of the trick's three colours."
        )


def high_seat(trick: Trick) -> Seat:
    """Return the seat that played the highest card of the led colour.

    >>> high_seat(tuple(map(PlayedCard, (2, 3, 0, 1), ("red-3", "blue-9", "red-8", "red-5"))))
    0
    """
    led = COLOR_OF[trick[0].card]
    highest = max(
        [played for played in trick if COLOR_OF[played.card] == led],
        key=lambda played: VALUE_OF[played.card],
    )
    return highest.seat


def low_seat(trick: Trick) -> Seat | None:
    """Return the seat that played the lowest card of another colour, of equal ones the first.

    None if the whole trick is of the led colour.

    >>> low_seat(tuple(map(PlayedCard, (2, 3, 0, 1), ("red-3", "blue-9", "red-8", "green-9"))))
    3
    >>> low_seat(tuple(map(PlayedCard, (2, 3, 0, 1), ("red-3", "red-9", "red-8", "red-5"))))
    """
    led = COLOR_OF[trick[0].card]
    lowest = min(
        [played for played in trick if COLOR_OF[played.card] != led],
        key=lambda played: VALUE_OF[played.card],
        default=None,
    )
    return None if lowest is None else lowest.seat


# --- The cards of a trick -------------------------------------------------------------------------


def apply_take(state: State, seat: Seat, move: AnyMove) -> Outcome[State]:
    """Give the high seat the cards that it takes, and the low seat the rest.

    The low seat leads the next trick. Without a low seat the rest is discarded, and the high
    seat leads.
    """
    if not isinstance(move, Take):
        raise IllegalMove("wrong_move_type", "The trick is complete. Take cards out of it.")
    check_take(state.trick, move.cards)

    taken = tuple([played.card for played in state.trick if played.card in move.cards])
    rest = tuple([played.card for played in state.trick if played.card not in move.cards])
    low = low_seat(state.trick)
    given = give(give(state, seat, taken), low, rest)
    receivers = (seat,) if low is None else (seat, low)
    after = replace(
        given,
        leader=receivers[-1],
        trick=(),
        tricks_played=state.tricks_played + 1,
        choosing=tuple([one for one in receivers if must_choose(given.winnings[one])]),
    )
    return go_on(after, (Told(CardsTaken(seat, taken)), Told(CardsTaken(low, rest))))


def check_take(trick: Trick, cards: tuple[Card, ...]) -> None:
    """Raise `IllegalMove` unless these are as many different cards of the trick as it takes."""
    count = TAKEN_BY_HIGH[len(trick)]
    if len(cards) != count:
        raise IllegalMove(
            "wrong_card_count", f"The move names {len(cards)} cards. Take exactly {count}."
        )
    if len(set(cards)) != len(cards):
        raise IllegalMove("repeated_card", "A card is named twice. Name each card once.")
    in_trick = [played.card for played in trick]
    for card in cards:
        if card not in in_trick:
            wrong = f"{card} is not in the trick" if card in CARDS else f"There is no card {card}"
            raise IllegalMove("card_not_in_trick", f"{wrong}. Take cards of the trick.")


def give(state: State, seat: Seat | None, cards: tuple[Card, ...]) -> State:
    """Give cards of the trick to a seat, or discard them (None)."""
    if seat is None:
        return replace(state, discarded=state.discarded + cards)
    winnings = receive(state.winnings[seat], cards)
    return replace(state, winnings=replaced(state.winnings, seat, winnings))


def receive(winnings: Winnings, cards: tuple[Card, ...]) -> Winnings:
    """Lay cards before a seat, each on the pile of its colour; colours not kept face down."""
    piles, face_down = list(winnings.piles), winnings.face_down
    for card in cards:
        if winnings.kept is None or COLOR_OF[card] in winnings.kept:
            piles[PILE_OF[card]] += (card,)
        else:
            face_down += (card,)
    return Winnings(tuple(piles), face_down, winnings.kept)


def go_on(state: State, told: tuple[Told, ...]) -> Outcome[State]:
    """Continue after a trick: colours are chosen, then the next trick is led or the round ends."""
    if state.choosing:
        return replace(state, phase=Phase.KEEP), told
    if state.tricks_played < HAND_SIZE:
        return replace(state, phase=Phase.PLAY), told
    ended, told_of_end = end_round(state, early=False)
    return ended, (*told, *told_of_end)


# --- Choosing colours ---------------------------------------------------------------------------


def must_choose(winnings: Winnings) -> bool:
    """Whether a seat has all four colours face up, and so must choose two of them now."""
    return all(winnings.piles)


def apply_keep(state: State, seat: Seat, move: AnyMove) -> Outcome[State]:
    """Keep the two colours that score."""
    if not isinstance(move, Keep):
        raise IllegalMove("wrong_move_type", "You have all four colours. Keep two of them.")
    check_keep(move.colors)
    winnings = keep(state.winnings[seat], move.colors)
    after = replace(
        state,
        winnings=replaced(state.winnings, seat, winnings),
        choosing=state.choosing[1:],
    )
    return go_on(after, (Told(ColorsKept(seat, move.colors)),))


def check_keep(colors: tuple[Color, ...]) -> None:
    """Raise `IllegalMove` unless these are two different colours."""
    if len(colors) != COLORS_KEPT:
        raise IllegalMove(
            "wrong_color_count",
            f"The move names {len(colors)} colours. Keep exactly {COLORS_KEPT}.",
        )
    if len(set(colors)) != len(colors):
        raise IllegalMove("repeated_color", "A colour is named twice. Name each colour once.")
    for color in colors:
        if color not in COLORS:
            raise IllegalMove(
                "color_not_available",
                f"There is no colour {color}. The colours are {', '.join(COLORS)}.",
            )


def keep(winnings: Winnings, colors: tuple[Color, ...]) -> Winnings:
    """Turn the piles of the other two colours face down, as one pile."""
    face_up: list[tuple[Card, ...]] = []
    face_down: tuple[Card, ...] = ()
    for color, pile in zip(COLORS, winnings.piles, strict=True):
        face_up.append(pile if color in colors else ())
        face_down += () if color in colors else pile
    return Winnings(tuple(face_up), face_down, colors)


# --- The end of a round, and of the game ----------------------------------------------------------


def end_round(state: State, early: bool) -> Outcome[State]:
    """Score the round; the next seat deals the next round, or the game is over."""
    counts = tuple([counts_of(winnings) for winnings in state.winnings])
    scores = tuple([round_score(of_seat) for of_seat in counts])
    scored = Told(RoundScored(state.round, early, points_by_seat(scores), counts))
    round_scores = (*state.round_scores, scores)
    if not state.later_rounds:
        return replace(state, phase=Phase.FINISHED, round_scores=round_scores), (scored,)
    started, told = start_round(
        number=state.round + 1,
        dealer=(state.dealer + 1) % len(state.hands),
        rounds=state.later_rounds,
        round_scores=round_scores,
        open_piles=state.open_piles,
    )
    return started, (scored, *told)


def counts_of(winnings: Winnings) -> MitListCounts:
    """Count the cards of the two largest face-up piles, and all others."""
    largest, second, *others = sorted(map(len, winnings.piles), reverse=True)
    return MitListCounts(largest, second, sum(others) + len(winnings.face_down))


def points(counts: MitListCounts) -> int:
    """Return the product of the two largest piles, divided by the number of other cards, if any.

    The sheet's players A to E:

    >>> points(MitListCounts(6, 5, 3)), points(MitListCounts(5, 4, 3))
    (10, 6)
    >>> points(MitListCounts(8, 7, 4))
    14
    >>> points(MitListCounts(7, 1, 1)), points(MitListCounts(5, 3, 0))
    (7, 15)

    Cards of one colour only:

    >>> points(MitListCounts(9, 0, 0))
    0
    """
    product = counts.largest * counts.second
    return product // counts.rest if counts.rest else product


def round_score(counts: MitListCounts) -> MitListRoundScore:
    """Return the points of a seat in a round, with the numbers of cards that they come from."""
    return MitListRoundScore(counts.largest, counts.second, counts.rest, points(counts))


def points_by_seat(scores: tuple[MitListRoundScore, ...]) -> tuple[int, ...]:
    """Return the points of each seat in a round."""
    return tuple([score.points for score in scores])


def totals(state: State) -> tuple[int, ...]:
    """Return the points of each seat in all rounds that are over."""
    return tuple(
        [
            sum([scores[seat].points for scores in state.round_scores])
            for seat in range(len(state.hands))
        ]
    )


def result(state: State) -> GameResult | None:
    """Return the result: the highest total of all rounds wins, all in a tie."""
    if state.phase is not Phase.FINISHED:
        return None
    return ranked(totals(state), BestScore.HIGHEST, MitListBreakdown(state.round_scores))


# --- What a seat sees ---------------------------------------------------------------------------


def view(state: State, seat: Seat | None) -> MitListTable:
    """Return the trick, the tops of the piles, the sizes of the hands, the reader's own hand."""
    taking = state.phase is Phase.TAKE
    return MitListTable(
        phase=state.phase,
        round=state.round,
        rounds=len(state.hands),
        dealer=state.dealer,
        hand=None if seat is None else state.hands[seat],
        hand_sizes=tuple([len(hand) for hand in state.hands]),
        leader=state.leader,
        trick=state.trick,
        led_color=COLOR_OF[state.trick[0].card] if state.trick else None,
        high=high_seat(state.trick) if taking else None,
        low=low_seat(state.trick) if taking else None,
        tricks_played=state.tricks_played,
        piles=tuple([piles_seen(winnings, state.open_piles) for winnings in state.winnings]),
        face_down=tuple(
            [face_down_seen(winnings, state.open_piles) for winnings in state.winnings]
        ),
        kept=tuple([winnings.kept or () for winnings in state.winnings]),
        round_scores=tuple([points_by_seat(scores) for scores in state.round_scores]),
        standing=totals(state),
    )


def piles_seen(winnings: Winnings, open_piles: bool) -> tuple[Pile, ...]:
    """Return the top card of each face-up pile, and all its cards only if piles are open."""
    return tuple(
        [
            Pile(COLOR_OF[pile[-1]], pile[-1], pile if open_piles else None)
            for pile in winnings.piles
            if pile
        ]
    )


def face_down_seen(winnings: Winnings, open_piles: bool) -> FaceDown:
    """Return whether there is a face-down pile, and its size only if piles are open."""
    size = len(winnings.face_down)
    return FaceDown(size > 0, size if open_piles else None)


def preview(table: MitListTable, seat: Seat, move: AnyMove) -> Preview:
    """Return what a card or a take would do to the trick; nothing for a choice of colours."""
    if isinstance(move, Play):
        return preview_play(table, move.card)
    if isinstance(move, Take):
        return MitListTakePreview(table.low)
    return NothingPreview()


def preview_play(table: MitListTable, card: Card) -> MitListPlayPreview:
    """Return the led colour with this card; the high and the low seat if the trick is complete."""
    seats = len(table.hand_sizes)
    player = (table.leader + len(table.trick)) % seats
    trick = (*table.trick, PlayedCard(player, card))
    led_color = COLOR_OF[trick[0].card]
    if len(trick) < seats:
        return MitListPlayPreview(led_color, high=None, low=None)
    return MitListPlayPreview(led_color, high_seat(trick), low_seat(trick))


def redeal_hidden(state: State, seat: Seat | None, rng: Random) -> State:
    """Deal again what a reader does not see: the other hands, and the rounds to come."""
    seats = len(state.hands)
    return replace(
        state,
        hands=redeal_hands(state, seat, rng),
        later_rounds=tuple(deal_hands(seats, rng) for _ in state.later_rounds),
    )


def redeal_hands(state: State, seat: Seat | None, rng: Random) -> Hands:
    """Deal the other hands again.

    Of the seat that plays next, all readers know whether it has a playable card. Of the other
    hands they know the size alone: no event tells more, since no seat must follow the led colour.
    """
    hands = list(state.hands)
    others = [other for other in range(len(hands)) if other != seat]
    # Sorted first, so that the outcome depends on nothing hidden but on rng alone.
    unseen = list(in_order(card for other in others for card in hands[other]))
    if state.phase in (Phase.PLAY, Phase.FINISHED) and (player := seat_to_move(state)) != seat:
        hands[player] = redeal_next_hand(state, unseen, len(hands[player]), rng)
        unseen = [card for card in unseen if card not in hands[player]]
        others.remove(player)
    rng.shuffle(unseen)
    for other in others:
        size = len(hands[other])
        hands[other], unseen = tuple(unseen[:size]), unseen[size:]
    return tuple(hands)


def redeal_next_hand(state: State, unseen: list[Card], size: int, rng: Random) -> tuple[Card, ...]:
    """Deal a hand to the seat that plays next: with a playable card, or none if the game is over.

    A hand without a playable card is dealt again. That ends soon: each playable card comes to
    this hand at least once in as many deals as there are seats, on average.
    """
    if state.phase is Phase.FINISHED:
        unplayable = [card for card in unseen if not playable((card,), state.trick)]
        return tuple(rng.sample(unplayable, size))
    while True:
        hand = tuple(rng.sample(unseen, size))
        if playable(hand, state.trick):
            return hand


MIT_LIST_UND_TUECKE: Ruleset[Options, MitListDeal, State, AnyMove, MitListTable] = Ruleset(
    id="mit-list-und-tuecke",
    title="Mit List und Tücke",
    min_seats=MIN_SEATS,
    max_seats=MAX_SEATS,
    options=(
        Option(
            "open_piles",
            "boolean",
            False,
        ),
    ),
    components=tuple(
        Component("card", card, color=COLOR_OF[card], value=VALUE_OF[card]) for card in CARDS
    ),
    options_type=Options,
    deal_type=MitListDeal,
    state_type=State,
    move_type=AnyMove,
    event_types=(
        CardPlayed,
        RoundStarted,
        TrickCompleted,
        CardsTaken,
        ColorsKept,
        RoundScored,
    ),
    table_type=MitListTable,
    breakdown_type=MitListBreakdown,
    preview_types=(MitListPlayPreview, MitListTakePreview),
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
