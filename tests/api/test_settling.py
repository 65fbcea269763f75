"""What the clock and the house do to games that are due is bounded, and done once."""

from api.games.turns import MAX_SETTLED
from tests.support.api_client import Client, seated
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
    mine = {game["id"] for game in more["items"]}
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
