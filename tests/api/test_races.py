"""Two workers, many callers at once: of what excludes each other, exactly one happens."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, play_out, seated
from tests.support.http_client import Response

Send = Callable[[], Response]


@pytest.fixture
def at_once() -> Iterator[Callable[[list[Send]], list[Response]]]:
    """Sends requests in the same moment, each on a connection of its own."""
    with ThreadPoolExecutor(32) as threads:

        def send_all(sends: list[Send]) -> list[Response]:
            barrier = Barrier(len(sends))

            def send(one: Send) -> Response:
                barrier.wait(30)
                return one()

            return [future.result() for future in [threads.submit(send, one) for one in sends]]

        yield send_all


def own_connection(client: Client) -> Client:
    return Client(client.url, client.token, client.id, checked=False)


def posting(client: Client, path: str, body: Any) -> Send:
    caller = own_connection(client)
    caller.request("GET", "/livez")  # so that the connection is open, to one worker or another
    return lambda: caller.request("POST", path, json=body)


def test_of_all_legal_moves_at_once_exactly_one_is_accepted_each_turn(
    new_players: NewPlayers, rng: random.Random, at_once: Any
) -> None:
    players = new_players(2)
    turns = 0
    game = seated(players)
    while turns < 50:
        game = players[0].game(game["id"])
        if game["status"] != "playing":
            game = seated(players)
        if game["table"]["phase"] == "discard":
            game = play_out(players, game["id"], rng)
            continue
        mover = players[game["to_move"][0]]
        own = mover.game(game["id"])
        path = f"/v1/games/{game['id']}/moves"
        answers = at_once(
            [posting(mover, path, {"turn": own["turn"], "move": m}) for m in own["legal_moves"]]
        )
        statuses = Counter(answer.status_code for answer in answers)
        assert statuses == {200: 1, 409: len(answers) - 1}
        codes = {answer.json()["code"] for answer in answers if answer.status_code == 409}
        assert codes <= {"stale_turn", "not_your_turn"}
        assert mover.game(game["id"])["version"] == own["version"] + 1
        turns += 1


def test_one_move_sent_many_times_at_once_is_played_once_and_acknowledged_to_all(
    ada: Client, bob: Client, at_once: Any
) -> None:
    game = seated([ada, bob])
    mover = (ada, bob)[game["to_move"][0]]
    own = mover.game(game["id"])
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    answers = at_once([posting(mover, f"/v1/games/{game['id']}/moves", body) for _ in range(10)])
    assert {answer.status_code for answer in answers} == {200}
    assert len({str(answer.json()["items"]) for answer in answers}) == 1
    assert mover.game(game["id"])["version"] == own["version"] + 1


def test_simultaneous_secret_choices_do_not_disturb_each_other(
    new_players: NewPlayers, rng: random.Random, at_once: Any
) -> None:
    players = new_players(6)
    game_id = seated(players)["id"]
    while players[0].game(game_id)["table"]["phase"] != "discard":
        play_out(players, game_id, rng, moves=1)
    sends = []
    for player in players:
        own = player.game(game_id)
        body = {"turn": own["turn"], "move": rng.choice(own["legal_moves"])}
        sends.append(posting(player, f"/v1/games/{game_id}/moves", body))
    assert {answer.status_code for answer in at_once(sends)} == {200}
    assert players[0].game(game_id)["status"] == "finished"


def test_of_ten_who_join_at_once_exactly_one_gets_the_last_seat(
    new_players: NewPlayers, at_once: Any
) -> None:
    host, *guests = new_players(11)
    for _ in range(20):
        game = host.create()
        path = f"/v1/games/{game['id']}/seats"
        answers = at_once([posting(guest, path, {}) for guest in guests])
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 9}
        assert {a.json()["code"] for a in answers if a.status_code == 409} == {"game_full"}
        seats = host.game(game["id"])["seats"]
        (winner,) = (a.json()["you"] for a in answers if a.status_code == 200)
        assert winner == 1
        assert seats[1]["player"]["id"] in {guest.id for guest in guests}
        listed = [
            guest.id
            for guest in guests
            if game["id"] in [each["id"] for each in guest.get("/v1/me/games")["items"]]
        ]
        assert listed == [seats[1]["player"]["id"]]


def test_a_cancel_a_leave_and_a_last_join_at_once_end_in_one_allowed_outcome(
    new_players: NewPlayers, at_once: Any
) -> None:
    host, guest, late = new_players(3)
    for _ in range(10):
        game = host.create(3)
        path = f"/v1/games/{game['id']}"
        guest.join(game["id"])
        cancelling, leaving = own_connection(host), own_connection(guest)
        cancel, leave, join = at_once(
            [
                lambda: cancelling.request("DELETE", path),  # noqa: B023 (called in this turn)
                lambda: leaving.request("DELETE", f"{path}/seats/me"),  # noqa: B023
                posting(late, f"{path}/seats", {}),
            ]
        )
        after = host.game(game["id"])
        if after["status"] == "playing":
            # The last join came first: neither of the others undoes the start. Who leaves then
            # is played for by the house.
            assert (cancel.status_code, leave.status_code, join.status_code) == (409, 200, 200)
            assert after["seats"][1]["house"] == "careful"
        else:
            # Without a start the cancellation holds, and nobody is seated after it.
            assert after["status"] == "cancelled"
            assert cancel.status_code == 200
            assert leave.status_code == 200
            assert join.status_code in (200, 409)
        items = host.get(f"{path}/events")["items"]
        assert [item["version"] for item in items] == list(range(1, after["version"] + 1))
        if after["status"] == "playing":
            for player in (host, guest, late):
                turns = player.get("/v1/me/games?status=playing&limit=100")["items"]
                assert game["id"] in [each["id"] for each in turns]
