"""Waits without a greenlet, and the bodies of responses that have waits between their parts."""

from collections.abc import Generator

from gevent.event import Event

from api.concurrency.waits import Parts, Wait
from tests.support.fake_clock import FakeClock


def test_a_wait_ends_once_with_its_event(clock: FakeClock) -> None:
    event, ends = Event(), list[float]()
    Wait(event, 10).then(lambda: ends.append(clock.now))
    clock.advance(3)
    assert ends == []
    event.set()
    clock.advance(20)
    event.clear()
    event.set()
    clock.advance(1)
    assert ends == [3]


def test_a_wait_ends_once_when_its_time_is_up(clock: FakeClock) -> None:
    event, ends = Event(), list[float]()
    Wait(event, 10).then(lambda: ends.append(clock.now))
    clock.advance(20)
    event.set()
    clock.advance(1)
    assert ends == [10]


def test_a_wait_for_what_has_happened_ends_at_once(clock: FakeClock) -> None:
    event, ends = Event(), list[float]()
    event.set()
    Wait(event, 10).then(lambda: ends.append(clock.now))
    assert ends == []
    clock.settle()
    assert ends == [0]


def test_a_server_that_knows_no_waits_gets_all_parts(clock: FakeClock) -> None:
    def steps() -> Generator[bytes | Wait, None, None]:
        event = Event()
        yield b"one"
        event.set()
        yield Wait(event, 10)
        yield b"two"

    assert list(Parts(steps(), lambda: None)) == [b"one", b"two"]


def test_a_body_that_is_closed_early_ends_its_work(clock: FakeClock) -> None:
    told = []

    def steps() -> Generator[bytes | Wait, None, None]:
        try:
            yield Wait(Event(), 10)
        finally:
            told.append("steps")

    body = Parts(steps(), lambda: told.append("body"))
    next(body.steps)
    body.close()
    assert told == ["steps", "body"]
