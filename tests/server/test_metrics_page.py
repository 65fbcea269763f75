"""The text of the metrics is rendered at most once a second, for all who ask."""

import time
from typing import Any

import gevent
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.observability import metrics
from api.web import metrics_page
from api.web.metrics_page import MAX_AGE_SECONDS, MetricsPage


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic time, as this module sees it."""
    now = [1000.0]
    monkeypatch.setattr(metrics_page.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int] | None]:
    """What each rendering was told of the lobby; it takes a while."""
    lobbies: list[dict[str, int] | None] = []

    def render(lobby: dict[str, int] | None, is_full: bool | None) -> bytes:
        assert is_full in (False, None)
        time.sleep(0.01)
        lobbies.append(lobby)
        return b"text %d" % len(lobbies)

    monkeypatch.setattr(metrics, "exposition", render)
    return lobbies


def test_all_who_ask_within_a_second_get_the_same_text(
    clock: list[float], rendered: list[dict[str, int] | None]
) -> None:
    told = MetricsPage(lambda: {"open": 3}, lambda: False)
    asked = [gevent.spawn(told.get) for _ in range(20)]
    gevent.joinall(asked, raise_error=True)
    assert {each.value for each in asked} == {b"text 1"}
    clock[0] += MAX_AGE_SECONDS - 0.001
    assert told.get() == b"text 1"
    clock[0] += 0.002
    assert told.get() == b"text 2"
    assert rendered == [{"open": 3}, {"open": 3}]


def test_without_a_store_the_other_figures_are_told(
    clock: list[float], rendered: list[dict[str, int] | None]
) -> None:
    def fail() -> Any:
        raise RedisConnectionError

    assert MetricsPage(fail, fail).get() == b"text 1"
    assert rendered == [None]


def test_a_rendering_that_fails_is_tried_again(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise ZeroDivisionError

    told = MetricsPage(dict, bool)
    with monkeypatch.context() as patched:
        patched.setattr(metrics, "exposition", fail)
        with pytest.raises(ZeroDivisionError):
            told.get()
    assert b"ludotheque" in told.get()
