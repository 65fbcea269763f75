"""Parade: the rule sheet, sentence by sentence, on positions made for it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
import pytest

from engine.parade import (
    CARDS,
    COLOR_OF,
    COLORS,
    PARADE,
    VALUE_OF,
    CardDrawn,
    CardPlayed,
    CardsCollected,
    CardsDiscarded,
    Discard,
    HandsLaidDown,
    LastRoundStarted,
    Options,
    ParadeBreakdown,
    ParadeColorScore,
    ParadeDeal,
    ParadePlayPreview,
    Phase,
    Play,
    State,
    apply,
    cards_leaving,
    deal,
    in_order,
    legal_moves,
    majorities,
    preview,
    redeal_hidden,
    result,
    scores,
    start,
    to_move,
    view,
)
from engine.ruleset import (
    Card,
    Event,
    IllegalMove,
    InvalidDeal,
    InvalidOptions,
    InvalidSeatCount,
    NothingPreview,
    Seat,
    Told,
)
from tests.engine.play import outcome, plain, told_to

SEAT_COUNTS = range(2, 7)
NO_OPTIONS = Options()


# --- Positions made for a test ------------------------------------------------------------------


def cards(text: str) -> tuple[Card, ...]:
    """Cards from their names in a row.

    >>> cards("red-7 blue-3")
    ('red-7', 'blue-3')
    """
    return tuple(text.split())


HANDS = (
    cards("red-10 blue-10 purple-10 green-10 grey-10"),
    cards("red-9 blue-9 purple-9 green-9 grey-9"),
    cards("red-8 blue-8 purple-8 green-8 grey-8"),
    cards("red-7 blue-7 purple-7 green-7 grey-7"),
)
"""Hands for up to four seats, out of the way of the cards that a test is about."""

PILE = cards("orange-10 orange-9 orange-8 orange-7")


def in_play(
    hand: str = "",
    *,
    parade: str = "",
    pile: str | None = None,
    seats: int = 2,
    turn: Seat = 0,
    collections: dict[Seat, str] | None = None,
    last_turns_left: int | None = None,
) -> State:
    """A position with seat ``turn`` to play from this hand."""
    hands = list(HANDS[:seats])
    if hand:
        hands[turn] = cards(hand)
    collected = collections or {}
    return State(
        phase=Phase.PLAY if last_turns_left is None else Phase.LAST_ROUND,
        seat_to_play=turn,
        parade=cards(parade),
        pile=PILE if pile is None else cards(pile),
        hands=tuple(hands),
        collections=tuple(cards(collected.get(seat, "")) for seat in range(seats)),
        discards=(None,) * seats,
        last_turns_left=last_turns_left,
    )


def in_discard(*hands: str, collections: tuple[str, ...] = (), parade: str = "") -> State:
    """A position in which no seat has discarded yet."""
    return State(
        phase=Phase.DISCARD,
        seat_to_play=0,
        parade=cards(parade),
        pile=PILE,
        hands=tuple(cards(hand) for hand in hands),
        collections=tuple(cards(collection) for collection in collections) or ((),) * len(hands),
        discards=(None,) * len(hands),
        last_turns_left=0,
    )


def finished(*collections: str) -> State:
    """The end of a game, with these cards in front of the seats."""
    seats = len(collections)
    return State(
        phase=Phase.FINISHED,
        seat_to_play=0,
        parade=cards("red-1 red-2"),
        pile=(),
        hands=((),) * seats,
        collections=tuple(cards(collection) for collection in collections),
        discards=(cards("blue-10 green-10"),) * seats,
        last_turns_left=0,
    )


@dataclass(frozen=True)
class Turn:
    """A position after a turn, and what was told of it."""

    state: State
    told: tuple[Told, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events for all readers."""
        return told_to(self.told, None)


def played(state: State, card: Card) -> Turn:
    """The seat whose turn it is plays this card."""
    return Turn(*apply(state, state.seat_to_play, Play(card)))


def discarded(state: State, *moves: tuple[Seat, str]) -> Turn:
    """These seats discard, in this order; the events are those of the last one."""
    told: tuple[Told, ...] = ()
    for seat, text in moves:
        state, told = apply(state, seat, Discard(cards(text)))
    return Turn(state, told)


def refusal(state: State, seat: Seat, move: Play | Discard) -> str:
    """The rule that forbids a move, which leaves the position as it was."""
    before, before_json = msgspec.structs.replace(state), msgspec.json.encode(state)
    with pytest.raises(IllegalMove) as refused:
        apply(state, seat, move)
    assert state == before
    assert msgspec.json.encode(state) == before_json
    assert refused.value.detail
    return refused.value.rule


# --- The box, and the deal ----------------------------------------------------------------------


def test_the_box_holds_each_of_six_colors_from_0_to_10_once() -> None:
    assert {(card.color, card.value) for card in PARADE.components} == {
        (color, value)
        for color in ("red", "blue", "purple", "green", "grey", "orange")
        for value in range(11)
    }
    assert len(PARADE.components) == 66
    assert all(card.name == f"{card.color}-{card.value}" for card in PARADE.components)
    assert all((card.kind, card.count) == ("card", 1) for card in PARADE.components)


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_two_to_six_play(seats: int) -> None:
    PARADE.check_seats(seats)


@pytest.mark.parametrize("seats", [0, 1, 7])
def test_no_other_number_of_seats_plays(seats: int) -> None:
    with pytest.raises(InvalidSeatCount, match="Parade is for 2 to 6 seats"):
        PARADE.check_seats(seats)


def test_there_are_no_options() -> None:
    assert PARADE.options == ()
    with pytest.raises(InvalidOptions):
        PARADE.read_options(2, {"open": True})


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_each_seat_is_dealt_five_cards_six_are_the_parade_and_the_rest_the_pile(
    seats: int,
) -> None:
    dealt = deal(seats, NO_OPTIONS, Random(seats))
    assert [len(hand) for hand in dealt.hands] == [5] * seats
    assert len(dealt.parade) == 6
    assert len(dealt.pile) == 66 - 5 * seats - 6
    everything = [*dealt.parade, *dealt.pile, *(card for hand in dealt.hands for card in hand)]
    assert sorted(everything) == sorted(CARDS)


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_any_seat_may_be_dealt_the_first_turn(seats: int) -> None:
    first = {deal(seats, NO_OPTIONS, Random(seed)).first_seat for seed in range(100)}
    assert first == set(range(seats))


def test_any_card_may_be_dealt_anywhere() -> None:
    deals = [deal(2, NO_OPTIONS, Random(seed)) for seed in range(600)]
    assert {dealt.parade[0] for dealt in deals} == set(CARDS)
    assert {dealt.pile[0] for dealt in deals} == set(CARDS)
    assert {dealt.hands[1][0] for dealt in deals} == set(CARDS)


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_a_game_begins_as_dealt_with_the_first_seat_to_play(seats: int) -> None:
    dealt = deal(seats, NO_OPTIONS, Random(7))
    state, told = start(seats, NO_OPTIONS, dealt)
    assert (state.parade, state.pile, state.hands) == (dealt.parade, dealt.pile, dealt.hands)
    assert state.phase is Phase.PLAY
    assert to_move(state) == (dealt.first_seat,)
    assert state.collections == ((),) * seats
    assert told == ()


# --- Deals that are refused ---------------------------------------------------------------------


def deal_json(seats: int = 3) -> dict[str, Any]:
    """A deal in its JSON form, for a test to spoil."""
    json: dict[str, Any] = plain(deal(seats, NO_OPTIONS, Random(1)))
    return json


def refused_path(json: Any, seats: int = 3) -> tuple[str | int, ...]:
    """Where the deal is wrong."""
    with pytest.raises(InvalidDeal) as refused:
        start(seats, NO_OPTIONS, PARADE.read_deal(json))
    assert refused.value.detail.endswith(".")
    return refused.value.path


def test_an_unspoilt_deal_is_accepted() -> None:
    start(3, NO_OPTIONS, PARADE.read_deal(deal_json()))


@pytest.mark.parametrize("first_seat", [-1, 3])
def test_a_deal_whose_first_seat_does_not_play_is_refused(first_seat: int) -> None:
    assert refused_path(deal_json() | {"first_seat": first_seat}) == ("first_seat",)


@pytest.mark.parametrize("seats", [2, 4])
def test_a_deal_for_another_number_of_seats_is_refused(seats: int) -> None:
    json = deal_json(3) | {"first_seat": 0}
    assert refused_path(json, seats) == ("hands",)


def test_a_deal_with_a_hand_of_four_is_refused() -> None:
    json = deal_json()
    json["pile"].append(json["hands"][1].pop())
    assert refused_path(json) == ("hands", 1)


def test_a_deal_with_a_hand_of_six_is_refused() -> None:
    json = deal_json()
    json["hands"][2].append(json["pile"].pop())
    assert refused_path(json) == ("hands", 2)


@pytest.mark.parametrize("source", ["parade", "pile"])
def test_a_deal_with_another_length_of_parade_is_refused(source: str) -> None:
    json = deal_json()
    other = {"parade": "pile", "pile": "parade"}[source]
    json[other].append(json[source].pop())
    assert refused_path(json) == ("parade",)


@pytest.mark.parametrize("card", ["red-11", "pink-3", "red-07", "", "7", "red--1"])
def test_a_deal_with_an_unknown_card_is_refused(card: str) -> None:
    json = deal_json()
    json["hands"][2][3] = card
    assert refused_path(json) == ("hands", 2, 3)


def test_a_deal_with_a_card_twice_is_refused_where_it_occurs_again() -> None:
    json = deal_json()
    json["pile"][4] = json["parade"][0]
    assert refused_path(json) == ("pile", 4)


def test_a_deal_with_a_card_twice_in_a_hand_is_refused() -> None:
    json = deal_json()
    json["hands"][0][4] = json["hands"][0][1]
    assert refused_path(json) == ("hands", 0, 4)


def test_a_deal_with_a_card_missing_is_refused() -> None:
    json = deal_json()
    json["pile"].pop()
    assert refused_path(json) == ("pile",)


def test_a_deal_with_a_member_missing_is_refused() -> None:
    json = deal_json()
    del json["pile"]
    assert refused_path(json) == ("pile",)


def test_a_deal_with_an_unknown_member_is_refused() -> None:
    assert refused_path(deal_json() | {"discards": []}) == ("discards",)


def test_a_deal_with_a_number_for_a_card_is_refused() -> None:
    json = deal_json()
    json["hands"][1][2] = 7
    assert refused_path(json) == ("hands", 1, 2)


def test_a_deal_with_a_word_for_a_seat_is_refused() -> None:
    assert refused_path(deal_json() | {"first_seat": "two"}) == ("first_seat",)


@pytest.mark.parametrize("json", [None, [], "deal", 3])
def test_a_deal_that_is_no_object_is_refused(json: Any) -> None:
    assert refused_path(json) == ()


# --- Whose turn it is ---------------------------------------------------------------------------


@pytest.mark.parametrize("turn", range(4))
def test_the_next_seat_clockwise_is_next(turn: Seat) -> None:
    after = played(in_play("red-5 blue-5", seats=4, turn=turn), "red-5").state
    assert to_move(after) == ((turn + 1) % 4,)


def test_only_the_seat_whose_turn_it_is_has_moves() -> None:
    state = in_play("red-5 blue-1 blue-0", seats=3, turn=1)
    assert legal_moves(state, 0) == ()
    assert legal_moves(state, 1) == (Play("red-5"), Play("blue-0"), Play("blue-1"))
    assert legal_moves(state, 2) == ()


def test_moves_are_listed_by_color_and_value_whatever_the_order_in_the_hand() -> None:
    one = in_play("orange-2 grey-10 grey-2 red-9 green-0")
    other = in_play("green-0 red-9 grey-2 orange-2 grey-10")
    assert legal_moves(one, 0) == legal_moves(other, 0)
    assert [move.card for move in legal_moves(one, 0) if isinstance(move, Play)] == [
        "red-9",
        "green-0",
        "grey-2",
        "grey-10",
        "orange-2",
    ]


# --- A turn: what leaves the parade -------------------------------------------------------------


def test_the_card_played_goes_to_the_end_of_the_parade() -> None:
    after = played(in_play("red-5", parade="blue-9 blue-8"), "red-5").state
    assert after.parade == cards("blue-9 blue-8 red-5")


def test_the_first_card_of_an_empty_parade_takes_nothing() -> None:
    after = played(in_play("red-0"), "red-0").state
    assert after.parade == cards("red-0")
    assert after.collections[0] == ()


def test_the_sheets_example_of_removal() -> None:
    parade = "green-0 red-3 blue-9 green-7 red-1 green-2 blue-2"
    turn = played(in_play("green-3", parade=parade), "green-3")
    assert turn.state.collections[0] == cards("green-0 red-3 green-7")
    assert turn.state.parade == cards("blue-9 red-1 green-2 blue-2 green-3")


def test_nothing_leaves_a_parade_of_fewer_cards_than_the_value_played() -> None:
    assert cards_leaving(cards("red-0 red-1"), "red-3") == ()


def test_nothing_leaves_a_parade_of_as_many_cards_as_the_value_played() -> None:
    assert cards_leaving(cards("red-0 red-1 red-2"), "red-3") == ()


def test_one_card_more_than_the_value_played_may_leave() -> None:
    assert cards_leaving(cards("red-0 red-1 red-2 blue-0"), "red-3") == cards("red-0")


def test_the_card_played_is_not_counted() -> None:
    after = played(in_play("red-3", parade="red-0 red-1 red-2"), "red-3").state
    assert after.parade == cards("red-0 red-1 red-2 red-3")


def test_as_many_cards_as_the_value_played_are_safe_counted_from_the_end() -> None:
    parade = cards("red-0 blue-0 red-1 blue-1 red-2")
    assert cards_leaving(parade, "red-4") == cards("red-0")
    assert cards_leaving(parade, "red-2") == cards("red-0 blue-0 red-1")
    assert cards_leaving(parade, "red-1") == cards("red-0 blue-0 red-1 blue-1")


def test_a_card_of_the_color_played_leaves_whatever_its_value() -> None:
    assert cards_leaving(cards("red-10 blue-9"), "red-1") == cards("red-10")


def test_a_card_of_a_lower_value_leaves_whatever_its_color() -> None:
    assert cards_leaving(cards("blue-1 red-9 red-8"), "green-2") == cards("blue-1")


def test_a_card_of_the_same_value_leaves() -> None:
    assert cards_leaving(cards("blue-2 red-9 red-8"), "green-2") == cards("blue-2")


def test_a_card_of_another_color_and_a_higher_value_stays() -> None:
    assert cards_leaving(cards("blue-3 red-9 red-8"), "green-2") == ()


def test_only_cards_in_removal_mode_leave() -> None:
    assert cards_leaving(cards("blue-9 green-1 green-9"), "green-2") == ()


def test_a_0_puts_the_whole_parade_in_removal_mode() -> None:
    parade = cards("blue-0 red-10 green-4 red-1")
    assert cards_leaving(parade, "red-0") == cards("blue-0 red-10 red-1")


def test_a_10_threatens_only_what_is_before_the_last_ten_cards() -> None:
    ten = cards("red-0 red-1 red-2 red-3 red-4 red-5 red-6 red-7 red-8 red-9")
    assert cards_leaving(ten, "red-10") == ()
    assert cards_leaving(("blue-10", *ten), "red-10") == cards("blue-10")


def test_the_card_played_stays_even_a_0() -> None:
    after = played(in_play("red-0", parade="red-9 blue-0"), "red-0").state
    assert after.parade == cards("red-0")
    assert after.collections[0] == cards("red-9 blue-0")


def test_the_parade_closes_up_in_its_order() -> None:
    parade = "blue-9 red-1 green-8 red-2 grey-7 red-3 purple-6 orange-1"
    after = played(in_play("red-1", parade=parade), "red-1").state
    assert after.parade == cards("blue-9 green-8 grey-7 purple-6 orange-1 red-1")


def test_cards_that_leave_join_the_collection_of_the_seat_that_played() -> None:
    state = in_play(
        "red-1", parade="red-9 blue-5", seats=3, turn=1, collections={1: "grey-4", 2: "grey-5"}
    )
    after = played(state, "red-1").state
    assert after.collections == ((), cards("grey-4 red-9"), cards("grey-5"))


def test_a_collection_is_seen_by_all() -> None:
    after = played(in_play("red-1", parade="red-9 blue-5"), "red-1").state
    for reader in (0, 1, None):
        assert view(after, reader).collections == (cards("red-9"), ())


# --- A turn: drawing ----------------------------------------------------------------------------


def test_the_seat_draws_the_piles_first_card_back_to_five() -> None:
    state = in_play("red-1 red-2 red-3 red-4 red-5", parade="blue-9")
    after = played(state, "red-3").state
    assert sorted(after.hands[0]) == sorted(cards("red-1 red-2 red-4 red-5 orange-10"))
    assert after.pile == PILE[1:]


def test_other_hands_do_not_change() -> None:
    state = in_play("red-1 red-2", parade="blue-9", seats=4, turn=2)
    after = played(state, "red-1").state
    assert [after.hands[seat] for seat in (0, 1, 3)] == [HANDS[seat] for seat in (0, 1, 3)]


def test_a_turn_tells_of_the_card_what_it_took_and_the_draw_in_this_order() -> None:
    turn = played(in_play("red-1", parade="red-9 blue-5"), "red-1")
    assert turn.events == (
        CardPlayed(0, "red-1"),
        CardsCollected(0, cards("red-9")),
        CardDrawn(0, None, 3),
    )


def test_a_turn_that_takes_nothing_tells_of_nothing_taken() -> None:
    turn = played(in_play("red-5", parade="red-9"), "red-5")
    assert turn.events == (CardPlayed(0, "red-5"), CardDrawn(0, None, 3))


def test_the_card_drawn_is_told_to_the_seat_that_drew_it_alone() -> None:
    told = played(in_play("red-5", seats=3, turn=1), "red-5").told
    assert told_to(told, 1)[-1] == CardDrawn(1, "orange-10", 3)
    for other in (0, 2, None):
        assert told_to(told, other)[-1] == CardDrawn(1, None, 3)


# --- The last round: when it begins -------------------------------------------------------------

FIVE_COLORS = "red-3 blue-3 purple-3 green-3 grey-3"


def test_the_last_round_begins_with_a_collection_of_six_colors() -> None:
    state = in_play("orange-1", parade="orange-6 blue-9", collections={0: FIVE_COLORS})
    turn = played(state, "orange-1")
    assert turn.state.phase is Phase.LAST_ROUND
    assert turn.events[-1] == LastRoundStarted(0, "colors")


def test_the_turn_that_completes_six_colors_draws_as_usual() -> None:
    state = in_play(
        "orange-1 red-1 red-2 red-4 red-5", parade="orange-6 blue-9", collections={0: FIVE_COLORS}
    )
    turn = played(state, "orange-1")
    assert len(turn.state.hands[0]) == 5
    assert turn.events[-2:] == (CardDrawn(0, None, 3), LastRoundStarted(0, "colors"))


def test_six_colors_taken_in_one_turn_begin_the_last_round() -> None:
    state = in_play("red-3", parade=f"{FIVE_COLORS} orange-3 blue-9 blue-8 blue-7")
    assert played(state, "red-3").events[-1] == LastRoundStarted(0, "colors")


def test_five_colors_do_not_begin_the_last_round() -> None:
    state = in_play("grey-1", parade="grey-6 blue-9", collections={0: FIVE_COLORS})
    turn = played(state, "grey-1")
    assert turn.state.phase is Phase.PLAY
    assert turn.state.last_turns_left is None


def test_six_colors_among_two_collections_do_not_begin_the_last_round() -> None:
    state = in_play(
        "orange-1",
        parade="orange-6 blue-9",
        collections={0: "red-3 blue-3", 1: "purple-3 green-3 grey-3"},
    )
    assert played(state, "orange-1").state.phase is Phase.PLAY


def test_a_color_in_hand_or_in_the_parade_does_not_count_as_collected() -> None:
    state = in_play("orange-1 orange-2", parade="orange-6", collections={0: FIVE_COLORS})
    assert played(state, "orange-1").state.phase is Phase.PLAY


def test_the_last_round_begins_with_an_empty_pile() -> None:
    turn = played(in_play("red-5 red-6", pile="orange-1"), "red-5")
    assert turn.state.phase is Phase.LAST_ROUND
    assert turn.state.hands[0] == cards("red-6 orange-1")
    assert turn.events[-2:] == (CardDrawn(0, None, 0), LastRoundStarted(0, "pile"))


def test_one_card_left_in_the_pile_does_not_begin_the_last_round() -> None:
    assert played(in_play("red-5", pile="orange-1 orange-2"), "red-5").state.phase is Phase.PLAY


def test_six_colors_and_an_empty_pile_at_once_begin_one_last_round() -> None:
    state = in_play(
        "orange-1", parade="orange-6 blue-9", pile="red-0", collections={0: FIVE_COLORS}
    )
    turn = played(state, "orange-1")
    assert [event for event in turn.events if isinstance(event, LastRoundStarted)] == [
        LastRoundStarted(0, "both")
    ]
    assert turn.state.last_turns_left == 2


# --- The last round: how it goes ----------------------------------------------------------------


def play_last_round(state: State) -> tuple[list[Seat], list[Turn]]:
    """Play the last round with each seat's first card; the seats in order, and their turns."""
    seats, turns = [], []
    while state.phase is Phase.LAST_ROUND:
        seats.append(state.seat_to_play)
        turns.append(played(state, state.hands[state.seat_to_play][0]))
        state = turns[-1].state
    return seats, turns


def test_after_the_piles_last_card_each_seat_plays_once_more_the_drawer_last() -> None:
    state = in_play("red-6 blue-6 red-5 blue-5 red-4", pile="orange-1", seats=4, turn=2)
    seats, turns = play_last_round(played(state, "red-6").state)
    assert seats == [3, 0, 1, 2]
    assert all(not isinstance(event, CardDrawn) for turn in turns for event in turn.events)
    assert [len(hand) for hand in turns[-1].state.hands] == [4, 4, 4, 4]


def test_after_six_colors_each_seat_plays_once_more_without_drawing_from_a_full_pile() -> None:
    state = in_play(
        "orange-1 red-1 red-2 red-4 red-5",
        parade="orange-6 blue-9",
        seats=3,
        collections={0: FIVE_COLORS},
    )
    state = played(state, "orange-1").state
    seats, turns = play_last_round(state)
    assert seats == [1, 2, 0]
    assert [len(hand) for hand in turns[-1].state.hands] == [4, 4, 4]
    assert turns[-1].state.pile == state.pile == PILE[1:]
    assert all(not isinstance(event, CardDrawn) for turn in turns for event in turn.events)


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_every_last_round_has_one_turn_for_each_seat(seats: int) -> None:
    for seed in range(20):
        rng = Random(seed)
        state, _ = start(seats, NO_OPTIONS, deal(seats, NO_OPTIONS, rng))
        while state.phase is Phase.PLAY:
            starter = state.seat_to_play
            state, _ = apply(state, starter, rng.choice(legal_moves(state, starter)))
        order, turns = play_last_round(state)
        assert order == [(starter + turn) % seats for turn in range(1, seats + 1)]
        assert turns[-1].state.phase is Phase.DISCARD
        assert [len(hand) for hand in turns[-1].state.hands] == [4] * seats


def test_the_turns_left_in_the_last_round_are_counted_down_for_all_to_see() -> None:
    state = in_play("red-6", pile="orange-1", seats=3)
    assert view(state, None).last_turns_left is None
    state = played(state, "red-6").state
    counted = [view(state, None).last_turns_left]
    _, turns = play_last_round(state)
    counted += [view(turn.state, None).last_turns_left for turn in turns]
    assert counted == [3, 2, 1, 0]


def test_cards_leave_the_parade_in_the_last_round_as_usual() -> None:
    state = in_play("red-1 red-2", parade="red-9 blue-5", last_turns_left=2)
    turn = played(state, "red-1")
    assert turn.events == (CardPlayed(0, "red-1"), CardsCollected(0, cards("red-9")))


def test_another_seat_completing_six_colors_in_the_last_round_changes_nothing() -> None:
    state = in_play(
        "orange-1 red-1",
        parade="orange-6 blue-9",
        seats=3,
        turn=1,
        collections={1: FIVE_COLORS},
        last_turns_left=2,
    )
    turn = played(state, "orange-1")
    assert {COLOR_OF[card] for card in turn.state.collections[1]} == set(COLORS)
    assert not any(isinstance(event, LastRoundStarted) for event in turn.events)
    assert turn.state.last_turns_left == 1
    assert played(turn.state, turn.state.hands[2][0]).state.phase is Phase.DISCARD


# --- The discard --------------------------------------------------------------------------------

FOUR_EACH = (
    "red-1 blue-1 green-1 grey-1",
    "red-2 blue-2 green-2 grey-2",
    "red-3 blue-3 green-3 grey-3",
)


def test_after_the_last_turn_every_seat_is_to_discard() -> None:
    state = in_play("red-1 red-2", seats=3, turn=2, last_turns_left=1)
    assert to_move(played(state, "red-1").state) == (0, 1, 2)


def test_any_two_of_the_four_cards_may_be_discarded() -> None:
    assert legal_moves(in_discard(*FOUR_EACH), 1) == tuple(
        Discard(cards(pair))
        for pair in (
            "red-2 blue-2",
            "red-2 green-2",
            "red-2 grey-2",
            "blue-2 green-2",
            "blue-2 grey-2",
            "green-2 grey-2",
        )
    )


def test_a_discard_in_either_order_is_the_same_move() -> None:
    one, other = Discard(cards("red-2 blue-2")), Discard(cards("blue-2 red-2"))
    assert one == other
    assert msgspec.json.encode(one) == msgspec.json.encode(other)
    read = msgspec.convert({"type": "discard", "cards": ["red-2", "blue-2"]}, PARADE.move_type)
    assert read == one
    state = in_discard(*FOUR_EACH)
    assert apply(state, 1, one) == apply(state, 1, other)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_seats_discard_in_any_order_with_the_same_outcome(order: tuple[Seat, ...]) -> None:
    pairs = {0: "red-1 blue-1", 1: "red-2 grey-2", 2: "green-3 grey-3"}
    in_seat_order = discarded(in_discard(*FOUR_EACH), *pairs.items())
    turn = discarded(in_discard(*FOUR_EACH), *((seat, pairs[seat]) for seat in order))
    assert turn.state == in_seat_order.state


def test_the_game_waits_for_the_seats_that_have_not_discarded() -> None:
    state = discarded(in_discard(*FOUR_EACH), (1, "red-2 blue-2")).state
    assert to_move(state) == (0, 2)
    assert legal_moves(state, 1) == ()
    assert len(legal_moves(state, 0)) == len(legal_moves(state, 2)) == 6


def test_a_discard_is_told_to_its_owner_and_to_the_others_only_that_it_was_made() -> None:
    told = discarded(in_discard(*FOUR_EACH), (1, "red-2 blue-2")).told
    assert told_to(told, 1) == (CardsDiscarded(1, cards("red-2 blue-2")),)
    for other in (0, 2, None):
        assert told_to(told, other) == (CardsDiscarded(1, None),)


def test_a_discard_is_in_its_owners_view_alone() -> None:
    state = discarded(in_discard(*FOUR_EACH), (1, "red-2 blue-2")).state
    assert view(state, 1).discard == cards("red-2 blue-2")
    for other in (0, 2, None):
        assert view(state, other).discard is None
        assert view(state, other).has_discarded == (False, True, False)


def test_a_seat_that_has_discarded_shows_a_hand_of_two_until_all_have() -> None:
    state = discarded(in_discard(*FOUR_EACH), (1, "red-2 blue-2")).state
    assert view(state, None).hand_sizes == (4, 2, 4)
    assert view(state, 1).hand == cards("green-2 grey-2")
    assert state.collections == ((), (), ())


def test_after_the_last_discard_the_other_two_cards_join_each_collection() -> None:
    state = in_discard(*FOUR_EACH, collections=("orange-1", "", "orange-3"))
    turn = discarded(state, (0, "red-1 blue-1"), (2, "green-3 grey-3"), (1, "red-2 grey-2"))
    assert turn.state.phase is Phase.FINISHED
    assert turn.state.collections == (
        cards("orange-1 green-1 grey-1"),
        cards("blue-2 green-2"),
        cards("orange-3 red-3 blue-3"),
    )
    assert turn.state.hands == ((), (), ())
    assert turn.events == (
        CardsDiscarded(1, None),
        HandsLaidDown((cards("green-1 grey-1"), cards("blue-2 green-2"), cards("red-3 blue-3"))),
    )


def test_hands_are_laid_down_sorted_whatever_the_order_of_drawing() -> None:
    pairs = ((0, "red-1 blue-1"), (1, "red-2 blue-2"))
    drawn_so = in_discard("grey-10 grey-2 red-1 blue-1", "orange-0 purple-9 red-2 blue-2")
    drawn_otherwise = in_discard("blue-1 grey-2 red-1 grey-10", "purple-9 blue-2 orange-0 red-2")
    laid_down = HandsLaidDown((cards("grey-2 grey-10"), cards("purple-9 orange-0")))
    assert discarded(drawn_so, *pairs).events[-1] == laid_down
    assert discarded(drawn_otherwise, *pairs).events[-1] == laid_down


def test_no_discard_is_seen_by_others_after_the_game_either() -> None:
    pairs = ((0, "red-1 blue-1"), (1, "red-2 blue-2"))
    turn = discarded(in_discard(*FOUR_EACH[:2]), *pairs)
    assert view(turn.state, 0).discard == cards("red-1 blue-1")
    assert view(turn.state, 1).discard == cards("red-2 blue-2")
    assert view(turn.state, None).discard is None
    for secret in ("red-2", "blue-2"):
        assert secret not in str(view(turn.state, 0))
        assert secret not in str(view(turn.state, None))


def test_cards_discarded_and_cards_left_in_the_parade_do_not_score() -> None:
    state = in_discard(
        "red-10 red-9 blue-1 green-2",
        "blue-10 blue-9 purple-3 grey-0",
        parade="orange-10 orange-9",
    )
    turn = discarded(state, (0, "red-10 red-9"), (1, "blue-10 blue-9"))
    assert outcome(result(turn.state)) == ((3, 3), (0, 1), "shared")


# --- Illegal moves ------------------------------------------------------------------------------


def test_a_seat_may_not_play_out_of_turn() -> None:
    state = in_play("red-1", seats=3, turn=1)
    assert refusal(state, 0, Play(state.hands[0][0])) == "not_your_turn"
    assert refusal(state, 2, Play("red-1")) == "not_your_turn"


def test_a_seat_may_not_play_out_of_turn_in_the_last_round() -> None:
    state = in_play("red-1", seats=3, turn=1, last_turns_left=2)
    assert refusal(state, 0, Play(state.hands[0][0])) == "not_your_turn"


def test_a_seat_may_not_discard_twice() -> None:
    state = discarded(in_discard(*FOUR_EACH), (1, "red-2 blue-2")).state
    assert refusal(state, 1, Discard(cards("green-2 grey-2"))) == "not_your_turn"
    assert refusal(state, 1, Discard(cards("red-2 blue-2"))) == "not_your_turn"


def test_a_seat_may_not_discard_before_the_last_round_is_over() -> None:
    for last_turns_left in (None, 1):
        state = in_play("red-1 red-2", last_turns_left=last_turns_left)
        assert refusal(state, 0, Discard(cards("red-1 red-2"))) == "wrong_move_type"


def test_a_seat_may_not_play_once_the_last_round_is_over() -> None:
    assert refusal(in_discard(*FOUR_EACH), 0, Play("red-1")) == "wrong_move_type"


@pytest.mark.parametrize("card", ["red-9", "orange-10", "blue-9", "red-11", "pink-1", "", "RED-1"])
def test_a_seat_may_not_play_a_card_that_is_not_in_its_hand(card: Card) -> None:
    assert refusal(in_play("red-1 red-2", parade="blue-9"), 0, Play(card)) == "card_not_in_hand"


@pytest.mark.parametrize("pair", ["red-1 red-2", "red-2 blue-2", "orange-10 red-1", "red-1 x"])
def test_a_seat_may_not_discard_a_card_that_is_not_in_its_hand(pair: str) -> None:
    state = in_discard(*FOUR_EACH)
    assert refusal(state, 0, Discard(cards(pair))) == "card_not_in_hand"


@pytest.mark.parametrize("named", ["", "red-1", "red-1 blue-1 green-1", "red-1 red-1 blue-1"])
def test_a_seat_may_not_discard_another_number_of_cards_than_two(named: str) -> None:
    assert refusal(in_discard(*FOUR_EACH), 0, Discard(cards(named))) == "wrong_card_count"


def test_a_seat_may_not_discard_the_same_card_twice() -> None:
    assert refusal(in_discard(*FOUR_EACH), 0, Discard(cards("red-1 red-1"))) == "repeated_card"


def test_nothing_may_be_played_or_discarded_after_the_game() -> None:
    state = finished("red-1", "blue-1")
    assert to_move(state) == ()
    for seat in (0, 1):
        assert legal_moves(state, seat) == ()
        assert refusal(state, seat, Play("red-1")) == "game_over"
        assert refusal(state, seat, Discard(cards("red-1 blue-1"))) == "game_over"


def test_there_is_no_countdown() -> None:
    assert PARADE.countdown(in_play("red-1")) is None
    with pytest.raises(IllegalMove) as refused:
        PARADE.expire(in_play("red-1"))
    assert refused.value.rule == "no_countdown"


# --- The end ------------------------------------------------------------------------------------

ALICE = (
    "red-10 red-8 red-3 blue-9 blue-7 blue-6 blue-5 blue-0 purple-0 green-4 green-2"
    " grey-7 grey-4 grey-0"
)
HATTER = (
    "red-1 red-0 blue-8 purple-8 purple-7 purple-5 purple-3 grey-9 grey-8 grey-1 orange-10 orange-1"
)
RABBIT = (
    "red-7 red-6 red-5 red-2 blue-4 blue-3 purple-2 purple-1 green-9 green-8 green-7 green-6"
    " grey-10 orange-3 orange-2 orange-0"
)


def test_the_sheets_example_of_scores() -> None:
    ended = result(finished(ALICE, HATTER, RABBIT))
    assert outcome(ended) == ((35, 27, 31), (1,), None)
    assert ended is not None
    assert ended.ranks == (3, 1, 2)
    assert ended.best == "lowest"


@pytest.mark.parametrize(
    ("seat", "cards_in_all", "lines"),
    [
        pytest.param(
            *(0, 14),
            [
                *(("red", 3, False, 21), ("blue", 5, True, 5), ("purple", 1, False, 0)),
                *(("green", 2, False, 6), ("grey", 3, True, 3), ("orange", 0, False, 0)),
            ],
            id="Alice, 35",
        ),
        pytest.param(
            *(1, 12),
            [
                *(("red", 2, False, 1), ("blue", 1, False, 8), ("purple", 4, True, 4)),
                *(("green", 0, False, 0), ("grey", 3, True, 3), ("orange", 2, False, 11)),
            ],
            id="the hatter, 27",
        ),
        pytest.param(
            *(2, 16),
            [
                *(("red", 4, True, 4), ("blue", 2, False, 7), ("purple", 2, False, 3)),
                *(("green", 4, True, 4), ("grey", 1, False, 10), ("orange", 3, True, 3)),
            ],
            id="the rabbit, 31",
        ),
    ],
)
def test_the_sheets_example_of_scores_color_by_color(
    seat: Seat, cards_in_all: int, lines: list[tuple[str, int, bool, int]]
) -> None:
    ended = result(finished(ALICE, HATTER, RABBIT))
    assert ended is not None
    assert isinstance(ended.breakdown, ParadeBreakdown)
    of_seat = ended.breakdown.seats[seat]
    assert of_seat.colors == tuple(ParadeColorScore(*line) for line in lines)
    assert of_seat.cards == cards_in_all


def test_a_breakdown_has_the_members_that_the_front_end_is_promised() -> None:
    ended = plain(result(finished("red-8 blue-1", "red-6 orange-10", "")))
    assert set(ended) == {"scores", "winners", "ranks", "best", "tie_break", "breakdown"}
    assert ended["breakdown"]["ruleset"] == "parade"
    second = ended["breakdown"]["seats"][1]
    assert second["cards"] == 2
    assert second["colors"][0] == {"color": "red", "cards": 1, "has_majority": True, "points": 1}
    assert [each["color"] for each in second["colors"]] == list(COLORS)


def test_no_seat_has_the_majority_in_a_color_that_no_seat_has() -> None:
    for seats in (2, 3):
        ended = result(finished("red-8", *[""] * (seats - 1)))
        assert ended is not None
        assert isinstance(ended.breakdown, ParadeBreakdown)
        for of_seat in ended.breakdown.seats:
            assert not of_seat.colors[1].has_majority


@pytest.mark.parametrize(
    ("collections", "points", "winners"),
    [
        pytest.param(("blue-9 blue-8 blue-7", "blue-1 blue-2"), (24, 3), (1,), id="three to two"),
        pytest.param(("blue-9 blue-8 blue-7", "blue-1"), (3, 1), (1,), id="three to one"),
        pytest.param(("blue-9", ""), (9, 0), (1,), id="one to none"),
        pytest.param(("blue-9 blue-8", ""), (2, 0), (1,), id="two to none"),
        pytest.param(("", "purple-7"), (0, 7), (0,), id="none to one"),
        pytest.param(("red-9 red-8", "red-1"), (17, 1), (1,), id="two to one"),
        pytest.param(("red-9", "red-1"), (9, 1), (1,), id="one each"),
        pytest.param(("red-1", "red-9 red-8 red-7"), (1, 3), (0,), id="one to three"),
    ],
)
def test_with_two_seats_a_majority_takes_two_cards_more(
    collections: tuple[str, ...], points: tuple[int, ...], winners: tuple[Seat, ...]
) -> None:
    assert outcome(result(finished(*collections))) == (points, winners, None)


def test_with_more_seats_one_card_more_is_a_majority() -> None:
    assert scores((cards("red-9 red-8"), cards("red-7"), ())) == (2, 7, 0)
    assert majorities([[9, 8], [7], []]) == [True, False, False]


def test_all_seats_level_with_the_most_cards_turn_them_over() -> None:
    state = finished("red-8 blue-1", "red-6", "red-2 green-0")
    assert outcome(result(state)) == ((2, 1, 2), (1,), None)


def test_a_seat_with_fewer_cards_than_the_most_counts_their_values() -> None:
    assert scores((cards("red-9 red-8"), cards("red-7 red-6"), cards("red-5"))) == (2, 2, 5)


def test_a_turned_over_0_counts_1_and_seats_that_tie_with_nothing_share_the_win() -> None:
    assert outcome(result(finished("red-0", "", ""))) == ((1, 0, 0), (1, 2), "shared")


def test_a_0_that_is_not_turned_over_counts_0() -> None:
    assert scores((cards("red-0"), cards("red-8 red-9"), ())) == (0, 2, 0)


def test_each_color_is_counted_by_itself() -> None:
    collections = (cards("red-9 red-8 blue-5"), cards("red-7 blue-4 blue-3"), ())
    assert scores(collections) == (2 + 5, 7 + 2, 0)


def test_the_lowest_total_wins() -> None:
    state = finished("red-9 red-8", "blue-3", "green-5 grey-6 grey-7")
    assert outcome(result(state)) == ((2, 1, 3), (1,), None)


def test_of_seats_level_in_points_the_one_with_fewer_cards_wins() -> None:
    assert outcome(result(finished("red-5 blue-1", "green-6"))) == ((6, 6), (1,), "fewest_cards")


def test_turned_over_cards_count_for_the_tie_too() -> None:
    state = finished("red-9 red-8 red-7", "blue-10 blue-9 grey-5", "blue-3 orange-0")
    assert outcome(result(state)) == ((3, 3, 4), (0, 1), "shared")
    state = finished("red-9 red-8", "blue-0 blue-1 red-0", "blue-2 orange-10")
    assert outcome(result(state)) == ((2, 2, 3), (0,), "fewest_cards")


def test_seats_level_in_points_and_cards_share_the_win() -> None:
    state = finished("red-9 red-8", "blue-9 blue-8", "green-10 green-9 green-0")
    assert outcome(result(state)) == ((2, 2, 3), (0, 1), "shared")


def test_fewer_cards_do_not_win_against_fewer_points() -> None:
    assert outcome(result(finished("red-0 blue-0 green-0", "grey-1"))) == ((0, 1), (0,), None)


def test_fewer_cards_decide_between_ranks_below_the_winner_too() -> None:
    ended = result(finished("red-3 blue-3", "green-6", "purple-1", "orange-6"))
    assert ended is not None
    assert (ended.scores, ended.ranks) == ((2, 1, 1, 1), (4, 1, 1, 1))
    ended = result(finished("red-9 red-8 red-7", "red-3 blue-1 blue-0", "green-1 red-2", "grey-0"))
    assert ended is not None
    assert (ended.scores, ended.ranks) == ((3, 5, 3, 1), (3, 4, 2, 1))
    assert (ended.winners, ended.tie_break) == ((3,), None)


def test_the_standing_is_the_score_of_the_collections_as_they_are() -> None:
    state = in_play("red-1", seats=3, collections={0: "red-8 blue-1", 1: "red-6", 2: "red-2"})
    assert [view(state, reader).standing for reader in (None, 0, 2)] == [(2, 1, 1)] * 3
    state = in_discard(*FOUR_EACH, collections=("purple-9", "purple-1 purple-2", ""))
    state = discarded(state, (0, "red-1 blue-1"), (1, "red-2 blue-2")).state
    assert view(state, 2).standing == (9, 2, 0)


def test_there_is_no_result_before_the_end() -> None:
    assert result(in_play("red-1")) is None
    assert result(in_play("red-1", last_turns_left=1)) is None
    assert result(in_discard(*FOUR_EACH)) is None


# --- What a seat sees ---------------------------------------------------------------------------


def test_a_seat_sees_its_own_hand_and_the_sizes_of_the_others() -> None:
    state = in_play("red-1 red-2 red-3 red-4", parade="blue-5", seats=3)
    for seat in range(3):
        assert view(state, seat).hand == state.hands[seat]
        assert view(state, seat).hand_sizes == (4, 5, 5)


def test_a_spectator_sees_no_hand() -> None:
    assert view(in_play("red-1"), None).hand is None


def test_no_view_names_a_card_of_another_hand_or_of_the_pile() -> None:
    state = in_play("red-1 red-2 red-3 red-4", parade="blue-5", seats=3)
    for reader in (0, 1, 2, None):
        hidden = {*state.pile}
        hidden.update(*(hand for seat, hand in enumerate(state.hands) if seat != reader))
        shown = str(plain(view(state, reader)))
        assert not [card for card in hidden if f"'{card}'" in shown]


def test_a_view_has_the_members_that_the_front_end_is_promised() -> None:
    state = in_play("red-1 red-2", parade="blue-5 grey-4", collections={1: "red-9"})
    assert plain(view(state, 0)) == {
        "ruleset": "parade",
        "phase": "play",
        "parade": ["blue-5", "grey-4"],
        "collections": [[], ["red-9"]],
        "standing": [0, 9],
        "pile_size": 4,
        "hand_sizes": [2, 5],
        "hand": ["red-1", "red-2"],
        "has_discarded": [False, False],
        "discard": None,
        "last_turns_left": None,
    }


def test_phases_are_named_as_promised() -> None:
    states = [in_play(), in_play(last_turns_left=1), in_discard(*FOUR_EACH), finished("", "")]
    assert [plain(view(state, None))["phase"] for state in states] == [
        "play",
        "last_round",
        "discard",
        "finished",
    ]


@pytest.mark.parametrize(
    ("event", "json"),
    [
        (CardPlayed(1, "red-7"), {"type": "card_played", "seat": 1, "card": "red-7"}),
        (
            CardsCollected(1, cards("red-7 red-8")),
            {"type": "cards_collected", "seat": 1, "cards": ["red-7", "red-8"]},
        ),
        (
            CardDrawn(1, None, 9),
            {"type": "card_drawn", "seat": 1, "card": None, "pile_size": 9},
        ),
        (
            LastRoundStarted(1, "both"),
            {"type": "last_round_started", "seat": 1, "cause": "both"},
        ),
        (CardsDiscarded(1, None), {"type": "cards_discarded", "seat": 1, "cards": None}),
        (
            HandsLaidDown((cards("red-7 red-8"), ())),
            {"type": "hands_laid_down", "cards": [["red-7", "red-8"], []]},
        ),
    ],
)
def test_events_have_the_members_that_the_front_end_is_promised(
    event: Event, json: dict[str, Any]
) -> None:
    assert plain(event) == json


def test_a_preview_of_a_play_shows_the_cards_that_would_leave() -> None:
    state = in_play("green-3", parade="green-0 red-3 blue-9 green-7 red-1 green-2 blue-2")
    shown = preview(view(state, 0), 0, Play("green-3"))
    assert shown == ParadePlayPreview(cards("green-0 red-3 green-7"))
    assert plain(shown) == {"type": "parade_play", "collected": ["green-0", "red-3", "green-7"]}


def test_a_preview_of_a_play_that_takes_nothing_is_empty() -> None:
    state = in_play("green-3", parade="green-0")
    assert preview(view(state, 0), 0, Play("green-3")) == ParadePlayPreview(())


def test_there_is_nothing_to_preview_of_a_discard() -> None:
    state = in_discard(*FOUR_EACH)
    shown = preview(view(state, 0), 0, Discard(cards("red-1 blue-1")))
    assert shown == NothingPreview()
    assert plain(shown) == {"type": "nothing"}


# --- What a seat cannot know --------------------------------------------------------------------


def middle_of_the_discard() -> State:
    """Seats 1 and 2 of three have discarded; some collections and a parade are open."""
    state = in_discard(*FOUR_EACH, collections=("purple-1", "purple-2", ""), parade="purple-5")
    return discarded(state, (1, "red-2 blue-2"), (2, "red-3 grey-3")).state


def hidden_from(state: State, seat: Seat | None) -> list[Card]:
    """The cards of the other hands, the other discards and the pile."""
    others = [other for other in range(len(state.hands)) if other != seat]
    return sorted(
        [
            *state.pile,
            *(card for other in others for card in state.hands[other]),
            *(card for other in others for card in state.discards[other] or ()),
        ]
    )


@pytest.mark.parametrize("seat", [0, 1, 2, None])
def test_a_redeal_keeps_what_a_seat_knows_and_deals_the_same_hidden_cards(
    seat: Seat | None,
) -> None:
    for state in (in_play("red-1", parade="blue-1", seats=3), middle_of_the_discard()):
        redealt = redeal_hidden(state, seat, Random(3))
        assert view(redealt, seat) == view(state, seat)
        assert hidden_from(redealt, seat) == hidden_from(state, seat)
        assert redealt != state


def test_a_redeal_deals_any_hidden_card_to_any_hidden_place() -> None:
    state = middle_of_the_discard()
    redealt = [redeal_hidden(state, 1, Random(seed)) for seed in range(400)]
    hidden = set(hidden_from(state, 1))
    assert {one.pile[0] for one in redealt} == hidden
    assert {one.hands[0][0] for one in redealt} == hidden
    discards = [one.discards[2] or () for one in redealt]
    assert {card for two in discards for card in two} == hidden
    assert all(in_order(two) == two for two in discards)
    assert {one.discards[1] for one in redealt} == {state.discards[1]}


def test_a_redeal_depends_on_what_the_seat_knows_and_on_chance_alone() -> None:
    state = middle_of_the_discard()
    for seat in (0, 1, 2, None):
        same_to_the_seat = redeal_hidden(state, seat, Random(1))
        assert redeal_hidden(state, seat, Random(2)) == redeal_hidden(
            same_to_the_seat, seat, Random(2)
        )


def test_every_card_has_a_color_and_a_value() -> None:
    assert [f"{COLOR_OF[card]}-{VALUE_OF[card]}" for card in CARDS] == list(CARDS)


def test_a_deal_reads_back_from_its_json() -> None:
    dealt = deal(4, NO_OPTIONS, Random(5))
    assert PARADE.read_deal(plain(dealt)) == dealt
    assert msgspec.json.decode(msgspec.json.encode(dealt), type=ParadeDeal) == dealt
