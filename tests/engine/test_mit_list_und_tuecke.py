"""Mit List und Tücke: every sentence of its sheet that decides something, every ruling."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from engine.cards import CardPlayed, Play
from engine.mit_list_und_tuecke import (
    CARDS,
    COLOR_OF,
    COLORS,
    DECKS,
    AnyMove,
    CardsTaken,
    ColorsKept,
    FaceDown,
    Keep,
    MitListBreakdown,
    MitListCounts,
    MitListDeal,
    MitListPlayPreview,
    MitListRoundScore,
    MitListTakePreview,
    Options,
    Phase,
    Pile,
    PlayedCard,
    RoundScored,
    RoundStarted,
    State,
    Take,
    TrickCompleted,
    Winnings,
    keep,
    receive,
)
from engine.mit_list_und_tuecke import MIT_LIST_UND_TUECKE as GAME
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
from tests.engine.play import outcome, plain

# --- Positions to start from, and short ways to play on ------------------------------------------


def cards(named: str) -> tuple[str, ...]:
    """Cards by colour: ``"red 3 5, blue 1"``."""
    return tuple(
        f"{color}-{value}"
        for part in named.split(",")
        if part.strip()
        for color, *values in [part.split()]
        for value in values
    )


def of_round(*points: int) -> tuple[MitListRoundScore, ...]:
    """A round with these points by seat, whichever cards they come from."""
    return tuple(MitListRoundScore(largest=each, second=1, rest=0, points=each) for each in points)


def position(
    *hands: str,
    leader: Seat = 0,
    won: dict[Seat, str] | None = None,
    kept: dict[Seat, tuple[str, str]] | None = None,
    last_round: bool = False,
    **members: Any,
) -> State:
    """A position before a trick is led, in the first of two rounds, or in the last."""
    seats = len(hands)
    before: list[Winnings] = []
    for seat in range(seats):
        winnings = receive(Winnings(), cards((won or {}).get(seat, "")))
        before.append(keep(winnings, kept[seat]) if kept and seat in kept else winnings)
    dealt = GAME.deal(seats, Options(), Random(5)).rounds[0]
    given: dict[str, Any] = {
        "phase": Phase.PLAY,
        "open_piles": False,
        "round": seats if last_round else seats - 1,
        "dealer": (leader - 1) % seats,
        "leader": leader,
        "hands": tuple(map(cards, hands)),
        "trick": (),
        "tricks_played": 14 - len(cards(hands[0])),
        "winnings": tuple(before),
        "discarded": (),
        "choosing": (),
        "round_scores": (of_round(*[0] * seats),) * (seats - 1 if last_round else seats - 2),
        "later_rounds": () if last_round else (dealt,),
    }
    return State(**(given | members))


def move(state: State, *moves: AnyMove) -> tuple[State, tuple[Event, ...]]:
    """Make these moves for the seats to move; return also the events of the last one for all."""
    told: tuple[Told, ...] = ()
    for one in moves:
        (seat,) = GAME.to_move(state)
        state, told = GAME.apply(state, seat, one)
    return state, tuple(one.everybody for one in told)


def play(state: State, named: str) -> tuple[State, tuple[Event, ...]]:
    """These cards are played in turn."""
    return move(state, *map(Play, cards(named)))


def trick(state: State, named: str, taken: str) -> tuple[State, tuple[Event, ...]]:
    """A whole trick: the cards in the order played, and those that the high seat takes."""
    return move(state, *map(Play, cards(named)), Take(cards(taken)))


def playable(state: State) -> set[str]:
    (seat,) = GAME.to_move(state)
    return {one.card for one in GAME.legal_moves(state, seat) if isinstance(one, Play)}


def refused(state: State, one: AnyMove, seat: Seat | None = None) -> str:
    """The rule code that refuses this move of the seat to move."""
    with pytest.raises(IllegalMove) as problem:
        GAME.apply(state, GAME.to_move(state)[0] if seat is None else seat, one)
    return problem.value.rule


def before(seat: Seat, state: State) -> dict[str, tuple[str, ...]]:
    """The face-up piles before a seat, by colour."""
    piles = zip(COLORS, state.winnings[seat].piles, strict=True)
    return {color: pile for color, pile in piles if pile}


def scored(state: State) -> RoundScored:
    """How the round is scored if it ends now: the next seat cannot play."""
    _, told = GAME.apply(state, 2, Play("green-1"))
    (event,) = (one.everybody for one in told if isinstance(one.everybody, RoundScored))
    return event


def about_to_end(won: dict[Seat, str], kept: dict[Seat, tuple[str, str]] | None = None) -> State:
    """Seat 2 plays green to red and blue, and seat 3 has only yellow."""
    state = position("red 1", "blue 1", "green 1", "yellow 1", won=won, kept=kept)
    state, _ = play(state, "red 1, blue 1")
    return state


FOUR_COLORS = position("red 1 2", "blue 1 2", "green 1 2", "yellow 1, red 9")


# --- The cards and the deal -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "size", "highest"),
    [(4, 56, (14, 14, 14, 14)), (5, 70, (18, 18, 17, 17)), (6, 84, (21, 21, 21, 21))],
)
def test_each_number_of_seats_has_its_own_cards(
    seats: int, size: int, highest: tuple[int, ...]
) -> None:
    expected = {
        f"{color}-{value}"
        for color, last in zip(("red", "yellow", "blue", "green"), highest, strict=True)
        for value in range(1, last + 1)
    }
    assert set(DECKS[seats]) == expected
    assert len(DECKS[seats]) == len(expected) == size


def test_the_catalogue_lists_all_84_cards() -> None:
    assert len(GAME.components) == 84
    assert {component.name for component in GAME.components} == set(DECKS[6])
    assert {(c.kind, c.count) for c in GAME.components} == {("card", 1)}
    card = next(component for component in GAME.components if component.name == "green-21")
    assert (card.color, card.value) == ("green", 21)


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_all_cards_are_dealt_fourteen_to_each_seat_in_each_of_as_many_rounds_as_seats(
    seats: int,
) -> None:
    deal = GAME.deal(seats, Options(), Random(1))
    assert len(deal.rounds) == seats
    for hands in deal.rounds:
        assert [len(hand) for hand in hands] == [14] * seats
        assert {card for hand in hands for card in hand} == set(DECKS[seats])


def test_the_first_dealer_is_chosen_at_random() -> None:
    assert {GAME.deal(5, Options(), Random(seed)).dealer for seed in range(60)} == set(range(5))


def test_the_seat_after_the_dealer_leads_the_first_trick() -> None:
    deal = GAME.deal(4, Options(), Random(1))
    for dealer, leader in [(0, 1), (3, 0)]:
        state, _ = GAME.start(4, Options(), MitListDeal(dealer, deal.rounds))
        assert GAME.to_move(state) == (leader,)
        assert GAME.view(state, None).leader == leader


def test_the_start_tells_each_seat_its_own_hand_and_a_spectator_none() -> None:
    deal = GAME.deal(4, Options(), Random(1))
    _, (told,) = GAME.start(4, Options(), MitListDeal(2, deal.rounds))
    assert told.to(None) == RoundStarted(round=1, dealer=2, leader=3, hand=None)
    for seat in range(4):
        assert told.to(seat) == RoundStarted(1, 2, 3, deal.rounds[0][seat])


@pytest.mark.parametrize("seats", [3, 7])
def test_the_game_is_for_four_to_six(seats: int) -> None:
    with pytest.raises(InvalidSeatCount):
        GAME.check_seats(seats)


def test_piles_are_closed_unless_the_option_opens_them() -> None:
    assert GAME.read_options(4, {}) == Options(open_piles=False)
    assert GAME.read_options(4, {"open_piles": True}) == Options(open_piles=True)
    (option,) = GAME.options
    assert (option.name, option.type, option.default) == ("open_piles", "boolean", False)
    with pytest.raises(InvalidOptions) as problem:
        GAME.read_options(4, {"open_piles": "yes"})
    assert problem.value.path == ("open_piles",)


def swapped(deal: MitListDeal, card: str) -> MitListDeal:
    """The deal with another card in place of one of seat 2 in the second round."""
    hand = (*deal.rounds[1][2][:3], card, *deal.rounds[1][2][4:])
    hands = (*deal.rounds[1][:2], hand, *deal.rounds[1][3:])
    return MitListDeal(deal.dealer, (deal.rounds[0], hands, *deal.rounds[2:]))


DEAL = GAME.deal(4, Options(), Random(8))


@pytest.mark.parametrize(
    ("deal", "path"),
    [
        (MitListDeal(4, DEAL.rounds), ("dealer",)),
        (MitListDeal(-1, DEAL.rounds), ("dealer",)),
        (MitListDeal(0, DEAL.rounds[:3]), ("rounds",)),
        (MitListDeal(0, (*DEAL.rounds, DEAL.rounds[0])), ("rounds",)),
        (MitListDeal(0, (*DEAL.rounds[:3], DEAL.rounds[3][:3])), ("rounds", 3)),
        (
            MitListDeal(0, ((*DEAL.rounds[0][:3], DEAL.rounds[0][3][:13]), *DEAL.rounds[1:])),
            ("rounds", 0, 3),
        ),
        (swapped(DEAL, "red-15"), ("rounds", 1, 2, 3)),
        (swapped(DEAL, "purple-1"), ("rounds", 1, 2, 3)),
        (swapped(DEAL, DEAL.rounds[1][0][0]), ("rounds", 1, 2, 3)),
    ],
)
def test_a_deal_that_no_shuffle_gives_is_refused_with_its_place(
    deal: MitListDeal, path: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidDeal) as problem:
        GAME.start(4, Options(), deal)
    assert problem.value.path == path


# --- Playing to a trick -----------------------------------------------------------------------


def test_the_leader_may_play_any_card_and_its_color_is_led() -> None:
    state = position("red 1, blue 2, green 3, yellow 4", *("red 5 6 7 8",) * 3)
    assert playable(state) == {"red-1", "blue-2", "green-3", "yellow-4"}
    state, told = play(state, "blue 2")
    assert told == (CardPlayed(0, "blue-2"),)
    assert GAME.view(state, None).led_color == "blue"


def test_seats_play_in_clockwise_order_from_the_leader() -> None:
    state = position("red 1", "red 2", "red 3", "red 4", leader=2)
    order: list[Seat] = []
    for card in ("red 3", "red 4", "red 1", "red 2"):
        order += GAME.to_move(state)
        state, _ = play(state, card)
    assert order == [2, 3, 0, 1]


def test_no_seat_must_follow_the_led_color() -> None:
    state, _ = play(position("red 1", "red 2, blue 3", "red 3", "red 4"), "red 1")
    assert playable(state) == {"red-2", "blue-3"}


def test_with_two_colors_on_the_table_any_card_may_be_played() -> None:
    state = position("red 1", "red 2", "blue 3", "red 4, blue 5, green 6, yellow 7")
    state, _ = play(state, "red 1 2, blue 3")
    assert playable(state) == {"red-4", "blue-5", "green-6", "yellow-7"}


def test_a_trick_never_holds_more_than_three_colors() -> None:
    state = position("red 1", "blue 3", "green 3", "red 4, blue 5, green 6, yellow 7")
    state, _ = play(state, "red 1, blue 3, green 3")
    assert playable(state) == {"red-4", "blue-5", "green-6"}
    assert refused(state, Play("yellow-7")) == "fourth_color"


def test_a_fourth_color_only_hand_does_not_end_the_round_before_three_colors_are_played() -> None:
    state = position("red 1", "blue 3", "blue 4", "yellow 7")
    state, _ = play(state, "red 1, blue 3 4")
    assert playable(state) == {"yellow-7"}


def test_a_fourth_color_only_hand_does_not_end_the_round_before_its_turn() -> None:
    hands = ("red 1", "blue 3", "green 4", "red 5", "yellow 7")
    state, told = play(position(*hands), "red 1, blue 3, green 4")
    assert told == (CardPlayed(2, "green-4"),)
    _, told = play(state, "red 5")
    assert [type(event) for event in told] == [CardPlayed, RoundScored, RoundStarted]


# --- The high and the low seat ------------------------------------------------------------------


def completed(*hands: str, leader: Seat = 0) -> State:
    """Each seat plays the one card of its hand."""
    state = position(*hands, leader=leader)
    order = [*range(leader, len(hands)), *range(leader)]
    state, _ = play(state, ", ".join(hands[seat] for seat in order))
    return state


@pytest.mark.parametrize(
    ("hands", "leader", "high", "low"),
    [
        pytest.param(("red 3", "red 9", "blue 12", "red 5"), 0, 1, 2, id="highest of the led"),
        pytest.param(("red 9", "blue 14", "green 4", "red 8"), 0, 0, 2, id="leader is high"),
        pytest.param(("red 9", "blue 14", "green 4", "red 8"), 3, 0, 2, id="leader is not high"),
        pytest.param(("red 1", "red 2", "blue 13", "red 14"), 0, 3, 2, id="only off-colour card"),
        pytest.param(("red 1", "blue 6", "green 6", "red 2"), 0, 3, 1, id="tied: first played"),
        pytest.param(("green 6", "red 2", "red 1", "blue 6"), 1, 1, 3, id="tied: not first seat"),
        pytest.param(("red 1", "blue 1", "red 2", "green 1"), 0, 2, 1, id="low equals led card"),
        pytest.param(("red 5", "red 2", "red 14", "red 1"), 0, 2, None, id="all of the led"),
    ],
)
def test_high_has_the_highest_led_card_and_low_the_lowest_other_card(
    hands: tuple[str, ...], leader: Seat, high: Seat, low: Seat | None
) -> None:
    state = position(*hands, leader=leader)
    order = [*range(leader, 4), *range(leader)]
    state, told = play(state, ", ".join(hands[seat] for seat in order))
    assert told[1:] == (TrickCompleted(high, low),)
    table = GAME.view(state, None)
    assert (table.phase, table.high, table.low) == (Phase.TAKE, high, low)
    assert len(table.trick) == 4
    assert GAME.to_move(state) == (high,)


@pytest.mark.parametrize(("seats", "taken", "choices"), [(4, 2, 6), (5, 3, 10), (6, 3, 20)])
def test_the_high_seat_takes_two_cards_with_four_seats_and_three_with_more(
    seats: int, taken: int, choices: int
) -> None:
    hands = [f"red {value}" for value in range(1, seats)]
    state = completed(*hands, "blue 1")
    moves = GAME.legal_moves(state, seats - 2)
    assert {len(one.cards) for one in moves if isinstance(one, Take)} == {taken}
    assert len(set(moves)) == len(moves) == choices


def test_the_high_seat_may_leave_its_own_card() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4")
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "blue 5, red 3")
    assert before(0, state) == {"red": ("red-3",), "blue": ("blue-5",)}
    assert before(1, state) == {"red": ("red-9",), "blue": ("blue-2",)}


def test_the_low_seat_gets_the_rest_and_leads_the_next_trick() -> None:
    hands = ("red 9 1", "blue 2 1", "red 3 2", "blue 5 4")
    state, told = trick(position(*hands), "red 9, blue 2, red 3, blue 5", "blue 2 5")
    assert told == (CardsTaken(0, ("blue-2", "blue-5")), CardsTaken(1, ("red-9", "red-3")))
    assert before(1, state) == {"red": ("red-9", "red-3")}
    assert GAME.to_move(state) == (1,)
    table = GAME.view(state, None)
    assert (table.leader, table.trick, table.led_color) == (1, (), None)
    assert (table.high, table.low, table.tricks_played) == (None, None, 13)


def test_cards_taken_are_named_in_the_order_played_whatever_order_was_given() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4", leader=2)
    _, told = trick(state, "red 3, blue 5, red 9, blue 2", "red 9, blue 5")
    assert told == (CardsTaken(0, ("blue-5", "red-9")), CardsTaken(1, ("red-3", "blue-2")))


def test_of_a_trick_all_in_one_color_the_rest_is_discarded_and_high_leads() -> None:
    hands = ("red 9 1", "red 2, blue 1", "red 3 4", "red 5 6")
    state, told = trick(position(*hands, won={3: "blue 4"}), "red 9 2 3 5", "red 2 9")
    assert told == (CardsTaken(0, ("red-9", "red-2")), CardsTaken(None, ("red-3", "red-5")))
    assert GAME.to_move(state) == (0,)
    assert before(0, state) == {"red": ("red-9", "red-2")}
    assert [before(seat, state) for seat in (1, 2, 3)] == [{}, {}, {"blue": ("blue-4",)}]
    assert state.discarded == ("red-3", "red-5")


@pytest.mark.parametrize("seats", [5, 6])
def test_with_more_seats_high_takes_three_of_a_one_color_trick_too(seats: int) -> None:
    hands = [f"red {value}" for value in range(1, seats + 1)]
    _, told = move(completed(*hands), Take(("red-1", "red-2", "red-3")))
    assert told[0] == CardsTaken(seats - 1, ("red-1", "red-2", "red-3"))
    assert told[1] == CardsTaken(None, tuple(f"red-{value}" for value in range(4, seats + 1)))


# --- Piles --------------------------------------------------------------------------------------


def test_cards_taken_lie_face_up_in_a_pile_for_each_color() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4", won={0: "red 6, blue 7"})
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 2")
    assert before(0, state) == {"red": ("red-6", "red-9"), "blue": ("blue-7", "blue-2")}


def test_of_several_cards_of_a_color_taken_at_once_the_last_played_is_on_top() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4", leader=1)
    state, _ = trick(state, "blue 2, red 3, blue 5, red 9", "blue 5 2")
    assert GAME.view(state, None).piles[3] == (Pile("blue", "blue-5", None),)
    assert GAME.view(state, None).piles[2] == (Pile("red", "red-9", None),)


PILES = position(
    *("red 1", "red 2", "red 3", "red 4"),
    won={1: "red 5 6 7, blue 8 9, green 10, yellow 11 12", 2: "green 13 14"},
    kept={1: ("blue", "red")},
)


def test_only_the_top_of_a_face_up_pile_is_seen_and_that_there_is_a_face_down_one() -> None:
    for reader in (None, 0, 1, 2, 3):
        table = GAME.view(PILES, reader)
        assert table.piles == (
            (),
            (Pile("red", "red-7", None), Pile("blue", "blue-9", None)),
            (Pile("green", "green-14", None),),
            (),
        )
        nothing, something = FaceDown(any=False, size=None), FaceDown(any=True, size=None)
        assert table.face_down == (nothing, something, nothing, nothing)
        assert table.kept == ((), ("blue", "red"), (), ())


def test_open_piles_show_every_card_face_up_and_how_many_lie_face_down() -> None:
    state = position(
        *("red 1", "red 2", "red 3", "red 4"),
        won={1: "red 5 6 7, blue 8 9, green 10, yellow 11 12"},
        kept={1: ("blue", "red")},
        open_piles=True,
    )
    table = GAME.view(state, None)
    assert table.piles[1] == (
        Pile("red", "red-7", ("red-5", "red-6", "red-7")),
        Pile("blue", "blue-9", ("blue-8", "blue-9")),
    )
    assert table.face_down[0] == FaceDown(any=False, size=0)
    assert table.face_down[1] == FaceDown(any=True, size=3)


def test_a_seat_sees_its_own_hand_and_only_the_size_of_the_others() -> None:
    state, _ = play(position("red 1 2", "blue 3 4", "red 5 6", "red 7 8"), "red 2, blue 3")
    assert [GAME.view(state, seat).hand for seat in (0, 1, None)] == [
        ("red-1",),
        ("blue-4",),
        None,
    ]
    assert GAME.view(state, None).hand_sizes == (1, 1, 2, 2)
    assert GAME.view(state, None).trick == (PlayedCard(0, "red-2"), PlayedCard(1, "blue-3"))


# --- Choosing colours ---------------------------------------------------------------------------


def one_chooses() -> State:
    """Seat 0 is high and has just received its fourth colour; seat 1 is low and leads next."""
    state = position(
        *("red 9 1", "blue 2 1", "red 3 2", "blue 5 4"),
        won={0: "yellow 6 7, green 8", 1: "yellow 1, blue 11"},
    )
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    return state


def both_choose() -> State:
    """Seats 2 (high) and 0 (low) have both received their fourth colour."""
    state = position(
        *("blue 2 1", "red 3 2", "red 9 1", "blue 5 4"),
        leader=1,
        won={2: "yellow 6 7, green 8", 0: "yellow 1, green 11"},
    )
    state, _ = trick(state, "red 3 9, blue 5 2", "red 9, blue 5")
    return state


def test_a_seat_with_all_four_colors_must_choose_at_once() -> None:
    state = one_chooses()
    assert state.phase is Phase.KEEP
    assert GAME.to_move(state) == (0,)
    assert refused(state, Play("blue-1"), seat=1) == "not_your_turn"
    assert refused(state, Play("red-1")) == "wrong_move_type"


def test_a_seat_with_three_colors_does_not_choose() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4", won={0: "yellow 6 7"})
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert set(before(0, state)) == {"red", "yellow", "blue"}
    assert state.phase is Phase.PLAY


def test_any_two_of_the_four_colors_may_be_kept() -> None:
    moves = GAME.legal_moves(one_chooses(), 0)
    assert len(moves) == 6
    assert {frozenset(one.colors) for one in moves if isinstance(one, Keep)} == {
        frozenset((a, b)) for a in COLORS for b in COLORS if a != b
    }


def test_the_cards_of_dropped_colors_go_on_one_face_down_pile() -> None:
    state, told = move(one_chooses(), Keep(("yellow", "blue")))
    assert told == (ColorsKept(0, ("blue", "yellow")),)
    assert before(0, state) == {"yellow": ("yellow-6", "yellow-7"), "blue": ("blue-5",)}
    assert set(state.winnings[0].face_down) == {"red-9", "green-8"}
    assert GAME.view(state, None).face_down[0].any


def test_while_colors_are_chosen_the_trick_is_gone_and_the_leader_is_the_next() -> None:
    table = GAME.view(one_chooses(), None)
    assert (table.phase, table.trick, table.led_color) == (Phase.KEEP, (), None)
    assert (table.high, table.low, table.leader) == (None, None, 1)
    assert table.kept == ((),) * 4


def test_after_the_choice_the_low_seat_leads() -> None:
    state, _ = move(one_chooses(), Keep(("yellow", "blue")))
    assert state.phase is Phase.PLAY
    assert GAME.to_move(state) == (1,)


def test_both_have_their_cards_before_anyone_chooses() -> None:
    state = both_choose()
    assert all(set(before(seat, state)) == set(COLORS) for seat in (0, 2))


def test_where_both_must_choose_the_high_seat_is_first_and_the_next_trick_waits() -> None:
    state = both_choose()
    assert GAME.to_move(state) == (2,)
    assert refused(state, Keep(("red", "blue")), seat=0) == "not_your_turn"
    state, told = move(state, Keep(("red", "blue")))
    assert told == (ColorsKept(2, ("blue", "red")),)
    assert (state.phase, GAME.to_move(state)) == (Phase.KEEP, (0,))
    state, told = move(state, Keep(("green", "yellow")))
    assert told == (ColorsKept(0, ("green", "yellow")),)
    assert (state.phase, GAME.to_move(state)) == (Phase.PLAY, (0,))


def test_the_low_seat_alone_may_have_to_choose() -> None:
    state = position(*("red 9 1", "blue 2 1", "red 3 2", "blue 5 4"), won={1: "yellow 1, green 11"})
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert (state.phase, GAME.to_move(state)) == (Phase.KEEP, (1,))


def test_later_cards_of_dropped_colors_go_face_down_and_of_kept_ones_on_their_piles() -> None:
    state = position(
        *("red 9 1", "blue 2 1", "red 3 2", "green 5 4"),
        won={0: "yellow 6, red 7, blue 8, green 10"},
        kept={0: ("red", "yellow")},
    )
    down = state.winnings[0].face_down
    state, _ = trick(state, "red 9, blue 2, red 3, green 5", "red 3, green 5")
    assert before(0, state) == {"red": ("red-7", "red-3"), "yellow": ("yellow-6",)}
    assert state.winnings[0].face_down == (*down, "green-5")


def test_a_seat_chooses_once_in_a_round() -> None:
    state = position(
        *("red 9 1", "blue 2 1", "green 3 2", "red 5 4"),
        won={0: "yellow 6, red 7, blue 8, green 10"},
        kept={0: ("red", "yellow")},
    )
    state, _ = trick(state, "red 9, blue 2, green 3, red 5", "blue 2, green 3")
    assert state.phase is Phase.PLAY
    assert state.winnings[0].kept == ("red", "yellow")


def test_colors_are_chosen_after_the_last_trick_too_before_the_round_is_scored() -> None:
    state = position("red 9", "blue 2", "red 3", "blue 5", won={0: "yellow 6 7, green 8"})
    state, told = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert (state.phase, state.tricks_played) == (Phase.KEEP, 14)
    assert not any(isinstance(event, RoundScored) for event in told)
    _, told = move(state, Keep(("yellow", "blue")))
    assert [type(event) for event in told] == [ColorsKept, RoundScored, RoundStarted]
    assert isinstance(told[1], RoundScored)
    assert told[1].counts[0] == MitListCounts(largest=2, second=1, rest=2)


# --- The end of a round -------------------------------------------------------------------------


def test_a_round_is_over_after_the_fourteenth_trick() -> None:
    state = position("red 9", "blue 2", "red 3", "blue 5")
    state, told = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert told[2] == RoundScored(
        round=3,
        early=False,
        scores=(1, 1, 0, 0),
        counts=(
            MitListCounts(1, 1, 0),
            MitListCounts(1, 1, 0),
            MitListCounts(0, 0, 0),
            MitListCounts(0, 0, 0),
        ),
    )
    assert told[3] == RoundStarted(round=4, dealer=0, leader=1, hand=None)


def test_a_round_is_not_over_after_the_thirteenth_trick() -> None:
    state = position("red 9 1", "blue 2 1", "red 3 2", "blue 5 4")
    state, _ = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert (state.round, state.tricks_played, state.phase) == (3, 13, Phase.PLAY)


def test_a_seat_with_cards_of_the_fourth_color_only_ends_the_round_at_once() -> None:
    state = position("red 1 2", "blue 3 4", "green 5 6", "yellow 7 8", won={3: "red 4 5, blue 6"})
    state, told = play(state, "red 1, blue 3, green 5")
    assert told == (
        CardPlayed(2, "green-5"),
        RoundScored(
            round=3,
            early=True,
            scores=(0, 0, 0, 2),
            counts=(*(MitListCounts(0, 0, 0),) * 3, MitListCounts(2, 1, 0)),
        ),
        RoundStarted(round=4, dealer=0, leader=1, hand=None),
    )
    assert state.trick == ()


def test_one_playable_card_keeps_the_round_going() -> None:
    state = position("red 1 2", "blue 3 4", "green 5 6", "yellow 7, blue 8")
    state, _ = play(state, "red 1, blue 3, green 5")
    assert playable(state) == {"blue-8"}


def test_the_trick_and_the_hands_at_an_early_end_do_not_count() -> None:
    event = scored(about_to_end({0: "red 5 6, blue 7"}))
    assert event.early
    assert event.counts == (MitListCounts(2, 1, 0), *(MitListCounts(0, 0, 0),) * 3)


def test_the_last_trick_can_remain_unfinished_too() -> None:
    _, told = play(position("red 1", "blue 3", "green 5", "yellow 7"), "red 1, blue 3, green 5")
    assert isinstance(told[1], RoundScored)
    assert told[1].early


def test_an_early_end_does_not_show_the_hand_that_could_not_play() -> None:
    state = position("red 1 2", "blue 3 4", "green 5 6", "yellow 7 8")
    state, _ = play(state, "red 1, blue 3")
    _, told = GAME.apply(state, 2, Play("green-5"))
    for reader in (None, 0, 1, 2):
        ended, dealt = (one.to(reader) for one in told[1:])
        assert "yellow-" not in str(ended)
        assert isinstance(dealt, RoundStarted)
        assert dealt.hand == (None if reader is None else state.later_rounds[0][reader])


def test_a_new_round_begins_with_nothing_before_anyone() -> None:
    state = position(
        *("red 1 2", "blue 3 4", "green 5 6", "yellow 7 8"),
        won={3: "red 4 5, blue 6, green 7, yellow 9"},
        kept={3: ("blue", "red")},
    )
    dealt = state.later_rounds[0]
    state, _ = play(state, "red 1, blue 3, green 5")
    assert state.winnings == (Winnings(),) * 4
    assert (state.hands, state.tricks_played, state.discarded) == (dealt, 0, ())
    assert state.phase is Phase.PLAY


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_the_deal_passes_to_the_next_seat_and_each_seat_deals_once(seats: int) -> None:
    rng = Random(seats)
    state, told = GAME.start(seats, Options(), GAME.deal(seats, Options(), rng))
    events = [one.everybody for one in told]
    while to_move := GAME.to_move(state):
        state, told = GAME.apply(state, to_move[0], rng.choice(GAME.legal_moves(state, to_move[0])))
        events += [one.everybody for one in told]
    rounds = [event for event in events if isinstance(event, RoundStarted)]
    assert [event.round for event in rounds] == list(range(1, seats + 1))
    dealers = [event.dealer for event in rounds]
    assert dealers == [(dealers[0] + step) % seats for step in range(seats)]
    assert [event.leader for event in rounds] == [(dealer + 1) % seats for dealer in dealers]
    assert len([event for event in events if isinstance(event, RoundScored)]) == seats


# --- Points -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("won", "kept", "counts", "score"),
    [
        pytest.param(
            "green 2 3 4 5 6, red 2 3 4 5 6 7, yellow 2 3 4",
            None,
            MitListCounts(6, 5, 3),
            10,
            id="A: three piles, 30 / 3",
        ),
        pytest.param(
            "red 2 3 4 5 6, blue 2 3 4 5, yellow 2 3 4",
            None,
            MitListCounts(5, 4, 3),
            6,
            id="B: 20 / 3, rounded down",
        ),
        pytest.param(
            "blue 2 3 4 5 6 7 8, green 2 3 4 5 6 7 8 9, red 2 3 4, yellow 2",
            ("blue", "green"),
            MitListCounts(8, 7, 4),
            14,
            id="C: four cards face down, 56 / 4",
        ),
        pytest.param(
            "yellow 2 3 4 5 6 7 8, red 2, blue 2",
            None,
            MitListCounts(7, 1, 1),
            7,
            id="D: one of two equal piles is the rest",
        ),
        pytest.param(
            "green 2 3 4, blue 2 3 4 5 6", None, MitListCounts(5, 3, 0), 15, id="E: no rest"
        ),
        pytest.param("green 2 3 4", None, MitListCounts(3, 0, 0), 0, id="one colour only"),
        pytest.param("", None, MitListCounts(0, 0, 0), 0, id="no cards"),
        pytest.param("green 2, blue 2", None, MitListCounts(1, 1, 0), 1, id="two cards"),
        pytest.param(
            "red 2, blue 2, green 2 3 4, yellow 2 3",
            ("red", "blue"),
            MitListCounts(1, 1, 5),
            0,
            id="less than one",
        ),
        pytest.param(
            "red 2, blue 2 3, green 2 3 4 5 6 7, yellow 2",
            ("blue", "red"),
            MitListCounts(2, 1, 7),
            0,
            id="the largest pile is face down",
        ),
    ],
)
def test_points_of_a_round(
    won: str, kept: tuple[str, str] | None, counts: MitListCounts, score: int
) -> None:
    event = scored(about_to_end({1: won}, {1: kept} if kept else None))
    assert event.counts[1] == counts
    assert event.scores[1] == score


def finished(*points: tuple[int, ...]) -> State:
    """A game that is over, with these points of each round."""
    scores = tuple(of_round(*each) for each in points)
    return position(*("", "", "", ""), last_round=True, phase=Phase.FINISHED, round_scores=scores)


def test_the_highest_total_of_all_rounds_wins() -> None:
    state = finished((10, 0, 3, 4), (0, 4, 3, 4), (0, 0, 3, 4), (1, 2, 3, 4))
    result = GAME.result(state)
    assert outcome(result) == ((11, 6, 12, 16), (3,), None)
    assert result is not None
    assert (result.ranks, result.best) == ((3, 4, 2, 1), "highest")


def test_tied_seats_share_the_win() -> None:
    result = GAME.result(finished((5, 0, 3, 4), (0, 9, 3, 4), (4, 0, 3, 1), (0, 0, 0, 0)))
    assert outcome(result) == ((9, 9, 9, 9), (0, 1, 2, 3), "shared")
    result = GAME.result(finished((5, 0, 3, 4), (0, 9, 3, 4), (4, 0, 1, 0), (0, 0, 0, 0)))
    assert outcome(result) == ((9, 9, 7, 8), (0, 1), "shared")
    assert result is not None
    assert result.ranks == (1, 1, 4, 3)


def test_the_breakdown_tells_of_each_round_the_numbers_that_the_points_come_from() -> None:
    first = tuple(
        MitListRoundScore(*line)
        for line in [(6, 5, 3, 10), (5, 4, 3, 6), (8, 7, 4, 14), (7, 1, 1, 7)]
    )
    others = (MitListRoundScore(5, 3, 0, 15), *of_round(0, 0, 0)), of_round(0, 0, 0, 0)
    state = position(
        *("red 1", "blue 1", "green 1", "yellow 1"),
        won={0: "green 3 4, blue 2 3 4 5", 2: "red 3 4 5, blue 7, green 5 6"},
        last_round=True,
        round_scores=(first, *others),
    )
    state, _ = play(state, "red 1, blue 1, green 1")
    result = GAME.result(state)
    last = tuple(
        MitListRoundScore(*line)
        for line in [(4, 2, 0, 8), (0, 0, 0, 0), (3, 2, 1, 6), (0, 0, 0, 0)]
    )
    assert result is not None
    assert result.breakdown == MitListBreakdown((first, *others, last))
    assert result.scores == (33, 6, 20, 7)
    assert plain(result)["breakdown"]["rounds"][0][1] == {
        "largest": 5,
        "second": 4,
        "rest": 3,
        "points": 6,
    }


def test_the_standing_is_the_points_of_the_rounds_that_are_over() -> None:
    state = position("red 1", "blue 1", "green 1", "yellow 1", won={0: "red 2 3, blue 2"})
    state, _ = play(state, "red 1, blue 1")
    assert GAME.view(state, 1).standing == (0, 0, 0, 0)
    state, _ = play(state, "green 1")
    assert GAME.view(state, None).standing == (2, 0, 0, 0)
    state = finished((10, 0, 3, 4), (0, 4, 3, 4))
    assert GAME.view(state, 3).standing == (10, 4, 6, 8)


def test_after_the_last_round_the_game_is_over_and_the_last_piles_stay() -> None:
    state = position(*("red 9", "blue 2", "red 3", "blue 5"), won={2: "green 3 4"}, last_round=True)
    assert GAME.result(state) is None
    state, told = trick(state, "red 9, blue 2, red 3, blue 5", "red 9, blue 5")
    assert isinstance(told[-1], RoundScored)
    assert GAME.to_move(state) == ()
    table = GAME.view(state, None)
    assert (table.phase, table.round, table.rounds) == (Phase.FINISHED, 4, 4)
    assert table.piles[2] == (Pile("green", "green-4", None),)
    assert len(table.round_scores) == 4
    assert GAME.result(state) is not None
    assert refused(state, Play("red-9"), seat=0) == "game_over"
    assert [GAME.legal_moves(state, seat) for seat in range(4)] == [()] * 4


def stuck_at_the_end() -> State:
    """The last round has ended early: seat 3 has yellow only."""
    state = position(
        *("red 1 2", "blue 3, yellow 4", "green 5 6", "yellow 7 8"),
        won={2: "green 3"},
        last_round=True,
    )
    state, _ = play(state, "red 1, blue 3, green 5")
    return state


def test_the_last_round_can_end_early_and_all_cards_stay_as_they_lie() -> None:
    state = stuck_at_the_end()
    assert GAME.to_move(state) == ()
    assert GAME.result(state) is not None
    for reader in (None, 0, 3):
        table = GAME.view(state, reader)
        assert (table.phase, table.led_color) == (Phase.FINISHED, "red")
        assert [played.card for played in table.trick] == ["red-1", "blue-3", "green-5"]
        assert table.hand == (None if reader is None else state.hands[reader])
        assert table.hand_sizes == (1, 1, 1, 2)
        assert table.piles[2] == (Pile("green", "green-3", None),)


# --- Moves that are refused -----------------------------------------------------------------------

TAKING = completed("red 9", "blue 2", "red 3", "blue 5")


@pytest.mark.parametrize(
    ("state", "seat", "one", "rule"),
    [
        (FOUR_COLORS, 1, Play("blue-1"), "not_your_turn"),
        (FOUR_COLORS, 0, Take(("red-1", "red-2")), "wrong_move_type"),
        (FOUR_COLORS, 0, Keep(("red", "blue")), "wrong_move_type"),
        (FOUR_COLORS, 0, Play("blue-1"), "card_not_in_hand"),
        (FOUR_COLORS, 0, Play("purple-1"), "card_not_in_hand"),
        (TAKING, 1, Take(("red-9", "blue-2")), "not_your_turn"),
        (TAKING, 0, Play("red-9"), "wrong_move_type"),
        (TAKING, 0, Take(("red-9",)), "wrong_card_count"),
        (TAKING, 0, Take(("red-9", "blue-2", "red-3")), "wrong_card_count"),
        (TAKING, 0, Take(()), "wrong_card_count"),
        (TAKING, 0, Take(("red-9", "red-9")), "repeated_card"),
        (TAKING, 0, Take(("red-9", "red-1")), "card_not_in_trick"),
        (one_chooses(), 1, Keep(("red", "blue")), "not_your_turn"),
        (one_chooses(), 0, Take(("red-9", "blue-5")), "wrong_move_type"),
        (one_chooses(), 0, Keep(("red",)), "wrong_color_count"),
        (one_chooses(), 0, Keep(("red", "blue", "green")), "wrong_color_count"),
        (one_chooses(), 0, Keep(("red", "red")), "repeated_color"),
        (one_chooses(), 0, Keep(("red", "purple")), "color_not_available"),
    ],
)
def test_an_illegal_move_is_refused_with_its_rule(
    state: State, seat: Seat, one: AnyMove, rule: str
) -> None:
    assert refused(state, one, seat) == rule


@pytest.mark.parametrize("state", [FOUR_COLORS, TAKING, one_chooses()])
def test_a_move_of_another_game_is_refused(state: State) -> None:
    other: Any = Discard(("red-1", "red-2"))
    assert refused(state, other) == "wrong_move_type"
    assert GAME.preview(GAME.view(state, 0), 0, other) == NothingPreview()


def test_a_set_is_the_same_move_in_any_order() -> None:
    assert Take(("red-9", "blue-2")) == Take(("blue-2", "red-9"))
    assert Keep(("red", "blue")) == Keep(("blue", "red"))


# --- Previews -------------------------------------------------------------------------------------


def test_the_preview_of_a_card_names_high_and_low_only_if_it_completes_the_trick() -> None:
    state = position("red 9, green 1", "blue 2", "red 3", "blue 5")
    shown = GAME.preview(GAME.view(state, 0), 0, Play("green-1"))
    assert shown == MitListPlayPreview("green", None, None)
    state, _ = play(state, "red 9, blue 2")
    shown = GAME.preview(GAME.view(state, 2), 2, Play("red-3"))
    assert shown == MitListPlayPreview("red", None, None)
    state, _ = play(state, "red 3")
    shown = GAME.preview(GAME.view(state, 3), 3, Play("blue-5"))
    assert shown == MitListPlayPreview("red", 0, 1)
    assert plain(shown) == {
        "type": "mit_list_und_tuecke_play",
        "led_color": "red",
        "high": 0,
        "low": 1,
    }


def test_the_preview_of_the_last_card_of_a_one_color_trick_names_no_low_seat() -> None:
    state, _ = play(position("red 9", "red 2", "red 3", "red 5 14"), "red 9 2 3")
    assert GAME.preview(GAME.view(state, 3), 3, Play("red-5")) == MitListPlayPreview("red", 0, None)
    assert GAME.preview(GAME.view(state, 3), 3, Play("red-14")) == MitListPlayPreview(
        "red", 3, None
    )


def test_the_preview_of_a_choice_of_cards_names_who_gets_the_rest() -> None:
    shown = GAME.preview(GAME.view(TAKING, 0), 0, Take(("red-9", "blue-2")))
    assert shown == MitListTakePreview(rest_to=1)
    assert plain(shown) == {"type": "mit_list_und_tuecke_take", "rest_to": 1}
    state = completed("red 9", "red 2", "red 3", "red 5")
    shown = GAME.preview(GAME.view(state, 0), 0, Take(("red-9", "red-2")))
    assert shown == MitListTakePreview(rest_to=None)


def test_nothing_can_be_known_of_a_choice_of_colors() -> None:
    shown = GAME.preview(GAME.view(one_chooses(), 0), 0, Keep(("red", "blue")))
    assert shown == NothingPreview()


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_every_preview_comes_true(seats: int) -> None:
    rng = Random(seats)
    state, _ = GAME.start(seats, Options(), GAME.deal(seats, Options(), rng))
    while to_move := GAME.to_move(state):
        one = rng.choice(GAME.legal_moves(state, to_move[0]))
        foreseen = GAME.preview(GAME.view(state, to_move[0]), to_move[0], one)
        state, told = GAME.apply(state, to_move[0], one)
        for event in (each.everybody for each in told):
            if isinstance(event, TrickCompleted):
                assert isinstance(foreseen, MitListPlayPreview)
                assert (foreseen.high, foreseen.low) == (event.high, event.low)
        if isinstance(one, Take):
            assert isinstance(foreseen, MitListTakePreview)
            assert isinstance(rest := told[1].everybody, CardsTaken)
            assert rest.seat == foreseen.rest_to
        if isinstance(foreseen, MitListPlayPreview) and state.trick:
            assert GAME.view(state, None).led_color == foreseen.led_color


# --- Dealing again what is hidden -----------------------------------------------------------------


def redeals(state: State, seat: Seat | None, times: int = 200) -> list[State]:
    return [GAME.redeal_hidden(state, seat, Random(seed)) for seed in range(times)]


def test_a_redeal_changes_the_other_hands_and_the_rounds_to_come_and_nothing_seen() -> None:
    state, _ = GAME.start(4, Options(), GAME.deal(4, Options(), Random(1)))
    again = GAME.redeal_hidden(state, 2, Random(3))
    assert again.hands[2] == state.hands[2]
    assert GAME.view(again, 2) == GAME.view(state, 2)
    assert all(again.hands[seat] != state.hands[seat] for seat in (0, 1, 3))
    for hands, before_it in zip(again.later_rounds, state.later_rounds, strict=True):
        assert Counter(sum(hands, ())) == Counter(DECKS[4])
        assert all(new != old for new, old in zip(hands, before_it, strict=True))


def test_a_redeal_depends_on_what_the_seat_knows_and_on_the_random_numbers_alone() -> None:
    state, _ = GAME.start(4, Options(), GAME.deal(4, Options(), Random(1)))
    other = GAME.redeal_hidden(state, 2, Random(3))
    assert GAME.redeal_hidden(state, 2, Random(4)) == GAME.redeal_hidden(other, 2, Random(4))


def test_a_redeal_leaves_the_seat_to_move_a_card_that_it_can_play() -> None:
    """All readers know this, since the round would have ended otherwise."""
    state = position("red 1", "blue 3", "green 5", "blue 9", "yellow 7", "yellow 8")
    state, _ = play(state, "red 1, blue 3, green 5")
    for reader in (None, 0, 3, 4):
        for again in redeals(state, reader):
            assert again.hands[3] == ("blue-9",)


def test_after_an_early_end_of_the_game_the_seat_that_could_not_play_still_could_not() -> None:
    state = stuck_at_the_end()
    found = {again.hands for again in redeals(state, 0)}
    assert {hands[0] for hands in found} == {state.hands[0]}
    assert {frozenset(hands[3]) for hands in found} == {
        frozenset(("yellow-4", "yellow-7")),
        frozenset(("yellow-4", "yellow-8")),
        frozenset(("yellow-7", "yellow-8")),
    }
    assert {again.hands[3] for again in redeals(state, 3)} == {state.hands[3]}


def test_redeals_are_every_deal_that_fits_and_equally_often() -> None:
    hands = ("red 1", "blue 3", "green 5", "blue 9, red 8", "yellow 7 8")
    state, _ = play(position(*hands), "red 1, blue 3, green 5")
    found = Counter(frozenset(again.hands[3]) for again in redeals(state, 0, times=2000))
    every = {
        frozenset((a, b))
        for a in ("blue-9", "red-8", "yellow-7", "yellow-8")
        for b in ("blue-9", "red-8", "yellow-7", "yellow-8")
        if a != b and {a, b} != {"yellow-7", "yellow-8"}
    }
    assert set(found) == every
    assert max(found.values()) < 1.3 * min(found.values())


def test_while_cards_are_taken_any_hand_is_possible() -> None:
    state = position("red 1 2", "blue 3 4", "green 5 6", "red 7, yellow 8")
    state, _ = play(state, "red 1, blue 3, green 5, red 7")
    assert {again.hands[3] for again in redeals(state, 0)} == {
        ("blue-4",),
        ("green-6",),
        ("yellow-8",),
    }


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_in_every_position_every_reader_can_go_on_from_a_redeal(seats: int) -> None:
    rng = Random(seats)
    state, _ = GAME.start(seats, Options(), GAME.deal(seats, Options(), rng))
    while to_move := GAME.to_move(state):
        for reader in (None, rng.randrange(seats)):
            again = GAME.redeal_hidden(state, reader, rng)
            assert GAME.view(again, reader) == GAME.view(state, reader)
            assert GAME.to_move(again) == to_move
            assert GAME.legal_moves(again, to_move[0])
        state, _ = GAME.apply(state, to_move[0], rng.choice(GAME.legal_moves(state, to_move[0])))


# --- Whole games --------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [4, 5, 6])
def test_no_card_is_lost_or_doubled_during_a_round_and_no_trick_has_four_colors(
    seats: int,
) -> None:
    rng = Random(10 + seats)
    state, _ = GAME.start(seats, Options(), GAME.deal(seats, Options(), rng))
    while to_move := GAME.to_move(state):
        on_table = [
            *(card for hand in state.hands for card in hand),
            *(played.card for played in state.trick),
            *(card for won in state.winnings for pile in won.piles for card in pile),
            *(card for won in state.winnings for card in won.face_down),
            *state.discarded,
        ]
        assert sorted(on_table) == sorted(DECKS[seats])
        assert len({COLOR_OF[played.card] for played in state.trick}) <= 3
        state, _ = GAME.apply(state, to_move[0], rng.choice(GAME.legal_moves(state, to_move[0])))
    assert set(CARDS) >= set(DECKS[seats])
