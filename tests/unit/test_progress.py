"""Progress: what a move, a countdown and the end do to the turn, the deadline and the history."""

from typing import Any

import msgspec
import pytest

from api.games.players import Credentials
from api.model.game import HistoryItem
from engine.contrast import COUNTDOWN_SECONDS, Count
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
    (item,) = worker.store.items(game_id, loaded.game.version, loaded.game.version)
    assert (item.by, item.turn, item.seat) == ("clock", 1, None)
    assert loaded.game.turn == 2
    assert loaded.game.deadline == worker.client.time_ms + 60_000


def test_the_end_is_an_item_of_its_own_and_leaves_no_turn(worker: MemoryWorker) -> None:
    ada = worker.player()
    game_id = worker.create(ada, 2, house=["random"], turn_seconds=5)
    while (game := worker.load(None, game_id).game).status == "playing":
        worker.clock.advance(6)
    assert game.status == "finished"
    assert (game.turn, game.turn_started_at, game.deadline) == (None, None, None)
    assert (game.to_move, game.answered) == ((), ())
    assert game.finished_at == worker.client.time_ms
    (item,) = worker.store.items(game_id, game.version, game.version)
    assert (item.by, item.seat) == ("table", None)
    (event,) = events(item)
    assert event["type"] == "game_finished"
    assert event["result"] == msgspec.json.decode(game.result)
    assert len(event["result"]["ranks"]) == 2
