"""What the clock and the house do to games that are due is bounded, and done once."""

import random

import pytest

from api.games.settling import MAX_SETTLED
from tests.support.api_client import Client, play_out, seated
from tests.support.service import Service
from tests.support.stored_games import make_late
from tests.support.waiting import wait_until

MORE_THAN_A_TURN_MS = 3_601_000


def test_one_request_for_turns_settles_a_few_due_games_and_the_next_the_next_ones(
    service: Service, ada: Client, bob: Client
) -> None:
    ids = [seated([ada, bob], turn_seconds=3600)["id"] for _ in range(MAX_SETTLED + 2)]

    def due() -> set[str]:
        """The games in which the clock has not moved yet, as the store has them."""
        with service.store.client() as store:
            versions = {each: int(store.hget(f"game:{{{each}}}", "version")) for each in ids}
        return {each for each, version in versions.items() if version == before[each]}

    before = {each: ada.game(each)["version"] for each in ids}
    for each in ids:
        make_late(service, each, MORE_THAN_A_TURN_MS)
    assert due() == set(ids)
    turns = ada.get("/v1/me/turns")
    # Of the others nobody knows yet whose turn it will be.
    left = due()
    assert len(left) == 2
    assert not left & {game["id"] for game in turns["items"]}
    more = ada.get(f"/v1/me/turns?since={turns['cursor']}")
    assert not due()
    mine = {game["id"] for game in turns["items"] + more["items"]}
    assert mine == {each for each in ids if ada.game(each)["to_move"] == [0]}


def test_due_games_that_cannot_be_settled_keep_no_others_from_it(
    service: Service, ada: Client, bob: Client
) -> None:
    ids = [seated([ada, bob], turn_seconds=3600)["id"] for _ in range(MAX_SETTLED + 2)]
    broken, sound = ids[:MAX_SETTLED], ids[MAX_SETTLED:]
    for each in ids:
        make_late(service, each, MORE_THAN_A_TURN_MS)
    with service.store.client() as store:
        for each in broken:
            store.hset(f"game:{{{each}}}", "state", '{"nonsense": 1}')
        before = [store.hget(f"game:{{{each}}}", "version") for each in sound]

        def all_are_settled() -> bool:
            ada.get("/v1/me/turns")
            now = [store.hget(f"game:{{{each}}}", "version") for each in sound]
            return all(new != old for new, old in zip(now, before, strict=True))

        wait_until(all_are_settled, "the clock has moved in the games that are sound")


@pytest.mark.parametrize("path", ["/v1/games?limit=1", "/v1/me/games?limit=1"])
def test_a_list_shows_a_game_as_it_is_after_a_deadline_that_has_passed(
    service: Service, ada: Client, bob: Client, path: str
) -> None:
    game = seated([ada, bob], turn_seconds=3600)
    make_late(service, game["id"], MORE_THAN_A_TURN_MS)
    (listed,) = ada.get(path)["items"]
    assert (listed["id"], listed["turn"]) == (game["id"], game["turn"] + 1)
    assert listed["to_move"] == [1 - game["to_move"][0]]
    assert listed["deadline"] > game["deadline"]
    assert listed["version"] == ada.game(game["id"])["version"]


def test_a_game_that_the_clock_ends_is_no_longer_listed_as_played(
    service: Service, ada: Client, bob: Client, rng: random.Random
) -> None:
    game_id = seated([ada, bob], turn_seconds=3600)["id"]
    while ada.game(game_id)["table"]["phase"] != "discard":
        play_out([ada, bob], game_id, rng, moves=1)
    make_late(service, game_id, MORE_THAN_A_TURN_MS)
    assert ada.get("/v1/me/games?status=playing")["items"] == []
    (finished,) = ada.get("/v1/me/games?status=finished")["items"]
    assert (finished["id"], finished["status"]) == (game_id, "finished")


def test_one_request_for_a_list_settles_a_few_due_games_and_shows_the_others_as_they_are(
    service: Service, ada: Client, bob: Client
) -> None:
    ids = [seated([ada, bob], turn_seconds=3600)["id"] for _ in range(MAX_SETTLED + 2)]
    for each in ids:
        make_late(service, each, MORE_THAN_A_TURN_MS)
    for settled in (MAX_SETTLED, MAX_SETTLED + 2):
        turns = [each["turn"] for each in ada.get("/v1/me/games")["items"]]
        assert sorted(turns) == [1] * (len(ids) - settled) + [2] * settled


def test_a_due_game_that_cannot_be_settled_is_listed_as_it_is(
    service: Service, ada: Client, bob: Client
) -> None:
    game_id = seated([ada, bob], turn_seconds=3600)["id"]
    make_late(service, game_id, MORE_THAN_A_TURN_MS)
    with service.store.client() as store:
        store.hset(f"game:{{{game_id}}}", "state", '{"nonsense": 1}')
    (listed,) = ada.get("/v1/me/games")["items"]
    assert (listed["id"], listed["turn"]) == (game_id, 1)
