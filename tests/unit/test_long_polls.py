"""Long polls: an answer as soon as there is news, at once if there is some already."""

from collections.abc import Callable
from typing import Any

import gevent
import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games.cursors import BEGINNING, EventsCursor
from api.games.players import Credentials
from api.games.settling import MAX_SETTLED
from api.live.hub import PAUSE_SECONDS, RECHECK_SECONDS
from api.live.quota import Quota
from api.live.topics import IN_FLIGHT_MS
from api.model.game import Revision
from api.observability import context
from api.storage.errors import Unreadable
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, refused
from tests.support.steps import complete

WAIT = 20
LIMIT = 100


def events(
    worker: MemoryWorker,
    player: Credentials | None,
    game_id: str,
    since: EventsCursor | None = None,
    wait: int = WAIT,
) -> gevent.Greenlet:
    """A long poll of a game's events after a cursor, by default after the present version."""
    loaded = worker.load(player, game_id)
    since = EventsCursor.after(loaded.game) if since is None else since
    return worker.start(in_request, worker.long_polls.events, loaded, since, LIMIT, wait)


def turns(
    worker: MemoryWorker, player: Credentials, since: str | None = None, wait: int = WAIT
) -> gevent.Greenlet:
    """A long poll of a player's turns after a cursor, by default after all there is."""
    since = cursor(worker, player) if since is None else since
    return worker.start(in_request, worker.long_polls.turns, player, since or None, wait)


def in_request(poll: Callable[..., Any], *arguments: Any) -> Any:
    """Poll in a request, whose context the greenlet keeps."""
    gevent.getcurrent().request = context.begin(None, "GET", "192.0.2.1")
    return poll(*arguments)


def cursor(worker: MemoryWorker, player: Credentials) -> str:
    return worker.turns.turns(player, None).answer.cursor


def answer(polled: Any) -> Any:
    return msgspec.json.decode(polled.answer)


def waiting(polled: Any) -> list[str]:
    return [game["id"] for game in answer(polled)["items"]]


def ended(polled: Any) -> list[str]:
    return [game["id"] for game in answer(polled)["ended"]]


# --- Events ------------------------------------------------------------------------------


def test_news_that_is_there_already_is_answered_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    poll = events(worker, ada, worker.seated(ada, bob), since=BEGINNING)
    assert [item.version for item in worker.clock.result(poll, 0).page.items] == [1, 2, 3]


def test_a_move_wakes_every_poll_of_its_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    polls = [events(worker, reader, game_id) for reader in [ada, bob, None] * 4]
    worker.clock.advance(10)
    assert not any(poll.ready() for poll in polls)
    worker.move((ada, bob), game_id)
    for poll in polls:
        polled = worker.clock.result(poll, 0)
        assert len(polled.page.items) == 1
        assert poll.request.store_time == worker.client.time_ms
        assert not polled.is_over_quota


def test_a_move_of_another_worker_wakes_a_poll(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    other = MemoryWorker(clock, worker.client)
    game_id = other.seated(ada, bob)
    poll = events(worker, ada, game_id)
    other.move((ada, bob), game_id)
    assert len(clock.result(poll, 0).page.items) == 1
    other.close()


def test_polls_of_one_audience_share_one_read_of_the_events(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    polls = [events(worker, reader, game_id) for reader in [ada, bob] * 10]
    reads = []
    read = worker.store.history_part
    monkeypatch.setattr(
        worker.store, "history_part", lambda *args: reads.append(args) or read(*args)
    )
    worker.move((ada, bob), game_id)
    pages = [worker.clock.result(poll, 0).page for poll in polls]
    assert len(reads) == len({id(page) for page in pages}) == 2


def test_a_poll_without_news_is_an_empty_page_when_its_time_is_up(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    poll = events(worker, ada, worker.seated(ada, bob))
    polled = worker.clock.result(poll)
    assert worker.clock.now == WAIT
    assert polled.page.items == ()
    assert polled.page.status == "playing"
    assert poll.request.store_time == worker.client.time_ms


def test_a_poll_that_may_not_wait_is_answered_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    poll = events(worker, ada, worker.seated(ada, bob), wait=0)
    assert worker.clock.result(poll, 0).page.items == ()


def test_a_version_that_never_was_is_answered_at_once(
    worker: MemoryWorker, ada: Credentials
) -> None:
    never = EventsCursor(99, Revision(99, "0" * 16))
    assert worker.clock.result(events(worker, ada, worker.create(ada), since=never), 0).page.reset


def test_a_version_that_a_failover_replaced_is_answered_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    seen = EventsCursor.after(worker.game(game_id))
    worker.change(game_id, version_id="other", commit="other")
    page = worker.clock.result(events(worker, ada, game_id, since=seen), 0).page
    assert (page.items, page.reset) == ((), True)


def test_a_poll_of_a_game_that_has_ended_does_not_wait(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    worker.cancel(ada, game_id)
    assert worker.clock.result(events(worker, ada, game_id), 0).page.status == "cancelled"


def test_the_end_of_a_game_ends_a_poll_that_waits_for_a_later_version(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    loaded = worker.load(ada, game_id)
    poll = worker.start(worker.long_polls.game, loaded, WAIT, lambda game: False)
    worker.cancel(ada, game_id)
    assert worker.clock.result(poll, 0).loaded.game.status == "cancelled"


def test_a_poll_of_an_open_game_is_told_of_a_new_player_and_of_the_start(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada)
    poll = events(worker, ada, game_id)
    worker.join(bob, game_id)
    told = b"".join(bytes(item.events) for item in worker.clock.result(poll, 0).page.items)
    assert told.index(b"seat_taken") < told.index(b"game_started")


def test_a_player_who_leaves_a_private_game_while_waiting_is_told_that_there_is_none(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada, 3, visibility="private")
    worker.join(bob, game_id, worker.game(game_id).invite)
    poll = events(worker, bob, game_id)
    worker.leave(bob, game_id)
    with refused("game_not_found"):
        worker.clock.result(poll, 0)


def test_a_game_that_expires_while_a_poll_waits_is_not_found(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    poll = events(worker, ada, game_id)
    worker.client.delete(f"game:{{{game_id}}}")
    with refused("game_not_found"):
        worker.clock.result(poll, WAIT)


def test_a_deadline_is_applied_once_and_wakes_every_poll(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=10)
    polls = [events(worker, reader, game_id) for reader in [ada, bob] * 10]
    for poll in polls:
        assert len(worker.clock.result(poll, 11).page.items) == 1
    assert 10 < worker.clock.now < 10.1
    assert [item.by for item in worker.items(game_id, 4, 100)] == ["clock"]


def test_a_lost_notification_is_noticed_by_the_next_recheck(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    polls = [events(worker, ada, game_id) for _ in range(4)]
    worker.client.is_mute = True
    worker.move((ada, bob), game_id)
    for poll in polls:
        assert len(worker.clock.result(poll, RECHECK_SECONDS + PAUSE_SECONDS).page.items) == 1


def test_a_cut_subscription_is_made_again_and_nothing_is_missed(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    poll = events(worker, ada, game_id)
    worker.clock.advance(RECHECK_SECONDS + 0.1)  # the recheck is far away
    worker.nodes.cut()
    worker.move((ada, bob), game_id)
    assert len(worker.clock.result(poll, 0.5).page.items) == 1


def test_a_poll_that_saw_more_than_the_shared_snapshot_waits_for_a_newer_one(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """After a failover the store may have lost a version: a poll notices it after a while."""
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id)
    worker.move((ada, bob), game_id)
    poll = events(worker, ada, game_id)
    worker.change(game_id, version=before.version, commit="lost", version_id="lost")
    worker.clock.advance(IN_FLIGHT_MS / 1000 - 1)
    assert not poll.ready()
    assert worker.clock.result(poll, 8).page.reset
    assert worker.clock.now < WAIT


def test_a_store_that_fails_ends_no_poll_with_an_error(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    long, short = events(worker, ada, game_id), events(worker, ada, game_id, wait=2)
    worker.client.failure = RedisConnectionError()
    polled = worker.clock.result(short, 2)
    assert polled.page.items == ()
    assert short.request.store_time == worker.client.time_ms
    worker.client.failure = None
    worker.move((ada, bob), game_id)
    assert len(worker.clock.result(long, 0.5).page.items) == 1


def test_a_store_that_fails_after_it_told_of_news_is_read_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    poll = events(worker, ada, game_id)
    read, failures = worker.store.history_part, [RedisConnectionError(), RedisConnectionError()]

    def history_part(*args: Any) -> Any:
        if failures:
            raise failures.pop()
        return read(*args)

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.move((ada, bob), game_id)
    assert len(worker.clock.result(poll, 1).page.items) == 1
    assert not failures


def test_a_poll_whose_news_cannot_be_read_in_time_answers_what_was_there_at_its_begin(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    poll = events(worker, ada, game_id)

    def history_part(*args: Any) -> Any:
        raise RedisConnectionError

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.move((ada, bob), game_id)
    polled = worker.clock.result(poll, WAIT + 1)
    assert polled.page.items == ()
    assert worker.clock.now >= WAIT


def test_a_poll_whose_news_cannot_be_read_does_not_outlive_a_stop(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    poll = events(worker, ada, game_id)

    def history_part(*args: Any) -> Any:
        raise RedisConnectionError

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.move((ada, bob), game_id)
    worker.hub.stop()
    with pytest.raises(RedisConnectionError):
        worker.clock.result(poll, PAUSE_SECONDS)


def test_a_poll_that_did_not_wait_fails_with_the_store(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    loaded = worker.load(ada, worker.seated(ada, bob))
    worker.client.failure = RedisConnectionError()
    with pytest.raises(RedisConnectionError):
        complete(worker.long_polls.events(loaded, BEGINNING, LIMIT, WAIT))


def test_a_game_that_cannot_be_read_fails_its_own_polls_alone(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    broken, healthy = worker.seated(ada, bob), worker.seated(ada, bob)
    polls = [events(worker, ada, game_id) for game_id in (broken, healthy)]
    worker.client.hset(f"game:{{{broken}}}".encode(), b"game", b"nonsense")
    worker.client.tell(f"game:{{{broken}}}".encode(), b"")
    with pytest.raises(Unreadable):
        worker.clock.result(polls[0], 0)
    worker.move((ada, bob), healthy)
    assert len(worker.clock.result(polls[1], 0).page.items) == 1


def test_a_game_that_cannot_be_read_when_the_time_is_up_fails_its_poll(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    poll = events(worker, ada, game_id, wait=1)
    worker.client.hset(f"game:{{{game_id}}}".encode(), b"game", b"nonsense")
    with pytest.raises(Unreadable):
        worker.clock.result(poll, 1)


def test_a_stop_answers_every_poll_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    polls = [events(worker, ada, game_id) for _ in range(20)]
    own = [turns(worker, ada) for _ in range(20)]
    worker.hub.stop()
    assert all(worker.clock.result(poll, 0).page.items == () for poll in polls)
    assert all(not ended(worker.clock.result(poll, 0)) for poll in own)


def test_a_poll_until_a_game_has_changed_is_answered_for_any_commit(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    loaded = worker.load(ada, game_id)
    poll = worker.start(worker.long_polls.until_changed, loaded, WAIT)
    worker.clock.advance(5)
    assert not poll.ready()
    worker.change(game_id, commit="other")
    worker.client.tell(f"game:{{{game_id}}}".encode(), b"")
    polled = worker.clock.result(poll, IN_FLIGHT_MS / 1000 + RECHECK_SECONDS)
    assert polled.loaded.game.commit == "other"


def test_beyond_the_quota_a_poll_is_answered_at_once_until_a_slot_is_free(clock: FakeClock) -> None:
    worker = MemoryWorker(clock, quota=Quota(1000, 2, 1000))
    ada, bob = worker.player(), worker.player()
    game_id = worker.seated(ada, bob)
    held = [events(worker, ada, game_id) for _ in range(2)]
    assert clock.result(events(worker, ada, game_id), 0).is_over_quota
    assert clock.result(turns(worker, ada), 0).is_over_quota
    assert not events(worker, bob, game_id).ready()
    for poll in held:
        assert not clock.result(poll).is_over_quota
    assert not events(worker, ada, game_id).ready()
    worker.close()


# --- Turns -------------------------------------------------------------------------------


def test_a_player_is_told_when_it_is_its_turn(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    other = bob if mover is ada else ada
    # Without a cursor, a game that waits for the caller is news; with one, it is not.
    assert waiting(worker.clock.result(turns(worker, mover, ""), 0)) == [game_id]
    own, others = turns(worker, mover), turns(worker, other)
    worker.clock.advance(5)
    assert not own.ready()
    assert not others.ready()
    worker.move((ada, bob), game_id)
    polled = worker.clock.result(others, 0)
    assert waiting(polled) == [game_id]
    assert others.request.store_time == worker.client.time_ms
    # The mover's own move is no news to it, but when the time is up the game waits no more.
    assert waiting(worker.clock.result(own, WAIT)) == []
    assert worker.clock.now == WAIT


def test_a_player_is_told_of_a_game_that_it_joins_while_it_waits(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    polls = {player: turns(worker, player) for player in (ada, bob)}
    game_id = worker.create(eve, 2, take_seat=False)
    worker.join(ada, game_id)
    worker.join(bob, game_id)
    mover = worker.mover((ada, bob), game_id)
    other = bob if mover is ada else ada
    assert waiting(worker.clock.result(polls[mover], 0)) == [game_id]
    assert not polls[other].ready()
    worker.move((ada, bob), game_id)
    assert waiting(worker.clock.result(polls[other], 0)) == [game_id]


def test_a_player_is_told_of_an_end(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada, 3)
    worker.join(bob, game_id)
    poll = turns(worker, bob)
    worker.cancel(ada, game_id)
    assert ended(worker.clock.result(poll, 0)) == [game_id]


def test_a_reserved_seat_brings_no_news_of_an_end(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    """A stranger may reserve seats for any player, and cancel the game again."""
    game_id = worker.create(
        ada,
        3,
        reserved_seats=[
            {"seat": 1, "player_id": bob.player_id},
            {"seat": 2, "player_id": eve.player_id},
        ],
    )
    worker.join(eve, game_id)
    seated, reserved = turns(worker, eve), turns(worker, bob)
    worker.cancel(ada, game_id)
    assert ended(worker.clock.result(seated, 0)) == [game_id]
    assert ended(worker.clock.result(reserved)) == []
    assert worker.clock.now == WAIT


def test_seats_that_strangers_reserve_hide_no_game_of_ones_own(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    asked_to = worker.create(bob, 2, reserved_seats=[{"seat": 1, "player_id": ada.player_id}])
    own = worker.create(ada)
    strangers = [worker.player() for _ in range(5)]
    for number in range(310):
        worker.clock.advance(0.001)
        worker.create(
            strangers[number % 5], 2, reserved_seats=[{"seat": 1, "player_id": ada.player_id}]
        )
    poll = turns(worker, ada)
    worker.join(bob, own)
    if worker.mover((ada, bob), own) is bob:
        worker.move((ada, bob), own)
    assert waiting(worker.clock.result(poll, 0)) == [own]
    # It joins a game that it was asked to, while it waits on another connection.
    worker.move((ada, bob), own)
    poll = turns(worker, ada)
    worker.join(ada, asked_to)
    if worker.mover((bob, ada), asked_to) is bob:
        worker.move((bob, ada), asked_to)
    assert waiting(worker.clock.result(poll, 0)) == [asked_to]


def test_polls_of_one_player_for_the_same_turns_share_one_read(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    other = bob if mover is ada else ada
    since = cursor(worker, other)
    polls = [turns(worker, other, since) for _ in range(20)]
    reads = []
    read = worker.turns.turns
    monkeypatch.setattr(
        worker.turns, "turns", lambda *args, **how: reads.append(args) or read(*args, **how)
    )
    worker.move((ada, bob), game_id)
    assert [waiting(worker.clock.result(poll, 0)) for poll in polls] == [[game_id]] * 20
    assert len(reads) <= 2


def test_a_player_who_cannot_be_notified_is_told_by_the_next_rechecks(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    worker.nodes.failure = RedisConnectionError()
    poll = turns(worker, bob)
    game_id = worker.seated(ada, bob)
    if worker.mover((ada, bob), game_id) is ada:
        worker.move((ada, bob), game_id)
    assert waiting(worker.clock.result(poll, 2 * RECHECK_SECONDS)) == [game_id]


def test_a_poll_of_turns_survives_a_store_that_fails(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    other = bob if mover is ada else ada
    long, short = turns(worker, other), turns(worker, other, wait=2)
    worker.client.failure = RedisConnectionError()
    assert waiting(worker.clock.result(short, 2)) == []
    worker.client.failure = None
    worker.move((ada, bob), game_id)
    assert waiting(worker.clock.result(long, 0.5)) == [game_id]


def test_a_deadline_hands_the_turn_to_a_player_who_waits(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=10)
    mover = worker.mover((ada, bob), game_id)
    poll = turns(worker, bob if mover is ada else ada)
    assert waiting(worker.clock.result(poll, 11)) == [game_id]


def test_polls_are_told_of_all_due_games_that_come_to_wait_for_the_player(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """One request settles only some of them."""
    ids = {worker.seated(ada, bob, turn_seconds=5) for _ in range(MAX_SETTLED + 2)}
    known = {each: worker.game(each).turn for each in ids}
    seen: set[str] = set()
    since = ""
    # A deadline hands each game to the other player, so each waits for Ada within two of them.
    while seen != ids:
        polled = worker.clock.result(turns(worker, ada, since, wait=5))
        games = answer(polled)["items"]
        seen.update(game["id"] for game in games if game["turn"] > (known[game["id"]] or 0))
        since = answer(polled)["cursor"]
        assert worker.clock.now < 30
