"""The hub: which waiters it wakes when, after how many round trips, and while the store fails."""

import itertools
from collections.abc import Callable
from typing import Any

import gevent
import pytest
from redis import OutOfMemoryError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.concurrency.single_flight import Abandoned
from api.games.players import Credentials
from api.games.transactions import FULL_SECONDS
from api.live.hub import (
    LINGER_SECONDS,
    MAX_RETRY_SECONDS,
    MAX_SETTLING,
    MIN_RETRY_SECONDS,
    PAUSE_SECONDS,
    READ_BATCH,
    RECHECK_BATCH,
    RECHECK_SECONDS,
    WAKE_BATCH,
)
from api.live.topics import IN_FLIGHT_MS, SharedSnapshot, Waiter
from api.model.game import Game
from api.storage.errors import Unreadable
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker
from tests.support.steps import complete


def wants_all(game: Game | None) -> bool:
    return True


def wait_for(
    worker: MemoryWorker,
    game_id: str,
    wants: Callable[[Game | None], bool] = wants_all,
    seconds: float = 1000,
) -> gevent.Greenlet:
    """Waits for a game; its result is the time when it was woken."""

    def wait() -> float:
        with worker.hub.waiter() as waiter:
            waiter.watch(worker.hub.game_topic(game_id, was_just_read=True), wants)
            complete(waiter.wait(seconds))
        return worker.clock.now

    return worker.start(wait)


def keep_waiting(worker: MemoryWorker, game_id: str) -> Waiter:
    """A waiter that stays and ignores what wakes it."""
    waiter = worker.hub.waiter()
    waiter.watch(worker.hub.game_topic(game_id, was_just_read=True), wants_all)
    worker.clock.settle()
    return waiter


def channel(game_id: str) -> bytes:
    return f"game:{{{game_id}}}".encode()


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """The arguments of all calls of a method from now on, and when they were."""
    calls: list[Any] = []
    original = getattr(owner, name)

    def call(*args: Any) -> Any:
        calls.append(args[0])
        return original(*args)

    monkeypatch.setattr(owner, name, call)
    return calls


# --- Waking ------------------------------------------------------------------------------


def test_waiters_of_one_game_share_a_subscription_and_a_snapshot(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    waiters = [keep_waiting(worker, game_id) for _ in range(10)]
    assert len(worker.client.listeners[channel(game_id)]) == 1
    reads = counted(monkeypatch, worker.store, "snapshots")
    worker.move((ada, bob), game_id)
    worker.clock.settle()
    assert reads == [[game_id]]
    for waiter in waiters:
        waiter.close()


def test_only_waiters_that_want_the_new_state_are_woken(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    version = worker.game(game_id).version
    next_one, next_but_one = (
        wait_for(worker, game_id, lambda game, v=v: game is not None and game.version > v)
        for v in (version, version + 1)
    )
    worker.move((ada, bob), game_id)
    worker.clock.settle()
    assert next_one.ready()
    assert not next_but_one.ready()


def test_a_confirmed_subscription_is_followed_by_a_snapshot(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """Before the confirmation no notification was heard."""
    game_id = worker.seated(ada, bob)
    assert worker.clock.result(wait_for(worker, game_id), 0) == 0


def test_a_crowd_is_woken_in_batches_with_pauses(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id).version
    crowd = [
        wait_for(worker, game_id, lambda game: game is not None and game.version > before)
        for _ in range(2 * WAKE_BATCH + 5)
    ]
    seen = []

    def bystander() -> None:
        """Another request, which gets its turn in each pause."""
        while not all(each.ready() for each in crowd):
            seen.append(sum(each.ready() for each in crowd))
            gevent.sleep(0)

    worker.move((ada, bob), game_id)
    gevent.spawn(bystander)
    worker.clock.settle()
    assert all(each.ready() for each in crowd)
    assert {WAKE_BATCH, 2 * WAKE_BATCH} <= set(seen)


def test_what_woke_a_waiter_before_it_waits_counts(worker: MemoryWorker) -> None:
    waiter = worker.hub.waiter()
    waiter.wake()
    complete(waiter.wait(60))
    assert worker.clock.now == 0
    greenlet = worker.start(waiter.wait, 60)
    assert not greenlet.ready()
    worker.clock.result(greenlet, 60)
    assert worker.clock.now == 60


def test_a_closed_waiter_is_forgotten(worker: MemoryWorker, ada: Credentials) -> None:
    game_id = worker.create(ada)
    with worker.hub.waiter() as waiter:
        topic = worker.hub.game_topic(game_id)
        waiter.watch(topic, wants_all)
        assert waiter in worker.hub.waiters
        assert waiter in topic.waiters
    assert not worker.hub.waiters
    assert not topic.waiters


def test_a_stop_wakes_every_waiter_and_lets_none_wait_again(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    waiters = [wait_for(worker, game_id, lambda game: False) for _ in range(5)]
    worker.hub.stop()
    assert [worker.clock.result(each, 0) for each in waiters] == [0] * 5
    assert worker.clock.result(wait_for(worker, game_id, lambda game: False), 0) == 0
    assert worker.hub.game_topic(game_id).ready.is_set()


# --- Snapshots ---------------------------------------------------------------------------


def test_many_stale_games_are_read_in_large_batches(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = [ada, worker.player(), worker.player()]
    ids = [worker.create(hosts[number % 3]) for number in range(READ_BATCH + 20)]
    for game_id in ids:
        waiter = worker.hub.waiter()
        waiter.watch(worker.hub.game_topic(game_id, was_just_read=True), wants_all)
    worker.clock.settle()
    reads = counted(monkeypatch, worker.store, "snapshots")
    for game_id in ids:
        worker.client.tell(channel(game_id), b"")
    worker.clock.settle()
    assert sorted(map(len, reads)) == [20, READ_BATCH]


def test_a_game_without_waiters_is_not_read(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.create(ada)
    keep_waiting(worker, game_id).close()
    topic = worker.hub.game_topic(game_id)
    assert topic.snapshot is not None
    reads = counted(monkeypatch, worker.store, "snapshots")
    worker.client.tell(channel(game_id), b"")
    worker.clock.settle()
    assert reads == []
    # The next waiter is not shown what was there before.
    assert topic.snapshot is None
    keep_waiting(worker, game_id)
    assert reads == [[game_id]]


def test_a_store_that_fails_is_asked_again_after_a_pause(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id).version
    poll = wait_for(worker, game_id, lambda game: game is not None and game.version > before)
    worker.client.is_mute = True
    worker.move((ada, bob), game_id)
    worker.client.failure = RedisConnectionError()
    worker.client.is_mute = False
    worker.client.tell(channel(game_id), b"")
    worker.clock.settle()
    reads = counted(monkeypatch, worker.store, "snapshots")
    worker.clock.advance(10 * PAUSE_SECONDS)
    assert len(reads) in (9, 10, 11)
    worker.client.failure = None
    assert worker.clock.result(poll, PAUSE_SECONDS) > 0


def test_a_game_whose_node_fails_delays_no_other_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    away, here = (worker.seated(ada, bob) for _ in range(2))
    versions = {each: worker.game(each).version for each in (away, here)}

    def poll(game_id: str) -> gevent.Greenlet:
        before = versions[game_id]
        return wait_for(worker, game_id, lambda game: game is not None and game.version > before)

    polls = {each: poll(each) for each in (away, here)}
    for each in (away, here):
        worker.move((ada, bob), each)
        worker.client.failures[channel(away).decode()] = RedisConnectionError("away")
    assert worker.clock.result(polls[here], 0) == 0
    assert not polls[away].ready()
    assert worker.hub.game_topic(away).fault is None
    # Its node does not reply for a while at each attempt.
    worker.client.latency = 5
    worker.clock.advance(PAUSE_SECONDS)
    worker.client.latency = 0
    versions[here] += 1
    next_poll = poll(here)
    worker.move((ada, bob), here)
    worker.clock.settle()
    assert next_poll.ready()
    worker.client.failures.clear()
    assert worker.clock.result(polls[away], 5 + 2 * PAUSE_SECONDS) > 0


def test_a_game_or_player_whose_node_fails_keeps_no_other_from_its_recheck(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    away, here = (worker.seated(ada, bob) for _ in range(2))
    before = worker.game(here).version
    poll = wait_for(worker, here, lambda game: game is not None and game.version > before)
    waiters = [keep_waiting(worker, away), *(worker.hub.waiter() for _ in range(2))]
    topics = [worker.hub.player_topic(each.player_id) for each in (ada, bob)]
    for waiter, topic in zip(waiters[1:], topics, strict=True):
        waiter.watch(topic, wants_all)
    worker.client.is_mute = True
    worker.move((ada, bob), here)
    for key in (channel(away).decode(), f"index:{{places:{ada.player_id}}}:playing"):
        worker.client.failures[key] = RedisConnectionError("away")
    assert worker.clock.result(poll, RECHECK_SECONDS + PAUSE_SECONDS) > 0
    assert [each.games for each in topics] == [None, {away, here}]
    with pytest.raises(RedisConnectionError):
        worker.hub.read_games_of(topics[0])
    for waiter in waiters:
        waiter.close()


def test_a_fault_of_one_waiter_does_not_end_the_reading_of_other_games(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    faulty, other = (worker.seated(ada, bob) for _ in range(2))

    def fail(game: Game | None) -> bool:
        raise ZeroDivisionError

    waiter = worker.hub.waiter()
    waiter.watch(worker.hub.game_topic(faulty, was_just_read=True), fail)
    worker.clock.settle()
    before = worker.game(other).version
    poll = wait_for(worker, other, lambda game: game is not None and game.version > before)
    worker.move((ada, bob), other)
    worker.clock.settle()
    assert poll.ready()
    waiter.close()


def test_a_topic_that_was_dropped_does_not_keep_its_successor_from_being_read(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id, other = (worker.seated(ada, bob) for _ in range(2))
    keep_waiting(worker, game_id).close()
    old = worker.hub.game_topic(game_id)
    worker.clock.advance(LINGER_SECONDS + RECHECK_SECONDS)
    waiters = [keep_waiting(worker, each) for each in (game_id, other)]
    new = worker.hub.game_topic(game_id)
    assert new is not old
    worker.hub.read_again_later(old)
    worker.clock.advance(IN_FLIGHT_MS / 1000 - 0.5)
    # While another read is in flight, first the new topic is marked as stale and then the old one.
    worker.client.latency = 1
    worker.client.tell(channel(other), b"")
    worker.clock.settle()
    worker.client.latency = 0
    worker.move((ada, bob), game_id)
    worker.clock.advance(1)
    assert new.snapshot is not None
    assert new.snapshot.game == worker.game(game_id)
    for waiter in waiters:
        waiter.close()


def test_an_unreadable_game_wakes_its_waiters_with_the_fault_and_is_retried_ever_less_often(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, healthy = worker.seated(ada, bob), worker.seated(ada, bob)
    waiters = [keep_waiting(worker, each) for each in (broken, healthy)]
    document = worker.client.hget(channel(broken), b"game")
    assert document is not None
    worker.client.hset(channel(broken), b"game", b"nonsense")
    for each in (broken, healthy):
        worker.client.tell(channel(each), b"")
    worker.clock.settle()
    topic = worker.hub.game_topic(broken)
    assert isinstance(topic.fault, Unreadable)
    assert topic.snapshot is None
    assert worker.hub.game_topic(healthy).fault is None
    assert topic.is_set_aside
    worker.clock.advance(MIN_RETRY_SECONDS)
    assert not topic.is_set_aside
    pauses = [topic.retry_pause]
    for _ in range(20):
        worker.clock.advance(topic.retry_pause + RECHECK_SECONDS + PAUSE_SECONDS)
        pauses.append(topic.retry_pause)
    assert pauses[:4] == [MIN_RETRY_SECONDS * 2**number for number in range(4)]
    assert pauses[-1] == MAX_RETRY_SECONDS
    # Once it can be read it is shown again, and the pauses begin anew.
    worker.client.hset(channel(broken), b"game", document)
    worker.clock.advance(MAX_RETRY_SECONDS + RECHECK_SECONDS + PAUSE_SECONDS)
    assert topic.fault is None
    assert topic.retry_pause == 0
    assert topic.snapshot is not None
    for waiter in waiters:
        waiter.close()


def test_the_store_time_goes_on_between_two_reads(worker: MemoryWorker) -> None:
    worker.hub.set_clock(5_000)
    worker.clock.advance(1.5)
    assert worker.hub.now() == 6_500


# --- Deadlines ---------------------------------------------------------------------------


def test_a_deadline_is_applied_a_little_after_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    before = worker.game(game_id).version
    poll = wait_for(worker, game_id, lambda game: game is not None and game.version > before)
    assert 60 < worker.clock.result(poll, 61) < 60.01


def test_a_move_before_the_deadline_sets_the_next_one(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    waiter = keep_waiting(worker, game_id)
    worker.clock.advance(30)
    worker.move((ada, bob), game_id)
    settled = counted(monkeypatch, worker.transactions, "settle")
    worker.clock.advance(59)
    assert not settled
    worker.clock.advance(2)
    assert len(settled) == 1
    waiter.close()


def test_a_game_that_is_left_or_has_ended_has_no_timer(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    left, ended = (worker.seated(ada, bob, turn_seconds=60) for _ in range(2))
    topics = [worker.hub.game_topic(each) for each in (left, ended)]
    waiters = [keep_waiting(worker, each) for each in (left, ended)]
    assert all(topic.timer is not None for topic in topics)
    waiters[0].close()
    for player in (ada, bob):
        worker.leave(player, ended)
    worker.clock.advance(LINGER_SECONDS + 2 * RECHECK_SECONDS)
    assert [topic.timer for topic in topics] == [None, None]
    waiters[1].close()


def test_of_many_games_due_in_one_moment_few_are_settled_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [worker.seated(ada, bob, turn_seconds=60) for _ in range(3 * MAX_SETTLING)]
    waiters = [keep_waiting(worker, each) for each in ids]
    settle, at_once = worker.transactions.settle, []
    running: set[str] = set()

    def slowly(found: Any, now: int) -> Any:
        running.add(found.game.id)
        at_once.append(len(running))
        gevent.sleep(1)
        running.discard(found.game.id)
        return settle(found, now)

    monkeypatch.setattr(worker.transactions, "settle", slowly)
    worker.clock.advance(60.01)
    assert len(running) == MAX_SETTLING
    worker.clock.advance(3.01)
    assert max(at_once) == MAX_SETTLING
    assert len(at_once) == len(ids)
    for waiter in waiters:
        waiter.close()


def test_a_due_game_that_another_worker_settles_is_read_again(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    other = MemoryWorker(clock, worker.client)
    waiters = [keep_waiting(each, game_id) for each in (worker, other)]
    clock.advance(61)
    versions = {
        each.hub.game_topic(game_id).snapshot.fingerprint.version for each in (worker, other)
    }  # type: ignore[union-attr]
    assert versions == {worker.game(game_id).version}
    assert [item.by for item in worker.items(game_id, 4, 100)] == ["clock"]
    for waiter in waiters:
        waiter.close()
    other.close()


def test_a_due_game_that_another_request_settles_is_read_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    shown: list[Game | None] = []
    waiter = worker.hub.waiter()
    topic = worker.hub.game_topic(game_id, was_just_read=True)
    waiter.watch(topic, lambda game: shown.append(game) is None)
    settle = worker.transactions.settle

    def settled_by_another(found: Any, now: int) -> None:
        settle(found, now)

    monkeypatch.setattr(worker.transactions, "settle", settled_by_another)
    worker.clock.advance(60.1)
    # Nothing is shown in between: without a game, polls would end with "not found".
    assert None not in shown
    assert shown[-1] == worker.game(game_id)
    waiter.close()


def test_a_settled_game_replaces_no_newer_snapshot(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    waiter = keep_waiting(worker, game_id)
    settle, shown = worker.transactions.settle, []
    topic = worker.hub.game_topic(game_id)

    def settle_slowly(found: Any, now: int) -> Any:
        settled = settle(found, now)
        worker.move((ada, bob), game_id)
        gevent.sleep(0.1)
        shown.append(topic.snapshot)
        return settled

    monkeypatch.setattr(worker.transactions, "settle", settle_slowly)
    worker.clock.advance(60.2)
    assert topic.snapshot is not None
    assert shown[0].game == topic.snapshot.game == worker.game(game_id)
    waiter.close()


@pytest.mark.parametrize(
    ("error", "pause"),
    [(OutOfMemoryError(), FULL_SECONDS), (RedisConnectionError(), PAUSE_SECONDS)],
)
def test_a_deadline_that_the_store_refuses_is_tried_again_after_a_pause(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    pause: float,
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    waiter = keep_waiting(worker, game_id)
    settle, times = worker.transactions.settle, []

    def refuse(*args: Any) -> Any:
        times.append(worker.clock.now)
        if len(times) < 3:
            raise error
        return settle(*args)

    monkeypatch.setattr(worker.transactions, "settle", refuse)
    worker.clock.advance(60.1 + 2 * pause)
    assert len(times) == 3
    assert [after - before for before, after in itertools.pairwise(times)] == [
        pytest.approx(pause)
    ] * 2
    # While the store is full, a line for each attempt would flood the log.
    lines = caplog.text.count("settling games with waiters failed")
    assert lines == (2 if isinstance(error, RedisConnectionError) else 0)
    waiter.close()


@pytest.mark.parametrize(
    ("error", "is_logged"), [(OutOfMemoryError(), False), (RedisConnectionError(), True)]
)
def test_a_failure_of_the_store_is_logged_unless_the_store_is_full(
    worker: MemoryWorker,
    ada: Credentials,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    is_logged: bool,
) -> None:
    waiter = keep_waiting(worker, worker.create(ada))
    worker.client.failure = error
    worker.clock.advance(RECHECK_SECONDS + PAUSE_SECONDS)
    assert ("rechecking games with waiters failed" in caplog.text) == is_logged
    waiter.close()


def test_a_game_that_cannot_go_on_is_set_aside(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    waiter = keep_waiting(worker, game_id)

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(worker.transactions, "settle", fail)
    worker.clock.advance(60.1)
    assert isinstance(worker.hub.game_topic(game_id).fault, ZeroDivisionError)
    waiter.close()


# --- Rechecking --------------------------------------------------------------------------


def test_all_games_are_rechecked_in_parts_spread_over_the_time(
    worker: MemoryWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = [worker.player() for _ in range(4)]
    ids = [worker.create(hosts[number % 4]) for number in range(RECHECK_BATCH + 50)]
    for game_id in ids:
        worker.hub.waiter().watch(worker.hub.game_topic(game_id, was_just_read=True), wants_all)
    marks, times = worker.store.fingerprints, []
    monkeypatch.setattr(
        worker.store,
        "fingerprints",
        lambda ids: times.append((worker.clock.now, len(ids))) or marks(ids),
    )
    worker.clock.advance(2 * RECHECK_SECONDS)
    (begin, first), (later, second) = times[:2]
    assert (first, second) == (RECHECK_BATCH, 50)
    assert later - begin == pytest.approx(RECHECK_SECONDS / 2)


def test_a_recheck_that_finds_nothing_new_reads_no_game(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiter = keep_waiting(worker, worker.create(ada))
    reads = counted(monkeypatch, worker.store, "snapshots")
    marks = counted(monkeypatch, worker.store, "fingerprints")
    worker.clock.advance(3 * RECHECK_SECONDS + 1)
    assert len(marks) == 3
    assert reads == []
    waiter.close()


def test_a_recheck_that_fails_is_followed_by_others(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id).version
    poll = wait_for(worker, game_id, lambda game: game is not None and game.version > before)
    worker.client.failure = RedisConnectionError()
    worker.clock.advance(2 * RECHECK_SECONDS)
    worker.client.failure, worker.client.is_mute = None, True
    worker.move((ada, bob), game_id)
    assert worker.clock.result(poll, RECHECK_SECONDS + PAUSE_SECONDS)


def test_a_dead_connection_is_given_up_and_opened_again(
    worker: MemoryWorker, ada: Credentials
) -> None:
    waiter = keep_waiting(worker, worker.create(ada))
    (connection,) = worker.nodes.connections
    connection.send_packed_command = lambda commands: None  # type: ignore[method-assign]
    worker.clock.advance(3 * RECHECK_SECONDS)
    assert not connection.is_open
    assert worker.nodes.connections[-1].is_open
    waiter.close()


def test_a_subscription_outlives_the_last_waiter_for_a_while(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    keep_waiting(worker, game_id).close()
    worker.clock.advance(LINGER_SECONDS - 1)
    assert worker.client.listeners[channel(game_id)]
    worker.clock.advance(1 + RECHECK_SECONDS + PAUSE_SECONDS)
    assert not worker.client.listeners[channel(game_id)]
    # With a waiter it stays.
    waiter = keep_waiting(worker, game_id)
    worker.clock.advance(LINGER_SECONDS + 2 * RECHECK_SECONDS)
    assert worker.client.listeners[channel(game_id)]
    waiter.close()


def test_a_player_whose_games_have_changed_unheard_is_woken_by_the_recheck(
    worker: MemoryWorker, ada: Credentials
) -> None:
    other = keep_waiting(worker, worker.create(worker.player()))
    worker.clock.advance(1)

    def wait() -> float:
        with worker.hub.waiter() as waiter:
            topic = worker.hub.player_topic(ada.player_id)
            waiter.watch(topic, wants_all)
            worker.hub.read_games_of(topic)
            gevent.sleep(0.1)
            complete(waiter.wait(0))  # the confirmed subscription has woken it
            complete(waiter.wait(60))
        return worker.clock.now

    poll = worker.start(wait)
    worker.clock.advance(1)
    assert not poll.ready()
    worker.client.is_mute = True
    worker.create(ada)
    # The next recheck is the first one of this player.
    assert worker.clock.result(poll, RECHECK_SECONDS) <= RECHECK_SECONDS + PAUSE_SECONDS
    other.close()


def test_a_lost_connection_leaves_no_topic_ready_until_it_is_confirmed_again(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    waiter = keep_waiting(worker, game_id)
    topic = worker.hub.game_topic(game_id)
    assert topic.ready.is_set()
    worker.nodes.failure = RedisConnectionError()
    worker.nodes.cut()
    worker.clock.settle()
    assert not topic.ready.is_set()
    worker.nodes.failure = None
    worker.clock.advance(3 * PAUSE_SECONDS)
    assert topic.ready.is_set()
    waiter.close()


# --- What waiters share ------------------------------------------------------------------


def shared(worker: MemoryWorker, game_id: str) -> SharedSnapshot:
    loaded = worker.load(None, game_id)
    return SharedSnapshot(loaded.now, loaded.stored)


def test_a_snapshot_is_newer_with_a_higher_version_or_after_a_while(
    worker: MemoryWorker, ada: Credentials
) -> None:
    snapshot = shared(worker, worker.create(ada))
    version = snapshot.fingerprint.version
    assert version is not None
    assert snapshot.is_newer(snapshot.now, version - 1)
    assert not snapshot.is_newer(snapshot.now, version)
    assert not snapshot.is_newer(snapshot.now - IN_FLIGHT_MS, version + 1)
    assert snapshot.is_newer(snapshot.now - IN_FLIGHT_MS - 1, version + 1)


def test_what_is_made_of_a_snapshot_is_made_once_for_each_key(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials
) -> None:
    snapshot, made = shared(worker, worker.create(ada)), []

    def make(what: str) -> str:
        made.append(what)
        gevent.sleep(1)
        return what

    makers = [
        worker.start(snapshot.once, what, lambda what=what: make(what)) for what in ["a", "b"] * 3
    ]
    assert [clock.result(each) for each in makers] == ["a", "b"] * 3
    assert snapshot.once("a", lambda: "another") == "a"
    assert made == ["a", "b"]


def test_a_failure_is_shared_by_its_concurrent_callers_and_tried_again_later(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials
) -> None:
    snapshot = shared(worker, worker.create(ada))

    def fail() -> None:
        gevent.sleep(1)
        raise ZeroDivisionError

    makers = [worker.start(snapshot.once, "a", fail) for _ in range(3)]
    for each in makers:
        with pytest.raises(ZeroDivisionError):
            clock.result(each)
    assert clock.now == 1
    assert snapshot.once("a", lambda: 2) == 2


def test_another_waiter_takes_over_from_one_that_was_stopped(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials
) -> None:
    snapshot = shared(worker, worker.create(ada))

    def make() -> str:
        gevent.sleep(1)
        return "made"

    first, second = (worker.start(snapshot.once, "a", make) for _ in range(2))
    first.kill(block=False)
    assert clock.result(second, 2) == "made"
    assert not isinstance(first.value, Abandoned)
