"""Tea Time, a card game for 2 to 4 by Emanuele Ornella.

The rules are those of the sheet of Gigamic's edition (2012), with what it leaves open decided
as follows.

- The sheet names four of the six characters; the others here are the queen and the dodo.
- A grid of "3x4" has three rows of four columns, and so on.
- A grid is laid row by row, each from left to right. Its faces alternate like the squares of a
  chess board, so that neighbours always differ: the example that runs through the sheet's figures
  cannot be played on a grid whose rows all begin with a mirror face. With the option ``rows`` the
  alternation continues from one row to the next instead.
- Each round counts its turns from 1: the second turn of every round takes at most two cards.
- A seat may take Alice from the second turn of a round on, alone or in a line.
- Two opposite faces of a character that are taken in one turn cancel each other too.
- The top card of the pile is as hidden as the rest of it, though on a table it would show.
- Of the seats that tie for most points, the one that holds Alice wins; if none of them does,
  they share the win.
- A collection lies in columns, one for each character: the order in which its cards were taken
  is not part of the position.
- After the last turn the count of turns stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import check_seat
from engine.published import NamedChoice, NamedScalar, by_seat, described, published_as
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
    Option,
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

CHARACTERS = ("hatter", "cat", "rabbit", "caterpillar", "queen", "dodo")
Character = Annotated[
    str,
    published_as(
        NamedChoice(
            "TeaTimeCharacter", CHARACTERS, "The character on both sides of a card of Tea Time."
        )
    ),
]
"""The character on both sides of a card: ``hatter``. In the grid one face shows."""

ALICE: Card = "alice"
"""The name of the Alice card."""

NORMAL = {character: f"{character}-normal" for character in CHARACTERS}
MIRROR = {character: f"{character}-mirror" for character in CHARACTERS}
FACES: tuple[Card, ...] = tuple(
    face for character in CHARACTERS for face in (NORMAL[character], MIRROR[character])
)
Face = Annotated[
    str,
    published_as(
        NamedChoice(
            "TeaTimeCard",
            (*FACES, ALICE),
            "A face of a character's card, or the Alice card (`alice`).",
        )
    ),
]
"""A face: ``hatter-mirror``; or Alice."""

CHARACTER_OF = {face: face.rpartition("-")[0] for face in FACES}
SORT_KEY = {face: number for number, face in enumerate(FACES)}

OPPOSITE = {NORMAL[character]: MIRROR[character] for character in CHARACTERS} | {
    MIRROR[character]: NORMAL[character] for character in CHARACTERS
}
"""For each face the one on the other side of its card; the two cancel each other."""

CARDS_OF_A_CHARACTER = 10
ALL_CARDS = len(CHARACTERS) * CARDS_OF_A_CHARACTER
MAX_SEATS = 4
MAX_ROUNDS = 5

MAX_CARDS = 3
POINTS = (5, 1, 3, 6, 10, *[15] * 6)
"""The points for 0 to 10 cards of one character; more than five score like five."""
POINTS_FOR_ALICE = 4


def in_columns(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Sort cards by character, the normal face first."""
    return tuple(sorted(cards, key=SORT_KEY.__getitem__))


# --- The grid -----------------------------------------------------------------------------

CELL = NamedScalar(
    "Cell",
    {"type": "string", "pattern": "^[a-z][1-9]$", "examples": ["a1"]},
    "A cell of the grid, column letter and row number; `a1` is top left.",
)
Cell = Annotated[str, published_as(CELL)]
"""A cell's name, column letter and row number, seen from the top left: ``a1``."""

Index = int
"""The index of a cell in a grid, counted row by row from the top left."""

Grid = tuple[Card | None, ...]
"""The card in each cell, by index; None in an empty cell."""


class GridCell(Struct, frozen=True):
    """A cell of the grid of Tea Time, and the card that lies there."""

    cell: Annotated[Cell, described("The name of the cell: column letter and row number.")]
    card: Annotated[Face | None, described("The card in this cell; null if it is empty.")]


GridRows = Annotated[
    tuple[
        Annotated[
            tuple[GridCell, ...],
            described("The cells of a row, from the left.", minItems=4, maxItems=5),
        ],
        ...,
    ],
    described("The rows of the grid, top row first.", minItems=3, maxItems=4),
]

COLUMN_LETTERS = "abcde"
RIGHT, DOWN, DOWN_RIGHT, DOWN_LEFT = (0, 1), (1, 0), (1, 1), (1, -1)


class Layout(StrEnum):
    """How the faces alternate in a new grid."""

    CHECKERBOARD = "checkerboard"
    ROWS = "rows"


def cell_name(row: int, column: int) -> Cell:
    """Return the name of the cell in this row and column, both from 0.

    >>> cell_name(0, 0), cell_name(2, 3)
    ('a1', 'd3')
    """
    return f"{COLUMN_LETTERS[column]}{row + 1}"


def row_and_column(cell: Cell) -> tuple[int, int]:
    """Return the row and the column of a cell, both from 0."""
    return int(cell[1]) - 1, COLUMN_LETTERS.index(cell[0])


def lines(rows: int, columns: int) -> tuple[tuple[Cell, ...], ...]:
    """List every line of one to three neighbouring cells of a grid, short lines first.

    >>> ("a3", "b2", "c1") in lines(3, 4), ("a1", "c1") in lines(3, 4)
    (True, False)
    """
    found = []
    for length in range(1, MAX_CARDS + 1):
        directions = (RIGHT,) if length == 1 else (RIGHT, DOWN, DOWN_RIGHT, DOWN_LEFT)
        for row in range(rows):
            for column in range(columns):
                for down, right in directions:
                    line = [(row + down * step, column + right * step) for step in range(length)]
                    last_row, last_column = line[-1]
                    if last_row < rows and 0 <= last_column < columns:
                        found.append(tuple(sorted(cell_name(*at) for at in line)))
    return tuple(found)


# --- Deal, moves, events, state -------------------------------------------------------------


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The variants of Tea Time."""

    grid: Layout = Layout.CHECKERBOARD
    """How the faces alternate in each new grid."""


class TeaTimeDeal(Deal, frozen=True, tag="tea-time"):
    """All that chance decides: the seat that starts, and the order of the pile."""

    first_seat: Annotated[Seat, described("The seat that begins, with Alice in hand.")]
    pile: Annotated[tuple[Character, ...], described("The characters, the next one laid first.")]


class Pick(Move, frozen=True, tag="pick"):
    """Take the cards of one to three neighbouring cells in a line, named in any order."""

    cells: tuple[Cell, ...]
    """One to three cells, sorted by name."""

    def __post_init__(self) -> None:
        sort_set(self, "cells")


class GridLaid(Event, frozen=True, tag="grid_laid"):
    """A round of Tea Time begins with a new grid."""

    round: Annotated[
        int, described("The round that begins, from 1.", minimum=1, maximum=MAX_ROUNDS)
    ]
    grid: GridRows
    pile_size: Annotated[
        int, described("How many cards are left for later rounds.", minimum=0, maximum=ALL_CARDS)
    ]


class CardsPicked(Event, frozen=True, tag="cards_picked"):
    """A seat took cards from the grid; `cancelled` has both cards of each pair that went out."""

    seat: Annotated[Seat, described("The seat that took them.")]
    cells: Annotated[
        tuple[Cell, ...],
        described("The cells that it emptied.", minItems=1, maxItems=MAX_CARDS),
    ]
    cards: Annotated[
        tuple[Face, ...],
        described("The cards that lay there, cell by cell.", minItems=1, maxItems=MAX_CARDS),
    ]
    cancelled: Annotated[
        tuple[Face, ...],
        described(
            "The cards that cancelled each other, pair by pair: the one owned, then the one taken.",
            maxItems=2 * MAX_CARDS,
        ),
    ]


class AliceLaid(Event, frozen=True, tag="alice_laid"):
    """The holder of Alice laid her into the cell that it emptied."""

    seat: Annotated[Seat, described("The seat that held her.")]
    cell: Annotated[Cell, described("The cell in which she lies: column letter and row number.")]


class Phase(StrEnum):
    """The phase of a game."""

    PLAY = "play"
    FINISHED = "finished"


class State(Struct, frozen=True):
    """Everything on the table, hidden cards included."""

    phase: Phase
    """Whether cards are taken, or the game is over."""

    layout: Layout
    """How the faces alternate in each new grid."""

    round: int
    """The present round, from 1."""

    turn_in_round: int
    """The present turn of this round, from 1; once the game is over, its last one."""

    turn: Seat
    """The seat whose turn it is; once the game is over, the seat that took the last cards."""

    grid: Grid
    """What lies in each cell, row by row from the top left."""

    pile: tuple[Character, ...]
    """The characters for later rounds, the next one laid first."""

    alice_holder: Seat | None
    """The seat that holds Alice; None while she lies in the grid."""

    collections: tuple[tuple[Card, ...], ...]
    """By seat: its cards, with the face that they had in the grid, in columns."""

    out: tuple[Character, ...]
    """The character of each card that was cancelled, the earliest first."""


class TeaTimeTable(Table, frozen=True, tag="tea-time"):
    """What every reader sees of Tea Time."""

    phase: Annotated[
        Phase, described("Whether cards are taken, or the game is over.", title="TeaTimePhase")
    ]
    round: Annotated[int, described("The present round, from 1.", minimum=1, maximum=MAX_ROUNDS)]
    rounds: Annotated[
        int, described("How many rounds the game has.", minimum=3, maximum=MAX_ROUNDS)
    ]
    turn_in_round: Annotated[int, described("The present turn of the round, from 1.", minimum=1)]
    max_cards: Annotated[
        int,
        described(
            "How many cards may be taken now; 0 when the game is over.",
            minimum=0,
            maximum=MAX_CARDS,
        ),
    ]
    grid: GridRows
    alice_holder: Annotated[
        Seat | None,
        described("The seat that holds Alice; null while she lies in the grid."),
    ]
    collections: Annotated[
        tuple[
            Annotated[
                tuple[Face, ...],
                described("What a seat has collected.", maxItems=ALL_CARDS),
            ],
            ...,
        ],
        by_seat("By seat: its cards, character by character.", most=MAX_SEATS),
    ]
    standing: Annotated[
        tuple[Score, ...],
        by_seat("By seat: its points if the game ended now, Alice included.", most=MAX_SEATS),
    ]
    out: Annotated[
        tuple[Character, ...],
        described(
            "The cards that cancelled each other and are out of the game, by character.",
            maxItems=ALL_CARDS,
        ),
    ]
    pile_size: Annotated[
        int, described("How many cards are left for later rounds.", minimum=0, maximum=ALL_CARDS)
    ]


class TeaTimePickPreview(Preview, frozen=True, tag="tea_time_pick"):
    """What taking cards now would do."""

    cancelled: Annotated[
        tuple[Face, ...],
        described("The cards that would cancel each other, pair by pair.", maxItems=2 * MAX_CARDS),
    ]
    cards: Annotated[
        tuple[Face, ...],
        described(
            "The cards that you would then have of the characters you take.",
            maxItems=ALL_CARDS,
        ),
    ]


class TeaTimeCharacterScore(Struct, frozen=True):
    """The points of a seat of Tea Time for one character."""

    character: Annotated[Character, described("The character.")]
    cards: Annotated[
        int,
        described("How many cards of it the seat has.", minimum=0, maximum=CARDS_OF_A_CHARACTER),
    ]
    points: Annotated[int, described("The points for them.", minimum=1, maximum=max(POINTS))]


class TeaTimeSeatScore(Struct, frozen=True):
    """What the score of a seat of Tea Time is made of."""

    characters: Annotated[
        tuple[TeaTimeCharacterScore, ...],
        described(
            "The points for each character.", minItems=len(CHARACTERS), maxItems=len(CHARACTERS)
        ),
    ]
    alice: Annotated[
        int,
        described(
            "The points for holding Alice; 0 without her.", minimum=0, maximum=POINTS_FOR_ALICE
        ),
    ]


class TeaTimeBreakdown(Breakdown, frozen=True, tag="tea-time"):
    """What the scores of Tea Time are made of."""

    seats: Annotated[
        tuple[TeaTimeSeatScore, ...],
        by_seat("By seat: what its score is made of.", most=MAX_SEATS),
    ]


# --- Setup ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setup:
    """What the number of seats decides: the rounds, the grid and the cards."""

    rounds: int
    """How many grids are laid."""

    rows: int
    """The rows of each grid."""

    columns: int
    """The columns of each grid."""

    cards_of_a_character: int
    """How many cards of each character the pile of a whole game has."""

    index_of: dict[Cell, Index]
    """For each cell its index in the grid, in the order of the indices."""

    lines: frozenset[tuple[Cell, ...]]
    """Every line of one to three neighbouring cells, each sorted by name."""

    picks: tuple[Pick, ...]
    """Each line as a move, in the order of the list of legal moves: short lines first."""


def setup(rounds: int, rows: int, columns: int, left_out: int = 0) -> Setup:
    """Build a setup; ``left_out`` is how many cards of each character stay in the box."""
    index_of = {
        cell_name(row, column): row * columns + column
        for row in range(rows)
        for column in range(columns)
    }
    all_lines = lines(rows, columns)
    return Setup(
        rounds=rounds,
        rows=rows,
        columns=columns,
        cards_of_a_character=CARDS_OF_A_CHARACTER - left_out,
        index_of=index_of,
        lines=frozenset(all_lines),
        picks=tuple(Pick(line) for line in all_lines),
    )


SETUPS = {
    2: setup(rounds=5, rows=3, columns=4),
    3: setup(rounds=3, rows=4, columns=4, left_out=2),
    4: setup(rounds=3, rows=4, columns=5),
}
"""The setup for each number of seats. The last grid uses up the pile."""


def deal(seats: int, options: Options, rng: Random) -> TeaTimeDeal:
    """Choose the first seat, and shuffle the character cards into a pile."""
    first_seat = rng.randrange(seats)
    pile = [
        character for character in CHARACTERS for _ in range(SETUPS[seats].cards_of_a_character)
    ]
    rng.shuffle(pile)
    return TeaTimeDeal(first_seat, tuple(pile))


def start(seats: int, options: Options, deal: TeaTimeDeal) -> Outcome[State]:
    """Lay the first grid; the first seat holds Alice. Raises `InvalidDeal`."""
    check_deal(seats, deal)
    before = State(
        phase=Phase.PLAY,
        layout=options.grid,
        round=0,
        turn_in_round=0,
        turn=deal.first_seat,
        grid=(),
        pile=deal.pile,
        alice_holder=deal.first_seat,
        collections=((),) * seats,
        out=(),
    )
    state, told = start_round(before, deal.first_seat)
    return state, (told,)


def check_deal(seats: int, deal: TeaTimeDeal) -> None:
    """Raise `InvalidDeal` unless the pile has each character as often as the setup says."""
    check_seat(deal.first_seat, seats, "first_seat")
    of_each = SETUPS[seats].cards_of_a_character
    count: Counter[Character] = Counter()
    for index, character in enumerate(deal.pile):
        if character not in CHARACTERS:
            raise InvalidDeal(
                f"There is no such character. There are: {', '.join(CHARACTERS)}.", ("pile", index)
            )
        count[character] += 1
        if count[character] > of_each:
            raise InvalidDeal(
                f"This is one {character} too many: with {seats} seats there are {of_each} of each "
                "character.",
                ("pile", index),
            )
    if len(deal.pile) != of_each * len(CHARACTERS):
        raise InvalidDeal(
            f"The pile has {len(deal.pile)} cards: with {seats} seats it has "
            f"{of_each * len(CHARACTERS)}.",
            ("pile",),
        )


# --- A round ------------------------------------------------------------------------------------


def start_round(state: State, first_seat: Seat) -> tuple[State, Told]:
    """Lay the next grid from the pile. The first seat holds Alice and begins."""
    of_game = SETUPS[len(state.collections)]
    size = of_game.rows * of_game.columns
    grid = faces_up(state.pile[:size], of_game.columns, state.layout)
    after = replace(
        state,
        round=state.round + 1,
        turn_in_round=1,
        turn=first_seat,
        grid=grid,
        pile=state.pile[size:],
        alice_holder=first_seat,
    )
    return after, Told(GridLaid(after.round, in_rows(grid, of_game), len(after.pile)))


def faces_up(characters: tuple[Character, ...], columns: int, layout: Layout) -> Grid:
    """Lay cards row by row with alternating faces, a mirror face first.

    >>> faces_up(("cat", "dodo", "cat", "dodo"), 2, Layout.ROWS)
    ('cat-mirror', 'dodo-normal', 'cat-mirror', 'dodo-normal')
    >>> faces_up(("cat", "dodo", "cat", "dodo"), 2, Layout.CHECKERBOARD)
    ('cat-mirror', 'dodo-normal', 'cat-normal', 'dodo-mirror')
    """
    grid = []
    for index, character in enumerate(characters):
        row, column = divmod(index, columns)
        step = index if layout is Layout.ROWS else row + column
        grid.append(NORMAL[character] if step % 2 else MIRROR[character])
    return tuple(grid)


def in_rows(grid: Grid, of_game: Setup) -> GridRows:
    """Return the rows of a grid, top row first, with the name of each cell."""
    cells = tuple([GridCell(cell, grid[index]) for cell, index in of_game.index_of.items()])
    columns = of_game.columns
    return tuple([cells[start : start + columns] for start in range(0, len(cells), columns)])


def end_round(state: State) -> Outcome[State]:
    """End a round: the seat that took Alice starts the next one, or the game is over."""
    if state.round < SETUPS[len(state.collections)].rounds:
        assert state.alice_holder is not None
        after, told = start_round(state, state.alice_holder)
        return after, (told,)
    return replace(state, phase=Phase.FINISHED), ()


# --- Whose move, and which ----------------------------------------------------------------------


def to_move(state: State) -> tuple[Seat, ...]:
    """Return the seat whose turn it is."""
    return () if state.phase is Phase.FINISHED else (state.turn,)


def max_cards(state: State) -> int:
    """Return how many cards the next turn may take: one, then two, then three in a round."""
    return 0 if state.phase is Phase.FINISHED else min(state.turn_in_round, MAX_CARDS)


def legal_moves(state: State, seat: Seat) -> tuple[Pick, ...]:
    """List every line of cards without a gap that is not too long for this turn."""
    if seat not in to_move(state):
        return ()
    of_game, longest = SETUPS[len(state.collections)], max_cards(state)
    empty = {cell for cell, index in of_game.index_of.items() if state.grid[index] is None}
    return tuple(
        [
            pick
            for pick in of_game.picks
            if len(pick.cells) <= longest and empty.isdisjoint(pick.cells)
        ]
    )


def check_turn(state: State, seat: Seat, move: Move) -> None:
    """Raise `IllegalMove` unless it is this seat's turn and the move takes cards."""
    if state.phase is Phase.FINISHED:
        raise IllegalMove("game_over", "The game is over.")
    if seat != state.turn:
        raise IllegalMove("not_your_turn", f"It is the turn of seat {state.turn}, not yours.")
    if not isinstance(move, Pick):
        raise IllegalMove("wrong_move_type", "Tea Time has one type of move: pick.")


def check_pick(state: State, cells: tuple[Cell, ...]) -> None:
    """Raise `IllegalMove` unless this turn may take the cards of these cells."""
    of_game = SETUPS[len(state.collections)]
    check_cells(of_game, cells)
    longest = max_cards(state)
    if len(cells) > longest:
        allowed = "one card" if longest == 1 else f"at most {longest} cards"
        raise IllegalMove(
            "too_many_cards", f"{len(cells)} cards are too many: this turn takes {allowed}."
        )
    for cell in cells:
        if state.grid[of_game.index_of[cell]] is None:
            raise IllegalMove("empty_cell", f"The cell {cell} is empty. Name cells with a card.")
    if cells not in of_game.lines:
        raise not_neighbours(cells)


def check_cells(of_game: Setup, cells: tuple[Cell, ...]) -> None:
    """Raise `IllegalMove` unless these are cells of the grid, at least one and all different."""
    if not cells:
        raise IllegalMove("no_cards", "A turn takes at least one card.")
    for cell in cells:
        if cell not in of_game.index_of:
            last = cell_name(of_game.rows - 1, of_game.columns - 1)
            raise IllegalMove(
                "no_such_cell", f"The grid has no cell {cell}. Its cells are a1 to {last}."
            )
    if len(set(cells)) != len(cells):
        raise IllegalMove("repeated_cell", "A cell is named twice. Name each cell once.")


def not_neighbours(cells: tuple[Cell, ...]) -> IllegalMove:
    """Return why these cells are no line: they are not aligned, or have a gap.

    >>> not_neighbours(("a1", "b1", "d1")).rule, not_neighbours(("a1", "b1", "c2")).rule
    ('gap_in_line', 'not_a_line')
    """
    at = [row_and_column(cell) for cell in cells]
    steps = [(row - r, column - c) for (r, c), (row, column) in pairwise(at)]
    directions = {(sign(down), sign(right)) for down, right in steps}
    aligned = all(abs(down) == abs(right) or not down or not right for down, right in steps)
    if aligned and len(directions) == 1:
        return IllegalMove(
            "gap_in_line",
            "The line has a gap: a cell between these cards is empty or not named. Take "
            "neighbouring cards.",
        )
    return IllegalMove(
        "not_a_line",
        "These cards are not in line. Take cards of one row, one column or one diagonal.",
    )


def sign(number: int) -> int:
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


# --- A turn -----------------------------------------------------------------------------------


def apply(state: State, seat: Seat, move: Pick) -> Outcome[State]:
    """Take cards and cancel opposite faces; on the first turn of a round, lay Alice there too.

    The first turn of a game for two:

    >>> before, _ = start(2, Options(), TeaTimeDeal(first_seat=0, pile=CHARACTERS * 10))
    >>> after, told = apply(before, 0, Pick(("b2",)))
    >>> [type(each.everybody).__name__ for each in told]
    ['CardsPicked', 'AliceLaid']
    >>> after.collections, after.grid[SETUPS[2].index_of["b2"]], after.turn
    ((('dodo-mirror',), ()), 'alice', 1)

    Raises:
        IllegalMove: the rules forbid it.
    """
    check_turn(state, seat, move)
    check_pick(state, move.cells)
    after, picked = take_cards(state, seat, move.cells)
    if state.turn_in_round == 1:
        after, laid = lay_alice(after, seat, move.cells[0])
        return next_turn(after), (picked, laid)
    if any(after.grid):
        return next_turn(after), (picked,)
    after, told = end_round(after)
    return after, (picked, *told)


def take_cards(state: State, seat: Seat, cells: tuple[Cell, ...]) -> tuple[State, Told]:
    """Move the cards of these cells to a seat's collection, where opposite faces cancel."""
    indices = [SETUPS[len(state.collections)].index_of[cell] for cell in cells]
    cards = tuple([card for index in indices if (card := state.grid[index])])
    collection, cancelled = collect(state.collections[seat], cards)
    after = replace(
        state,
        grid=with_card(state.grid, indices, None),
        alice_holder=seat if ALICE in cards else state.alice_holder,
        collections=replaced(state.collections, seat, collection),
        out=state.out + tuple([CHARACTER_OF[card] for card in cancelled]),
    )
    return after, Told(CardsPicked(seat, cells, cards, cancelled))


def lay_alice(state: State, seat: Seat, cell: Cell) -> tuple[State, Told]:
    """Lay Alice in the cell that her holder has emptied."""
    index = SETUPS[len(state.collections)].index_of[cell]
    after = replace(state, grid=with_card(state.grid, [index], ALICE), alice_holder=None)
    return after, Told(AliceLaid(seat, cell))


def with_card(grid: Grid, indices: Iterable[Index], card: Card | None) -> Grid:
    """Return a grid with this card, or none, in each of these cells."""
    cells = list(grid)
    for index in indices:
        cells[index] = card
    return tuple(cells)


def next_turn(state: State) -> State:
    """Give the turn to the next seat."""
    return replace(
        state,
        turn_in_round=state.turn_in_round + 1,
        turn=(state.turn + 1) % len(state.collections),
    )


def collect(
    owned: tuple[Card, ...], taken: tuple[Card, ...]
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return a collection once it has these cards, and the cards that cancelled, pair by pair.

    The sheet's example, a line with Alice:

    >>> collect(("cat-mirror", "rabbit-mirror"), ("alice", "rabbit-normal", "cat-mirror"))
    (('cat-mirror', 'cat-mirror'), ('rabbit-mirror', 'rabbit-normal'))
    """
    kept, cancelled = list(owned), []
    for card in taken:
        if card == ALICE:
            continue
        opposite = OPPOSITE[card]
        if opposite in kept:
            kept.remove(opposite)
            cancelled += [opposite, card]
        else:
            kept.append(card)
    return in_columns(kept), tuple(cancelled)


# --- The end ------------------------------------------------------------------------------------


def count_cards(collection: tuple[Card, ...]) -> tuple[int, ...]:
    """Return how many cards of each character these are, in the order of `CHARACTERS`."""
    characters = [CHARACTER_OF[card] for card in collection]
    return tuple([characters.count(character) for character in CHARACTERS])


@lru_cache(1024)
def score(collection: tuple[Card, ...], has_alice: bool) -> Score:
    """Return the points of a seat: for the number of cards of each character, and for Alice.

    Cached, since every view of a position shows them, and a turn changes one collection.

    The sheet's example, with 2, 1, 4 and 6 cards and nothing of two characters:

    >>> cards = ["rabbit-mirror"] * 2 + ["queen-normal"] + ["cat-normal"] * 4 + ["dodo-mirror"] * 6
    >>> score(tuple(cards), has_alice=True)
    43
    """
    points = sum([POINTS[cards] for cards in count_cards(collection)])
    return points + POINTS_FOR_ALICE * has_alice


def score_by_character(collection: tuple[Card, ...], has_alice: bool) -> TeaTimeSeatScore:
    """Return the same points as `score`, one by one."""
    characters = [
        TeaTimeCharacterScore(character, cards, POINTS[cards])
        for character, cards in zip(CHARACTERS, count_cards(collection), strict=True)
    ]
    return TeaTimeSeatScore(tuple(characters), alice=POINTS_FOR_ALICE * has_alice)


def standing(state: State) -> tuple[Score, ...]:
    """Return the points of each seat if the game ended now."""
    holder = state.alice_holder
    return tuple(
        [score(collection, seat == holder) for seat, collection in enumerate(state.collections)]
    )


def result(state: State) -> GameResult | None:
    """Return the result: the highest total wins, in a tie the holder of Alice, else all share."""
    if state.phase is not Phase.FINISHED:
        return None
    holder = state.alice_holder
    seats = [
        score_by_character(collection, seat == holder)
        for seat, collection in enumerate(state.collections)
    ]
    return ranked(
        standing(state),
        BestScore.HIGHEST,
        TeaTimeBreakdown(tuple(seats)),
        tie_break=TieBreak.ALICE,
        preferred=[seat != holder for seat in range(len(seats))],
    )


# --- What a seat sees ---------------------------------------------------------------------------


def view(state: State, seat: Seat | None) -> TeaTimeTable:
    """Return what every reader sees: everything but the pile."""
    of_game = SETUPS[len(state.collections)]
    return TeaTimeTable(
        phase=state.phase,
        round=state.round,
        rounds=of_game.rounds,
        turn_in_round=state.turn_in_round,
        max_cards=max_cards(state),
        grid=in_rows(state.grid, of_game),
        alice_holder=state.alice_holder,
        collections=state.collections,
        standing=standing(state),
        out=state.out,
        pile_size=len(state.pile),
    )


def cards_in(table: TeaTimeTable, cells: tuple[Cell, ...]) -> tuple[Card, ...]:
    """Return the cards that lie in these cells."""
    lying = [table.grid[row][column].card for row, column in map(row_and_column, cells)]
    return tuple([card for card in lying if card])


def preview(table: TeaTimeTable, seat: Seat, move: Pick) -> TeaTimePickPreview:
    """Return what would cancel, and what the seat would then have of the characters it takes."""
    taken = cards_in(table, move.cells)
    collection, cancelled = collect(table.collections[seat], taken)
    touched = {CHARACTER_OF[card] for card in taken if card != ALICE}
    return TeaTimePickPreview(
        cancelled, tuple([card for card in collection if CHARACTER_OF[card] in touched])
    )


def redeal_hidden(state: State, seat: Seat | None, rng: Random) -> State:
    """Shuffle the pile again: all readers know its cards, and none their order."""
    # Sorted first, so that the outcome depends on nothing hidden but on rng alone.
    pile = sorted(state.pile)
    rng.shuffle(pile)
    return replace(state, pile=tuple(pile))


TEA_TIME: Ruleset[Options, TeaTimeDeal, State, Pick, TeaTimeTable] = Ruleset(
    id="tea-time",
    title="Tea Time",
    min_seats=2,
    max_seats=MAX_SEATS,
    options=(
        Option(
            name="grid",
            type="string",
            default=Layout.CHECKERBOARD.value,
            choices=tuple(layout.value for layout in Layout),
        ),
    ),
    components=(
        *(
            Component(
                kind="character",
                name=character,
                count=CARDS_OF_A_CHARACTER,
                parts=(NORMAL[character], MIRROR[character]),
            )
            for character in CHARACTERS
        ),
        Component(kind="card", name=ALICE),
    ),
    options_type=Options,
    deal_type=TeaTimeDeal,
    state_type=State,
    move_type=Pick,
    event_types=(
        GridLaid,
        CardsPicked,
        AliceLaid,
    ),
    table_type=TeaTimeTable,
    breakdown_type=TeaTimeBreakdown,
    preview_types=(TeaTimePickPreview,),
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
