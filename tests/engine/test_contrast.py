"""Contrast: the sentences of its sheet, its examples, and the rulings."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from engine.contrast import (
    CONTRAST,
    PICTURES,
    SYMBOL_CARDS,
    TAKEN_OUT,
    Choose,
    ChosenSymbol,
    ContrastBreakdown,
    ContrastDeal,
    Count,
    Countdown,
    CountdownStarted,
    LastTurn,
    Options,
    PictureShown,
    RowsRefreshed,
    State,
    SymbolChosen,
    SymbolsRevealed,
    winning_symbol,
)
from engine.parade import Discard
from engine.ruleset import (
    Event,
    IllegalMove,
    InvalidDeal,
    InvalidOptions,
    InvalidSeatCount,
    NothingPreview,
    Seat,
    Told,
)
from engine.texts import LANGUAGES, rules_text
from tests.engine.play import outcome, plain

SEAT_COUNTS = sorted(TAKEN_OUT)

CARDS = ("fat-thin", "big-small", "red-yellow", "blue-green", "heavy-light", "round-square")
"""Every seat's symbol cards in these tests: the first two lie in its row, the rest is its hand."""

ROW, HAND = CARDS[:2], CARDS[2:]


def fixed_deal(seats: int, pictures: tuple[str, ...] = PICTURES) -> ContrastDeal:
    """The first pictures in the box, the others in the pile, and the same cards for all."""
    taken_out = TAKEN_OUT[seats]
    return ContrastDeal(pictures[:taken_out], pictures[taken_out:], (CARDS,) * seats)


def new_game(seats: int, pile_size: int | None = None, **options: Any) -> State:
    """A game before its first turn, with as long a pile as asked for."""
    if pile_size is not None:
        options["pictures"] = PICTURES[: TAKEN_OUT[seats] + pile_size]
    chosen = CONTRAST.read_options(seats, options)
    state, _ = CONTRAST.start(seats, chosen, fixed_deal(seats, chosen.pictures or PICTURES))
    return state


def after(state: State, seat: Seat, move: Choose | Count) -> State:
    return CONTRAST.apply(state, seat, move)[0]


def laid(state: State, *symbols: str | None) -> State:
    """Each seat in turn lays its symbol; None does not lay one."""
    for seat, symbol in enumerate(symbols):
        if symbol is not None:
            state = after(state, seat, Choose(symbol))
    return state


def turn(state: State, *symbols: str | None) -> State:
    """A whole turn; a seat whose symbol is None is counted out by another."""
    return turn_told(state, *symbols)[0]


def turn_told(state: State, *symbols: str | None) -> tuple[State, tuple[Told, ...]]:
    """A whole turn, and what all are told of its end."""
    if None in symbols:
        state = laid(state, *symbols)
        counting = next(seat for seat, symbol in enumerate(symbols) if symbol is not None)
        return CONTRAST.expire(after(state, counting, Count()))
    *first, last = symbols
    assert last is not None
    return CONTRAST.apply(laid(state, *first), len(first), Choose(last))


def told_event(told: tuple[Told, ...], wanted: type[Event]) -> Any:
    """The one event of this type, as all readers are told it."""
    [event] = [one.everybody for one in told if isinstance(one.everybody, wanted)]
    return event


def refused(state: State, seat: Seat, move: Any) -> str:
    """The rule that forbids a move."""
    with pytest.raises(IllegalMove) as problem:
        CONTRAST.apply(state, seat, move)
    return problem.value.rule


def chosen(*symbols: str | None) -> tuple[ChosenSymbol, ...]:
    """The choices of a turn as readers are shown them; None for a seat that was counted out."""
    return tuple(ChosenSymbol(seat, each) for seat, each in enumerate(symbols) if each is not None)


def any_turn(state: State) -> State:
    """A turn in which every seat lays the first card that it can."""
    for seat in CONTRAST.to_move(state):
        state = after(state, seat, CONTRAST.legal_moves(state, seat)[0])
    return state


def played_out(state: State) -> State:
    while CONTRAST.to_move(state):
        state = any_turn(state)
    return state


# --- The cards --------------------------------------------------------------------------


def test_it_is_for_two_to_six_seats() -> None:
    assert (CONTRAST.min_seats, CONTRAST.max_seats) == (2, 6)
    for seats in (1, 7):
        with pytest.raises(InvalidSeatCount):
            CONTRAST.check_seats(seats)


def test_the_box_has_74_pictures_and_36_symbol_cards() -> None:
    counts = {"picture": 0, "symbol_card": 0}
    for component in CONTRAST.components:
        counts[component.kind] += component.count
    assert counts == {"picture": 74, "symbol_card": 36}
    assert (PICTURES[0], PICTURES[-1], len(set(PICTURES))) == ("picture-1", "picture-74", 74)


def test_every_symbol_card_has_a_symbol_and_its_opposite_as_parts() -> None:
    cards = {part.name: part.parts for part in CONTRAST.components if part.kind == "symbol_card"}
    assert cards == {
        "red-yellow": ("red", "yellow"),
        "blue-green": ("blue", "green"),
        "big-small": ("big", "small"),
        "heavy-light": ("heavy", "light"),
        "fat-thin": ("fat", "thin"),
        "round-square": ("round", "square"),
    }


# --- Setup ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "taken_out", "left"),
    [(2, 30, 44), (3, 26, 48), (4, 22, 52), (5, 18, 56), (6, 14, 60)],
)
def test_pictures_are_taken_out_by_the_number_of_seats(
    seats: int, taken_out: int, left: int
) -> None:
    deal = CONTRAST.deal(seats, Options(), Random(1))
    assert (len(deal.box), len(deal.pile)) == (taken_out, left)
    assert sorted(deal.box + deal.pile) == sorted(PICTURES)

    table = CONTRAST.view(CONTRAST.start(seats, Options(), deal)[0], None)
    assert (table.box_size, table.pile_size) == (taken_out, left)


def test_every_seat_shuffles_its_own_six_symbol_cards() -> None:
    deal = CONTRAST.deal(6, Options(), Random(1))
    assert all(sorted(cards) == sorted(SYMBOL_CARDS) for cards in deal.symbols)
    assert len(set(deal.symbols)) > 1


def test_the_top_picture_is_face_up() -> None:
    state, told = CONTRAST.start(3, Options(), fixed_deal(3))
    assert CONTRAST.view(state, None).picture == "picture-27"
    assert told == (Told(PictureShown("picture-27", 48)),)


def test_two_cards_lie_in_the_row_and_four_cards_with_eight_symbols_are_in_hand() -> None:
    state = new_game(3)
    assert CONTRAST.view(state, 1).rows == (ROW,) * 3
    assert CONTRAST.view(state, 1).hands == (HAND,) * 3
    assert CONTRAST.legal_moves(state, 1) == tuple(
        Choose(symbol)
        for symbol in ("red", "yellow", "blue", "green", "heavy", "light", "round", "square")
    )


def test_in_expert_three_cards_lie_in_the_row_and_three_with_six_symbols_are_in_hand() -> None:
    state = new_game(3, expert=True)
    assert CONTRAST.view(state, 1).rows == (CARDS[:3],) * 3
    assert CONTRAST.view(state, 1).hands == (CARDS[3:],) * 3
    assert CONTRAST.legal_moves(state, 1) == tuple(
        Choose(symbol) for symbol in ("blue", "green", "heavy", "light", "round", "square")
    )
    assert refused(state, 1, Choose("red")) == "symbol_not_in_hand"


GOOD_DEAL: dict[str, Any] = msgspec.to_builtins(fixed_deal(3))


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"box": PICTURES[:25], "pile": PICTURES[25:]}, ("box",)),
        ({"pile": PICTURES[26:73]}, ("pile",)),
        ({"pile": (*PICTURES[26:73], "picture-75")}, ("pile", 47)),
        ({"pile": (*PICTURES[26:73], "picture-1")}, ("pile", 47)),
        ({"box": (*PICTURES[:25], "red-yellow")}, ("box", 25)),
        ({"symbols": (CARDS,) * 2}, ("symbols",)),
        ({"symbols": (CARDS, CARDS[:5], CARDS)}, ("symbols", 1)),
        ({"symbols": (CARDS, CARDS, (*CARDS[:5], "fat-thin"))}, ("symbols", 2, 5)),
        ({"symbols": (CARDS, CARDS, (*CARDS[:5], "round-thin"))}, ("symbols", 2, 5)),
        ({"symbols": (CARDS, CARDS, (*CARDS, "red-yellow"))}, ("symbols", 2, 6)),
        ({"hands": ()}, ("hands",)),
    ],
)
def test_a_deal_that_no_shuffle_could_give_is_refused_where_it_is_wrong(
    wrong: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidDeal) as problem:
        CONTRAST.start(3, Options(), CONTRAST.read_deal(GOOD_DEAL | wrong))
    assert problem.value.path == path


# --- Choosing -----------------------------------------------------------------------------------


def test_all_seats_choose_at_once_and_in_any_order() -> None:
    state = new_game(4)
    assert CONTRAST.to_move(state) == (0, 1, 2, 3)
    state = after(state, 2, Choose("red"))
    assert CONTRAST.to_move(state) == (0, 1, 3)
    state = after(state, 0, Choose("yellow"))
    assert CONTRAST.to_move(state) == (1, 3)


def test_either_symbol_of_a_hand_card_can_be_chosen() -> None:
    for symbol in ("round", "square"):
        assert CONTRAST.view(after(new_game(3), 0, Choose(symbol)), 0).choice == symbol


@pytest.mark.parametrize("symbol", ["fat", "small", "purple", "round-square", ""])
def test_a_symbol_that_is_not_in_hand_is_refused(symbol: str) -> None:
    assert refused(new_game(3), 0, Choose(symbol)) == "symbol_not_in_hand"


def test_a_move_of_another_game_is_refused() -> None:
    for state in (new_game(3), laid(new_game(3), "red", "red")):
        for seat in range(3):
            assert refused(state, seat, Discard(())) == "wrong_move_type"


def test_a_choice_stands() -> None:
    state = after(new_game(3), 0, Choose("red"))
    assert CONTRAST.legal_moves(state, 0) == ()
    assert refused(state, 0, Choose("blue")) == "not_your_turn"
    assert refused(state, 0, Choose("red")) == "not_your_turn"


def test_others_learn_that_a_seat_has_chosen_but_not_what() -> None:
    state, told = CONTRAST.apply(new_game(3), 0, Choose("red"))
    assert [one.to(0) for one in told] == [SymbolChosen(0, "red")]
    for reader in (1, 2, None):
        assert [one.to(reader) for one in told] == [SymbolChosen(0, None)]
        assert CONTRAST.view(state, reader).choice is None
    assert CONTRAST.view(state, 0).choice == "red"
    assert CONTRAST.view(state, 1).has_chosen == (True, False, False)


def test_a_laid_card_does_not_shrink_the_hand_that_is_seen() -> None:
    before = new_game(3)
    state = laid(before, "red", "square")
    for reader in (0, 1, 2, None):
        assert CONTRAST.view(state, reader).hands == CONTRAST.view(before, reader).hands
        assert CONTRAST.view(state, reader).rows == CONTRAST.view(before, reader).rows


def test_two_worlds_with_other_choices_look_the_same_to_the_others() -> None:
    state, other = laid(new_game(3), "red", "square"), laid(new_game(3), "blue", "square")
    for reader in (1, 2, None):
        assert CONTRAST.view(state, reader) == CONTRAST.view(other, reader)


# --- The winning symbol -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "symbol", "pile_size", "box_size"),
    [
        (("square", "square", "yellow", "green", "light"), "square", 54, 18),
        (("square", "square", "yellow", "yellow", "green"), None, 55, 19),
        (("square", "square", "square", "square", "square"), None, 55, 19),
    ],
)
def test_the_examples_of_the_sheet(
    choices: tuple[str, ...], symbol: str | None, pile_size: int, box_size: int
) -> None:
    state, told = turn_told(new_game(5), *choices)
    won = tuple(int(choice == symbol) for choice in choices)
    assert told_event(told, SymbolsRevealed) == SymbolsRevealed(
        choices=chosen(*choices),
        winning_symbol=symbol,
        counted_out=None,
        won=won,
        pile_size=pile_size,
        box_size=box_size,
    )
    table = CONTRAST.view(state, None)
    assert (table.scores, table.pile_size, table.box_size) == (won, pile_size, box_size)


@pytest.mark.parametrize(
    ("choices", "symbol"),
    [
        (("red", "red", "blue"), "red"),
        (("red", "blue", "blue"), "blue"),
        (("red", "yellow", "blue"), None),
        (("red", "red", "red"), None),
        (("red", "red", "blue", "blue"), None),
        (("red", "red", "blue", "green"), "red"),
        (("red", "blue", "blue", "blue"), "blue"),
        (("red", "red", "blue", "blue", "green", "green"), None),
        (("red", "red", "blue", "blue", "blue", "green"), "blue"),
        (("red", "red", "red", "blue", "blue", "blue"), None),
        (("red", "red", "red", "red", "red", "blue"), "red"),
    ],
)
def test_the_symbol_that_most_but_not_all_chose_wins_and_none_in_a_tie(
    choices: tuple[str, ...], symbol: str | None
) -> None:
    assert winning_symbol(choices) == symbol


def test_the_two_symbols_of_a_card_are_different_symbols() -> None:
    assert winning_symbol(("red", "yellow", "yellow")) == "yellow"
    assert winning_symbol(("red", "yellow")) is None


# --- Counting -----------------------------------------------------------------------------------


def test_any_seat_that_has_laid_its_card_may_count_when_one_is_missing() -> None:
    state = laid(new_game(4), "red", "red", None, "blue")
    for seat in (0, 1, 3):
        assert CONTRAST.legal_moves(state, seat) == (Count(),)
        counted, told = CONTRAST.apply(state, seat, Count())
        assert told == (Told(CountdownStarted(by=seat, missing=2)),)
        assert CONTRAST.view(counted, None).countdown == Countdown(by=seat, missing=2)


def test_the_game_waits_for_the_missing_seat_alone_before_and_while_it_is_counted_on() -> None:
    state = laid(new_game(4), "red", "red", None, "blue")
    assert CONTRAST.to_move(state) == (2,)
    assert CONTRAST.to_move(after(state, 0, Count())) == (2,)


def test_no_seat_may_count_while_more_than_one_seat_is_missing() -> None:
    state = laid(new_game(4), "red", "red")
    assert CONTRAST.legal_moves(state, 0) == ()
    assert refused(state, 0, Count()) == "several_missing"


def test_a_seat_that_has_not_laid_its_card_does_not_count() -> None:
    state = laid(new_game(3), "red", "red")
    assert Count() not in CONTRAST.legal_moves(state, 2)
    assert refused(state, 2, Count()) == "card_not_laid"
    assert refused(new_game(3), 0, Count()) == "card_not_laid"


def test_the_countdown_can_be_started_once_a_turn() -> None:
    state = after(laid(new_game(3), "red", "red"), 0, Count())
    for seat in (0, 1):
        assert CONTRAST.legal_moves(state, seat) == ()
        assert refused(state, seat, Count()) == "countdown_running"


def test_the_next_turn_can_be_counted_again() -> None:
    state = turn(new_game(3), "red", "blue", None)
    assert CONTRAST.countdown(state) is None
    state = after(laid(state, "fat", "fat"), 1, Count())
    assert CONTRAST.view(state, 0).countdown == Countdown(by=1, missing=2)


def test_the_countdown_runs_for_three_seconds_unless_the_option_says_otherwise() -> None:
    for options, seconds in (({}, 3), ({"countdown_seconds": 60}, 60)):
        state = laid(new_game(3, **options), "red", "red")
        assert CONTRAST.countdown(state) is None
        assert CONTRAST.countdown(after(state, 0, Count())) == seconds


def test_the_engine_leaves_the_deadline_open() -> None:
    _, told = CONTRAST.apply(laid(new_game(3), "red", "red"), 0, Count())
    assert msgspec.to_builtins(told_event(told, CountdownStarted)) == {
        "type": "countdown_started",
        "by": 0,
        "missing": 2,
        "deadline": None,
    }


def test_the_missing_seat_may_lay_its_card_while_the_countdown_runs() -> None:
    counted = after(laid(new_game(3), "red", "red"), 0, Count())
    assert Choose("red") in CONTRAST.legal_moves(counted, 2)
    state = after(counted, 2, Choose("red"))
    assert state.last_turn == LastTurn(chosen("red", "red", "red"), None, counted_out=None)
    assert CONTRAST.countdown(state) is None
    assert CONTRAST.view(state, 0).countdown is None


def test_nothing_expires_without_a_countdown() -> None:
    for state in (new_game(3), laid(new_game(3), "red", "red")):
        with pytest.raises(IllegalMove) as problem:
            CONTRAST.expire(state)
        assert problem.value.rule == "no_countdown"


def test_a_seat_that_was_counted_out_is_left_out_of_the_turn() -> None:
    state, told = turn_told(new_game(4), "red", "red", None, "blue")
    assert told_event(told, SymbolsRevealed) == SymbolsRevealed(
        choices=chosen("red", "red", None, "blue"),
        winning_symbol="red",
        counted_out=2,
        won=(1, 1, 0, 0),
        pile_size=50,
        box_size=22,
    )
    last_turn = LastTurn(chosen("red", "red", None, "blue"), "red", counted_out=2)
    assert state.last_turn == last_turn
    assert plain(last_turn)["choices"] == [
        {"seat": 0, "symbol": "red"},
        {"seat": 1, "symbol": "red"},
        {"seat": 3, "symbol": "blue"},
    ]
    assert CONTRAST.to_move(state) == (0, 1, 2, 3)


def test_with_three_seats_and_one_counted_out_the_symbol_of_both_others_wins() -> None:
    state = turn(new_game(3), "round", None, "round")
    assert state.last_turn == LastTurn(chosen("round", None, "round"), "round", counted_out=1)
    assert (state.scores, len(state.pile)) == ((1, 0, 1), 46)


def test_with_three_seats_and_one_counted_out_two_different_symbols_are_tied() -> None:
    state = turn(new_game(3), "round", None, "square")
    assert (state.scores, len(state.pile), state.box_size) == ((0, 0, 0), 47, 27)


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_with_more_seats_and_one_counted_out_no_symbol_wins_that_all_others_chose(
    seats: int,
) -> None:
    state = turn(new_game(seats), None, *["round"] * (seats - 1))
    assert state.last_turn is not None
    assert state.last_turn.winning_symbol is None
    assert state.scores == (0,) * seats
    assert state.box_size == TAKEN_OUT[seats] + 1


def test_a_seat_that_was_counted_out_keeps_its_row_and_its_hand() -> None:
    state = turn(new_game(3), "red", None, "blue")
    assert (state.rows[1], state.hands[1]) == (ROW, HAND)
    assert state.rows[0] == ("big-small", "red-yellow")


# --- The end of a turn --------------------------------------------------------------------------


def test_every_seat_with_the_winning_symbol_gets_one_picture_from_the_pile() -> None:
    state = turn(new_game(6), "red", "red", "red", "blue", "blue", "green")
    assert state.scores == (1, 1, 1, 0, 0, 0)
    assert (len(state.pile), state.box_size) == (57, 14)


def test_without_a_winning_symbol_the_top_picture_goes_to_the_box() -> None:
    state = turn(new_game(3), "red", "yellow", "blue")
    assert state.scores == (0, 0, 0)
    assert (len(state.pile), state.box_size) == (47, 27)


@pytest.mark.parametrize("choices", [("red", "red", "blue"), ("red", "yellow", "blue")])
def test_laid_cards_go_to_the_right_and_the_leftmost_ones_to_hand_in_every_case(
    choices: tuple[str, ...],
) -> None:
    state, told = turn_told(new_game(3), *choices)
    assert state.rows[0] == ("big-small", "red-yellow")
    assert sorted(state.hands[0]) == sorted(
        ("blue-green", "heavy-light", "round-square", "fat-thin")
    )
    assert state.rows[2] == ("big-small", "blue-green")
    assert sorted(state.hands[2]) == sorted(
        ("red-yellow", "heavy-light", "round-square", "fat-thin")
    )
    assert told_event(told, RowsRefreshed) == RowsRefreshed(state.rows, state.hands)


def test_in_expert_the_rows_of_three_are_refreshed_alike() -> None:
    state = turn(new_game(3, expert=True), "blue", "heavy", "round")
    assert state.rows[0] == ("big-small", "red-yellow", "blue-green")
    assert sorted(state.hands[0]) == sorted(("heavy-light", "round-square", "fat-thin"))


def test_the_next_turn_begins_at_once_with_the_new_top_picture() -> None:
    state, told = turn_told(new_game(3), "red", "red", "blue")
    table = CONTRAST.view(state, 0)
    assert table.picture == "picture-29"
    assert table.has_chosen == (False, False, False)
    assert table.choice is None
    assert CONTRAST.to_move(state) == (0, 1, 2)
    assert told_event(told, PictureShown) == PictureShown("picture-29", 46)


def test_the_last_card_is_told_before_the_reveal_the_refresh_and_the_next_picture() -> None:
    _, told = turn_told(new_game(3), "red", "red", "blue")
    assert [type(one.everybody) for one in told] == [
        SymbolChosen,
        SymbolsRevealed,
        RowsRefreshed,
        PictureShown,
    ]
    assert told[0].everybody == SymbolChosen(2, None)


def test_the_last_turn_stays_in_view_until_the_next_reveal() -> None:
    state = new_game(3)
    assert CONTRAST.view(state, None).last_turn is None
    state = turn(state, "red", "red", "blue")
    shown = LastTurn(chosen("red", "red", "blue"), "red", None)
    state = laid(state, "fat", "fat")
    assert CONTRAST.view(state, None).last_turn == shown
    state = after(state, 2, Choose("thin"))
    shown = LastTurn(chosen("fat", "fat", "thin"), "fat", None)
    assert CONTRAST.view(state, None).last_turn == shown


# --- The end of the game ------------------------------------------------------------------------


def test_the_game_is_over_as_soon_as_the_pile_is_empty() -> None:
    state = turn(new_game(3, pile_size=2), "red", "red", "blue")
    assert CONTRAST.to_move(state) == ()
    assert outcome(CONTRAST.result(state)) == ((1, 1, 0), (0, 1), "shared")
    table = CONTRAST.view(state, 0)
    assert (table.phase, table.picture, table.pile_size) == ("finished", None, 0)


def test_there_is_no_result_before_the_pile_is_empty() -> None:
    assert CONTRAST.result(turn(new_game(3, pile_size=2), "red", "yellow", "blue")) is None


def test_winners_get_the_pictures_that_the_pile_lacks_from_the_box() -> None:
    state = turn(new_game(6, pile_size=2), *["red"] * 5, "blue")
    assert state.scores == (1, 1, 1, 1, 1, 0)
    assert (len(state.pile), state.box_size) == (0, 14 - 3)
    assert outcome(CONTRAST.result(state)) == ((1, 1, 1, 1, 1, 0), (0, 1, 2, 3, 4), "shared")


def test_the_last_turn_is_refreshed_too_and_shows_no_picture() -> None:
    state, told = turn_told(new_game(3, pile_size=2), "red", "red", "blue")
    assert state.rows[0] == ("big-small", "red-yellow")
    assert [type(one.everybody) for one in told] == [SymbolChosen, SymbolsRevealed, RowsRefreshed]


def test_the_last_turn_can_be_counted_out() -> None:
    state = turn(new_game(3, pile_size=2), "red", "red", None)
    assert outcome(CONTRAST.result(state)) == ((1, 1, 0), (0, 1), "shared")
    assert CONTRAST.countdown(state) is None


def test_most_pictures_win() -> None:
    state = turn(new_game(3, pile_size=4), "red", "red", "blue")
    state = turn(state, "fat", "thin", "thin")
    result = CONTRAST.result(state)
    assert outcome(result) == ((1, 2, 1), (1,), None)
    assert result is not None
    assert (result.ranks, result.best) == ((2, 1, 2), "highest")
    assert result.breakdown == ContrastBreakdown(pictures=(1, 2, 1), points=None, goal=None)


def test_tied_seats_share_the_win() -> None:
    state = turn(new_game(3, pile_size=2), "red", "blue", "red")
    assert outcome(CONTRAST.result(state)) == ((1, 0, 1), (0, 2), "shared")


def test_all_share_the_win_if_no_seat_won_a_picture() -> None:
    state = turn(turn(new_game(3, pile_size=2), *["red"] * 3), *["fat"] * 3)
    assert outcome(CONTRAST.result(state)) == ((0, 0, 0), (0, 1, 2), "shared")


def test_nothing_is_legal_after_the_end() -> None:
    state = turn(new_game(3, pile_size=2), "red", "red", "blue")
    for seat in range(3):
        assert CONTRAST.legal_moves(state, seat) == ()
        assert refused(state, seat, Choose("red")) == "game_over"
        assert refused(state, seat, Count()) == "game_over"
    with pytest.raises(IllegalMove, match="No countdown"):
        CONTRAST.expire(state)


# --- Two players --------------------------------------------------------------------------------


def test_two_score_a_point_together_when_both_choose_the_same_symbol() -> None:
    state, told = turn_told(new_game(2), "red", "red")
    assert told_event(told, SymbolsRevealed) == SymbolsRevealed(
        choices=chosen("red", "red"),
        winning_symbol="red",
        counted_out=None,
        won=(1, 1),
        pile_size=43,
        box_size=30,
    )
    assert CONTRAST.view(state, None).scores == (1, 1)


def test_two_who_choose_differently_lose_the_picture_to_the_box() -> None:
    state = turn(new_game(2), "red", "yellow")
    assert (state.scores, len(state.pile), state.box_size) == ((0, 0), 43, 31)


def test_a_game_of_two_has_44_turns() -> None:
    state, turns = new_game(2), 0
    rng = Random(2)
    while CONTRAST.to_move(state):
        turns += 1
        for seat in (0, 1):
            state = after(state, seat, rng.choice(CONTRAST.legal_moves(state, seat)))
    assert turns == 44


@pytest.mark.parametrize(("points", "winners"), [(21, ()), (22, (0, 1)), (23, (0, 1))])
def test_two_win_together_with_22_points_and_lose_together_with_fewer(
    points: int, winners: tuple[Seat, ...]
) -> None:
    state = new_game(2)
    for number in range(44):
        first, second = CONTRAST.legal_moves(state, 0)[:2]
        state = after(state, 0, first)
        state = after(state, 1, first if number < points else second)
    result = CONTRAST.result(state)
    assert outcome(result) == ((points, points), winners, None)
    assert result is not None
    assert result.ranks == (1, 1)
    assert plain(result.breakdown) == {
        "ruleset": "contrast",
        "pictures": None,
        "points": points,
        "goal": 22,
    }


def test_two_can_reach_the_target_with_the_fewest_pictures() -> None:
    result = CONTRAST.result(played_out(new_game(2, pile_size=22)))
    assert outcome(result) == ((22, 22), (0, 1), None)


def test_the_standing_is_the_scores() -> None:
    state = turn(new_game(3), "red", "red", "blue")
    assert CONTRAST.view(state, None).standing == state.scores == (1, 1, 0)
    state = turn(new_game(2), "red", "red")
    assert CONTRAST.view(state, 1).standing == state.scores == (1, 1)


def test_nothing_can_be_known_of_a_choice_beforehand() -> None:
    state = laid(new_game(3), "red", "red")
    for seat, move in ((2, Choose("red")), (0, Count())):
        assert CONTRAST.preview(CONTRAST.view(state, seat), seat, move) == NothingPreview()


def test_two_do_not_count_each_other_out() -> None:
    state = laid(new_game(2), "red")
    assert CONTRAST.legal_moves(state, 0) == ()
    assert refused(state, 0, Count()) == "no_countdown_with_two_seats"


# --- What a seat cannot know --------------------------------------------------------------------


def middle_of_a_turn() -> State:
    """Three pictures have left the pile, one of them never shown; one seat is still to choose."""
    state = turn(new_game(4), "red", "red", "blue", "green")
    state = turn(state, "fat", "fat", "fat", "fat")
    return laid(state, "big", "big", "round")


def test_redealing_keeps_what_a_seat_has_been_told() -> None:
    state = middle_of_a_turn()
    for reader in (0, 1, 2, 3, None):
        again = CONTRAST.redeal_hidden(state, reader, Random(3))
        assert CONTRAST.view(again, reader) == CONTRAST.view(state, reader)
        assert again.shown == state.shown == ("picture-23", "picture-25")
        assert again.pile[0] == state.pile[0] == "picture-26"


def test_redealing_exchanges_the_pictures_that_were_never_shown() -> None:
    state = middle_of_a_turn()
    assert "picture-24" in state.unshown
    again = CONTRAST.redeal_hidden(state, 0, Random(3))
    assert sorted(again.pile[1:] + again.unshown) == sorted(state.pile[1:] + state.unshown)
    assert set(again.pile[1:]) != set(state.pile[1:])
    assert any(
        "picture-24" in CONTRAST.redeal_hidden(state, 0, Random(seed)).pile for seed in range(20)
    )


def test_redealing_lets_the_others_choose_again_from_their_hands() -> None:
    state = middle_of_a_turn()
    seen: list[set[str | None]] = [set(), set(), set(), set()]
    for seed in range(200):
        again = CONTRAST.redeal_hidden(state, 0, Random(seed))
        for seat, choice in enumerate(again.choices):
            seen[seat].add(choice)
    assert seen[0] == {"big"}
    for seat in (1, 2):
        hand = {symbol for card in state.hands[seat] for symbol in card.split("-")}
        assert seen[seat] == hand
    assert seen[3] == {None}


def test_redealing_does_not_depend_on_what_is_hidden() -> None:
    state = middle_of_a_turn()
    other = CONTRAST.redeal_hidden(state, 0, Random(4))
    assert other != state
    assert CONTRAST.redeal_hidden(state, 0, Random(5)) == CONTRAST.redeal_hidden(
        other, 0, Random(5)
    )


def test_a_redealt_game_can_be_played_to_its_end() -> None:
    state = CONTRAST.redeal_hidden(middle_of_a_turn(), 3, Random(6))
    end = played_out(state)
    assert CONTRAST.result(end) is not None
    assert sorted(end.shown + end.unshown) == sorted(PICTURES)
    assert sum(end.scores) + end.box_size == 74


# --- Options --------------------------------------------------------------------------------------


def test_the_catalogue_names_every_option_with_its_default_and_bounds() -> None:
    assert [
        (option.name, option.type, option.default, option.minimum, option.maximum)
        for option in CONTRAST.options
    ] == [
        ("expert", "boolean", False, None, None),
        ("countdown_seconds", "integer", 3, 1, 86400),
        ("pictures", "strings", None, 16, 74),
    ]
    assert CONTRAST.read_options(3, {}) == Options(
        **{option.name: option.default for option in CONTRAST.options}
    )


@pytest.mark.parametrize("seconds", [1, 86400])
def test_a_countdown_takes_a_second_to_a_day(seconds: int) -> None:
    assert CONTRAST.read_options(3, {"countdown_seconds": seconds}).countdown_seconds == seconds


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"expert": 1}, ("expert",)),
        ({"expert": "true"}, ("expert",)),
        ({"countdown_seconds": 0}, ("countdown_seconds",)),
        ({"countdown_seconds": 86401}, ("countdown_seconds",)),
        ({"countdown_seconds": True}, ("countdown_seconds",)),
        ({"countdown_seconds": 2.5}, ("countdown_seconds",)),
        ({"countdown_seconds": None}, ("countdown_seconds",)),
        ({"pictures": "picture-1"}, ("pictures",)),
        ({"pictures": [*PICTURES[:40], 7]}, ("pictures", 40)),
        ({"picture": ["sea"]}, ("picture",)),
    ],
)
def test_an_option_of_another_type_or_out_of_bounds_is_refused(
    given: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidOptions) as problem:
        CONTRAST.read_options(3, given)
    assert problem.value.path == path


def some_pictures(count: int) -> list[str]:
    return [f"Photo n° {number}" for number in range(count)]


@pytest.mark.parametrize(("seats", "fewest"), [(2, 52), (3, 28), (4, 24), (5, 20), (6, 16)])
def test_pictures_are_two_more_than_are_taken_out_and_for_two_enough_for_the_target(
    seats: int, fewest: int
) -> None:
    for count in (fewest, 74):
        assert CONTRAST.read_options(seats, {"pictures": some_pictures(count)})
    for count in (0, fewest - 1, 75):
        with pytest.raises(InvalidOptions) as problem:
            CONTRAST.read_options(seats, {"pictures": some_pictures(count)})
        assert problem.value.path == ("pictures",)


@pytest.mark.parametrize(
    "picture",
    [
        "sea",
        "Forêt d'automne (2).jpg",
        "海",
        "🦊",
        "x" * 200,
        "https://example.org/sea.jpg",
        "https://example.org:8443/p?id=3&size=big#top",
        "https://example.org",
        "https://example.org/" + "x" * 180,
    ],
)
def test_a_picture_is_a_plain_name_or_an_https_address(picture: str) -> None:
    pictures = [*some_pictures(30), picture]
    assert CONTRAST.read_options(3, {"pictures": pictures}).pictures == tuple(pictures)


@pytest.mark.parametrize(
    "picture",
    [
        "",
        " ",
        " sea",
        "sea ",
        "x" * 201,
        "https://example.org/" + "x" * 181,
        "sea\n",
        "https://example.org/sea.jpg\n",
        "tab\there",
        "zero\u200bwidth",
        "right\u202eleft",
        "lone\ud800surrogate",
        "http://example.org/sea.jpg",
        "HTTP://example.org/sea.jpg",
        "//example.org/sea.jpg",
        "/sea.jpg",
        "..\\sea.jpg",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "https:sea.jpg",
        "https://",
        "https:///sea.jpg",
        "https://me@example.org/sea.jpg",
        "https://me:secret@example.org/sea.jpg",
        "https://example.org/sea and sky.jpg",
        'https://example.org/"onerror=',
        "<script>",
    ],
)
def test_any_other_picture_is_refused_where_it_stands(picture: str) -> None:
    with pytest.raises(InvalidOptions) as problem:
        CONTRAST.read_options(3, {"pictures": [*some_pictures(30), picture]})
    assert problem.value.path == ("pictures", 30)


@pytest.mark.parametrize("twice", ["Photo n° 3", "\u00e9t\u00e9"])
def test_pictures_are_unique(twice: str) -> None:
    pictures = [*some_pictures(30), "e\u0301te\u0301", twice]
    with pytest.raises(InvalidOptions) as problem:
        CONTRAST.read_options(3, {"pictures": pictures})
    assert problem.value.path == ("pictures", 31)


def test_a_game_with_pictures_of_its_own_deals_exactly_those() -> None:
    options = CONTRAST.read_options(6, {"pictures": some_pictures(20)})
    deal = CONTRAST.deal(6, options, Random(7))
    assert (len(deal.box), len(deal.pile)) == (14, 6)
    assert sorted(deal.box + deal.pile) == sorted(some_pictures(20))
    state, _ = CONTRAST.start(6, options, deal)
    assert CONTRAST.view(state, None).picture == deal.pile[0]
    with pytest.raises(InvalidDeal):
        CONTRAST.start(6, Options(), deal)


# --- Values ---------------------------------------------------------------------------------------


def test_a_refused_move_leaves_the_position_as_it_was() -> None:
    state = laid(new_game(3), "red", "red")
    before = msgspec.json.encode(state)
    refused(state, 0, Choose("blue"))
    refused(state, 2, Count())
    assert msgspec.json.encode(state) == before


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_every_picture_and_symbol_card_is_always_somewhere(seats: int) -> None:
    rng = Random(seats)
    state, _ = CONTRAST.start(seats, Options(), CONTRAST.deal(seats, Options(), rng))
    while CONTRAST.to_move(state):
        pictures = state.pile + state.shown + state.unshown
        assert sorted(pictures) == sorted(PICTURES)
        won = state.scores[0] if seats == 2 else sum(state.scores)
        assert len(state.pile) + state.box_size + won == 74
        for row, hand in zip(state.rows, state.hands, strict=True):
            assert sorted(row + hand) == sorted(SYMBOL_CARDS)
        if CONTRAST.countdown(state) is not None and rng.random() < 0.5:
            state, _ = CONTRAST.expire(state)
        else:
            moves = [
                (seat, move) for seat in range(seats) for move in CONTRAST.legal_moves(state, seat)
            ]
            state = after(state, *rng.choice(moves))


def test_a_game_goes_on_from_its_json() -> None:
    state = after(laid(turn(new_game(3), "red", "red", None), "fat", "fat"), 0, Count())
    read = msgspec.json.decode(msgspec.json.encode(state), type=CONTRAST.state_type)
    assert read == state
    assert CONTRAST.expire(read) == CONTRAST.expire(state)


def test_the_order_of_legal_moves_does_not_depend_on_the_order_of_the_hand() -> None:
    state = new_game(3)
    turned = replace(state, hands=tuple(hand[::-1] for hand in state.hands))
    assert CONTRAST.legal_moves(turned, 0) == CONTRAST.legal_moves(state, 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_are_told_in_every_language(language: str) -> None:
    text = rules_text("contrast", language)
    assert text.startswith("# Contrast\n")
    for number in (74, 22, 30, 26, 22, 18, 14, 52):
        assert str(number) in text
