"""What is shared: who goes with whom, who waits for whom, what comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import gevent
import pytest
from gevent.event import Event
from hypothesis import given
from hypothesis import strategies as st

from api.storage.coalescing import MOST_AT_ONCE, SharedTrips, Shares, SingleFlight


class Road:
    """Trips that take as long as they are kept, and are written down."""

    def __init__(self) -> None:
        self.trips: list[list[str]] = []
        self.open = Event()
        self.failing: set[int] = set()

    def go(self, questions: Sequence[str]) -> list[str]:
        self.trips.append(list(questions))
        number = len(self.trips)
        self.open.wait()
        if number in self.failing:
            raise ConnectionError("away")
        return [each.upper() for each in questions]


def begin(trips: SharedTrips[str, str], *questions: str) -> gevent.Greenlet:
    greenlet = gevent.spawn(trips.ask, questions)
    gevent.sleep(0)
    return greenlet


def test_who_asks_alone_goes_at_once() -> None:
    road = Road()
    road.open.set()
    trips = SharedTrips(road.go)
    assert trips.ask(["a", "b"]) == ["A", "B"]
    assert trips.ask(["c"]) == ["C"]
    assert road.trips == [["a", "b"], ["c"]]


@given(st.lists(st.lists(st.text("abc", max_size=2), min_size=1, max_size=4), max_size=8))
def test_who_comes_during_a_trip_shares_the_next_and_gets_what_it_asked_for(
    asked: list[list[str]],
) -> None:
    road = Road()
    trips = SharedTrips(road.go)
    first = begin(trips, "first")
    others = [begin(trips, *each) for each in asked]
    road.open.set()
    assert first.get() == ["FIRST"]
    assert [each.get() for each in others] == [[one.upper() for one in each] for each in asked]
    together = [one for each in asked for one in each]
    assert road.trips == [["first"], *([together] if together else [])]


def test_a_trip_is_not_overloaded() -> None:
    road = Road()
    trips = SharedTrips(road.go)
    begin(trips, "first")
    many = ["x"] * (MOST_AT_ONCE - 1)
    waiting = [begin(trips, *many), begin(trips, "y"), begin(trips, "z", "z"), begin(trips, *many)]
    road.open.set()
    gevent.joinall(waiting, raise_error=True)
    assert [len(each) for each in road.trips] == [1, MOST_AT_ONCE, 2, MOST_AT_ONCE - 1]


def test_when_a_trip_fails_nobody_who_waits_has_to_wait_again() -> None:
    road = Road()
    road.failing = {1}
    trips = SharedTrips(road.go)
    asking = [begin(trips, name) for name in "abc"]
    road.open.set()
    for each in asking:
        with pytest.raises(ConnectionError, match="away"):
            each.get()
    assert road.trips == [["a"]]
    assert trips.ask(["d"]) == ["D"]


def test_when_a_shared_trip_fails_the_next_one_goes_again() -> None:
    road = Road()
    road.failing = {2}
    trips = SharedTrips(road.go)
    first = begin(trips, "a")
    second = begin(trips, "b")
    road.open.set()
    assert first.get() == ["A"]
    with pytest.raises(ConnectionError):
        second.get()
    assert trips.ask(["c"]) == ["C"]


def test_who_is_stopped_on_the_way_stops_nobody_else() -> None:
    road = Road()
    trips = SharedTrips(road.go)
    first = begin(trips, "a")
    second, third = begin(trips, "b"), begin(trips, "c")
    first.kill()
    second.kill()
    road.open.set()
    assert third.get() == ["C"]
    assert trips.ask(["d"]) == ["D"]


def test_of_one_caller_only_so_many_ask_at_once_and_nobody_else_waits_for_them() -> None:
    shares = Shares(2)
    inside: Counter[str] = Counter()
    most: Counter[str] = Counter()
    go_on = Event()

    def visit(whose: str) -> None:
        with shares.of(whose):
            inside[whose] += 1
            most[whose] = max(most[whose], inside[whose])
            go_on.wait()
            inside[whose] -= 1

    crowd = [gevent.spawn(visit, "crowd") for _ in range(5)]
    gevent.sleep(0)
    single = gevent.spawn(visit, "single")
    gevent.sleep(0)
    assert inside == {"crowd": 2, "single": 1}
    go_on.set()
    gevent.joinall([*crowd, single], raise_error=True)
    assert most == {"crowd": 2, "single": 1}


def test_a_share_that_is_in_use_is_never_forgotten() -> None:
    shares = Shares(1)
    with shares.of("busy"):
        for number in range(3 * Shares.REMEMBERED):
            shares.of(str(number))
        assert shares.of("busy").locked()
    assert not shares.of("busy").locked()


def test_what_is_found_was_looked_for_after_it_was_asked_for() -> None:
    begun = []
    go_on = Event()

    def look() -> int:
        begun.append(len(begun))
        go_on.wait()
        return begun[-1]

    found = SingleFlight(look)
    asking = [gevent.spawn(found.get) for _ in range(4)]
    gevent.sleep(0)
    go_on.set()
    assert [each.get() for each in asking] == [0, 1, 1, 1]
    assert found.get() == 2
