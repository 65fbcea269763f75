"""Tea Time, rule by rule: the sheet's sentences, its examples, and the rulings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import msgspec
import pytest

from engine.parade import Discard
from engine.registry import RULESETS
from engine.ruleset import IllegalMove, InvalidDeal, InvalidOptions, InvalidSeatCount, Move
from engine.tea_time import (
    ALICE,
    CHARACTER_OF,
    CHARACTERS,
    FACES,
    OPPOSITE,
    SETUPS,
    TEA_TIME,
    AliceLaid,
    CardsPicked,
    Grid,
    GridLaid,
    Layout,
    Options,
    Phase,
    Pick,
    State,
    TeaTimeDeal,
    TeaTimePickPreview,
    faces_up,
    in_columns,
    lines,
    result,
    score,
)
from engine.texts import LANGUAGES, rules_text
from tests.engine.rebuild.tea_time import redraw

SEATS = (2, 3, 4)
CHECKERBOARD, ROWS = Options(), Options(Layout.ROWS)
INITIALS = {
    "h": "hatter",
    "c": "cat",
    "r": "rabbit",
    "k": "caterpillar",
    "q": "queen",
    "d": "dodo",
}
SIDES = {"n": "normal", "m": "mirror"}


def cards(short: str) -> tuple[str, ...]:
    """Cards by short names: ``hm rn AA`` is a mirror hatter, a normal rabbit, and Alice."""
    return tuple(
        ALICE if name == "AA" else f"{INITIALS[name[0]]}-{SIDES[name[1]]}" for name in short.split()
    )


def grid(drawn: str) -> Grid:
    """A grid drawn with short names, ``..`` for an empty cell."""
    return tuple(None if name == ".." else cards(name)[0] for name in drawn.split())


FULL = """
    hm cn rm kn
    qn dm hn cm
    rm kn qm dn
"""
NEARLY_TAKEN = """
    .. .. .. ..
    .. rn .. ..
    .. .. .. ..
"""


def position(
    drawn: str = FULL,
    *owned: str,
    turn: int = 0,
    turn_in_round: int = 3,
    round_: int = 1,
    alice_holder: int | None = None,
    seats: int = 2,
) -> State:
    """A position of a game for two, unless told otherwise, with what each seat owns."""
    lying = grid(drawn)
    setup = SETUPS[seats]
    pile_size = (setup.rounds - round_) * setup.rows * setup.columns
    collections = [in_columns(cards(of_seat)) for of_seat in owned]
    collections += [()] * (seats - len(owned))
    pile = tuple(CHARACTERS[place % len(CHARACTERS)] for place in range(pile_size))
    return State(
        phase=Phase.PLAY,
        layout=Layout.CHECKERBOARD,
        round=round_,
        turn_in_round=turn_in_round,
        turn=turn,
        grid=lying,
        pile=pile,
        alice_holder=alice_holder,
        collections=tuple(collections),
        out=(),
    )


def new_game(seats: int, options: Options = CHECKERBOARD, seed: int = 1) -> State:
    state, _ = TEA_TIME.start(seats, options, TEA_TIME.deal(seats, options, Random(seed)))
    return state


def pick(state: State, *cells: str) -> State:
    """The position after the seat to move takes these cards."""
    after, _ = TEA_TIME.apply(state, state.turn, Pick(cells))
    return after


def told(state: State, *cells: str) -> list[Any]:
    """The events for all readers when the seat to move takes these cards."""
    _, what = TEA_TIME.apply(state, state.turn, Pick(cells))
    assert all(one.privately == () for one in what)
    return [one.everybody for one in what]


def rows_of(state: State) -> list[Grid]:
    """The rows of the grid as every reader sees them, without the names of the cells."""
    return [tuple(cell.card for cell in row) for row in TEA_TIME.view(state, None).grid]


def plain(value: Any) -> Any:
    """The value as a client decodes it from JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def refused(state: State, *cells: str) -> str:
    """The code of the rule that forbids taking these cards."""
    with pytest.raises(IllegalMove) as refusal:
        pick(state, *cells)
    assert refusal.value.detail.endswith(".")
    return refusal.value.rule


def legal(state: State) -> list[tuple[str, ...]]:
    return [move.cells for move in TEA_TIME.legal_moves(state, state.turn)]


def random_game(seats: int, options: Options = CHECKERBOARD, seed: int = 1) -> Iterator[State]:
    """Every position of a game of random moves, from the first grid to the end."""
    rng = Random(seed)
    state = new_game(seats, options, seed)
    yield state
    while state.phase is Phase.PLAY:
        state = pick(state, *rng.choice(legal(state)))
        yield state


def finished(*owned: str, alice_holder: int) -> State:
    """The end of a game with these collections."""
    state = position(
        NEARLY_TAKEN, *owned, round_=SETUPS[len(owned)].rounds, seats=len(owned), alice_holder=0
    )
    return msgspec.structs.replace(
        state,
        phase=Phase.FINISHED,
        grid=(None,) * len(SETUPS[len(owned)].index_of),
        alice_holder=alice_holder,
    )


def ranking(state: State) -> tuple[Any, ...]:
    """The scores, winners and ranks of the end of a game, and what decided a tie."""
    found = result(state)
    assert found is not None
    assert found.best == "highest"
    assert found.scores == TEA_TIME.view(state, None).standing
    return found.scores, found.winners, found.ranks, found.tie_break


# --- Setup ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "deck", "rounds", "rows", "columns"),
    [(2, 60, 5, 3, 4), (3, 48, 3, 4, 4), (4, 60, 3, 4, 5)],
)
def test_cards_rounds_and_grid_follow_from_the_number_of_players(
    seats: int, deck: int, rounds: int, rows: int, columns: int
) -> None:
    deal = TEA_TIME.deal(seats, CHECKERBOARD, Random(1))
    state, _ = TEA_TIME.start(seats, CHECKERBOARD, deal)
    table = TEA_TIME.view(state, None)
    assert len(deal.pile) == deck
    assert (table.round, table.rounds) == (1, rounds)
    assert [len(row) for row in table.grid] == [columns] * rows
    assert table.pile_size == deck - rows * columns


@pytest.mark.parametrize("seats", SEATS)
def test_the_last_grid_uses_up_the_pile(seats: int) -> None:
    setup = SETUPS[seats]
    deck = setup.cards_of_a_character * len(CHARACTERS)
    assert setup.rounds * setup.rows * setup.columns == deck


@pytest.mark.parametrize(("seats", "of_each"), [(2, 10), (3, 8), (4, 10)])
def test_with_three_seats_two_of_each_character_are_left_out(seats: int, of_each: int) -> None:
    deal = TEA_TIME.deal(seats, CHECKERBOARD, Random(1))
    assert Counter(deal.pile) == dict.fromkeys(CHARACTERS, of_each)


def test_the_first_seat_is_chosen_at_random_and_the_pile_shuffled() -> None:
    deals = [TEA_TIME.deal(4, CHECKERBOARD, Random(seed)) for seed in range(30)]
    assert {deal.first_seat for deal in deals} == {0, 1, 2, 3}
    assert len({deal.pile for deal in deals}) == len(deals)
    assert TEA_TIME.deal(4, CHECKERBOARD, Random(7)) == TEA_TIME.deal(4, CHECKERBOARD, Random(7))


@pytest.mark.parametrize("seats", [1, 5])
def test_the_game_is_for_two_to_four(seats: int) -> None:
    with pytest.raises(InvalidSeatCount):
        TEA_TIME.check_seats(seats)


def test_the_first_seat_begins_and_holds_alice() -> None:
    deal = msgspec.structs.replace(TEA_TIME.deal(3, CHECKERBOARD, Random(1)), first_seat=2)
    state, _ = TEA_TIME.start(3, CHECKERBOARD, deal)
    assert TEA_TIME.to_move(state) == (2,)
    assert TEA_TIME.view(state, None).alice_holder == 2
    assert ALICE not in state.grid


def test_the_first_grid_is_told() -> None:
    _, (one,) = TEA_TIME.start(2, CHECKERBOARD, TEA_TIME.deal(2, CHECKERBOARD, Random(1)))
    table = TEA_TIME.view(new_game(2), None)
    assert one.everybody == GridLaid(1, table.grid, 48)
    assert one.privately == ()


def faces(state: State) -> list[str]:
    """Each row's faces, ``m`` and ``n``."""
    return ["".join(face_of(card)[0] for card in row if card) for row in rows_of(state)]


def first_faces(seats: int, options: Options) -> list[str]:
    return faces(new_game(seats, options))


def test_cards_are_laid_row_by_row_from_the_top_left() -> None:
    deal = TEA_TIME.deal(2, CHECKERBOARD, Random(1))
    state, _ = TEA_TIME.start(2, CHECKERBOARD, deal)
    assert tuple(CHARACTER_OF[card] for card in state.grid if card) == deal.pile[:12]
    assert state.pile == deal.pile[12:]
    assert rows_of(state)[1] == state.grid[4:8]


def test_faces_alternate_beginning_with_a_mirror_and_neighbours_differ() -> None:
    assert first_faces(2, CHECKERBOARD) == ["mnmn", "nmnm", "mnmn"]
    assert first_faces(3, CHECKERBOARD) == ["mnmn", "nmnm", "mnmn", "nmnm"]
    assert first_faces(4, CHECKERBOARD) == ["mnmnm", "nmnmn", "mnmnm", "nmnmn"]


def test_in_rows_the_alternation_runs_on_from_row_to_row() -> None:
    assert first_faces(2, ROWS) == ["mnmn", "mnmn", "mnmn"]
    assert first_faces(3, ROWS) == ["mnmn"] * 4


def test_with_odd_columns_both_ways_to_lay_a_grid_are_the_same() -> None:
    assert first_faces(4, ROWS) == first_faces(4, CHECKERBOARD)


def test_the_running_example_of_the_sheet_can_only_be_played_on_a_checkerboard() -> None:
    assert any(running_examples(Layout.CHECKERBOARD))
    assert not any(running_examples(Layout.ROWS))


def running_examples(layout: Layout) -> Iterator[dict[str, str]]:
    """What lies in the cells that the sheet's figures name, in every way to play these figures.

    2: Arthur takes a mirror hatter, and lays Alice there.
    3: Nina takes a mirror cat and a mirror rabbit.
    4: A mirror hatter, a normal rabbit, a gap and a normal rabbit lie in line. Arthur takes a
       normal cat, a mirror hatter and a normal caterpillar.
    6: Nina takes Alice, a normal rabbit and a mirror cat.
    """
    cells = tuple(SETUPS[2].index_of)
    pairs = [line for line in lines(3, 4) if len(line) == 2]
    triples = [line for line in lines(3, 4) if len(line) == 3]
    rows = [cells[start : start + 4] for start in (0, 4, 8)]
    faces_laid = dict(zip(cells, map(face_of, faces_up(("cat",) * 12, 4, layout)), strict=True))
    for alice, nina, arthur, nina_later in product(cells, pairs, triples, triples):
        if alice not in nina_later or len({alice, *nina, *arthur, *nina_later}) < 8:
            continue
        with_alice = [cell for cell in nina_later if cell != alice]
        for hatter, rabbit, gap, other_rabbit in (*rows, *(row[::-1] for row in rows)):
            if gap not in nina or not {alice, *nina}.isdisjoint((hatter, rabbit, other_rabbit)):
                continue
            for nina_took, arthur_took, nina_took_later in product(
                permutations(cards("cm rm")),
                permutations(cards("cn hm kn")),
                permutations(cards("rn cm")),
            ):
                named = [
                    *zip((alice, hatter, rabbit, other_rabbit), cards("hm hm rn rn"), strict=True),
                    *zip(nina, nina_took, strict=True),
                    *zip(arthur, arthur_took, strict=True),
                    *zip(with_alice, nina_took_later, strict=True),
                ]
                lying = dict(named)
                if all(
                    lying[cell] == card and faces_laid[cell] == face_of(card)
                    for cell, card in named
                ):
                    yield lying


def face_of(card: str) -> str:
    return card.rpartition("-")[2]


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("options", [CHECKERBOARD, ROWS])
def test_every_round_lays_its_grid_the_same_way(seats: int, options: Options) -> None:
    first = {state.round: state for state in reversed(list(random_game(seats, options)))}
    assert sorted(first) == list(range(1, SETUPS[seats].rounds + 1))
    for state in first.values():
        assert faces(state) == first_faces(seats, options)


def test_cells_are_named_from_the_top_left() -> None:
    state = position(turn_in_round=1, alice_holder=0)
    assert pick(state, "a1").collections[0] == ("hatter-mirror",)
    assert pick(state, "d1").collections[0] == ("caterpillar-normal",)
    assert pick(state, "a3").collections[0] == ("rabbit-mirror",)
    assert pick(state, "d3").collections[0] == ("dodo-normal",)


# --- Options and deals ------------------------------------------------------------------------


def test_the_grid_is_laid_as_a_checkerboard_unless_told_otherwise() -> None:
    assert TEA_TIME.read_options(2, {}) == CHECKERBOARD
    assert TEA_TIME.read_options(2, {"grid": "checkerboard"}) == CHECKERBOARD
    assert TEA_TIME.read_options(2, {"grid": "rows"}) == ROWS


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"grid": "columns"}, ("grid",)),
        ({"grid": 1}, ("grid",)),
        ({"grid": None}, ("grid",)),
        ({"rows": 3}, ("rows",)),
    ],
)
def test_other_options_are_refused(given: dict[str, Any], path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidOptions) as refusal:
        TEA_TIME.read_options(2, given)
    assert refusal.value.path == path


DECK = [character for character in CHARACTERS for _ in range(10)]


@pytest.mark.parametrize(
    ("seats", "deal", "path"),
    [
        (2, {"first_seat": 2, "pile": DECK}, ("first_seat",)),
        (2, {"first_seat": -1, "pile": DECK}, ("first_seat",)),
        (2, {"first_seat": "0", "pile": DECK}, ("first_seat",)),
        (2, {"first_seat": 0, "pile": DECK[1:]}, ("pile",)),
        (2, {"first_seat": 0, "pile": []}, ("pile",)),
        (2, {"first_seat": 0, "pile": [*DECK, "dodo"]}, ("pile", 60)),
        (2, {"first_seat": 0, "pile": ["cat", *DECK[1:]]}, ("pile", 19)),
        (2, {"first_seat": 0, "pile": [*DECK[:5], ALICE, *DECK[6:]]}, ("pile", 5)),
        (2, {"first_seat": 0, "pile": [*DECK[:5], "tea-time", *DECK[6:]]}, ("pile", 5)),
        (2, {"first_seat": 0, "pile": ["hatter-mirror", *DECK[1:]]}, ("pile", 0)),
        (2, {"first_seat": 0, "pile": [*DECK[:59], 7]}, ("pile", 59)),
        (3, {"first_seat": 0, "pile": DECK}, ("pile", 8)),
        (2, {"first_seat": 0}, ("pile",)),
        (2, {"first_seat": 0, "pile": DECK, "grid": []}, ("grid",)),
    ],
)
def test_a_deal_that_no_shuffle_could_give_is_refused_where_it_is_wrong(
    seats: int, deal: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidDeal) as refusal:
        TEA_TIME.start(seats, CHECKERBOARD, TEA_TIME.read_deal(deal))
    assert refusal.value.path == path


# --- How many cards a turn takes --------------------------------------------------------------


def test_the_first_turn_of_a_two_player_round_has_twelve_moves_of_one_cell() -> None:
    moves = legal(new_game(2))
    assert len(moves) == 12
    assert all(len(cells) == 1 for cells in moves)


def test_the_first_turn_takes_exactly_one_card() -> None:
    state = new_game(2)
    assert refused(state, "a1", "b1") == "too_many_cards"
    assert refused(state) == "no_cards"


def test_alice_is_laid_in_the_cell_that_the_first_turn_empties() -> None:
    state = position(turn_in_round=1, alice_holder=0)
    after = pick(state, "b2")
    assert rows_of(after)[1] == cards("qn AA hn cm")
    assert after.collections[0] == cards("dm")
    assert after.alice_holder is None
    assert told(state, "b2") == [
        CardsPicked(0, ("b2",), ("dodo-mirror",), ()),
        AliceLaid(0, "b2"),
    ]


def test_alice_is_laid_only_on_the_first_turn() -> None:
    after = pick(pick(new_game(2), "a1"), "b1", "c1")
    assert after.grid.count(ALICE) == 1
    assert after.grid.count(None) == 2


def test_the_second_turn_takes_one_or_two_cards() -> None:
    state = pick(new_game(2), "a1")
    assert {len(cells) for cells in legal(state)} == {1, 2}
    assert refused(state, "b1", "c1", "d1") == "too_many_cards"
    pick(state, "b1")
    pick(state, "b1", "c1")


def test_from_the_third_turn_on_one_to_three_cards_are_taken() -> None:
    state = pick(pick(new_game(3), "a1"), "a2")
    for _ in range(3):
        assert {len(cells) for cells in legal(state)} == {1, 2, 3}
        assert refused(state, "a4", "b4", "c4", "d4") == "too_many_cards"
        state = pick(state, next(cells[0] for cells in legal(state) if cells[0] != "a4"))


def test_turns_are_counted_by_round_and_not_by_seat() -> None:
    state = pick(pick(new_game(2), "a1"), "b1")
    assert state.turn == new_game(2).turn
    assert TEA_TIME.view(state, None).turn_in_round == 3
    assert TEA_TIME.view(state, None).max_cards == 3


@pytest.mark.parametrize("seats", SEATS)
def test_the_limits_of_the_first_turns_hold_in_every_round(seats: int) -> None:
    rounds = Counter[int]()
    turn = 0
    for state in random_game(seats):
        if state.phase is Phase.FINISHED:
            break
        turn = turn + 1 if state.round in rounds else 1
        rounds[state.round] += 1
        table = TEA_TIME.view(state, None)
        assert table.turn_in_round == turn
        assert table.max_cards == min(turn, 3)
        assert max(len(cells) for cells in legal(state)) <= min(turn, 3)
        if turn == 1:
            assert len(legal(state)) == len(state.grid)
    assert len(rounds) == SETUPS[seats].rounds


def test_a_turn_takes_at_least_one_card() -> None:
    assert refused(position()) == "no_cards"


def test_there_is_always_a_card_to_take() -> None:
    for state in random_game(4):
        assert bool(legal(state)) == (state.phase is Phase.PLAY)


def test_turns_go_clockwise() -> None:
    state = new_game(3)
    turns = []
    for cell in ("a1", "b1", "c1", "d1"):
        turns.append(state.turn)
        state = pick(state, cell)
    assert [(seat - turns[0]) % 3 for seat in turns] == [0, 1, 2, 0]


# --- Lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        ("b2", "c2"),
        ("b2", "b3"),
        ("b2", "c3"),
        ("b2", "c1"),
        ("a1", "b1", "c1"),
        ("d1", "d2", "d3"),
        ("a1", "b2", "c3"),
        ("d1", "c2", "b3"),
    ],
)
def test_cards_taken_together_lie_in_a_row_a_column_or_a_diagonal(cells: tuple[str, ...]) -> None:
    assert pick(position(), *cells).grid.count(None) == len(cells)
    assert tuple(sorted(cells)) in legal(position())


@pytest.mark.parametrize(
    "cells",
    [
        ("a1", "b3"),
        ("a1", "c2"),
        ("d1", "a2"),
        ("a1", "b1", "b2"),
        ("a1", "b1", "c2"),
        ("a1", "b2", "c1"),
        ("a1", "b2", "b3"),
        ("b1", "a2", "c2"),
    ],
)
def test_cards_that_are_not_aligned_cannot_be_taken_together(cells: tuple[str, ...]) -> None:
    assert refused(position(), *cells) == "not_a_line"


def test_a_line_does_not_run_over_an_empty_cell() -> None:
    state = position("""
        hm rn .. rn
        .. .. dn ..
        cm .. kn qm
    """)
    pick(state, "a1", "b1")
    assert refused(state, "b1", "d1") == "gap_in_line"
    assert refused(state, "a1", "b1", "d1") == "gap_in_line"
    assert refused(state, "a1", "a3") == "gap_in_line"
    assert refused(state, "a3", "c1") == "empty_cell"
    assert refused(state, "a1", "c3") == "gap_in_line"
    assert refused(state, "a1", "b1", "c1") == "empty_cell"
    assert refused(state, "b1", "d3") == "gap_in_line"


def test_a_line_does_not_leave_a_card_out() -> None:
    assert refused(position(), "a1", "c1") == "gap_in_line"
    assert refused(position(), "a1", "a3") == "gap_in_line"
    assert refused(position(), "a1", "c3") == "gap_in_line"
    assert refused(position(), "a1", "b1", "d1") == "gap_in_line"


def test_an_empty_cell_breaks_a_diagonal_too() -> None:
    state = position("""
        hm cn rm kn
        qm .. hm cn
        rm kn qm dn
    """)
    assert refused(state, "a1", "c3") == "gap_in_line"
    assert refused(state, "a1", "b2", "c3") == "empty_cell"
    pick(state, "b1", "c2", "d3")


def test_arthur_cannot_take_both_rabbits_over_the_gap() -> None:
    """The sheet's figure 4: a mirror hatter, a normal rabbit, a gap, a normal rabbit."""
    state = position("""
        hm rn .. rn
        cn hm kn dm
        qm AA dm cn
    """)
    assert refused(state, "b1", "d1") == "gap_in_line"
    assert refused(state, "a1", "b1", "d1") == "gap_in_line"
    assert pick(state, "a1", "b1").collections[0] == cards("hm rn")
    instead = pick(state, "a2", "b2", "c2")
    assert instead.collections[0] == cards("hm cn kn")


@pytest.mark.parametrize(("rows", "columns", "pairs", "triples"), [(3, 4, 29, 14), (4, 5, 55, 34)])
def test_a_full_grid_has_this_many_lines(rows: int, columns: int, pairs: int, triples: int) -> None:
    assert Counter(len(line) for line in lines(rows, columns)) == {
        1: rows * columns,
        2: pairs,
        3: triples,
    }


@pytest.mark.parametrize("seats", SEATS)
def test_exactly_the_listed_moves_are_accepted(seats: int) -> None:
    """Of all sets of up to four cells, in a new grid and in ones with gaps."""
    states = list(random_game(seats, seed=seats))
    for state in (states[0], states[1], states[3], states[6]):
        listed = legal(state)
        assert len(set(listed)) == len(listed)
        accepted = set()
        for size in range(5):
            for cells in combinations(sorted(SETUPS[seats].index_of), size):
                try:
                    pick(state, *cells)
                except IllegalMove:
                    continue
                accepted.add(cells)
        assert accepted == set(listed)


def test_cells_may_be_named_in_any_order() -> None:
    assert Pick(("c1", "a1", "b1")) == Pick(("a1", "b1", "c1"))
    read = msgspec.json.decode(b'{"type":"pick","cells":["d1","b3","c2"]}', type=TEA_TIME.move_type)
    assert read == Pick(("b3", "c2", "d1"))
    assert pick(position(), "c1", "b1", "a1") == pick(position(), "a1", "b1", "c1")


# --- Refusals ---------------------------------------------------------------------------------


def test_only_the_seat_whose_turn_it_is_takes_cards() -> None:
    state = position(turn=1)
    with pytest.raises(IllegalMove) as refusal:
        TEA_TIME.apply(state, 0, Pick(("a1",)))
    assert refusal.value.rule == "not_your_turn"
    assert TEA_TIME.legal_moves(state, 0) == ()


@pytest.mark.parametrize(
    ("cells", "rule"),
    [
        (("e1",), "no_such_cell"),
        (("a4",), "no_such_cell"),
        (("a0",), "no_such_cell"),
        (("A1",), "no_such_cell"),
        (("",), "no_such_cell"),
        (("a1", "hatter"), "no_such_cell"),
        (("a1", "a1"), "repeated_cell"),
        (("a1", "b1", "c1", "d1"), "too_many_cards"),
        (("a1", "b2", "c1", "d2"), "too_many_cards"),
    ],
)
def test_cells_that_cannot_be_taken_are_refused(cells: tuple[str, ...], rule: str) -> None:
    assert refused(position(), *cells) == rule


def test_an_empty_cell_cannot_be_taken() -> None:
    assert refused(position(NEARLY_TAKEN), "a1") == "empty_cell"


def test_a_move_of_another_game_is_refused() -> None:
    other: Move = Discard(("red-1", "red-2"))
    with pytest.raises(IllegalMove) as refusal:
        RULESETS["tea-time"].apply(position(), 0, other)
    assert refusal.value.rule == "wrong_move_type"


def test_no_card_is_taken_after_the_end() -> None:
    *_, end = random_game(2)
    with pytest.raises(IllegalMove) as refusal:
        TEA_TIME.apply(end, 0, Pick(("a1",)))
    assert refusal.value.rule == "game_over"
    assert [TEA_TIME.legal_moves(end, seat) for seat in (0, 1)] == [(), ()]


# --- Alice ------------------------------------------------------------------------------------

WITH_ALICE = """
    .. rn AA cm
    .. .. qm ..
    .. .. .. ..
"""


def test_alice_can_be_taken_alone() -> None:
    after = pick(position(WITH_ALICE, turn=1), "c1")
    assert after.alice_holder == 1
    assert after.collections == ((), ())


def test_alice_can_be_taken_in_a_line_at_its_end_and_in_its_middle() -> None:
    state = position(WITH_ALICE, turn=1)
    for cells in [("b1", "c1"), ("c1", "d1"), ("c1", "c2"), ("b1", "c1", "d1")]:
        after = pick(state, *cells)
        assert after.alice_holder == 1
        assert len(after.collections[1]) == len(cells) - 1


def test_alice_counts_as_a_card_of_the_turn() -> None:
    assert refused(position(WITH_ALICE, turn_in_round=2), "b1", "c1", "d1") == "too_many_cards"
    pick(position(WITH_ALICE, turn_in_round=2), "b1", "c1")


def test_alice_can_be_taken_on_the_second_turn() -> None:
    state = new_game(3)
    after = pick(pick(state, "b2"), "b2")
    assert after.alice_holder == (state.turn + 1) % 3


def test_the_others_are_told_that_alice_was_taken() -> None:
    assert told(position(WITH_ALICE, turn=1), "b1", "c1") == [
        CardsPicked(1, ("b1", "c1"), ("rabbit-normal", ALICE), ())
    ]


def test_nothing_is_laid_in_alices_stead() -> None:
    assert pick(position(WITH_ALICE), "c1").grid.count(None) == 9


# --- Rounds -----------------------------------------------------------------------------------


def test_a_round_ends_when_the_grid_is_empty() -> None:
    state = position(".. .. .. .. .. rn cm .. .. .. .. ..", alice_holder=1)
    one_left = pick(state, "b2")
    assert one_left.round == 1
    assert pick(one_left, "c2").round == 2


def test_a_round_does_not_end_while_alice_is_in_the_grid() -> None:
    state = pick(position(".. .. .. .. .. rn AA .. .. .. .. .."), "b2")
    assert state.round == 1
    assert legal(state) == [("c2",)]
    after = pick(state, "c2")
    assert (after.round, after.turn) == (2, 1)


@pytest.mark.parametrize("holder", [0, 1, 2])
@pytest.mark.parametrize("last", [0, 1, 2])
def test_the_seat_that_took_alice_starts_the_next_round(holder: int, last: int) -> None:
    state = position(
        ".. .. .. .. " * 3 + ".. .. .. cm", turn=last, alice_holder=holder, seats=3, turn_in_round=9
    )
    after = pick(state, "d4")
    assert TEA_TIME.to_move(after) == (holder,)
    assert (after.round, after.turn_in_round, after.alice_holder) == (2, 1, holder)


def test_the_seat_that_took_alice_last_in_the_grid_starts_the_next_round() -> None:
    after = pick(position(".. .. .. .. .. AA rn .. .. .. .. ..", turn=1), "b2", "c2")
    assert (after.round, after.turn, after.alice_holder) == (2, 1, 1)
    assert after.collections == ((), ("rabbit-normal",))


def test_the_next_grid_is_laid_from_the_pile_and_told() -> None:
    state = position(NEARLY_TAKEN, alice_holder=1)
    picked, laid = told(state, "b2")
    after = pick(state, "b2")
    assert picked == CardsPicked(0, ("b2",), ("rabbit-normal",), ())
    assert laid == GridLaid(2, TEA_TIME.view(after, None).grid, 36)
    assert tuple(CHARACTER_OF[card] for card in after.grid if card) == state.pile[:12]
    assert after.pile == state.pile[12:]


def test_alice_is_given_up_again_in_the_next_round() -> None:
    state = pick(position(NEARLY_TAKEN, alice_holder=1), "b2")
    after = pick(state, "a1")
    assert after.grid[0] == ALICE
    assert after.alice_holder is None


@pytest.mark.parametrize(("seats", "rounds"), [(2, 5), (3, 3), (4, 3)])
def test_the_game_ends_after_its_rounds(seats: int, rounds: int) -> None:
    *before, end = random_game(seats)
    assert {state.round for state in before} == set(range(1, rounds + 1))
    assert all(result(state) is None for state in before)
    assert (end.phase, end.round) == (Phase.FINISHED, rounds)
    assert TEA_TIME.to_move(end) == ()
    assert result(end) is not None


def test_the_last_turn_lays_no_grid_and_alice_stays_with_the_seat_that_took_her() -> None:
    state = position(NEARLY_TAKEN, round_=5, alice_holder=1)
    assert told(state, "b2") == [CardsPicked(0, ("b2",), ("rabbit-normal",), ())]
    assert pick(state, "b2").alice_holder == 1


def test_alice_taken_with_the_last_card_of_the_game_counts() -> None:
    after = pick(position(".. .. .. .. .. AA rn .. .. .. .. ..", round_=5), "b2", "c2")
    assert ranking(after) == ((1 + 5 * 5 + 4, 6 * 5), (0,), (1, 2), "alice")


# --- Collections ------------------------------------------------------------------------------


def test_cards_keep_the_face_that_they_had_in_the_grid() -> None:
    """The sheet's figure 5."""
    arthur = position("cn hm kn .. cm rm .. .. .. .. .. ..", "hm")
    assert pick(arthur, "a1", "b1", "c1").collections[0] == cards("hm hm cn kn")
    nina = position("cn hm kn .. cm rm .. .. .. .. .. ..", "", turn=1)
    assert pick(nina, "a2", "b2").collections[1] == cards("cm rm")


def test_nina_takes_alice_with_a_rabbit_that_cancels_and_a_second_cat() -> None:
    """The sheet's figure 6."""
    state = position(
        """
        .. .. .. ..
        AA rn cm ..
        dn .. .. ..
        """,
        "",
        "cm rm",
        turn=1,
    )
    after = pick(state, "a2", "b2", "c2")
    assert after.collections[1] == cards("cm cm")
    assert after.alice_holder == 1
    assert after.out == ("rabbit", "rabbit")
    (event,) = told(state, "a2", "b2", "c2")
    assert event.cards == (ALICE, *cards("rn cm"))
    assert Counter(event.cancelled) == Counter(cards("rm rn"))


def test_cards_cancel_one_for_one() -> None:
    state = position(".. .. .. .. rn .. .. .. .. .. .. cm", "rm rm rm")
    assert pick(state, "a2").collections[0] == cards("rm rm")


def test_several_pairs_can_cancel_in_one_turn() -> None:
    state = position("rn cm dn .. .. .. .. .. .. .. .. AA", "rm cn dm qn")
    after = pick(state, "a1", "b1", "c1")
    assert after.collections[0] == cards("qn")
    assert Counter(after.out) == {"rabbit": 2, "cat": 2, "dodo": 2}
    (event,) = told(state, "a1", "b1", "c1")
    assert Counter(event.cancelled) == Counter(cards("rn rm cm cn dn dm"))


def test_two_pairs_of_one_character_can_cancel_in_one_turn() -> None:
    state = position("rn rn dn .. .. .. .. .. .. .. .. AA", "rm rm rm")
    after = pick(state, "a1", "b1")
    assert after.collections[0] == cards("rm")
    assert after.out == ("rabbit",) * 4


def test_opposite_faces_taken_in_one_turn_cancel_each_other() -> None:
    state = position("rn rm dn .. .. .. .. .. .. .. .. AA", "qn")
    after = pick(state, "a1", "b1", "c1")
    assert after.collections[0] == cards("qn dn")
    assert after.out == ("rabbit", "rabbit")


@pytest.mark.parametrize(
    ("owned", "kept"),
    [("", "rn"), ("rn", "rn rn"), ("rm", ""), ("rm rm", "rm")],
)
def test_of_three_cards_of_a_character_taken_at_once_a_pair_cancels(owned: str, kept: str) -> None:
    """Whatever else cancels with what the seat owned."""
    state = position("rn rm rn .. .. .. .. .. .. .. .. AA", owned)
    assert pick(state, "a1", "b1", "c1").collections[0] == cards(kept)


def test_the_cards_of_other_seats_do_not_cancel() -> None:
    state = position(".. .. .. .. rn .. .. .. .. .. .. cm", "", "rm")
    after = pick(state, "a2")
    assert after.collections == (cards("rn"), cards("rm"))
    assert after.out == ()


def test_different_characters_do_not_cancel() -> None:
    state = position(".. .. .. .. rn .. .. .. .. .. .. cm", "cm dm hm")
    assert pick(state, "a2").out == ()


@pytest.mark.parametrize("seats", SEATS)
def test_a_seat_never_owns_both_faces_and_no_card_is_lost(seats: int) -> None:
    deck = dict.fromkeys(CHARACTERS, SETUPS[seats].cards_of_a_character)
    for state in random_game(seats, seed=5):
        for collection in state.collections:
            assert not {OPPOSITE[card] for card in collection} & set(collection)
        owned = [card for collection in state.collections for card in collection]
        lying = [card for card in state.grid if card and card != ALICE]
        count = Counter([CHARACTER_OF[card] for card in (*owned, *lying)])
        assert count + Counter(state.out) + Counter(state.pile) == deck
        assert (ALICE in state.grid) == (state.alice_holder is None)


# --- Scores -----------------------------------------------------------------------------------


SHEETS_EXAMPLE = "rm rm qn cn cn cn cn dm dm dm dm dm dm"


def test_the_sheets_example_scores_43() -> None:
    collection = cards(SHEETS_EXAMPLE)
    assert score(collection, has_alice=True) == 5 + 5 + 3 + 1 + 10 + 15 + 4 == 43
    assert score(collection, has_alice=False) == 39


@pytest.mark.parametrize("side", ["n", "m"])
@pytest.mark.parametrize(
    ("count", "points"), [(0, 5), (1, 1), (2, 3), (3, 6), (4, 10), (5, 15), (6, 15), (10, 15)]
)
def test_a_character_scores_by_the_number_of_its_cards(count: int, points: int, side: str) -> None:
    collection = cards(f"q{side} " * count)
    assert score(collection, has_alice=False) == 5 * 5 + points


def test_alice_scores_four() -> None:
    assert score((), has_alice=True) - score((), has_alice=False) == 4


def test_the_sheets_example_is_explained_line_by_line() -> None:
    found = result(finished(SHEETS_EXAMPLE, "kn", alice_holder=0))
    assert found is not None
    assert found.scores == (43, 26)
    nothing = {"cards": 0, "points": 5}
    assert plain(found.breakdown) == {
        "ruleset": "tea-time",
        "seats": [
            {
                "characters": [
                    {"character": "hatter", **nothing},
                    {"character": "cat", "cards": 4, "points": 10},
                    {"character": "rabbit", "cards": 2, "points": 3},
                    {"character": "caterpillar", **nothing},
                    {"character": "queen", "cards": 1, "points": 1},
                    {"character": "dodo", "cards": 6, "points": 15},
                ],
                "alice": 4,
            },
            {
                "characters": [
                    {"character": "hatter", **nothing},
                    {"character": "cat", **nothing},
                    {"character": "rabbit", **nothing},
                    {"character": "caterpillar", "cards": 1, "points": 1},
                    {"character": "queen", **nothing},
                    {"character": "dodo", **nothing},
                ],
                "alice": 0,
            },
        ],
    }


def test_the_highest_total_wins() -> None:
    state = finished("rn", "cm cm cm", alice_holder=0)
    assert ranking(state) == ((30, 31), (1,), (2, 1), None)


def test_of_tied_seats_the_one_with_alice_wins() -> None:
    state = finished("rn", "", "", alice_holder=0)
    assert ranking(state) == ((30, 30, 30), (0,), (1, 2, 2), "alice")


def test_tied_seats_without_alice_share_the_win() -> None:
    state = finished("rn cn", "", "", alice_holder=0)
    assert ranking(state) == ((26, 30, 30), (1, 2), (3, 1, 1), "shared")


def test_alice_decides_nothing_between_seats_that_are_not_tied() -> None:
    state = finished("rn rn rn", "cm cm cm", "qn", alice_holder=2)
    assert ranking(state) == ((31, 31, 30), (0, 1), (1, 1, 3), "shared")


def test_alice_decides_a_tie_for_a_later_rank_too() -> None:
    state = finished("cm cm cm", "", "rn", alice_holder=2)
    assert ranking(state) == ((31, 30, 30), (0,), (1, 3, 2), None)


# --- What a seat sees -------------------------------------------------------------------------


def test_the_table_has_exactly_these_members() -> None:
    table = TEA_TIME.view(position(WITH_ALICE, "rn", "cm", turn=1), 0)
    assert plain(table) == {
        "ruleset": "tea-time",
        "phase": "play",
        "round": 1,
        "rounds": 5,
        "turn_in_round": 3,
        "max_cards": 3,
        "grid": [
            [
                {"cell": "a1", "card": None},
                {"cell": "b1", "card": "rabbit-normal"},
                {"cell": "c1", "card": "alice"},
                {"cell": "d1", "card": "cat-mirror"},
            ],
            [
                {"cell": "a2", "card": None},
                {"cell": "b2", "card": None},
                {"cell": "c2", "card": "queen-mirror"},
                {"cell": "d2", "card": None},
            ],
            [{"cell": cell, "card": None} for cell in ("a3", "b3", "c3", "d3")],
        ],
        "alice_holder": None,
        "collections": [["rabbit-normal"], ["cat-mirror"]],
        "standing": [26, 26],
        "out": [],
        "pile_size": 48,
    }


def test_events_have_exactly_these_members() -> None:
    first, laid = told(position(turn_in_round=1, alice_holder=0), "a1")
    assert plain(first) == {
        "type": "cards_picked",
        "seat": 0,
        "cells": ["a1"],
        "cards": ["hatter-mirror"],
        "cancelled": [],
    }
    assert plain(laid) == {"type": "alice_laid", "seat": 0, "cell": "a1"}
    _, new_grid = told(position(NEARLY_TAKEN, alice_holder=0), "b2")
    assert set(plain(new_grid)) == {"type", "round", "grid", "pile_size"}
    assert [[cell["cell"] for cell in row] for row in plain(new_grid)["grid"]] == [
        ["a1", "b1", "c1", "d1"],
        ["a2", "b2", "c2", "d2"],
        ["a3", "b3", "c3", "d3"],
    ]


@pytest.mark.parametrize("seats", SEATS)
def test_a_cell_of_the_table_is_emptied_by_its_name(seats: int) -> None:
    state = new_game(seats)
    for cell in SETUPS[seats].index_of:
        before = {each.cell: each.card for row in TEA_TIME.view(state, 0).grid for each in row}
        after = pick(state, cell)
        assert after.collections[state.turn] == (before[cell],)
        laid = {each.cell: each.card for row in TEA_TIME.view(after, 0).grid for each in row}
        assert laid == before | {cell: ALICE}


def test_all_readers_see_the_same() -> None:
    for state in random_game(3):
        tables = [TEA_TIME.view(state, reader) for reader in (0, 1, 2, None)]
        assert len({msgspec.json.encode(table) for table in tables}) == 1
        assert all(table == tables[0] for table in tables)


def test_of_the_pile_only_the_size_is_seen() -> None:
    state = new_game(2)
    other = msgspec.structs.replace(state, pile=tuple(reversed(state.pile)))
    assert other != state
    assert TEA_TIME.view(state, 0) == TEA_TIME.view(other, 0)


def test_the_standing_shows_the_points_if_the_game_ended_now() -> None:
    state = position(WITH_ALICE, SHEETS_EXAMPLE, "kn", turn=0)
    assert TEA_TIME.view(state, None).standing == (39, 26)
    assert TEA_TIME.view(pick(state, "c1"), None).standing == (43, 26)


def test_cancelled_cards_are_public() -> None:
    after = pick(position(".. .. .. .. rn .. .. .. .. .. .. cm", "rm"), "a2")
    assert TEA_TIME.view(after, None).out == ("rabbit", "rabbit")


def test_after_the_end_no_card_may_be_taken_and_the_last_turn_still_shows() -> None:
    *_, before, end = random_game(2)
    table = TEA_TIME.view(end, None)
    assert (table.phase, table.max_cards, table.pile_size) == (Phase.FINISHED, 0, 0)
    assert table.turn_in_round == before.turn_in_round
    assert not any(card for row in rows_of(end) for card in row)


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("options", [CHECKERBOARD, ROWS])
def test_a_table_can_be_rebuilt_from_the_events(seats: int, options: Options) -> None:
    for seed in range(5):
        rng = Random(seed)
        state = new_game(seats, options, seed)
        table = plain(TEA_TIME.view(state, None))
        while TEA_TIME.to_move(state):
            move = rng.choice(TEA_TIME.legal_moves(state, state.turn))
            state, what = TEA_TIME.apply(state, state.turn, move)
            for one in what:
                redraw(table, None, plain(one.to(None)))
            assert table == plain(TEA_TIME.view(state, None))


# --- Previews ---------------------------------------------------------------------------------


def test_a_preview_tells_what_cancels_and_what_the_seat_would_have() -> None:
    state = position(".. .. .. .. AA rn cm .. dn .. .. ..", "rm", "cm rm qn", turn=1)
    preview = TEA_TIME.preview(TEA_TIME.view(state, 1), 1, Pick(("a2", "b2", "c2")))
    assert preview == TeaTimePickPreview(cancelled=cards("rm rn"), cards=cards("cm cm"))
    assert plain(preview) == {
        "type": "tea_time_pick",
        "cancelled": ["rabbit-mirror", "rabbit-normal"],
        "cards": ["cat-mirror", "cat-mirror"],
    }


def test_a_preview_of_alice_alone_touches_no_character() -> None:
    state = position(WITH_ALICE, "rn cn")
    assert TEA_TIME.preview(TEA_TIME.view(state, 0), 0, Pick(("c1",))) == TeaTimePickPreview((), ())


@pytest.mark.parametrize("seats", SEATS)
def test_every_preview_comes_true(seats: int) -> None:
    for state in random_game(seats, seed=3):
        table = TEA_TIME.view(state, state.turn)
        for move in TEA_TIME.legal_moves(state, state.turn):
            after, (picked, *_) = TEA_TIME.apply(state, state.turn, move)
            event = picked.everybody
            assert isinstance(event, CardsPicked)
            touched = {CHARACTER_OF[card] for card in event.cards if card != ALICE}
            have = [card for card in after.collections[state.turn] if CHARACTER_OF[card] in touched]
            assert TEA_TIME.preview(table, state.turn, move) == TeaTimePickPreview(
                event.cancelled, tuple(have)
            )


# --- Values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", SEATS)
def test_a_redeal_shuffles_the_pile_and_nothing_else(seats: int) -> None:
    for state in random_game(seats):
        again = TEA_TIME.redeal_hidden(state, 0, Random(1))
        assert Counter(again.pile) == Counter(state.pile)
        assert msgspec.structs.replace(again, pile=state.pile) == state


def test_a_redeal_depends_on_what_is_known_and_on_chance_alone() -> None:
    state = new_game(4)
    other = msgspec.structs.replace(state, pile=tuple(reversed(state.pile)))
    again = TEA_TIME.redeal_hidden(state, None, Random(1))
    assert again == TEA_TIME.redeal_hidden(other, 2, Random(1))
    assert again != TEA_TIME.redeal_hidden(state, None, Random(2))


def test_positions_and_deals_read_back_from_json() -> None:
    for state in random_game(4, CHECKERBOARD):
        encoded = msgspec.json.encode(state)
        read = msgspec.json.decode(encoded, type=State)
        assert read == state
        assert msgspec.json.encode(read) == encoded
        assert TEA_TIME.legal_moves(read, read.turn) == TEA_TIME.legal_moves(state, state.turn)
    deal = TEA_TIME.deal(3, CHECKERBOARD, Random(1))
    assert msgspec.json.decode(msgspec.json.encode(deal), type=TeaTimeDeal) == deal


def test_a_move_changes_no_position() -> None:
    state = new_game(2)
    before = msgspec.json.encode(state)
    pick(state, "a1")
    refused(state, "a1", "a1")
    assert msgspec.json.encode(state) == before


# --- The catalogue ----------------------------------------------------------------------------


def test_the_box_holds_sixty_character_cards_and_alice() -> None:
    *characters, alice = TEA_TIME.components
    assert [(component.name, component.count) for component in characters] == [
        (character, 10) for character in CHARACTERS
    ]
    assert tuple(face for component in characters for face in component.parts) == FACES
    assert (alice.kind, alice.name, alice.count) == ("card", "alice", 1)


def test_the_catalogue_names_the_option_and_the_move() -> None:
    (option,) = TEA_TIME.options
    assert (option.name, option.type, option.default) == ("grid", "string", "checkerboard")
    assert option.choices == ("checkerboard", "rows")
    assert [move.type for move in TEA_TIME.move_types] == ["pick"]
    assert RULESETS["tea-time"] is TEA_TIME


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_can_be_read(language: str) -> None:
    assert rules_text("tea-time", language).startswith("# Tea Time\n")
