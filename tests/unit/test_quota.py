"""The quota of slots to wait: of the whole worker, of a player, of an address, of strangers."""

import pytest

from api.live.quota import Quota, Slot
from api.observability import context


@pytest.fixture(autouse=True)
def address() -> None:
    """Every request of these tests comes from here unless it says otherwise."""
    call_from("192.0.2.1")


def call_from(address: str) -> None:
    context.begin(None, "GET", address)


def take(quota: Quota, player_id: str | None, number: int) -> list[Slot]:
    slots = [quota.take(player_id) for _ in range(number)]
    assert all(slots)
    return [slot for slot in slots if slot is not None]


def test_a_worker_has_so_many_slots_in_all() -> None:
    quota = Quota(3, 10, 10)
    slots = take(quota, "ada", 2) + take(quota, "bob", 1)
    assert quota.take("eve") is None
    slots[0].release()
    assert quota.take("eve") is not None


def test_a_player_has_so_many_slots() -> None:
    quota = Quota(10, 2, 10)
    slots = take(quota, "ada", 2)
    assert quota.take("ada") is None
    assert quota.take("bob") is not None
    slots[0].release()
    assert quota.take("ada") is not None


def test_an_address_has_so_many_slots_for_all_its_callers() -> None:
    quota = Quota(10, 10, 2)
    slots = take(quota, "ada", 1) + take(quota, "bob", 1)
    assert quota.take("eve") is None
    call_from("192.0.2.2")
    assert quota.take("eve") is not None
    # A slot goes back to the address that it was taken from.
    slots[0].release()
    call_from("192.0.2.1")
    assert quota.take("eve") is not None
    assert quota.take("eve") is None


def test_strangers_together_have_half_of_all_slots() -> None:
    quota = Quota(4, 1, 10)
    slots = take(quota, None, 2)
    assert quota.take(None) is None
    assert quota.take("ada") is not None
    slots[0].release()
    assert quota.take(None) is not None
    assert take(Quota(1, 1, 1), None, 1)


def test_a_slot_can_be_released_more_than_once() -> None:
    quota = Quota(2, 2, 2)
    first, _ = take(quota, "ada", 2)
    first.release()
    first.release()
    take(quota, "ada", 1)
    assert quota.take("ada") is None
