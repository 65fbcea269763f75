"""A line that every request could cause is logged once a minute for each key."""

import pytest

from api.observability import logger
from api.observability.logger import OnceAMinute


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic time, as the logger sees it."""
    now = [1000.0]
    monkeypatch.setattr(logger.time, "monotonic", lambda: now[0])
    return now


def test_a_line_is_due_at_once_and_again_after_a_minute(clock: list[float]) -> None:
    line = OnceAMinute()
    assert [line.is_due() for _ in range(3)] == [True, False, False]
    clock[0] += 59.9
    assert not line.is_due()
    clock[0] += 0.2
    assert [line.is_due() for _ in range(2)] == [True, False]


def test_each_key_has_its_own_minute(clock: list[float]) -> None:
    line = OnceAMinute()
    assert line.is_due("192.0.2.1")
    clock[0] += 30
    assert line.is_due("192.0.2.2")
    clock[0] += 31
    assert [line.is_due(f"192.0.2.{n}") for n in (1, 2)] == [True, False]


def test_keys_are_forgotten_after_their_minute(clock: list[float]) -> None:
    line = OnceAMinute()
    for number in range(1000):
        assert line.is_due(str(number))
    clock[0] += 61
    assert line.is_due("another")
    assert set(line._silent_until) == {"another"}
