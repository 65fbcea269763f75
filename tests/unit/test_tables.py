"""Creating a game and leaving it: refusals and repeats that need another's doing in between."""

from typing import Any

import gevent
import msgspec
import pytest
from msgspec.structs import replace
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games import tables
from api.games.players import Credentials
from api.games.queries import LobbyFilter
from api.games.seats import MAX_OPEN_VERSION, MAX_TIMES_LEFT
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, matches_anything, refused


def test_a_game_with_every_seat_reserved_for_others_leaves_none_for_its_host(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    reserved = [
        {"seat": 0, "player_id": bob.player_id},
        {"seat": 1, "player_id": eve.player_id},
    ]
    with refused("invalid_request") as caught:
        worker.create(ada, 2, reserved_seats=reserved)
    (error,) = caught.value.errors
    assert error.pointer == "#/reserved_seats"
    assert caught.value.status == 422
    worker.create(ada, 2, reserved_seats=reserved, take_seat=False)
    worker.create(
        ada,
        2,
        reserved_seats=[
            {"seat": 0, "player_id": bob.player_id},
            {"seat": 1, "player_id": ada.player_id},
        ],
    )


def test_every_player_who_left_an_open_private_game_may_repeat_the_request(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(ada, 4, visibility="private")
    invite = worker.game(game_id).invite
    for player in (bob, eve):
        worker.join(player, game_id, invite)
    for player in (bob, eve):
        worker.leave(player, game_id)
    for player in (bob, eve):
        assert worker.leave(player, game_id).seat is None
    with refused("game_not_found"):
        worker.leave(worker.player(), game_id)


def test_the_seats_of_an_open_game_are_taken_and_left_so_often_and_it_can_start_then(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(ada, 4)
    worker.join(eve, game_id)
    free = LobbyFilter(free_seats=True)
    while worker.game(game_id).version < MAX_OPEN_VERSION:
        assert worker.queries.public_games(bob, free, None, 1).items
        worker.join(bob, game_id)
        worker.leave(bob, game_id)
    with refused("game_full"):
        worker.join(bob, game_id)
    assert not worker.queries.public_games(bob, free, None, 1).items
    # Players that have their seats keep them.
    assert worker.join(eve, game_id).seat == 1
    assert worker.tables.start(ada, game_id, matches_anything).game.status == "playing"
    assert worker.leave(eve, game_id).seat is None
    assert worker.join(eve, game_id).seat == 1


def test_a_player_takes_its_seat_back_so_often_and_locks_out_no_other(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.seated(ada, bob, eve)
    for _ in range(MAX_TIMES_LEFT):
        worker.leave(bob, game_id)
        assert worker.join(bob, game_id).seat == 1
    worker.leave(bob, game_id)
    with refused("game_full"):
        worker.join(bob, game_id)
    worker.leave(eve, game_id)
    assert worker.join(eve, game_id).seat == 2


def test_a_repeated_creation_answers_its_game_though_it_would_be_refused_now(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    body: Any = {
        "ruleset": "parade",
        "seat_count": 2,
        "reserved_seats": [{"seat": 1, "player_id": bob.player_id}],
    }
    first, is_new = worker.creation.create(ada, body, "key")
    assert is_new
    worker.client.delete(f"player:{{{bob.player_id}}}")
    with refused("invalid_request"):
        worker.creation.create(ada, body, "another key")
    again, is_new = worker.creation.create(ada, body, "key")
    assert not is_new
    assert again.game == first.game
    with refused("idempotency_key_reused"):
        worker.creation.create(ada, {**body, "seat_count": 3}, "key")


def test_a_refused_creation_does_not_use_its_key_up(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_UNFINISHED_GAMES", 1)
    first = worker.create(ada)
    with refused("too_many_games"):
        worker.creation.create(ada, {"ruleset": "parade", "seat_count": 2}, "key")
    worker.cancel(ada, first)
    _, is_new = worker.creation.create(ada, {"ruleset": "parade", "seat_count": 3}, "key")
    assert is_new


def test_requests_with_one_key_create_one_game_whenever_they_come(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    """Two workers, the second one so much later each time."""
    other = MemoryWorker(clock, worker.client)
    body: Any = {"ruleset": "parade", "seat_count": 2}
    worker.client.latency = 0.01

    def create(each: MemoryWorker, key: str, wait: float) -> tuple[str, bool]:
        gevent.sleep(wait)
        loaded, is_new = each.creation.create(ada, body, key)
        return loaded.game.id, is_new

    for number in range(8):
        at_once = [
            gevent.spawn(create, worker, f"key {number}", 0.0),
            gevent.spawn(create, other, f"key {number}", number * 0.005),
        ]
        (first, second) = (clock.result(each) for each in at_once)
        assert first[0] == second[0]
        assert [first[1], second[1]].count(True) == 1
    other.close()


def test_the_creation_that_a_failed_request_began_is_finished_by_the_next_one(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    body: Any = {"ruleset": "parade", "seat_count": 2}

    def fail(*args: Any) -> None:
        monkeypatch.undo()
        raise RedisConnectionError("killed")

    monkeypatch.setattr(worker.store, "commit_all", fail)
    with pytest.raises(RedisConnectionError):
        worker.creation.create(ada, body, "key")
    assert worker.queries.own_games(ada, None, None, 10).items == ()
    loaded, is_new = worker.creation.create(ada, body, "key")
    again, _ = worker.creation.create(ada, body, "key")
    assert is_new
    assert again.game.id == loaded.game.id
    page = worker.queries.own_games(ada, None, None, 10)
    assert [msgspec.json.decode(each)["id"] for each in page.items] == [loaded.game.id]


def test_the_players_of_an_open_game_become_host_in_the_order_in_which_they_sat_down(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(ada, 4)
    for player, seat in ((bob, 3), (eve, 1)):
        worker.tables.join(player, game_id, seat, None)
    worker.leave(ada, game_id)
    assert worker.game(game_id).host.id == bob.player_id
    worker.leave(bob, game_id)
    assert worker.game(game_id).host.id == eve.player_id
    worker.join(ada, game_id)
    worker.leave(eve, game_id)
    assert worker.game(game_id).host.id == ada.player_id
    worker.leave(ada, game_id)
    assert worker.game(game_id).status == "cancelled"


def test_seats_whose_order_is_unknown_are_taken_to_be_in_the_order_of_their_numbers(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(ada, 4)
    for player, seat in ((bob, 3), (eve, 2)):
        worker.tables.join(player, game_id, seat, None)
    seats = tuple(replace(each, taken_at=0) for each in worker.game(game_id).seats)
    worker.change(game_id, seats=seats)
    worker.leave(ada, game_id)
    assert worker.game(game_id).host.id == eve.player_id
