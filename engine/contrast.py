"""Contrast, a game of pictures and symbols for 2 to 6, by Pink Monkey Games.

The rules are those of the publisher's sheet (2016), with what it leaves open decided as
follows.

- The sheet does not say how many pictures there are. Here there are 74, which with the 36 symbol
  cards make the published deck of 110. `engine.pictures` draws them; a game may be created with
  pictures of its own. The name of a picture is printable, without colon, slash,
  backslash, angle bracket or double quote, so that a client cannot take it for an address, a
  path or markup. Names that are equal in Unicode's composed form (NFC) are the same name.
- Which two symbols share a card is read off the sheet's figure, whose second row holds the
  opposites of the first.
- The pile lies face down except its top picture. Pictures that winners take from below the top,
  or that went to the box before the game, are never shown. Which picture a seat has won does not
  matter.
- Counting is a move of its own: a seat is counted out only if another seat asks for it. Any seat
  that has laid a card may count, once a turn, except in a game of two seats. The missing seat
  may still lay a card while the countdown runs.
- If one seat is counted out and all other seats chose the same symbol, no symbol wins, except in
  the sheet's case of three seats. The seat that was counted out keeps its row and its hand.
- The rows are refreshed after the last turn too.
- Seats that tie for most pictures share the win.
- With two seats one picture leaves the pile in every turn, for the shared score or for the box.
  A symbol that both chose wins. With 22 points or more both seats win, with fewer both lose.
- A laid card stays in its seat's hand until the reveal, for all readers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from random import Random
from typing import Annotated
from unicodedata import normalize

from msgspec import Meta, Struct
from msgspec.structs import replace

from engine.cards import check_dealt_once
from engine.published import NamedChoice, bounded, by_seat, described, published_as
from engine.ruleset import (
    BestScore,
    Breakdown,
    Component,
    Deal,
    Event,
    GameResult,
    IllegalMove,
    InvalidDeal,
    InvalidOptions,
    Move,
    Option,
    Outcome,
    Ruleset,
    Score,
    Seat,
    Table,
    TimedEvent,
    Told,
    ranked,
    replaced,
)

# --- The cards --------------------------------------------------------------------------

Picture = str
"""A picture: ``picture-7``, or the name or address that the creator of the game gave it."""

PICTURES: tuple[Picture, ...] = tuple(f"picture-{number}" for number in range(1, 75))
SYMBOL_CARDS = (
    "red-yellow",
    "blue-green",
    "big-small",
    "heavy-light",
    "fat-thin",
    "round-square",
)
SymbolCard = Annotated[
    str,
    published_as(
        NamedChoice(
            "ContrastSymbolCard", SYMBOL_CARDS, "A symbol card of Contrast, by its two symbols."
        )
    ),
]
"""A card with a symbol at either end, named by both: ``round-square``."""

SYMBOL = NamedChoice(
    "ContrastSymbol",
    tuple(symbol for card in SYMBOL_CARDS for symbol in card.split("-")),
    "A symbol of Contrast.",
)
Symbol = Annotated[str, published_as(SYMBOL)]
"""One of twelve: ``round``."""

SYMBOLS_ON = {card: tuple(card.split("-")) for card in SYMBOL_CARDS}
CARD_WITH: dict[Symbol, SymbolCard] = {
    symbol: card for card, symbols in SYMBOLS_ON.items() for symbol in symbols
}
SORT_KEY = {card: number for number, card in enumerate(SYMBOL_CARDS)}

TAKEN_OUT = {2: 30, 3: 26, 4: 22, 5: 18, 6: 14}
"""How many pictures go to the box before the game, by the number of seats."""

ROW_SIZE = 2
EXPERT_ROW_SIZE = 3

COOPERATIVE_SEATS = 2
TARGET = 22
"""The score that two seats need together."""

COUNTDOWN_SECONDS = 3
MAX_COUNTDOWN_SECONDS = 24 * 60 * 60

MIN_PILE_SIZE = 2
MAX_PICTURE_LENGTH = 200
MAX_PICTURES_BYTES = 16 * 1024
NOT_IN_NAMES = ':/\\<>"'
NOT_IN_ADDRESSES = ' "<>\\^`{|}'


# --- Deal, moves, events, state -------------------------------------------------------------


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The variants of Contrast."""

    expert: bool = False
    """Whether three symbol cards lie in each row and three are in each hand, not two and four."""

    countdown_seconds: Annotated[int, Meta(ge=1, le=MAX_COUNTDOWN_SECONDS)] = COUNTDOWN_SECONDS
    """How many seconds a countdown runs."""

    pictures: tuple[Picture, ...] | None = None
    """The pictures to play with, all different; None for `PICTURES`."""


class ContrastDeal(Deal, frozen=True, tag="contrast"):
    """All that chance decides: where each picture and each symbol card lies."""

    box: Annotated[
        tuple[Picture, ...], described("The pictures put away before the game, in any order.")
    ]
    pile: Annotated[tuple[Picture, ...], described("The pictures to play for, the top one first.")]
    symbols: Annotated[
        tuple[Annotated[tuple[SymbolCard, ...], described("A seat's symbol cards.")], ...],
        by_seat(
            "By seat: its six symbol cards; the first ones lie in its row, the others are its hand."
        ),
    ]


class Choose(Move, frozen=True, tag="choose"):
    """Lay a symbol card face down, this symbol towards the picture."""

    symbol: Symbol
    """The symbol, on a card of the seat's hand."""


class Count(Move, frozen=True, tag="count"):
    """Start the countdown on the one seat that has not laid a card."""


class ChosenSymbol(Struct, frozen=True):
    """The symbol that a seat of Contrast chose."""

    seat: Annotated[Seat, described("The seat.")]
    symbol: Annotated[Symbol, described("The symbol that it chose.")]


Choices = Annotated[
    tuple[ChosenSymbol, ...],
    described(
        "The symbols that were chosen, by seat. The seat that was counted out is not among them.",
        minItems=2,
        maxItems=max(TAKEN_OUT),
    ),
]
CountedOut = Annotated[
    Seat | None,
    described(
        "The seat that was counted out, since it laid no card in time; null if there is none."
    ),
]
BoxSize = Annotated[
    int, described("How many pictures are in the box.", minimum=0, maximum=len(PICTURES))
]
Rows = Annotated[
    tuple[
        Annotated[
            tuple[SymbolCard, ...],
            described("A row, from the left.", minItems=ROW_SIZE, maxItems=EXPERT_ROW_SIZE),
        ],
        ...,
    ],
    by_seat("By seat: the cards that lie before it and cannot be chosen."),
]
Hands = Annotated[
    tuple[
        Annotated[
            tuple[SymbolCard, ...],
            described(
                "A hand.",
                minItems=len(SYMBOL_CARDS) - EXPERT_ROW_SIZE,
                maxItems=len(SYMBOL_CARDS) - ROW_SIZE,
            ),
        ],
        ...,
    ],
    by_seat("By seat: the cards of its hand, a laid one included; all readers see them."),
]
PICTURE_LENGTH = {"minLength": 1, "maxLength": MAX_PICTURE_LENGTH}


class PictureShown(Event, frozen=True, tag="picture_shown"):
    """The next picture lies face up."""

    picture: Annotated[
        Picture,
        described("The picture's name or address.", **PICTURE_LENGTH),
    ]
    pile_size: Annotated[
        int,
        described(
            "How many pictures the pile has, this one included.", minimum=1, maximum=len(PICTURES)
        ),
    ]


class SymbolChosen(Event, frozen=True, tag="symbol_chosen"):
    """A seat laid a card; `symbol` is null to all but itself."""

    seat: Annotated[Seat, described("The seat that laid the card.")]
    symbol: Annotated[Symbol | None, described("The symbol; null unless the seat is yours.")]


class CountdownStarted(TimedEvent, frozen=True, tag="countdown_started"):
    """The missing seat has until the deadline to lay a card."""

    by: Annotated[Seat, described("The seat that counts.")]
    missing: Annotated[Seat, described("The seat that has not laid a card.")]


class SymbolsRevealed(Event, frozen=True, tag="symbols_revealed"):
    """All cards are turned over; `won` tells how many pictures each seat takes."""

    choices: Choices
    winning_symbol: Annotated[Symbol | None, described("The symbol that wins; null if none does.")]
    counted_out: CountedOut
    won: Annotated[
        tuple[Annotated[int, bounded(minimum=0, maximum=1)], ...],
        by_seat("By seat: what this turn adds to its score, 1 or 0."),
    ]
    pile_size: Annotated[
        int, described("How many pictures are left in the pile.", minimum=0, maximum=len(PICTURES))
    ]
    box_size: BoxSize


class RowsRefreshed(Event, frozen=True, tag="rows_refreshed"):
    """Each laid card went to the right end of its row, the leftmost card back to the hand."""

    rows: Rows
    hands: Hands


class Phase(StrEnum):
    """The phase of a game."""

    CHOOSE = "choose"
    FINISHED = "finished"


class Countdown(Struct, frozen=True):
    """A running countdown; the game's `deadline` says when it runs out."""

    by: Annotated[Seat, described("The seat that counts.")]
    missing: Annotated[Seat, described("The seat that has not laid a card.")]


class LastTurn(Struct, frozen=True):
    """How the last turn of Contrast came out."""

    choices: Choices
    winning_symbol: Annotated[Symbol | None, described("The symbol that won; null if none did.")]
    counted_out: CountedOut


class State(Struct, frozen=True):
    """Everything on the table, hidden cards included.

    Of the pictures in the box and of those won, only the numbers matter. They are kept apart by
    whether they have ever lain face up, since only the others are hidden.
    """

    phase: Phase
    """Whether symbols are chosen, or the game is over."""

    pile: tuple[Picture, ...]
    """The pictures to play for; the first one lies face up."""

    shown: tuple[Picture, ...]
    """The pictures that have lain face up and left the pile, the earliest first."""

    unshown: tuple[Picture, ...]
    """The pictures in the box or won that never lay face up, in any order."""

    box_size: int
    """How many pictures are in the box."""

    scores: tuple[int, ...]
    """By seat: how many pictures it has won; with two seats the shared score, twice."""

    rows: tuple[tuple[SymbolCard, ...], ...]
    """By seat: the symbol cards of its row, from the left."""

    hands: tuple[tuple[SymbolCard, ...], ...]
    """By seat: the symbol cards of its hand, a laid one included."""

    choices: tuple[Symbol | None, ...]
    """By seat: the symbol that it chose in this turn; None before."""

    countdown: Countdown | None
    """The countdown that runs; None if none does."""

    countdown_seconds: int
    """How many seconds a countdown runs."""

    last_turn: LastTurn | None
    """What the reveal before showed; None in the first turn."""


class ContrastTable(Table, frozen=True, tag="contrast"):
    """What a seat or a spectator sees of Contrast."""

    phase: Annotated[
        Phase, described("Whether symbols are chosen, or the game is over.", title="ContrastPhase")
    ]
    picture: Annotated[
        Picture | None,
        described(
            "The name or address of the picture that lies face up; null when the game is over. The "
            "component of this name has the picture's `url`.",
            **PICTURE_LENGTH,
        ),
    ]
    pile_size: Annotated[
        int,
        described(
            "How many pictures the pile has, the one face up included.",
            minimum=0,
            maximum=len(PICTURES),
        ),
    ]
    box_size: BoxSize
    rows: Rows
    hands: Hands
    scores: Annotated[
        tuple[Annotated[int, bounded(minimum=0, maximum=len(PICTURES))], ...],
        by_seat("By seat: how many pictures it has won; with two seats the shared score, twice."),
    ]
    has_chosen: Annotated[tuple[bool, ...], by_seat("By seat: whether it has laid a card.")]
    choice: Annotated[
        Symbol | None,
        described("The symbol that you have chosen; null before, and for a spectator."),
    ]
    countdown: Annotated[Countdown | None, described("The countdown that runs; null if none.")]
    last_turn: Annotated[
        LastTurn | None, described("What the last reveal showed; null in the first turn.")
    ]
    standing: Annotated[
        tuple[Score, ...],
        by_seat("By seat: its points if the game ended now, which are those of `scores`."),
    ]


class ContrastBreakdown(Breakdown, frozen=True, tag="contrast"):
    """What the scores of Contrast are made of: pictures, or the points of two seats together."""

    pictures: Annotated[
        tuple[Annotated[int, bounded(minimum=0, maximum=len(PICTURES))], ...] | None,
        by_seat("By seat: how many pictures it has won; null with two seats.", least=3),
    ]
    points: Annotated[
        int | None,
        described(
            "With two seats: in how many turns both chose the same symbol; else null.",
            minimum=0,
            maximum=len(PICTURES) - TAKEN_OUT[COOPERATIVE_SEATS],
        ),
    ]
    goal: Annotated[
        int | None,
        described("With two seats: how many points win; else null.", minimum=0),
    ]


# --- Options ----------------------------------------------------------------------------------


def fewest_pictures(seats: int) -> int:
    """Return how many pictures a game needs: for a pile of two, or of the target with two seats.

    >>> fewest_pictures(2), fewest_pictures(3), fewest_pictures(6)
    (52, 28, 16)
    """
    return TAKEN_OUT[seats] + (TARGET if seats == COOPERATIVE_SEATS else MIN_PILE_SIZE)


def check_options(seats: int, options: Options) -> None:
    """Raise `InvalidOptions` unless the pictures are enough, not too many, and well named."""
    if options.pictures is None:
        return
    fewest, most = fewest_pictures(seats), len(PICTURES)
    if not fewest <= len(options.pictures) <= most:
        raise InvalidOptions(
            f"A game for {seats} seats has {fewest} to {most} pictures, "
            f"not {len(options.pictures)}.",
            ("pictures",),
        )
    seen: set[Picture] = set()
    for index, picture in enumerate(options.pictures):
        path = ("pictures", index)
        if len(picture) > MAX_PICTURE_LENGTH:
            raise InvalidOptions(
                f"The picture has {len(picture)} characters. Use at most {MAX_PICTURE_LENGTH}.",
                path,
            )
        if not (is_plain_name(picture) or is_https_address(picture)):
            raise InvalidOptions(
                'Not a picture: use a plain name, without : / \\ < > ", or an https address.', path
            )
        if (name := normalize("NFC", picture)) in seen:
            raise InvalidOptions("Another picture has the same name. Name each only once.", path)
        seen.add(name)
    size = sum(len(picture.encode()) for picture in options.pictures)
    if size > MAX_PICTURES_BYTES:
        raise InvalidOptions(
            f"All pictures together have {size} bytes in UTF-8. Use at most {MAX_PICTURES_BYTES}.",
            ("pictures",),
        )


def is_plain_name(picture: Picture) -> bool:
    """Whether this is a name, and cannot be an address, a path or markup.

    >>> is_plain_name("The sea, at 6 o'clock (2).png"), is_plain_name("data:text/html")
    (True, False)
    """
    return (
        picture != ""
        and picture.isprintable()
        and picture == picture.strip()
        and not any(mark in picture for mark in NOT_IN_NAMES)
    )


HTTPS_ADDRESS = re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?([/?#].*)?")


def is_https_address(picture: Picture) -> bool:
    """Whether this is an https address, without a user name in it.

    >>> is_https_address("https://example.org/sea.jpg"), is_https_address("http://example.org/")
    (True, False)
    """
    return (
        HTTPS_ADDRESS.fullmatch(picture) is not None
        and picture.isprintable()
        and not any(mark in picture for mark in NOT_IN_ADDRESSES)
    )


# --- Setup ------------------------------------------------------------------------------------


def pictures_of(options: Options) -> tuple[Picture, ...]:
    """Return the pictures of a game with these options."""
    return PICTURES if options.pictures is None else options.pictures


def deal(seats: int, options: Options, rng: Random) -> ContrastDeal:
    """Shuffle the pictures, put some into the box, and shuffle each seat's symbol cards."""
    pictures = list(pictures_of(options))
    rng.shuffle(pictures)
    symbols = []
    for _ in range(seats):
        cards = list(SYMBOL_CARDS)
        rng.shuffle(cards)
        symbols.append(tuple(cards))
    return ContrastDeal(
        box=tuple(pictures[: TAKEN_OUT[seats]]),
        pile=tuple(pictures[TAKEN_OUT[seats] :]),
        symbols=tuple(symbols),
    )


def start(seats: int, options: Options, deal: ContrastDeal) -> Outcome[State]:
    """Return the position before the first turn, its picture face up. Raises `InvalidDeal`."""
    check_deal(seats, options, deal)
    row_size = EXPERT_ROW_SIZE if options.expert else ROW_SIZE
    state = State(
        phase=Phase.CHOOSE,
        pile=deal.pile,
        shown=(),
        unshown=deal.box,
        box_size=len(deal.box),
        scores=(0,) * seats,
        rows=tuple(cards[:row_size] for cards in deal.symbols),
        hands=tuple(cards[row_size:] for cards in deal.symbols),
        choices=(None,) * seats,
        countdown=None,
        countdown_seconds=options.countdown_seconds,
        last_turn=None,
    )
    return state, (Told(PictureShown(state.pile[0], len(state.pile))),)


def check_deal(seats: int, options: Options, deal: ContrastDeal) -> None:
    """Raise `InvalidDeal` unless all pictures and every seat's six symbol cards are dealt."""
    if len(deal.box) != TAKEN_OUT[seats]:
        raise InvalidDeal(
            f"The box has {len(deal.box)} pictures. With {seats} seats it has {TAKEN_OUT[seats]}.",
            ("box",),
        )
    if len(deal.symbols) != seats:
        raise InvalidDeal(
            f"{len(deal.symbols)} sets of symbol cards are dealt. {seats} seats need {seats}.",
            ("symbols",),
        )
    for seat, cards in enumerate(deal.symbols):
        check_dealt_once(SYMBOL_CARDS, [(("symbols", seat), cards)])
    check_dealt_once(pictures_of(options), [(("box",), deal.box), (("pile",), deal.pile)])


# --- Whose move, and which ----------------------------------------------------------------------


def to_move(state: State) -> tuple[Seat, ...]:
    """Return the seats that have not laid a card."""
    if state.phase is Phase.FINISHED:
        return ()
    return tuple([seat for seat, choice in enumerate(state.choices) if choice is None])


def legal_moves(state: State, seat: Seat) -> tuple[Choose | Count, ...]:
    """List each symbol of the hand; for a seat that has laid a card, counting if it may."""
    if state.phase is Phase.FINISHED:
        return ()
    if state.choices[seat] is None:
        hand = sorted(state.hands[seat], key=SORT_KEY.__getitem__)
        return tuple([choice for card in hand for choice in CHOICES_WITH[card]])
    return (Count(),) if may_be_counted(state) else ()


CHOICES_WITH = {
    card: tuple(Choose(symbol) for symbol in symbols) for card, symbols in SYMBOLS_ON.items()
}


def may_be_counted(state: State) -> bool:
    """Whether one seat alone is missing, no countdown runs, and there are more than two seats."""
    return (
        len(state.choices) != COOPERATIVE_SEATS
        and state.countdown is None
        and state.choices.count(None) == 1
    )


def apply(state: State, seat: Seat, move: Choose | Count) -> Outcome[State]:
    """Choose a symbol or count, and return the new position and what happened.

    Two seats, who play together, choose a symbol each:

    >>> dealt = ContrastDeal(PICTURES[:30], PICTURES[30:], (SYMBOL_CARDS,) * 2)
    >>> state, _ = start(2, Options(), dealt)
    >>> state, told = apply(state, 0, Choose("round"))
    >>> told[0].everybody, told[0].to(0)
    (SymbolChosen(seat=0, symbol=None), SymbolChosen(seat=0, symbol='round'))
    >>> state, told = apply(state, 1, Choose("round"))
    >>> [type(each.everybody).__name__ for each in told], state.scores
    (['SymbolChosen', 'SymbolsRevealed', 'RowsRefreshed', 'PictureShown'], (1, 1))

    Raises:
        IllegalMove: the rules forbid it.
    """
    if state.phase is Phase.FINISHED:
        raise IllegalMove("game_over", "The game is over.")
    if isinstance(move, Choose):
        return apply_choose(state, seat, move.symbol)
    if isinstance(move, Count):
        return apply_count(state, seat)
    raise IllegalMove("wrong_move_type", "Contrast has two types of move: choose and count.")


# --- A turn -----------------------------------------------------------------------------------


def apply_choose(state: State, seat: Seat, symbol: Symbol) -> Outcome[State]:
    """Lay a card face down; after the last one the symbols are revealed."""
    if state.choices[seat] is not None:
        raise IllegalMove("not_your_turn", "You have laid a card. The game waits for other seats.")
    if CARD_WITH.get(symbol) not in state.hands[seat]:
        raise IllegalMove(
            "symbol_not_in_hand", f"{symbol} is on no card of your hand. Choose a symbol that is."
        )

    told = Told(SymbolChosen(seat, None), ((seat, SymbolChosen(seat, symbol)),))
    after = replace(state, choices=replaced(state.choices, seat, symbol))
    if None in after.choices:
        return after, (told,)
    next_turn, revealed = reveal(after, counted_out=None)
    return next_turn, (told, *revealed)


def apply_count(state: State, seat: Seat) -> Outcome[State]:
    """Start the countdown on the one seat that is missing."""
    check_count(state, seat)
    countdown = Countdown(by=seat, missing=state.choices.index(None))
    told = Told(CountdownStarted(by=countdown.by, missing=countdown.missing))
    return replace(state, countdown=countdown), (told,)


def check_count(state: State, seat: Seat) -> None:
    """Raise `IllegalMove` unless this seat may start the countdown."""
    if len(state.choices) == COOPERATIVE_SEATS:
        raise IllegalMove(
            "no_countdown_with_two_seats", "A game of two seats has no countdown. Choose a symbol."
        )
    if state.choices[seat] is None:
        raise IllegalMove("card_not_laid", "You have not laid a card. Choose a symbol first.")
    if state.countdown is not None:
        raise IllegalMove("countdown_running", "The countdown of this turn runs already.")
    if not may_be_counted(state):
        missing = state.choices.count(None)
        raise IllegalMove(
            "several_missing", f"{missing} seats have not laid a card. Count when one is missing."
        )


def countdown(state: State) -> int | None:
    """Return how many seconds the running countdown gives; None if none runs."""
    return None if state.countdown is None else state.countdown_seconds


def expire(state: State) -> Outcome[State]:
    """Count the missing seat out, and reveal the symbols of the others."""
    if state.countdown is None:
        raise IllegalMove("no_countdown", "No countdown is running.")
    return reveal(state, counted_out=state.countdown.missing)


def reveal(state: State, counted_out: Seat | None) -> Outcome[State]:
    """Turn the cards over, take the pictures, refresh the rows, show the next picture."""
    symbol = winning_symbol(state.choices)
    won = points_won(state.choices, symbol)
    chosen = tuple(
        [ChosenSymbol(seat, choice) for seat, choice in enumerate(state.choices) if choice]
    )
    after = refresh(take_pictures(state, won))
    after = replace(
        after,
        phase=Phase.CHOOSE if after.pile else Phase.FINISHED,
        choices=(None,) * len(state.choices),
        countdown=None,
        last_turn=LastTurn(chosen, symbol, counted_out),
    )
    told = [
        Told(
            SymbolsRevealed(
                choices=chosen,
                winning_symbol=symbol,
                counted_out=counted_out,
                won=won,
                pile_size=len(after.pile),
                box_size=after.box_size,
            )
        ),
        Told(RowsRefreshed(after.rows, after.hands)),
    ]
    if after.pile:
        told.append(Told(PictureShown(after.pile[0], len(after.pile))))
    return after, tuple(told)


def winning_symbol(choices: tuple[Symbol | None, ...]) -> Symbol | None:
    """Return the symbol that most seats chose, but not all; None in a tie for most.

    ``choices`` has None for a seat that was counted out. The sheet's examples:

    >>> winning_symbol(("square", "square", "yellow", "green", "light"))
    'square'
    >>> winning_symbol(("square", "square", "yellow", "yellow", "green"))
    >>> winning_symbol(("square",) * 5)

    Its exception, three seats of which one was counted out; and two seats, who play together:

    >>> winning_symbol(("round", None, "round")), winning_symbol(("round", "round"))
    ('round', 'round')
    """
    counts = Counter([choice for choice in choices if choice is not None])
    (symbol, most), *others = counts.most_common(2)
    if not others:
        return symbol if may_be_unanimous(choices) else None
    return symbol if most > others[0][1] else None


def points_won(choices: tuple[Symbol | None, ...], symbol: Symbol | None) -> tuple[int, ...]:
    """Return by seat what a turn adds to its score: 1 if it chose the winning symbol.

    >>> points_won(("square", "square", "yellow", None), "square")
    (1, 1, 0, 0)
    >>> points_won(("square", None, "yellow"), None)
    (0, 0, 0)
    """
    return tuple([int(symbol is not None and choice == symbol) for choice in choices])


def may_be_unanimous(choices: tuple[Symbol | None, ...]) -> bool:
    """Whether a symbol that all chose wins: with two seats, or if two of three are left."""
    if len(choices) == 3:
        return None in choices
    return len(choices) == COOPERATIVE_SEATS


def take_pictures(state: State, won: tuple[int, ...]) -> State:
    """Move a picture to each winner; without winners, move one to the box.

    Pictures that the pile lacks come from the box.
    """
    winners = sum(won)
    cooperative = len(won) == COOPERATIVE_SEATS
    leaving = 1 if cooperative else max(winners, 1)
    from_pile = state.pile[:leaving]
    from_box = leaving - len(from_pile)
    to_box = 0 if winners else 1
    return replace(
        state,
        pile=state.pile[leaving:],
        shown=state.shown + from_pile[:1],
        unshown=state.unshown + from_pile[1:],
        box_size=state.box_size - from_box + to_box,
        scores=tuple([score + more for score, more in zip(state.scores, won, strict=True)]),
    )


def refresh(state: State) -> State:
    """Move each laid card to the right end of its row, and the leftmost card to the hand."""
    rows, hands = list(state.rows), list(state.hands)
    for seat, choice in enumerate(state.choices):
        if choice is not None:
            laid = CARD_WITH[choice]
            leftmost, *staying = rows[seat]
            rows[seat] = (*staying, laid)
            hands[seat] = (*[card for card in hands[seat] if card != laid], leftmost)
    return replace(state, rows=tuple(rows), hands=tuple(hands))


# --- The end ------------------------------------------------------------------------------------


def result(state: State) -> GameResult | None:
    """Return the result: the most pictures win, all in a tie; two seats win with the target."""
    if state.phase is not Phase.FINISHED:
        return None
    if len(state.scores) == COOPERATIVE_SEATS:
        return result_of_two(state.scores)
    breakdown = ContrastBreakdown(pictures=state.scores, points=None, goal=None)
    return ranked(state.scores, BestScore.HIGHEST, breakdown)


def result_of_two(scores: tuple[int, ...]) -> GameResult:
    """Return the result of two seats, who share a score and win or lose together."""
    points = scores[0]
    return GameResult(
        scores=scores,
        winners=(0, 1) if points >= TARGET else (),
        ranks=(1, 1),
        best=BestScore.HIGHEST,
        tie_break=None,
        breakdown=ContrastBreakdown(pictures=None, points=points, goal=TARGET),
    )


# --- What a seat sees ---------------------------------------------------------------------------


def view(state: State, seat: Seat | None) -> ContrastTable:
    """Return the picture, the sizes of pile and box, all symbol cards, the reader's own choice."""
    return ContrastTable(
        phase=state.phase,
        picture=state.pile[0] if state.pile else None,
        pile_size=len(state.pile),
        box_size=state.box_size,
        rows=state.rows,
        hands=state.hands,
        scores=state.scores,
        has_chosen=tuple([choice is not None for choice in state.choices]),
        choice=None if seat is None else state.choices[seat],
        countdown=state.countdown,
        last_turn=state.last_turn,
        standing=state.scores,
    )


def redeal_hidden(state: State, seat: Seat | None, rng: Random) -> State:
    """Shuffle the pictures that never lay face up, and let the other seats choose again."""
    top, rest = state.pile[:1], state.pile[1:]
    # Sorted first, so that the outcome depends on nothing hidden but on rng alone.
    unseen = sorted(rest + state.unshown)
    rng.shuffle(unseen)
    choices = state.choices
    for other, hand in enumerate(state.hands):
        if other != seat and choices[other] is not None:
            choices = replaced(choices, other, rng.choice(symbols_in(hand)))
    return replace(
        state,
        pile=(*top, *unseen[: len(rest)]),
        unshown=tuple(unseen[len(rest) :]),
        choices=choices,
    )


def symbols_in(hand: Iterable[SymbolCard]) -> list[Symbol]:
    """List the symbols on these cards."""
    return [symbol for card in hand for symbol in SYMBOLS_ON[card]]


CONTRAST: Ruleset[Options, ContrastDeal, State, Choose | Count, ContrastTable] = Ruleset(
    id="contrast",
    title="Contrast",
    min_seats=min(TAKEN_OUT),
    max_seats=max(TAKEN_OUT),
    options=(
        Option(
            name="expert",
            type="boolean",
            default=False,
        ),
        Option(
            name="countdown_seconds",
            type="integer",
            default=COUNTDOWN_SECONDS,
            minimum=1,
            maximum=MAX_COUNTDOWN_SECONDS,
        ),
        Option(
            name="pictures",
            type="strings",
            default=None,
            minimum=min(fewest_pictures(seats) for seats in TAKEN_OUT),
            maximum=len(PICTURES),
        ),
    ),
    components=(
        *(Component("picture", picture) for picture in PICTURES),
        *(
            Component("symbol_card", card, count=max(TAKEN_OUT), parts=SYMBOLS_ON[card])
            for card in SYMBOL_CARDS
        ),
    ),
    options_type=Options,
    deal_type=ContrastDeal,
    state_type=State,
    move_type=Choose | Count,
    event_types=(
        PictureShown,
        SymbolChosen,
        CountdownStarted,
        SymbolsRevealed,
        RowsRefreshed,
    ),
    table_type=ContrastTable,
    breakdown_type=ContrastBreakdown,
    deal=deal,
    start=start,
    to_move=to_move,
    legal_moves=legal_moves,
    apply=apply,
    view=view,
    result=result,
    redeal_hidden=redeal_hidden,
    countdown=countdown,
    expire=expire,
    check_options=check_options,
)
