"""House players: what holds at every level in every game, and that careful play pays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import mean
from typing import Any

import msgspec
import pytest

from bench.house import TOGETHER, Timer, measure, play
from engine import mit_list_und_tuecke as mit_list
from engine import parade, tea_time
from engine.cards import Play
from engine.contrast import Choose, Count
from engine.house import CAREFUL, HOUSE_LEVELS, RANDOM, choose
from engine.registry import CAREFUL_PLAYERS, RULESETS, CarefulPlayer
from engine.ruleset import Move, Seat, Table
from tests.engine.play import MOVES_AT_MOST, Case, all_cases, encode

every_case = pytest.mark.parametrize("case", all_cases(), ids=str)
every_level = pytest.mark.parametrize("level", HOUSE_LEVELS)


@dataclass(frozen=True)
class Turn:
    """A position in which the game waits for a seat, and what that seat sees and may do."""

    state: Any
    seat: Seat
    table: Table
    moves: tuple[Move, ...]


@cache
def house_game(case: Case, level: str, seed: int) -> list[tuple[Turn, Move]]:
    """A whole game of house players, each turn with the chosen move. Tests share the games.

    A careful player is asked directly, since `choose` covers its failures up.
    """
    ruleset, rng = case.ruleset, Random(seed)
    state, _ = case.start(case.deal(rng))
    turns: list[tuple[Turn, Move]] = []
    while to_move := ruleset.to_move(state):
        seat = rng.choice(to_move)
        turn = Turn(state, seat, ruleset.view(state, seat), ruleset.legal_moves(state, seat))
        if level == CAREFUL:
            move = CAREFUL_PLAYERS[case.ruleset_id](turn.table, seat, turn.moves, rng)
        else:
            move = choose(ruleset, turn.table, seat, turn.moves, level=level, rng=rng)
        turns.append((turn, move))
        assert len(turns) < MOVES_AT_MOST
        state, _ = ruleset.apply(state, seat, move)
    return turns


def some_turns(case: Case, count: int) -> list[Turn]:
    """Turns of a careful game, the first and the last one among them."""
    turns = [turn for turn, _ in house_game(case, CAREFUL, seed=0)]
    between = Random(0).sample(turns[1:-1], min(count, len(turns) - 2))
    return [turns[0], *between, turns[-1]]


# --- In every game --------------------------------------------------------------------------------


@every_case
@every_level
def test_games_of_the_house_end_and_every_move_is_legal(case: Case, level: str) -> None:
    for seed in range(2):
        turns = house_game(case, level, seed)
        assert all(move in turn.moves for turn, move in turns)
        last, move = turns[-1]
        end, _ = case.ruleset.apply(last.state, last.seat, move)
        assert case.ruleset.result(end) is not None


@every_case
@every_level
def test_a_choice_depends_on_the_seats_own_view_alone(case: Case, level: str) -> None:
    """The view read from its JSON, and that of a redealt position, give the same choice."""
    ruleset, rng = case.ruleset, Random(1)
    for seed, turn in enumerate(some_turns(case, 20)):
        chosen = choose(ruleset, turn.table, turn.seat, turn.moves, level=level, rng=Random(seed))
        redealt = ruleset.redeal_hidden(turn.state, turn.seat, rng)
        moves = ruleset.legal_moves(redealt, turn.seat)
        for table in (turn.table, ruleset.view(redealt, turn.seat)):
            read = msgspec.json.decode(encode(table), type=type(table))
            again = choose(ruleset, read, turn.seat, moves, level=level, rng=Random(seed))
            assert again == chosen


@every_case
@every_level
def test_the_global_random_numbers_are_not_used(case: Case, level: str) -> None:
    random.seed(7)
    before = random.getstate()
    for turn in some_turns(case, 20):
        choose(case.ruleset, turn.table, turn.seat, turn.moves, level=level, rng=Random(1))
    assert random.getstate() == before


@every_case
def test_the_random_player_makes_each_legal_move_equally_often(case: Case) -> None:
    turn = some_turns(case, 0)[0]
    rng, tries = Random(1), 400 * len(turn.moves)
    made = [
        choose(case.ruleset, turn.table, turn.seat, turn.moves, level=RANDOM, rng=rng)
        for _ in range(tries)
    ]
    assert all(300 < made.count(move) < 500 for move in turn.moves)


def test_the_house_never_counts_a_seat_out() -> None:
    for seats in range(3, 7):
        for level in HOUSE_LEVELS:
            for turn, move in house_game(Case("contrast", seats), level, seed=1):
                assert not any(isinstance(one, Count) for one in turn.moves)
                assert isinstance(move, Choose)


# --- When a careful player fails -----------------------------------------------------------------


def raises(table: Table, seat: Seat, moves: Sequence[Move], rng: Random) -> Move:
    raise ZeroDivisionError


def cheats(table: Table, seat: Seat, moves: Sequence[Move], rng: Random) -> Move:
    return Choose("no-such-symbol")


@pytest.mark.parametrize("careful", [raises, cheats])
def test_a_careful_player_that_fails_moves_at_random_and_the_failure_is_logged(
    careful: CarefulPlayer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setitem(CAREFUL_PLAYERS, "parade", careful)
    turn = some_turns(Case("parade", 3), 0)[0]
    ruleset = RULESETS["parade"]
    caplog.clear()
    made = {
        choose(ruleset, turn.table, turn.seat, turn.moves, level=CAREFUL, rng=Random(seed))
        for seed in range(100)
    }
    assert made == set(turn.moves)
    assert len(caplog.records) == 100
    assert "parade" in caplog.records[0].getMessage()


def test_there_is_no_other_level() -> None:
    turn = some_turns(Case("parade", 3), 0)[0]
    with pytest.raises(ValueError, match="no level clever"):
        choose(RULESETS["parade"], turn.table, turn.seat, turn.moves, level="clever", rng=Random(1))


# --- Care pays ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in all_cases()
        if not case.given and (case.ruleset_id, case.seats) not in TOGETHER
    ],
    ids=str,
)
def test_a_careful_player_beats_random_ones(case: Case) -> None:
    measured = measure(case.ruleset, case.seats, games=60)
    assert measured.margin > 3 * measured.margin_error
    assert measured.wins > measured.fair_wins + 2.5 * measured.wins_error


def test_two_careful_players_of_contrast_always_agree() -> None:
    contrast, scores = RULESETS["contrast"], {}
    for level in HOUSE_LEVELS:
        results = [play(contrast, [level, level], seed, Timer()) for seed in range(20)]
        scores[level] = mean(result.scores[0] for result in results)
    assert scores[CAREFUL] == 44
    assert scores[RANDOM] < 11


def test_careful_players_of_contrast_do_not_spoil_each_others_choices() -> None:
    """A symbol wins more often among careful seats than among random ones."""
    for seats in range(3, 7):
        case = Case("contrast", seats)
        assert winning_share(case, CAREFUL) > winning_share(case, RANDOM)


def winning_share(case: Case, level: str) -> float:
    """The share of turns in which a symbol won."""
    tables = [turn.table for seed in range(10) for turn, _ in house_game(case, level, seed)]
    reveals = [
        table.last_turn
        for table in tables
        if table.last_turn is not None and not any(table.has_chosen)
    ]
    return mean(last_turn.winning_symbol is not None for last_turn in reveals)


# --- What careful players do in some positions ----------------------------------------------------


def careful_move(case: Case, state: Any, seat: Seat) -> Move:
    table, moves = case.ruleset.view(state, seat), case.ruleset.legal_moves(state, seat)
    return choose(case.ruleset, table, seat, moves, level=CAREFUL, rng=Random(1))


def test_parade_a_careful_player_collects_no_card_if_it_need_not() -> None:
    state = parade.State(
        phase=parade.Phase.PLAY,
        seat_to_play=0,
        parade=("red-9", "blue-8", "green-10", "grey-9", "orange-8", "purple-10"),
        pile=tuple(card for card in parade.CARDS if card.endswith(("-4", "-5"))),
        hands=(
            ("red-0", "blue-1", "green-2", "grey-1", "orange-7"),
            ("red-1",) * 5,
            ("red-2",) * 5,
        ),
        collections=((), (), ()),
        discards=(None, None, None),
        last_turns_left=None,
    )
    assert careful_move(Case("parade", 3), state, 0) == Play("orange-7")


def test_parade_a_careful_player_keeps_a_majority_and_throws_the_dear_cards_away() -> None:
    state = parade.State(
        phase=parade.Phase.DISCARD,
        seat_to_play=0,
        parade=(),
        pile=(),
        hands=(("red-10", "red-9", "blue-8", "grey-5"), ("green-1",) * 4, ("green-2",) * 4),
        collections=(("red-3",), ("blue-1", "blue-3", "grey-1", "grey-3"), ("blue-2", "grey-2")),
        discards=(None, None, None),
        last_turns_left=0,
    )
    assert careful_move(Case("parade", 3), state, 0) == parade.Discard(("blue-8", "grey-5"))


def test_tea_time_a_careful_player_takes_its_fifth_card_and_lets_none_cancel() -> None:
    state = tea_time.State(
        phase=tea_time.Phase.PLAY,
        layout=tea_time.Layout.ROWS,
        round=5,
        turn_in_round=6,
        turn=0,
        grid=(
            "cat-mirror",
            None,
            "cat-normal",
            None,
            None,
            None,
            None,
            None,
            *[None] * 3,
            "dodo-normal",
        ),
        pile=(),
        alice_holder=1,
        collections=(("cat-normal",) * 4, ("dodo-normal",) * 5),
        out=(),
    )
    assert careful_move(Case("tea-time", 2), state, 0) == tea_time.Pick(("c1",))


def test_contrast_two_careful_players_choose_the_first_symbol_that_both_hold() -> None:
    case = Case("contrast", 2)
    state, _ = case.start(case.deal(Random(1)))
    hands = (("round-square", "big-small", "heavy-light"), ("big-small", "round-square"))
    state = msgspec.structs.replace(state, hands=hands)
    assert careful_move(case, state, 0) == careful_move(case, state, 1) == Choose("big")


def test_contrast_a_careful_player_chooses_a_symbol_that_most_others_hold() -> None:
    case = Case("contrast", 4)
    state, _ = case.start(case.deal(Random(1)))
    hands = (
        ("red-yellow", "big-small", "fat-thin"),
        ("red-yellow", "big-small"),
        ("big-small", "fat-thin"),
        ("big-small", "round-square"),
    )
    state = msgspec.structs.replace(state, hands=hands)
    assert careful_move(case, state, 0) in {Choose("big"), Choose("small")}


def mit_list_state(**members: Any) -> mit_list.State:
    case = Case("mit-list-und-tuecke", 4, (("open_piles", True),))
    state, _ = case.start(case.deal(Random(1)))
    return msgspec.structs.replace(state, **members)


def test_mit_list_a_careful_player_keeps_its_two_largest_piles() -> None:
    winnings = mit_list.Winnings(
        (("red-1",), ("yellow-1", "yellow-2", "yellow-3"), ("blue-1",), ("green-1", "green-2"))
    )
    state = mit_list_state(
        phase=mit_list.Phase.KEEP,
        winnings=(winnings, *[mit_list.Winnings()] * 3),
        choosing=(0,),
        tricks_played=4,
    )
    case = Case("mit-list-und-tuecke", 4)
    assert careful_move(case, state, 0) == mit_list.Keep(("green", "yellow"))


def test_mit_list_a_careful_high_seat_takes_the_colors_that_it_keeps() -> None:
    kept = mit_list.Winnings((("red-1",), ("yellow-1",), (), ()), ("blue-1",), ("red", "yellow"))
    trick = ("blue-14", "red-5", "yellow-6", "blue-2")
    state = mit_list_state(
        phase=mit_list.Phase.TAKE,
        leader=0,
        trick=tuple(mit_list.PlayedCard(seat, card) for seat, card in enumerate(trick)),
        winnings=(kept, *[mit_list.Winnings()] * 3),
        tricks_played=4,
    )
    case = Case("mit-list-und-tuecke", 4)
    assert careful_move(case, state, 0) == mit_list.Take(("red-5", "yellow-6"))
