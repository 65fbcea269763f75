"""Counters of fixed windows, in a worker's memory and in the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from api.storage import counters as module
from api.storage.client import Command, StoreClient
from api.storage.counters import COUNT, MIN_KEYS, SharedCounters, Window, WorkerCounters
from tests.support.fake_clock import FakeClock, fake_clock


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    with fake_clock() as clock:
        clock.advance(100)
        yield clock


def test_a_window_opens_with_the_first_count_and_ends_after_its_length(clock: FakeClock) -> None:
    counters = WorkerCounters()
    assert counters.window("a") == Window(0, 100)
    assert counters.add("a", 60) == Window(1, 160)
    clock.advance(59)
    assert counters.add("a", 60) == counters.window("a") == Window(2, 160)
    assert counters.window("b") == Window(0, 159)
    clock.advance(1)
    assert counters.window("a") == Window(0, 160)
    assert counters.add("a", 60) == Window(1, 220)


def test_windows_that_are_over_are_forgotten_when_their_number_has_doubled(
    clock: FakeClock,
) -> None:
    counters = WorkerCounters()
    for number in range(MIN_KEYS - 1):
        counters.add(f"short {number}", 1)
    counters.add("long", 60)
    clock.advance(1)
    counters.add("long", 60)
    assert len(counters) == MIN_KEYS
    counters.add("one more", 60)
    assert len(counters) == 2
    assert counters.window("long").total == 2
    for number in range(MIN_KEYS + 500):
        counters.add(f"open {number}", 60)
    assert len(counters) == MIN_KEYS + 502
    for number in range(100):
        counters.add(f"short {number}", 1)
    clock.advance(1)
    # The next check, which costs time, comes at twice the number that was left by the last one.
    for number in range(2 * MIN_KEYS - len(counters)):
        counters.add(f"more {number}", 60)
    assert len(counters) == 2 * MIN_KEYS
    counters.add("one more again", 60)
    assert len(counters) == 2 * MIN_KEYS - 99


def test_of_too_many_windows_that_are_open_the_oldest_are_forgotten(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_KEYS", 10)
    monkeypatch.setattr(module, "MAX_KEYS", 20)
    counters = WorkerCounters()
    for number in range(21):
        counters.add(str(number), 60)
    assert len(counters) == 19
    assert [counters.window(str(number)).total for number in (0, 1, 2, 19, 20)] == [0, 0, 1, 1, 1]
    for number in range(100):
        counters.add(f"more {number}", 60)
        assert len(counters) <= 20


class FakeClient:
    """A store that has counted so far, in a window that has some milliseconds left."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def execute(self, commands: list[Command], **options: bool) -> list[Any]:
        self.commands += commands
        return [[40 + len(self.commands), 1500]]


def test_a_shared_counter_reports_what_the_store_has_counted(clock: FakeClock) -> None:
    client = FakeClient()
    counters = SharedCounters(cast("StoreClient", client))
    assert counters.window("a").total == 0
    assert counters.add("a", 60) == counters.window("a") == Window(41, 101.5)
    assert client.commands == [COUNT.call("a", args=(1, 60_000))]
    clock.advance(1.5)
    assert counters.window("a") == Window(0, 101.5)
    assert counters.add("a", 60) == Window(42, 103.0)
