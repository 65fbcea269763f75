"""The laws that hold in every game: one suite over all rulesets, seat counts and options.

The suite takes the rulesets from the registry. A new one needs an entry in
``tests/engine/traits.py``.

A law is tried on every position of a few random games, which most laws share. Slow tests try
some laws on many games more.
"""

from __future__ import annotations

import copy
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest

from engine.registry import RULESETS
from engine.ruleset import (
    AnyRuleset,
    GameResult,
    IllegalMove,
    InvalidDeal,
    InvalidOptions,
    InvalidSeatCount,
    Move,
    NothingPreview,
    Option,
    Seat,
    Table,
    same_decision,
)
from engine.texts import LANGUAGES, rules_text
from tests.engine.digest import digests
from tests.engine.play import (
    Case,
    all_cases,
    component_names,
    encode,
    legal,
    named,
    plain,
    play,
    positions,
    random_game,
    several_games,
    several_positions,
    several_steps,
    strings,
    told_to,
    views,
)
from tests.engine.traits import TRAITS

FEW, SOME, MANY = 600, 3000, 60_000
"""How many moves random games have together, for each case."""

RULE_CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

CASES = all_cases()
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_ruleset = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)

E = TypeVar("E", bound=Exception)


def refused(error: type[E], what: str, call: Callable[..., Any], *given: Any) -> E:
    """The error that a call must raise."""
    try:
        call(*given)
    except error as refusal:
        return refusal
    pytest.fail(f"accepted {what}")


# --- The catalogue ------------------------------------------------------------------------------


@every_ruleset
def test_the_ruleset_has_its_traits(ruleset: AnyRuleset) -> None:
    assert ruleset.id in TRAITS, "tests/engine/traits.py needs an entry"
    assert TRAITS[ruleset.id].secret_moves <= set(ruleset.move_types)


@every_ruleset
def test_a_ruleset_is_registered_under_its_id(ruleset: AnyRuleset) -> None:
    assert RULESETS[ruleset.id] is ruleset
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", ruleset.id)
    assert ruleset.title


@every_ruleset
def test_the_rules_are_written_in_every_language(ruleset: AnyRuleset) -> None:
    for language in LANGUAGES:
        assert rules_text(ruleset.id, language).startswith("# ")


@every_ruleset
def test_apply_shows_a_played_turn(ruleset: AnyRuleset) -> None:
    assert ">>> " in str(ruleset.apply.__doc__)


@every_ruleset
def test_seat_counts_outside_the_bounds_are_refused(ruleset: AnyRuleset) -> None:
    for seats in (ruleset.min_seats, ruleset.max_seats):
        ruleset.check_seats(seats)
    for seats in (ruleset.min_seats - 1, ruleset.max_seats + 1, 0, -1):
        with pytest.raises(InvalidSeatCount):
            ruleset.check_seats(seats)


@every_ruleset
def test_components_are_each_named_once(ruleset: AnyRuleset) -> None:
    names = [component.name for component in ruleset.components]
    assert names
    assert len(set(names)) == len(names)
    assert all(component.count >= 1 for component in ruleset.components)


@every_ruleset
def test_the_catalogue_lists_exactly_the_options_that_there_are(ruleset: AnyRuleset) -> None:
    assert [option.name for option in ruleset.options] == list(
        ruleset.options_type.__struct_fields__
    )


@every_case
def test_options_default_to_what_the_catalogue_says(case: Case) -> None:
    defaults = {option.name: option.default for option in case.ruleset.options}
    assert case.ruleset.read_options(case.seats, {}) == case.ruleset.read_options(
        case.seats, defaults
    )


def wrong_values(option: Option) -> Iterator[Any]:
    """Values that the catalogue rules out."""
    yield {"no": "option"}
    if option.choices is not None:
        yield from ["no-such-choice", 1, True]
    elif isinstance(option.default, bool):
        yield from [1, "true", None]
    elif isinstance(option.default, int):
        yield from ["3", 2.5, True, None]
        yield from [] if option.minimum is None else [option.minimum - 1]
        yield from [] if option.maximum is None else [option.maximum + 1]
    else:
        yield from [1, True, "no-such-value"]


@every_case
def test_options_outside_the_catalogue_are_refused(case: Case) -> None:
    ruleset = case.ruleset
    wrong = [
        {"no_such_option": 1},
        *({option.name: value} for option in ruleset.options for value in wrong_values(option)),
    ]
    for options in wrong:
        refused(InvalidOptions, f"options {options}", ruleset.read_options, case.seats, options)


# --- Deals --------------------------------------------------------------------------------------


@every_case
def test_a_deal_starts_a_game_also_when_read_from_json(case: Case) -> None:
    for seed in range(20):
        dealt = case.deal(Random(seed))
        read = case.ruleset.read_deal(plain(dealt))
        assert read == dealt
        assert encode(read) == encode(dealt)
        assert case.start(read) == case.start(dealt)


@every_case
def test_a_deal_depends_on_the_given_random_numbers_alone(case: Case) -> None:
    random.seed(1)
    one = case.deal(Random(5))
    random.seed(2)
    other = case.deal(Random(5))
    assert encode(one) == encode(other)
    assert len({encode(case.deal(Random(seed))) for seed in range(20)}) == 20


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths to all strings, numbers and nulls in a JSON value."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from leaves(member, (*path, place))
    else:
        yield path


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def spoilt_deals(dealt: Any, seats: int, rng: Random) -> Iterator[tuple[str, Any]]:
    """A deal in JSON with one mistake each time, and what the mistake is."""
    # A deal without its ruleset is accepted: those of earlier records had none.
    places = [path for path in leaves(dealt) if path != ("ruleset",)]
    things = [path for path in places if isinstance(at(dealt, path), str)]
    for path in rng.sample(things, min(25, len(things))):
        thing = at(dealt, path)
        others = sorted({at(dealt, other) for other in things} - {thing})
        *above, place = path
        for wrong in (rng.choice(others), "no-such-thing", "", 7, None, [thing]):
            spoilt = copy.deepcopy(dealt)
            at(spoilt, tuple(above))[place] = wrong
            yield f"{path} is {wrong!r}", spoilt
        spoilt = copy.deepcopy(dealt)
        del at(spoilt, tuple(above))[place]
        yield f"{path} is missing", spoilt
        spoilt = copy.deepcopy(dealt)
        at(spoilt, tuple(above)).insert(int(place), thing)
        yield f"{path} is there twice", spoilt
    for path in (path for path in places if isinstance(at(dealt, path), int)):
        for wrong in (-1, seats, "0", None):
            spoilt = copy.deepcopy(dealt)
            at(spoilt, path[:-1])[path[-1]] = wrong
            yield f"{path} is {wrong!r}", spoilt
    yield "ruleset is that of no game", {**dealt, "ruleset": "no-such-game"}
    for member in dealt.keys() - {"ruleset"}:
        yield f"{member} is missing", {name: dealt[name] for name in dealt if name != member}
        if isinstance(dealt[member], list):
            yield f"{member} is empty", {**dealt, member: []}
    yield "a member is unknown", {**dealt, "no_such_member": []}
    yield "it is null", None
    yield "it is a list", [dealt]


@every_case
def test_a_spoilt_deal_is_refused_with_a_path_into_it(case: Case) -> None:
    for seed in range(5):
        rng = Random(seed)
        for what, spoilt in spoilt_deals(plain(case.deal(rng)), case.seats, rng):
            refusal = refused(
                InvalidDeal,
                f"a deal in which {what}",
                lambda json: case.start(case.ruleset.read_deal(json)),
                spoilt,
            )
            assert refusal.detail, what
            at(spoilt, refusal.path[:-1])  # The last step may name a member that is missing.


# --- Whole games --------------------------------------------------------------------------------


def enough(moves: int) -> Any:
    """Try a law on random games with this many moves, and in a slow test on many more."""
    many = pytest.param(MANY, marks=pytest.mark.slow)
    return pytest.mark.parametrize("moves", [moves, many], ids=["few", "many"])


@every_case
@enough(SOME)
def test_the_game_waits_for_a_seat_until_the_end(case: Case, moves: int) -> None:
    ruleset = case.ruleset
    for game in several_games(case, moves):
        for state in (step.before for step in game):
            to_move = ruleset.to_move(state)
            assert to_move
            assert list(to_move) == sorted(set(to_move))
            assert set(to_move) <= set(range(case.seats))
            assert ruleset.result(state) is None
        check_end(case, game[-1].after)


def check_end(case: Case, end: Any) -> None:
    """No seat is to move or may move, no countdown runs, and there is a result."""
    ruleset = case.ruleset
    assert ruleset.to_move(end) == ()
    assert not any(legal(case, end))
    assert ruleset.countdown(end) is None
    result = ruleset.result(end)
    assert isinstance(result, GameResult)
    assert len(result.scores) == len(result.ranks) == case.seats
    assert list(result.winners) == sorted(set(result.winners))
    assert set(result.winners) <= set(range(case.seats))


@every_case
@enough(SOME)
def test_the_members_of_a_result_agree(case: Case, moves: int) -> None:
    for game in several_games(case, moves):
        end = game[-1].after
        result = case.ruleset.result(end)
        assert result is not None
        check_ranks(result, plays_together=TRAITS[case.ruleset_id].plays_together(case.seats))
        check_breakdown(case, result)
        for table in views(case, end).values():
            assert table.standing == result.scores


def check_ranks(result: GameResult, *, plays_together: bool) -> None:
    """The ranks follow the scores, and the seats of rank 1 win.

    Seats that play together all have rank 1, win or lose, and no tie is broken between them.
    """
    seats = range(len(result.scores))
    if plays_together:
        assert set(result.ranks) == {1}
        assert result.winners in ((), tuple(seats))
        assert result.tie_break is None
        return
    best = (min if result.best == "lowest" else max)(result.scores)
    for one, other in combinations(seats, 2):
        if result.scores[one] != result.scores[other]:
            one_is_better = (result.scores[one] < result.scores[other]) == (result.best == "lowest")
            assert (result.ranks[one] < result.ranks[other]) == one_is_better
    assert all(rank == 1 + sum(each < rank for each in result.ranks) for rank in result.ranks)
    assert result.winners == tuple(seat for seat in seats if result.ranks[seat] == 1)
    assert {result.scores[seat] for seat in result.winners} == {best}
    if result.scores.count(best) == 1:
        assert result.tie_break is None
    else:
        assert (result.tie_break == "shared") == (len(result.winners) > 1)
        assert result.tie_break is not None


def check_breakdown(case: Case, result: GameResult) -> None:
    """The breakdown is that of the ruleset, as JSON has all its members, and adds up."""
    breakdown = result.breakdown
    assert isinstance(breakdown, case.ruleset.breakdown_type)
    json = plain(breakdown)
    assert json["ruleset"] == case.ruleset_id
    assert set(json) == {"ruleset", *type(breakdown).__struct_fields__}
    assert TRAITS[case.ruleset_id].totals(json, case.seats) == list(result.scores)


@every_case
@enough(FEW)
def test_no_component_is_lost_or_made(case: Case, moves: int) -> None:
    inventory = TRAITS[case.ruleset_id].inventory
    in_the_box = Counter({one.name: one.count for one in case.ruleset.components})
    for game in several_games(case, moves):
        at_first = sorted(inventory(game[0].before))
        assert Counter(name for name in at_first if name in in_the_box) <= in_the_box
        assert at_first
        for step in game:
            assert sorted(inventory(step.after)) == at_first


@every_case
@enough(FEW)
def test_every_state_reads_back_from_its_json(case: Case, moves: int) -> None:
    read = msgspec.json.Decoder(case.ruleset.state_type).decode
    for state in several_positions(case, moves):
        written = encode(state)
        again = read(written)
        assert again == state
        assert encode(again) == written


@every_case
@enough(FEW)
def test_a_reader_cannot_tell_a_redealt_position(case: Case, moves: int) -> None:
    """After what it does not see is dealt again, a reader sees and may do the same as before."""
    ruleset, rng = case.ruleset, Random(1)
    for state in several_positions(case, moves):
        for reader in case.readers:
            redealt = ruleset.redeal_hidden(state, reader, rng)
            assert ruleset.view(redealt, reader) == ruleset.view(state, reader)
            assert ruleset.to_move(redealt) == ruleset.to_move(state)
            assert ruleset.countdown(redealt) == ruleset.countdown(state)
            assert ruleset.result(redealt) == ruleset.result(state)
            if reader is not None:
                assert ruleset.legal_moves(redealt, reader) == ruleset.legal_moves(state, reader)


@every_case
def test_a_redealt_position_conserves_the_components_and_reads_back(case: Case) -> None:
    ruleset, rng = case.ruleset, Random(1)
    inventory = TRAITS[case.ruleset_id].inventory
    for state in random_positions(case, 40):
        for reader in case.readers:
            before = encode(state)
            redealt = ruleset.redeal_hidden(state, reader, rng)
            assert encode(state) == before
            assert Counter(inventory(redealt)) == Counter(inventory(state))
            assert msgspec.json.decode(encode(redealt), type=ruleset.state_type) == redealt


def random_positions(case: Case, count: int) -> list[Any]:
    """Some positions of several random games, a first and a last one among them."""
    games = [positions(case, seed) for seed in range(5)]
    everything = [state for game in games for state in game[1:-1]]
    some = Random(0).sample(everything, min(count, len(everything)))
    return [games[0][0], *some, games[0][-1]]


# --- Legal and illegal moves --------------------------------------------------------------------


@every_case
def test_every_listed_move_is_accepted_and_listed_once_in_a_fixed_order(case: Case) -> None:
    ruleset = case.ruleset
    for state in several_positions(case, FEW):
        written = encode(state)
        again = msgspec.json.decode(written, type=ruleset.state_type)
        moves_by_seat = legal(case, state)
        assert legal(case, state) == moves_by_seat
        assert legal(case, again) == moves_by_seat
        assert all(moves_by_seat[seat] for seat in ruleset.to_move(state))
        for seat, moves in enumerate(moves_by_seat):
            assert len({encode(move) for move in moves}) == len(set(moves)) == len(moves)
            for move in moves:
                assert msgspec.json.decode(encode(move), type=ruleset.move_type) == move
                after, told = ruleset.apply(state, seat, move)
                assert after != state
                assert told
        assert encode(state) == written


def reorderings(move: Move, rng: Random) -> Iterator[Any]:
    """A move in JSON with the members of its sets in other orders."""
    json = plain(move)
    for name in [name for name, value in json.items() if isinstance(value, list)]:
        for _ in range(3):
            yield {**json, name: rng.sample(json[name], len(json[name]))}


@every_case
def test_a_move_that_names_a_set_is_the_same_in_every_order(case: Case) -> None:
    ruleset, rng = case.ruleset, Random(1)
    for step in several_steps(case, FEW):
        if step.seat is None or step.move is None:
            continue
        for json in reorderings(step.move, rng):
            move = msgspec.convert(json, ruleset.move_type)
            assert move == step.move
            assert encode(move) == encode(step.move)
            assert ruleset.apply(step.before, step.seat, move) == (step.after, step.told)


def variants(json: dict[str, Any], things: list[str], rng: Random) -> Iterator[dict[str, Any]]:
    """A move in JSON with one member changed each time; some are still valid."""
    for name, value in json.items():
        if name == "type":
            continue
        if isinstance(value, list):
            yield {**json, name: []}
            yield {**json, name: value[1:]}
            yield {**json, name: [*value, rng.choice(things)]}
            yield {**json, name: [rng.choice(things), *value[1:]]}
            yield {**json, name: [*value, *value[:1]]}
            yield {**json, name: [*value[1:], *value[1:]]}
            yield {**json, name: ["no-such-thing", *value[1:]]}
            yield {**json, name: ["", *value[1:]]}
        elif isinstance(value, str):
            yield {**json, name: rng.choice(things)}
            yield {**json, name: "no-such-thing"}
            yield {**json, name: ""}


def moves_to_try(case: Case, rng: Random) -> list[Move]:
    """Moves of other games of this ruleset, played and changed ones, of every type."""
    ruleset = case.ruleset
    played = [
        plain(move)
        for seed in (11, 12)
        for state in positions(case, seed)
        for moves in legal(case, state)
        for move in rng.sample(moves, min(3, len(moves)))
    ]
    things = sorted(
        {*component_names(case), *(thing for json in played for thing in strings(json))}
    )
    changed = [
        variant for json in rng.sample(played, 60) for variant in variants(json, things, rng)
    ]
    by_type: dict[str, list[Move]] = {}
    for json in played + changed:
        move = msgspec.convert(json, ruleset.move_type)
        by_type.setdefault(json["type"], []).append(move)
    return [move for moves in by_type.values() for move in rng.sample(moves, min(150, len(moves)))]


def refusal_of(case: Case, state: Any, seat: Seat, move: Move) -> IllegalMove:
    """The error that an illegal move must raise."""
    try:
        case.ruleset.apply(state, seat, move)
    except IllegalMove as refusal:
        return refusal
    pytest.fail(f"accepted {move} of seat {seat} in {encode(state).decode()}")


@every_case
def test_a_move_that_is_not_listed_is_refused_and_changes_nothing(case: Case) -> None:
    ruleset, rng = case.ruleset, Random(1)
    to_try = moves_to_try(case, rng)
    for state in several_positions(case, FEW):
        written = encode(state)
        before = msgspec.json.decode(written, type=ruleset.state_type)
        moves_by_seat = legal(case, state)
        elsewhere = [move for moves in moves_by_seat for move in moves]
        for seat in range(case.seats):
            for move in [*rng.sample(to_try, min(12, len(to_try))), *elsewhere[:12]]:
                if move not in moves_by_seat[seat]:
                    refusal = refusal_of(case, state, seat, move)
                    assert RULE_CODE.fullmatch(refusal.rule)
                    assert refusal.detail.endswith(".")
        assert state == before
        assert encode(state) == written


@every_case
def test_a_countdown_runs_out_only_while_it_runs(case: Case) -> None:
    ruleset = case.ruleset
    for state in several_positions(case, FEW):
        written, countdown = encode(state), ruleset.countdown(state)
        if countdown is None:
            refusal = refused(IllegalMove, "an expiry", ruleset.expire, state)
            assert RULE_CODE.fullmatch(refusal.rule)
        else:
            assert countdown > 0
            after, told = ruleset.expire(state)
            assert after != state
            assert told
        assert encode(state) == written


# --- Replay -------------------------------------------------------------------------------------


@every_case
def test_a_game_read_back_at_every_move_goes_on_with_the_same_bytes(case: Case) -> None:
    for seed in range(3):
        ruleset = case.ruleset
        steps = random_game(case, seed)
        state = msgspec.json.decode(encode(steps[0].before), type=ruleset.state_type)
        for step in steps:
            if step.seat is None:
                state, told = ruleset.expire(state)
            else:
                move = msgspec.json.decode(encode(step.move), type=ruleset.move_type)
                state, told = ruleset.apply(state, step.seat, move)
            assert encode(state) == encode(step.after)
            assert encode(told) == encode(step.told)
            state = msgspec.json.decode(encode(state), type=ruleset.state_type)


@every_case
def test_a_deal_and_its_moves_are_a_whole_game(case: Case) -> None:
    for seed in range(3):
        steps = random_game(case, seed)
        state, _ = case.start(case.deal(Random(seed)))
        for step in steps:
            assert state == step.before
            state, _ = (
                case.ruleset.expire(state)
                if step.seat is None
                else case.ruleset.apply(state, step.seat, step.move)
            )
        assert state == steps[-1].after


def test_games_are_the_same_bytes_in_another_process() -> None:
    """The other process hashes strings differently, so that its sets have another order."""
    root = Path(__file__).parents[2]
    hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    answer = subprocess.run(
        [sys.executable, "-m", "tests.engine.digest"],
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
        capture_output=True,
        check=True,
    )
    assert msgspec.json.decode(answer.stdout) == digests(seed=1)


@every_case
def test_the_global_random_numbers_are_not_used(case: Case) -> None:
    random.seed(7)
    before = random.getstate()
    for state in positions(case, 1):
        for reader in case.readers:
            table = case.ruleset.view(state, reader)
            case.ruleset.redeal_hidden(state, reader, Random(1))
            if reader is not None:
                for move in case.ruleset.legal_moves(state, reader):
                    case.ruleset.preview(table, reader, move)
    assert random.getstate() == before


# --- What is told and seen ----------------------------------------------------------------------


@every_case
def test_views_are_tables_of_the_ruleset_with_all_their_members(case: Case) -> None:
    for state in several_positions(case, FEW):
        for table in views(case, state).values():
            assert isinstance(table, Table)
            assert len(table.standing) == case.seats
            json = plain(table)
            assert json["ruleset"] == case.ruleset_id
            assert set(json) == {"ruleset", *type(table).__struct_fields__}
            assert isinstance(json["phase"], str)


@every_case
def test_events_have_all_their_members_and_the_same_type_for_every_reader(case: Case) -> None:
    for step in several_steps(case, FEW):
        for told in step.told:
            seats = [seat for seat, _ in told.privately]
            assert len(set(seats)) == len(seats)
            assert set(seats) <= set(range(case.seats))
            for event in (told.everybody, *(event for _, event in told.privately)):
                assert type(event) is type(told.everybody)
                assert set(plain(event)) == {"type", *type(event).__struct_fields__}


def move_type(move: Move) -> str:
    """A move's type, as written in JSON."""
    return str(type(move).__struct_config__.tag)


@every_case
def test_an_event_names_nothing_that_its_reader_does_not_see(case: Case) -> None:
    """The things it names lie on the table before or after, or are in a move that is open."""
    secret = TRAITS[case.ruleset_id].secret_moves
    for game in several_games(case, FEW):
        for reader in case.readers:
            before = named(case, case.ruleset.view(game[0].before, reader))
            for step in game:
                after = named(case, case.ruleset.view(step.after, reader))
                is_open = step.move is not None and move_type(step.move) not in secret
                seen = before | after | (named(case, step.move) if is_open else set())
                assert named(case, *step.events(reader)) <= seen
                before = after


@every_case
def test_a_secret_move_looks_the_same_to_others_whichever_it_is(case: Case) -> None:
    """As long as the game waits for the other seats of the same decision."""
    for seed in range(4):
        ruleset, secret = case.ruleset, TRAITS[case.ruleset_id].secret_moves
        compared = 0
        for step in random_game(case, seed):
            if step.seat is None or step.move is None or move_type(step.move) not in secret:
                continue
            before, after = ruleset.to_move(step.before), ruleset.to_move(step.after)
            if not same_decision(before, step.seat, after):
                continue
            others = [reader for reader in case.readers if reader != step.seat]
            for move in ruleset.legal_moves(step.before, step.seat):
                if move_type(move) != move_type(step.move):
                    continue
                state, told = ruleset.apply(step.before, step.seat, move)
                for other in others:
                    assert told_to(told, other) == step.events(other)
                    assert ruleset.view(state, other) == ruleset.view(step.after, other)
                    compared += 1
        assert compared or not secret


@every_case
def test_a_reader_cannot_tell_a_redealt_game_until_something_is_revealed(case: Case) -> None:
    """Play the same moves from a position and from a redealt one.

    As long as the reader is told the same in both, it sees the same in both; when it is told
    something else, it also sees something else.
    """
    for seed in range(8):
        rng = Random(seed)
        for state in rng.sample(positions(case, seed), 6):
            for reader in case.readers:
                for _ in range(3):
                    redealt = case.ruleset.redeal_hidden(state, reader, rng)
                    go_on_until_revealed(case, state, redealt, reader, rng)


def go_on_until_revealed(
    case: Case, one: Any, other: Any, reader: Seat | None, rng: Random
) -> None:
    """Play on from two positions at once, until the reader sees a difference."""
    ruleset = case.ruleset
    while True:
        step = next(play(case, one, rng), None)
        if step is None:
            return
        if step.seat is None:
            after, told = ruleset.expire(other)
        else:
            moves = ruleset.legal_moves(other, step.seat)
            if step.move not in moves and step.seat != reader:
                moves = alike(case, moves, step.move)
                if not moves:
                    return
            move = step.move if step.move in moves else rng.choice(moves)
            after, told = ruleset.apply(other, step.seat, move)
        told_the_same = told_to(told, reader) == step.events(reader)
        sees_the_same = ruleset.view(after, reader) == ruleset.view(step.after, reader)
        assert told_the_same == sees_the_same, (step.events(reader), told_to(told, reader))
        if not told_the_same:
            return
        if reader is not None:
            assert ruleset.legal_moves(after, reader) == ruleset.legal_moves(step.after, reader)
        one, other = step.after, after


def alike(case: Case, moves: tuple[Move, ...], move: Any) -> tuple[Move, ...]:
    """The moves that look the same as this one to other seats, if that is secret; or none."""
    if move_type(move) not in TRAITS[case.ruleset_id].secret_moves:
        return ()
    return tuple(one for one in moves if move_type(one) == move_type(move))


MANY_UNKNOWN = 8
"""With fewer unknown things, a reader can work some out by elimination."""


@every_case
def test_a_redeal_deals_everything_again_that_its_reader_was_never_shown(case: Case) -> None:
    for seed in range(3):
        rng, steps = Random(seed), random_game(case, seed)
        checked = {0, *rng.sample(range(len(steps)), min(4, len(steps)))}
        for reader in case.readers:
            shown: set[str] = set()
            for number, step in enumerate(steps[: max(checked) + 1]):
                shown |= named(case, case.ruleset.view(step.before, reader))
                if number in checked:
                    check_dealt_again(case, step.before, reader, shown, rng)
                shown |= named(case, *step.events(reader))
                if step.seat == reader:
                    shown |= named(case, step.move)


def check_dealt_again(
    case: Case, state: Any, reader: Seat | None, shown: set[str], rng: Random
) -> None:
    """No thing that the reader was never shown stays where it is in all of many re-deals."""
    unknown = named(case, state) - shown
    if len(unknown) < MANY_UNKNOWN:
        return
    json = plain(state)
    stays = [path for path in leaves(json) if at(json, path) in unknown]
    for _ in range(40):
        if not stays:
            return
        redealt = plain(case.ruleset.redeal_hidden(state, reader, rng))
        stays = [path for path in stays if at(redealt, path) == at(json, path)]
    pytest.fail(f"stays at {stays}")


@every_case
def test_a_redeal_at_the_start_is_another_position(case: Case) -> None:
    state, _ = case.start(case.deal(Random(1)))
    for reader in case.readers:
        redealt = [case.ruleset.redeal_hidden(state, reader, Random(seed)) for seed in range(5)]
        assert len({encode(one) for one in [state, *redealt]}) > 3


@every_case
def test_a_preview_depends_on_the_view_and_the_move_alone(case: Case) -> None:
    ruleset, rng = case.ruleset, Random(1)
    for state in several_positions(case, FEW):
        for seat, moves in enumerate(legal(case, state)):
            if not moves:
                continue
            table = ruleset.view(state, seat)
            read = msgspec.json.decode(encode(table), type=type(table))
            redealt = ruleset.view(ruleset.redeal_hidden(state, seat, rng), seat)
            for move in moves:
                shown = ruleset.preview(table, seat, move)
                assert ruleset.preview(read, seat, move) == shown
                assert ruleset.preview(redealt, seat, move) == shown
                assert type(shown) in (*ruleset.preview_types, NothingPreview)


@every_case
def test_no_list_that_is_shown_to_a_client_holds_null(case: Case) -> None:
    """Each entry says what it is about: many typed clients cannot read a list with gaps."""
    for step in several_steps(case, FEW):
        shown: list[Any] = [*views(case, step.after).values(), case.ruleset.result(step.after)]
        shown += [event for reader in case.readers for event in step.events(reader)]
        for value in shown:
            assert not list(nulls_in_lists(plain(value))), value


def nulls_in_lists(value: Any) -> Iterator[list[Any]]:
    """Yield each list in a JSON value that holds null."""
    if isinstance(value, dict):
        for member in value.values():
            yield from nulls_in_lists(member)
    elif isinstance(value, list):
        if None in value:
            yield value
        for member in value:
            yield from nulls_in_lists(member)


# --- What values are made of --------------------------------------------------------------------


@every_case
def test_states_are_immutable(case: Case) -> None:
    game = positions(case, 1)
    for state in game:
        hash(state)
        for name in type(state).__struct_fields__:
            with pytest.raises(AttributeError):
                setattr(state, name, None)


@every_case
def test_different_positions_of_a_game_are_different_states(case: Case) -> None:
    assert all(before != after for before, after in pairwise(positions(case, 1)))
