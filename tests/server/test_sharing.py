"""Request coalescing, limits for each caller, and single flight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import gevent
import pytest
from gevent.event import Event
from hypothesis import given
from hypothesis import strategies as st

from api.concurrency.single_flight import SingleFlight
from api.storage.coalescing import MAX_BATCH, Batcher
from api.storage.fair_client import CallerLimits


class Store:
    """Executes batches while it is `open`, and records them."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []
        self.open = Event()
        self.failing: set[int] = set()
        self.error: Exception = ConnectionError("away")

    def execute(self, commands: Sequence[bytes]) -> list[bytes]:
        self.batches.append(list(commands))
        number = len(self.batches)
        self.open.wait()
        if number in self.failing:
            raise self.error
        return [each.upper() for each in commands]


def submit(batcher: Batcher, *commands: bytes) -> gevent.Greenlet:
    greenlet = gevent.spawn(batcher.submit, commands)
    gevent.sleep(0)
    return greenlet


def test_a_request_without_others_in_flight_is_executed_at_once() -> None:
    store = Store()
    store.open.set()
    batcher = Batcher(store.execute)
    assert batcher.submit([b"a", b"b"]) == [b"A", b"B"]
    assert batcher.submit([b"c"]) == [b"C"]
    assert store.batches == [[b"a", b"b"], [b"c"]]


def test_requests_that_arrive_together_share_a_round_trip() -> None:
    store = Store()
    store.open.set()
    batcher = Batcher(store.execute)
    together = [gevent.spawn(batcher.submit, [each]) for each in (b"a", b"b", b"c")]
    assert sorted(each.get()[0] for each in together) == [b"A", b"B", b"C"]
    assert [sorted(each) for each in store.batches] == [[b"a", b"b", b"c"]]


def test_the_first_of_requests_that_arrive_together_can_be_killed() -> None:
    store = Store()
    store.open.set()
    batcher = Batcher(store.execute)
    first = gevent.spawn(batcher.submit, [b"first"])
    others = [gevent.spawn(batcher.submit, [each]) for each in (b"a", b"b")]
    killer = gevent.spawn(first.kill, block=False)
    gevent.joinall([first, killer, *others])
    assert [each.value for each in others] == [[b"A"], [b"B"]]
    assert batcher.submit([b"c"]) == [b"C"]


@given(st.lists(st.lists(st.binary(max_size=2), min_size=1, max_size=4), max_size=8))
def test_requests_that_arrive_during_a_batch_share_the_next_one_and_get_their_own_replies(
    requests: list[list[bytes]],
) -> None:
    store = Store()
    batcher = Batcher(store.execute)
    first = submit(batcher, b"first")
    others = [submit(batcher, *each) for each in requests]
    store.open.set()
    assert first.get() == [b"FIRST"]
    assert [each.get() for each in others] == [[one.upper() for one in each] for each in requests]
    together = [one for each in requests for one in each]
    assert store.batches == [[b"first"], *([together] if together else [])]


def test_a_batch_has_a_maximum_size() -> None:
    store = Store()
    batcher = Batcher(store.execute)
    submit(batcher, b"first")
    many = [b"x"] * (MAX_BATCH - 1)
    waiting = [
        submit(batcher, *many),
        submit(batcher, b"y"),
        submit(batcher, b"z", b"z"),
        submit(batcher, *many),
    ]
    store.open.set()
    gevent.joinall(waiting, raise_error=True)
    assert [len(each) for each in store.batches] == [1, MAX_BATCH, 2, MAX_BATCH - 1]


def test_a_batch_that_fails_fails_the_requests_that_wait_for_it() -> None:
    store = Store()
    store.failing = {1}
    batcher = Batcher(store.execute)
    requests = [submit(batcher, name) for name in (b"a", b"b", b"c")]
    store.open.set()
    for each in requests:
        with pytest.raises(ConnectionError, match="away"):
            each.get()
    assert store.batches == [[b"a"]]
    assert batcher.submit([b"d"]) == [b"D"]


def test_after_a_shared_batch_that_fails_the_next_one_is_executed() -> None:
    store = Store()
    store.failing = {2}
    batcher = Batcher(store.execute)
    first = submit(batcher, b"a")
    second = submit(batcher, b"b")
    store.open.set()
    assert first.get() == [b"A"]
    with pytest.raises(ConnectionError):
        second.get()
    assert batcher.submit([b"c"]) == [b"C"]


def test_a_shared_batch_that_fails_fails_the_requests_that_wait_for_it() -> None:
    store = Store()
    store.failing = {2}
    batcher = Batcher(store.execute)
    submit(batcher, b"first")
    second, third = submit(batcher, *[b"x"] * MAX_BATCH), submit(batcher, b"third")
    store.open.set()
    for each in (second, third):
        with pytest.raises(ConnectionError, match="away"):
            each.get(timeout=5)
    assert len(store.batches) == 2


@pytest.mark.parametrize("number", [1, 2])
def test_an_error_that_is_not_of_the_connection_fails_its_own_batch_only(number: int) -> None:
    store = Store()
    store.failing, store.error = {number}, ValueError("wrong")
    batcher = Batcher(store.execute)
    requests = [
        submit(batcher, b"first"),
        *(submit(batcher, *[b"x"] * MAX_BATCH) for _ in range(2)),
    ]
    store.open.set()
    gevent.joinall(requests)
    failed = [each.exception is not None for each in requests]
    assert failed == [number == 1, number == 2, False]
    assert len(store.batches) == 3


def test_a_request_that_is_killed_does_not_stop_others() -> None:
    store = Store()
    batcher = Batcher(store.execute)
    first = submit(batcher, b"a")
    second, third = submit(batcher, b"b"), submit(batcher, b"c")
    first.kill()
    second.kill()
    store.open.set()
    assert third.get() == [b"C"]
    assert batcher.submit([b"d"]) == [b"D"]


def test_the_concurrent_requests_of_a_caller_are_limited_and_do_not_delay_other_callers() -> None:
    limits = CallerLimits(2)
    inside: Counter[str] = Counter()
    most: Counter[str] = Counter()
    go_on = Event()

    def request(caller: str) -> None:
        with limits.of(caller):
            inside[caller] += 1
            most[caller] = max(most[caller], inside[caller])
            go_on.wait()
            inside[caller] -= 1

    crowd = [gevent.spawn(request, "crowd") for _ in range(5)]
    gevent.sleep(0)
    single = gevent.spawn(request, "single")
    gevent.sleep(0)
    assert inside == {"crowd": 2, "single": 1}
    go_on.set()
    gevent.joinall([*crowd, single], raise_error=True)
    assert most == {"crowd": 2, "single": 1}


def test_a_caller_with_a_request_in_flight_is_never_forgotten() -> None:
    limits = CallerLimits(1)
    with limits.of("busy"):
        for number in range(3 * CallerLimits.MAX_CALLERS):
            limits.of(str(number))
        assert limits.of("busy").locked()
    assert not limits.of("busy").locked()


class Function:
    """Returns how often it was called, after it is `open` and a switch to other greenlets."""

    def __init__(self) -> None:
        self.calls = 0
        self.open = Event()
        self.error: Exception | None = None

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.open.wait()
        gevent.sleep(0)
        if self.error is not None:
            raise self.error
        return number


def spawn(run: object, key: str, function: Function, number: int) -> list[gevent.Greenlet]:
    greenlets = [gevent.spawn(run, key, function) for _ in range(number)]
    gevent.sleep(0)
    return greenlets


def test_concurrent_calls_with_the_same_key_share_one_execution() -> None:
    function, other = Function(), Function()
    flights = SingleFlight[int]()
    calls = spawn(flights.run, "a", function, 3) + spawn(flights.run, "b", other, 1)
    function.open.set()
    other.open.set()
    assert [each.get() for each in calls] == [1, 1, 1, 1]
    assert (function.calls, other.calls) == (1, 1)
    assert flights.run("a", function) == 2


def test_an_error_is_raised_by_all_calls_that_share_the_execution() -> None:
    function = Function()
    function.error = ValueError("wrong")
    flights = SingleFlight[int]()
    calls = spawn(flights.run, "a", function, 3)
    function.open.set()
    gevent.joinall(calls)
    assert [type(each.exception) for each in calls] == [ValueError] * 3
    assert function.calls == 1


def test_when_the_executing_call_is_killed_another_one_executes() -> None:
    function = Function()
    flights = SingleFlight[int]()
    first, *others = spawn(flights.run, "a", function, 3)
    first.kill()
    function.open.set()
    assert [each.get() for each in others] == [2, 2]


def test_a_fresh_result_is_of_an_execution_that_began_after_the_call() -> None:
    function = Function()
    flights = SingleFlight[int]()
    calls = spawn(flights.run_fresh, "a", function, 4)
    function.open.set()
    assert [each.get() for each in calls] == [1, 2, 2, 2]
    assert flights.run_fresh("a", function) == 3


def test_a_call_for_a_fresh_result_fails_with_the_execution_that_it_waits_for() -> None:
    function = Function()
    function.error = ValueError("wrong")
    flights = SingleFlight[int]()
    calls = spawn(flights.run_fresh, "a", function, 3)
    function.open.set()
    gevent.joinall(calls)
    assert [type(each.exception) for each in calls] == [ValueError] * 3
    assert function.calls == 1
