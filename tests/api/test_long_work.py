"""Long work of one request leaves the worker to others between its units, in fair turns."""

import time
from collections.abc import Iterator
from itertools import pairwise

import gevent
import pytest

from api.concurrency import time_slices as module
from api.concurrency.time_slices import TimeSlices

UNIT = 2 * module.SLICE_SECONDS


@pytest.fixture
def slices() -> TimeSlices:
    return TimeSlices()


def work(slices: TimeSlices, name: str, units: int, log: list[str]) -> None:
    """So many units, each longer than a slice."""
    with slices.long_work():
        for _ in range(units):
            log.append(name)
            compute()
            slices.pause()


def compute() -> None:
    until = time.perf_counter() + UNIT
    while time.perf_counter() < until:
        pass


def every_millisecond(log: list[str]) -> None:
    while True:
        gevent.sleep(0.001)
        log.append("other")


@pytest.fixture
def other() -> Iterator[list[str]]:
    """A request that the worker gets to whenever it looks at its sockets and timers."""
    log: list[str] = []
    running = gevent.spawn(every_millisecond, log)
    yield log
    running.kill()


def test_other_requests_are_served_between_any_two_units(
    slices: TimeSlices, other: list[str]
) -> None:
    work(slices, "unit", 10, other)
    joined = " ".join(other)
    assert other.count("unit") == 10
    assert "unit unit" not in joined


def test_pieces_of_long_work_take_turns(slices: TimeSlices) -> None:
    log: list[str] = []
    gevent.joinall([gevent.spawn(work, slices, name, 8, log) for name in "abc"])
    told = "".join(log)
    # The first unit of each runs at once, and each rests for as long as it took. From the second
    # one on they queue: none goes on while another one waits, until two have ended.
    assert told[:3] == "abc"
    queued = max(told.index(name, 3) for name in "abc")
    first, second, _ = sorted(told.rindex(name) for name in "abc")
    assert all(one != other for one, other in pairwise(told[queued : second + 1])), told
    while_all_queue = told[queued : first + 1]
    assert max(map(while_all_queue.count, "abc")) - min(map(while_all_queue.count, "abc")) <= 1


def test_long_work_takes_at_most_half_of_the_time(slices: TimeSlices) -> None:
    log: list[str] = []
    begin = time.perf_counter()
    pieces = [gevent.spawn(work, slices, name, 5, log) for name in "abcd"]
    gevent.joinall(pieces)
    # The first unit of each piece runs at once.
    queued = len(log) - len(pieces)
    assert time.perf_counter() - begin >= (len(log) + queued - 1) * UNIT


def test_short_work_does_not_wait_for_long_work(slices: TimeSlices) -> None:
    log: list[str] = []
    pieces = [gevent.spawn(work, slices, name, 20, log) for name in "abc"]
    gevent.sleep(10 * UNIT)
    with slices.long_work():
        log.append("short")
        slices.pause()
        log.append("short")
    before = log.index("short")
    assert log[before : before + 2] == ["short", "short"]
    gevent.killall(pieces)


def test_a_unit_shorter_than_a_slice_is_followed_by_the_next_at_once(
    slices: TimeSlices, other: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLICE_SECONDS", 60.0)
    with slices.long_work():
        for _ in range(50):
            slices.pause()
    assert other == []


def test_outside_of_long_work_a_pause_is_none(slices: TimeSlices, other: list[str]) -> None:
    compute()
    slices.pause()
    assert other == []


def test_long_work_within_long_work_is_a_part_of_it(slices: TimeSlices) -> None:
    log: list[str] = []
    with slices.long_work():
        work(slices, "inner", 2, log)
        log.append("outer")
    assert log == ["inner", "inner", "outer"]
    work(slices, "later", 1, log)
    assert log[-1] == "later"


def test_work_that_fails_leaves_the_turn_to_others(slices: TimeSlices) -> None:
    with pytest.raises(ZeroDivisionError), slices.long_work():
        raise ZeroDivisionError
    log: list[str] = []
    work(slices, "next", 1, log)
    assert log == ["next"]


def test_work_that_is_stopped_while_it_waits_leaves_the_turn_to_others(slices: TimeSlices) -> None:
    log: list[str] = []
    pieces = [gevent.spawn(work, slices, name, 1000, log) for name in "abc"]
    gevent.sleep(5 * UNIT)
    gevent.killall(pieces)
    work(slices, "next", 2, log)
    assert log[-2:] == ["next", "next"]
