"""The engine against games that an independent program played: the same, move for move."""

from __future__ import annotations

import msgspec
import pytest

from engine.registry import RULESETS
from tests.engine.play import plain
from tests.support.recordings import Game, Recording, as_set, legal_by_seat, recordings

KNOWN = [recording for recording in recordings() if recording.ruleset in RULESETS]


@pytest.mark.parametrize("recording", KNOWN, ids=lambda recording: recording.name)
def test_recorded_games_replay_identically(recording: Recording) -> None:
    for number, game in enumerate(recording.games):
        replay(game, f"{recording.name}, game {number}")


def replay(game: Game, where: str) -> None:
    """Play a recorded game, comparing every position's moves and the result."""
    ruleset, seats = RULESETS[game["ruleset"]], game["seats"]
    options = ruleset.read_options(seats, game["options"])
    state, _ = ruleset.start(seats, options, ruleset.read_deal(game["deal"]))
    for number, step in enumerate(game["steps"]):
        here = f"{where}, step {number}"
        assert list(ruleset.to_move(state)) == step["to_move"], here
        legal = [
            [plain(move) for move in ruleset.legal_moves(state, seat)] for seat in range(seats)
        ]
        assert [as_set(moves) for moves in legal] == legal_by_seat(step, seats), here
        assert ruleset.result(state) is None, here
        if step.get("expire"):
            assert ruleset.countdown(state) is not None, here
            state, _ = ruleset.expire(state)
        else:
            move = msgspec.convert(step["move"], ruleset.move_type)
            state, _ = ruleset.apply(state, step["seat"], move)
    assert ruleset.to_move(state) == (), where
    result = plain(ruleset.result(state))
    # The other program told the scores and the winners.
    assert {name: result[name] for name in game["result"]} == game["result"], where


@pytest.mark.parametrize("ruleset_id", RULESETS)
def test_every_ruleset_has_a_recording_for_every_seat_count(ruleset_id: str) -> None:
    ruleset = RULESETS[ruleset_id]
    recorded = {recording.seats for recording in KNOWN if recording.ruleset == ruleset_id}
    assert recorded == set(range(ruleset.min_seats, ruleset.max_seats + 1))


@pytest.mark.parametrize("ruleset_id", RULESETS)
def test_every_way_to_set_a_closed_option_is_recorded(ruleset_id: str) -> None:
    for option in RULESETS[ruleset_id].options:
        ways = [True, False] if isinstance(option.default, bool) else list(option.choices or ())
        for way in ways:
            assert any(
                recording.options.get(option.name, option.default) == way
                for recording in KNOWN
                if recording.ruleset == ruleset_id
            ), f"no recording has {option.name} = {way}"


def test_recordings_are_of_one_ruleset_seat_count_and_option_set_each() -> None:
    for recording in recordings():
        for game in recording.games:
            assert (game["ruleset"], game["seats"]) == (recording.ruleset, recording.seats)
            assert game["options"] == recording.options
