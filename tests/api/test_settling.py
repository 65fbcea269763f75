"""What the clock and the house do to games that are due is bounded, and done once."""

from types import SimpleNamespace
from typing import Any

import gevent
import pytest

from api.games.transactions import Transactions
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


@pytest.mark.slow
def test_a_poll_hears_of_all_due_games_that_come_to_wait_for_it(ada: Client, bob: Client) -> None:
    ids = [seated([ada, bob], turn_seconds=5)["id"] for _ in range(MAX_SETTLED + 2)]
    turns = {each: ada.game(each)["turn"] for each in ids}
    cursor = ""
    seen: set[str] = set()

    def all_are_seen() -> bool:
        nonlocal cursor
        found = ada.get(f"/v1/me/turns?wait=5{cursor}")
        cursor = f"&since={found['cursor']}"
        seen.update(game["id"] for game in found["items"] if game["turn"] > turns[game["id"]])
        return seen == set(ids)

    # The clock moves for Ada or for Bob, so each game waits for Ada after two moves at the latest.
    wait_until(all_are_seen, "every game has come to wait for Ada", patience=30)


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Transactions:
    """A desk that settles slowly, and counts how often."""
    transactions = Transactions(*[None] * 4)  # type: ignore[list-item]
    settled: list[Any] = []

    def settle(found: Any, now: int) -> Any:
        settled.append(found)
        gevent.sleep(0.01)
        if found.game.id == "broken":
            raise ZeroDivisionError
        return found

    monkeypatch.setattr(transactions, "_settle", settle)
    monkeypatch.setattr(transactions, "settled", settled, raising=False)
    return transactions


def stored(game_id: str, commit: str = "1") -> Any:
    return SimpleNamespace(game=SimpleNamespace(id=game_id, commit=commit))


def test_a_due_game_is_settled_once_for_all_requests_that_find_it(transactions: Any) -> None:
    first, second = stored("a"), stored("b")
    asked = [
        gevent.spawn(transactions.settle, each, 0) for each in (first, second) for _ in range(10)
    ]
    gevent.joinall(asked, raise_error=True)
    assert transactions.settled == [first, second]
    # The others are told to read the game again.
    assert [each.value for each in asked].count(None) == 18
    transactions.settle(first, 0)
    assert len(transactions.settled) == 3


def test_a_settlement_that_fails_fails_for_all_requests_that_wait_for_it(transactions: Any) -> None:
    broken = stored("broken")
    asked = [gevent.spawn(transactions.settle, broken, 0) for _ in range(3)]
    gevent.joinall(asked)
    assert [type(each.exception) for each in asked] == [ZeroDivisionError] * 3
    assert transactions.settled == [broken]
    with pytest.raises(ZeroDivisionError):
        transactions.settle(broken, 0)
