"""Progress: what a move, a countdown and the end do to the turn, the deadline and the history."""

from typing import Any

import msgspec
import pytest

from api.games.moves import require_seat
from api.games.players import Credentials
from api.model.game import HistoryItem
from engine.contrast import COUNTDOWN_SECONDS, Count
from engine.registry import RULESETS
from tests.support.memory_worker import MemoryWorker, matches_anything


@pytest.fixture
def game_id(worker: MemoryWorker, players: tuple[Credentials, ...]) -> str:
    return worker.seated(*players, ruleset="contrast", turn_seconds=60)


@pytest.fixture
def players(worker: MemoryWorker) -> tuple[Credentials, ...]:
    return tuple(worker.player(name) for name in ("Ada", "Bob", "Cleo"))


def count(worker: MemoryWorker, player: Credentials, game_id: str) -> None:
    turn = worker.game(game_id).turn
    assert turn is not None
    worker.moves.play(player, game_id, turn, Count(), matches_anything)


def events(item: HistoryItem) -> Any:
    return msgspec.json.decode(item.events(None))


def test_seats_that_decide_at_once_share_a_turn_and_its_deadline(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    started = worker.game(game_id)
    assert started.deadline == started.started_at + 60_000  # type: ignore[operator]
    worker.clock.advance(7)
    worker.move(players, game_id)
    game = worker.game(game_id)
    assert (game.turn, game.answered, game.to_move) == (1, (0,), (1, 2))
    assert game.deadline == started.deadline


def test_a_countdown_is_the_deadline_and_the_next_turn_has_its_own_again(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    worker.move(players, game_id)
    worker.move(players, game_id)
    worker.clock.advance(10)
    count(worker, players[0], game_id)
    counting = worker.game(game_id)
    assert counting.answered == (0, 1)
    assert counting.deadline == worker.client.time_ms + COUNTDOWN_SECONDS * 1000
    worker.clock.advance(1)
    worker.move(players, game_id)
    game = worker.game(game_id)
    assert (game.turn, game.answered) == (2, ())
    assert game.deadline == worker.client.time_ms + 60_000


def test_a_turn_that_ends_before_its_countdown_is_the_deadline(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    started = worker.game(game_id)
    worker.move(players, game_id)
    worker.move(players, game_id)
    worker.clock.advance(60 - COUNTDOWN_SECONDS / 2)
    count(worker, players[1], game_id)
    assert worker.game(game_id).deadline == started.deadline


def test_a_countdown_that_runs_out_is_an_item_of_its_turn_and_begins_the_next(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    worker.move(players, game_id)
    worker.move(players, game_id)
    count(worker, players[0], game_id)
    worker.clock.advance(COUNTDOWN_SECONDS + 1)
    loaded = worker.load(None, game_id)
    (item,) = worker.items(game_id, loaded.game.version, loaded.game.version)
    assert (item.by, item.turn, item.seat) == ("clock", 1, None)
    assert loaded.game.turn == 2
    assert loaded.game.deadline == worker.client.time_ms + 60_000


def test_the_end_is_an_item_of_its_own_and_leaves_no_turn(worker: MemoryWorker) -> None:
    ada = worker.player()
    game_id = worker.create(ada, 2, house=["random"])
    while (game := worker.load(None, game_id).game).status == "playing":
        worker.move((ada,), game_id)
    assert game.status == "finished"
    assert (game.turn, game.turn_started_at, game.deadline) == (None, None, None)
    assert (game.to_move, game.answered) == ((), ())
    assert game.finished_at == worker.client.time_ms
    (item,) = worker.items(game_id, game.version, game.version)
    assert (item.by, item.seat) == ("table", None)
    (event,) = events(item)
    assert event["type"] == "game_finished"
    assert event["result"] == msgspec.json.decode(game.result)
    assert len(event["result"]["ranks"]) == 2


def wait_for_the_clock(worker: MemoryWorker, game_id: str) -> list[str]:
    """Wait until the turn's time is up and read the game; return the types of the new events."""
    before = worker.game(game_id)
    assert before.deadline is not None
    worker.clock.advance((before.deadline - worker.client.time_ms) / 1000)
    game = worker.load(None, game_id).game
    items = worker.items(game_id, before.version + 1, game.version)
    return [event["type"] for item in items for event in events(item)]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_table_of_four_waits_two_turns_for_a_player_who_vanishes_and_no_more(
    worker: MemoryWorker, ruleset: str
) -> None:
    players = tuple(worker.player(name) for name in ("Ada", "Bob", "Cleo", "Eve"))
    game_id = worker.seated(*players, ruleset=ruleset, turn_seconds=5)
    gone = worker.game(game_id).to_move[0]
    began = worker.client.time_ms
    handed_over = []
    while (game := worker.load(None, game_id).game).status == "playing":
        present = [seat for seat in game.to_move if seat != gone]
        if present:
            loaded = worker.load(players[present[0]], game_id)
            move = worker.moves.list_legal(loaded, require_seat(loaded), previews=False).moves[0]
            assert game.turn is not None
            worker.moves.play(players[present[0]], game_id, game.turn, move, matches_anything)
        else:
            handed_over += [
                each for each in wait_for_the_clock(worker, game_id) if each == "seat_handed_over"
            ]
    assert game.status == "finished"
    assert worker.client.time_ms - began <= 2 * 5000
    assert handed_over == ["seat_handed_over"]


def test_a_move_of_the_player_begins_the_count_of_missed_turns_anew(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=5)
    gone = worker.game(game_id).to_move[0]
    for _ in range(2):
        assert "time_ran_out" in wait_for_the_clock(worker, game_id)
        assert worker.game(game_id).seats[gone].missed_turns == 1
        worker.move((ada, bob), game_id)
        worker.move((ada, bob), game_id)
        assert worker.game(game_id).seats[gone].missed_turns == 0
        worker.move((ada, bob), game_id)
    assert worker.game(game_id).seats[gone].house is None


def test_a_move_in_a_shared_turn_begins_the_count_of_missed_turns_anew(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    worker.move(players, game_id)
    wait_for_the_clock(worker, game_id)
    assert [seat.missed_turns for seat in worker.game(game_id).seats] == [0, 1, 1]
    worker.move(players, game_id)
    # The move of seat 1 leaves the turn open for seat 2.
    worker.move(players, game_id)
    assert [seat.missed_turns for seat in worker.game(game_id).seats] == [0, 0, 1]
    worker.move(players, game_id)
    assert [seat.missed_turns for seat in worker.game(game_id).seats] == [0, 0, 0]


def test_the_player_for_whom_the_house_plays_takes_the_seat_back_with_no_turn_missed(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=5)
    gone = worker.game(game_id).to_move[0]
    wait_for_the_clock(worker, game_id)
    worker.move((ada, bob), game_id)
    wait_for_the_clock(worker, game_id)
    assert worker.game(game_id).seats[gone].house == "careful"
    worker.join((ada, bob)[gone], game_id)
    record = worker.game(game_id).seats[gone]
    assert (record.house, record.missed_turns) == (None, 0)


def test_a_game_in_which_every_player_is_absent_is_cancelled(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=5)
    for _ in range(2):
        assert "seat_handed_over" not in wait_for_the_clock(worker, game_id)
    assert wait_for_the_clock(worker, game_id)[-1] == "seat_handed_over"
    types = wait_for_the_clock(worker, game_id)
    assert types[-2:] == ["seat_handed_over", "game_cancelled"]
    game = worker.game(game_id)
    assert (game.status, game.turn, game.deadline) == ("cancelled", None, None)


def test_a_seat_that_is_counted_out_in_two_turns_in_a_row_is_absent(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    for _ in range(2):
        assert worker.game(game_id).seats[2].house is None
        worker.move(players, game_id)
        worker.move(players, game_id)
        count(worker, players[0], game_id)
        types = wait_for_the_clock(worker, game_id)
    assert "seat_handed_over" in types
    assert worker.game(game_id).seats[2].house == "careful"
    # The house has chosen already in the turn that follows.
    assert worker.game(game_id).to_move == (0, 1)


def test_all_seats_that_miss_a_shared_turn_miss_one_turn(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> None:
    worker.move(players, game_id)
    wait_for_the_clock(worker, game_id)
    assert [seat.missed_turns for seat in worker.game(game_id).seats] == [0, 1, 1]
    worker.move(players, game_id)
    types = wait_for_the_clock(worker, game_id)
    assert types.count("seat_handed_over") == 2
    assert worker.game(game_id).to_move == (0,)
