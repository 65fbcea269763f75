"""Creating a game and leaving it: refusals and repeats that need another's doing in between."""

from typing import Any

from msgspec.structs import replace

from api.games.players import Credentials
from tests.support.memory_worker import MemoryWorker, refused


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
