"""Rate limits: what a window counts, when it is used up, and what a failing store changes."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.config.rate_policies import GAMES, GAMES_HERE, MOVES, READS, SITTINGS, read_policies
from api.observability import context
from api.problems.problem import Problem
from api.ratelimit import limiter as limiter_module
from api.ratelimit.limiter import AWAY_SECONDS, Limiter, refuse_if_over
from api.storage import counters
from api.storage.client import StoreClient, execute_with
from api.storage.errors import Unreadable


class Store:
    """A store whose counter all workers share, or that fails."""

    def __init__(self) -> None:
        self.total = 0
        self.asked = 0
        self.failure: Exception | None = None

    def execute(self, commands: Any, **how: Any) -> list[tuple[int, int]]:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        self.total += 1
        return [(self.total, 30_000) for _ in commands]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic time, as the limiter and its counters see it."""
    time = [1000.0]
    clock = SimpleNamespace(monotonic=lambda: time[0])
    monkeypatch.setattr(limiter_module, "time", clock)
    monkeypatch.setattr(counters, "time", clock)
    return time


@pytest.fixture
def limiter(store: Store, now: list[float]) -> Limiter:
    policies = read_policies("reads=2/minute, games=2/minute, games-here=3/minute, moves=off")
    return Limiter(cast("StoreClient", store), policies)


@pytest.mark.parametrize("name", [READS, GAMES])
def test_a_limit_is_used_up_after_so_many_and_open_again_in_the_next_window(
    limiter: Limiter, store: Store, now: list[float], name: str
) -> None:
    for remaining, is_over in ((1, False), (0, False), (0, True), (0, True)):
        standing = limiter.count(name, "ada")
        assert standing is not None
        assert (standing.remaining, standing.is_over) == (remaining, is_over)
    # What is known to be used up is refused without a round trip.
    assert store.asked == (2 if name == GAMES else 0)
    now[0] += 60.0
    standing = limiter.look(name, "ada")
    assert standing is not None
    assert (standing.remaining, standing.is_over, standing.reset) == (2, False, 1)


def test_each_key_and_each_policy_counts_alone(limiter: Limiter) -> None:
    for key in ("ada", "ada", "ada"):
        limiter.count(READS, key)
    for name, key in ((READS, "bob"), (GAMES, "ada")):
        standing = limiter.look(name, key)
        assert standing is not None
        assert standing.remaining == 2


def test_looking_counts_nothing_and_a_limit_is_over_with_its_last_unit(limiter: Limiter) -> None:
    limiter.count(READS, "ada")
    for _ in range(3):
        standing = limiter.look(READS, "ada")
        assert standing is not None
        assert (standing.remaining, standing.is_over) == (1, False)
    limiter.count(READS, "ada")
    standing = limiter.look(READS, "ada")
    assert standing is not None
    assert standing.is_over


def test_the_reset_is_the_rest_of_the_window_in_whole_seconds(
    limiter: Limiter, now: list[float]
) -> None:
    for passed, reset in ((0.0, 60), (0.5, 60), (58.9, 1), (0.599, 1)):
        now[0] += passed
        standing = limiter.count(READS, "ada") if not passed else limiter.look(READS, "ada")
        assert standing is not None
        assert standing.reset == reset


def test_what_other_workers_have_used_up_is_refused_and_then_known(
    limiter: Limiter, store: Store
) -> None:
    store.total = 2
    standing = limiter.count(GAMES, "ada")
    assert standing is not None
    assert (standing.is_over, standing.remaining, standing.reset) == (True, 0, 30)
    assert limiter.count(GAMES, "ada") == standing
    assert store.asked == 1


def test_a_policy_that_is_off_counts_nothing(limiter: Limiter) -> None:
    assert limiter.policy(MOVES) is None
    assert limiter.count(MOVES, "ada") is limiter.look(MOVES, "ada") is None
    assert limiter.note(MOVES, "ada") is None


def test_a_count_fails_with_the_store_but_a_note_only_leaves_it_alone_for_a_second(
    limiter: Limiter, store: Store, now: list[float]
) -> None:
    store.failure = RedisConnectionError()
    with pytest.raises(RedisConnectionError):
        limiter.count(GAMES, "ada")
    assert limiter.note(GAMES, "ada") is None
    asked, store.failure = store.asked, None
    now[0] += AWAY_SECONDS - 0.01
    assert limiter.note(GAMES, "ada") is None
    assert store.asked == asked
    now[0] += 0.01
    assert limiter.note(GAMES, "ada") is not None


def test_a_counter_that_cannot_be_read_does_not_keep_others_from_counting(
    limiter: Limiter, store: Store
) -> None:
    store.failure = Unreadable()
    assert limiter.note(GAMES, "ada") is None
    store.failure = None
    assert limiter.note(GAMES, "bob") is not None


def test_a_used_up_limit_is_refused_with_its_rest_and_told_in_the_answer(limiter: Limiter) -> None:
    request = context.begin(None, "GET", "192.0.2.1")
    refuse_if_over(None)
    refuse_if_over(limiter.count(READS, "ada"))
    limiter.count(READS, "ada")
    assert request.standings == {}
    with pytest.raises(Problem) as refused:
        refuse_if_over(limiter.count(READS, "ada"))
    context.end()
    assert refused.value.code == "too_many_requests"
    assert refused.value.headers == {"Retry-After": "60"}
    assert refused.value.detail == "The limit of 2/minute for 'reads' is used up for 60 s."
    assert list(request.standings) == [READS]


@pytest.fixture
def request_() -> Iterator[context.RequestContext]:
    """A request of an address, with a token."""
    request = context.begin(None, "POST", "192.0.2.1")
    request.counted_for = "ada"
    yield request
    context.end()


def test_limits_that_workers_share_are_counted_together_and_all_are_told(
    limiter: Limiter, store: Store, request_: context.RequestContext
) -> None:
    limiter.take(READS, GAMES_HERE, GAMES, MOVES)
    assert store.asked == 1
    told = {name: each.remaining for name, each in request_.standings.items()}
    assert told == {READS: 1, GAMES_HERE: 2, GAMES: 1}
    limiter.take(GAMES_HERE, GAMES)
    with pytest.raises(Problem) as refused:
        limiter.take(GAMES_HERE, GAMES)
    assert refused.value.detail == "The limit of 2/minute for 'games' is used up for 30 s."
    # It is known now, and refused before anything is counted.
    store.asked = 0
    with pytest.raises(Problem):
        limiter.take(GAMES_HERE, GAMES)
    assert store.asked == 0


def test_what_a_request_defers_is_counted_with_its_first_read(
    limiter: Limiter, store: Store, request_: context.RequestContext
) -> None:
    client = cast("StoreClient", store)
    for _ in range(2):
        request_.deferred += limiter.defer(GAMES)
        execute_with(client, (), request_.take_deferred())
    assert (store.asked, request_.deferred) == (2, [])
    # The first worker that meets the limit learns of it with its read.
    store.total, other = 2, Limiter(client, read_policies("games=2/minute"))
    request_.deferred += other.defer(GAMES)
    with pytest.raises(Problem) as refused:
        execute_with(client, (), request_.take_deferred())
    assert refused.value.code == "too_many_requests"


def test_a_request_that_reads_nothing_is_counted_at_its_end(
    limiter: Limiter, store: Store, request_: context.RequestContext
) -> None:
    assert limiter.count_deferred() is None
    assert store.asked == 0
    for _ in range(2):
        request_.deferred += limiter.defer(GAMES)
        assert limiter.count_deferred() is None
    store.total, request_.deferred = (
        2,
        Limiter(cast("StoreClient", store), read_policies("games=2/minute")).defer(GAMES),
    )
    over = limiter.count_deferred()
    assert over is not None
    assert over.code == "too_many_requests"
    for failure in (RedisConnectionError(), Unreadable()):
        store.failure, request_.deferred = failure, limiter.defer(GAMES_HERE)
        assert limiter.count_deferred() is None


def test_a_count_that_is_sent_with_a_commit_fails_alone(
    limiter: Limiter, request_: context.RequestContext, now: list[float]
) -> None:
    (deferred,) = limiter.defer_note(SITTINGS, "game")
    receive = deferred.receive
    receive([(1, 30_000)])
    assert request_.standings[SITTINGS].remaining == 299
    receive([Unreadable()])
    assert limiter.defer_note(SITTINGS, "game")
    receive([RedisConnectionError()])
    assert limiter.defer_note(SITTINGS, "game") == []
    now[0] += AWAY_SECONDS
    assert limiter.defer_note(SITTINGS, "game")
    assert limiter.defer_note(MOVES, "game") == []
