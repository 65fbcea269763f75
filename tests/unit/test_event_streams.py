"""Event streams: everything once, in order, to the caller that may see it and to no other."""

import itertools
import re
from typing import Any, NamedTuple

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.concurrency.waits import Parts
from api.games.cursors import EventsCursor
from api.games.players import Credentials
from api.live.event_streams import ITEMS_AT_ONCE
from api.live.hub import RECHECK_SECONDS
from api.live.quota import Quota
from api.live.server_sent_events import PING, RETRY
from api.live.streaming import CHECK_SECONDS, MAX_FAILING_SECONDS, PING_SECONDS
from api.live.topics import IN_FLIGHT_MS
from api.model.game import Revision
from api.storage.errors import Unreadable
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, refused


class Event(NamedTuple):
    name: str
    id: str
    data: Any


def read_event(part: bytes) -> Event:
    fields = dict(re.findall(r"^(event|id|data): (.*)$", part.decode(), re.MULTILINE))
    return Event(fields["event"], fields.get("id", ""), msgspec.json.decode(fields["data"]))


class Stream:
    """An open stream, and what it has sent."""

    def __init__(
        self,
        worker: MemoryWorker,
        player: Credentials | None,
        game_id: str,
        last_id: str | None = None,
        ticket: str | None = None,
    ) -> None:
        self.worker = worker
        self.stream = worker.event_streams.open(player, ticket, game_id, last_id)
        self.parts: list[bytes] = []
        self.greenlet = worker.start(self._read)

    def _read(self) -> None:
        try:
            self.parts.extend(Parts(self.stream.steps(), self.stream.close))
        finally:
            self.stream.close()

    @property
    def events(self) -> list[Event]:
        return [read_event(part) for part in self.parts if part not in (PING, RETRY)]

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.events]

    @property
    def items(self) -> list[Any]:
        return [item for event in self.events[1:] for item in event.data.get("items", ())]

    @property
    def pings(self) -> int:
        return self.parts.count(PING)

    @property
    def is_closed(self) -> bool:
        self.worker.clock.settle()
        return bool(self.greenlet.ready())


def cursor(worker: MemoryWorker, game_id: str) -> str:
    return EventsCursor.after(worker.game(game_id)).text


def play_to_the_end(worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str) -> None:
    while worker.game(game_id).status == "playing":
        worker.move(players, game_id)
        worker.clock.advance(0.1)


# --- What is sent --------------------------------------------------------------------------


def test_a_stream_tells_a_whole_game_from_its_snapshot_to_its_end(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    start = worker.game(game_id).version
    streams = [Stream(worker, reader, game_id) for reader in (ada, bob, None)]
    assert [stream.names for stream in streams] == [["snapshot"]] * 3
    play_to_the_end(worker, (ada, bob), game_id)
    game = worker.game(game_id)
    for stream, seat in zip(streams, (0, 1, None), strict=True):
        assert stream.is_closed
        assert stream.parts[0] == RETRY
        first, *updates, end = stream.events
        assert first.id == first.data["cursor"]
        assert {event.name for event in updates} == {"update"}
        assert [item["version"] for item in stream.items] == [*range(start + 1, game.version + 1)]
        for event in updates:
            assert event.id == event.data["game"]["cursor"]
            assert event.data["game"]["version"] == event.data["items"][-1]["version"]
            assert event.data["game"]["you"] == seat
        assert end.name == "end"
        assert end.id == f"{updates[-1].id}-end"
        assert (end.data["status"], end.data["reason"]) == ("finished", "ended")
        assert end.data["id"] == game_id


def test_a_stream_that_is_opened_again_goes_on_after_the_last_event(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    uncut = Stream(worker, ada, game_id)
    play_to_the_end(worker, (ada, bob), game_id)
    for at, event in enumerate(uncut.events[:-1]):
        again = Stream(worker, ada, game_id, event.id)
        assert again.is_closed
        assert "snapshot" not in again.names
        before = [item for each in uncut.events[1 : at + 1] for item in each.data["items"]]
        resumed = [item for each in again.events for item in each.data.get("items", ())]
        assert before + resumed == uncut.items
        assert again.events[-1] == uncut.events[-1]
    assert worker.event_streams.open(ada, None, game_id, uncut.events[-1].id).is_done
    assert Stream(worker, ada, game_id).names == ["snapshot", "end"]


def test_the_id_of_an_end_is_no_end_of_a_game_that_goes_on(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    first = cursor(worker, game_id)
    assert not worker.event_streams.open(ada, None, game_id, f"{first}-end").is_done
    for player in (ada, bob):
        worker.leave(player, game_id)
    last = cursor(worker, game_id)
    version, id_ = last.split("-")
    # An end of another revision was lost by a failover of the store.
    for lost in (first, f"{version}-{'0' * len(id_)}"):
        assert not worker.event_streams.open(ada, None, game_id, f"{lost}-end").is_done
    assert worker.event_streams.open(ada, None, game_id, f"{last}-end").is_done


@pytest.mark.parametrize(
    "last_id", ["9999-", "9999-0123456789abcdef", "2-1-", "1", "soon", "-1", ""]
)
def test_an_id_that_never_was_begins_anew(
    worker: MemoryWorker, ada: Credentials, last_id: str
) -> None:
    assert Stream(worker, ada, worker.create(ada), last_id).names == ["snapshot"]


def test_a_long_gap_is_told_in_parts(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada, 3)
    first = cursor(worker, game_id)
    for _ in range(ITEMS_AT_ONCE // 2 + 10):
        worker.join(bob, game_id)
        worker.leave(bob, game_id)
    stream = Stream(worker, ada, game_id, first)
    versions = [item["version"] for each in stream.events for item in each.data["items"]]
    assert versions == [*range(2, worker.game(game_id).version + 1)]
    assert len(stream.events) == 2
    assert len(stream.events[0].data["items"]) == ITEMS_AT_ONCE
    # The part that is not the last one has a cursor of its own.
    again = Stream(worker, ada, game_id, stream.events[0].id)
    assert again.events == stream.events[1:]
    assert stream.events[1].id == cursor(worker, game_id)


def test_streams_of_one_audience_share_what_is_rendered(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    streams = [Stream(worker, reader, game_id) for reader in [ada, bob] * 5]
    read, reads = worker.store.history_part, []
    monkeypatch.setattr(
        worker.store, "history_part", lambda *args: reads.append(args) or read(*args)
    )
    worker.move((ada, bob), game_id)
    worker.clock.settle()
    assert [stream.names for stream in streams] == [["snapshot", "update"]] * 10
    assert len(reads) == 2
    assert len({id(stream.parts[-1]) for stream in streams}) == 2


def test_a_silent_stream_is_pinged(worker: MemoryWorker, ada: Credentials) -> None:
    stream = Stream(worker, ada, worker.create(ada))
    worker.clock.advance(PING_SECONDS - 0.1)
    assert stream.pings == 0
    worker.clock.advance(0.2)
    assert stream.pings == 1
    worker.clock.advance(3 * PING_SECONDS)
    assert stream.pings == 4


def test_an_event_puts_off_the_next_ping(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.clock.advance(PING_SECONDS - 1)
    worker.move((ada, bob), game_id)
    worker.clock.advance(PING_SECONDS - 1)
    assert stream.pings == 0
    worker.clock.advance(2)
    assert stream.pings == 1


def test_a_deadline_is_told_to_a_stream(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, ada, worker.seated(ada, bob, turn_seconds=10))
    worker.clock.advance(10.1)
    assert [item["by"] for item in stream.items] == ["clock"]


def test_a_lost_notification_is_told_within_the_next_recheck(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.client.is_mute = True
    worker.move((ada, bob), game_id)
    worker.clock.advance(RECHECK_SECONDS + 0.2)
    assert stream.names == ["snapshot", "update"]


# --- Faults --------------------------------------------------------------------------------


def test_a_version_that_a_failover_has_lost_begins_anew(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id)
    worker.move((ada, bob), game_id)
    stream = Stream(worker, ada, game_id)
    worker.change(game_id, version=before.version, version_id=before.version_id, commit="other")
    worker.clock.advance(IN_FLIGHT_MS / 1000 + 2 * RECHECK_SECONDS + 1)
    assert stream.names == ["snapshot", "snapshot"]
    assert stream.events[-1].id == f"{before.version}-{before.version_id}"


def test_the_same_version_with_another_content_begins_anew(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """After a failover another move may have got the number of one that was lost."""
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.change(game_id, version_id="other", commit="other")
    worker.clock.advance(IN_FLIGHT_MS / 1000 + 2 * RECHECK_SECONDS + 1)
    assert stream.names == ["snapshot", "snapshot"]


def test_a_store_that_fails_while_events_are_read_is_asked_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    read, times = worker.store.history_part, []

    def history_part(*args: Any) -> Any:
        times.append(worker.clock.now)
        if worker.clock.now < 40:
            raise RedisConnectionError
        return read(*args)

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.move((ada, bob), game_id)
    worker.clock.advance(46)
    assert stream.names == ["snapshot", "update"]
    # Only the pings show whether the client is still there.
    assert stream.pings >= 2
    pauses = [round(after - before, 3) for before, after in itertools.pairwise(times)]
    assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
    assert set(pauses[6:]) == {5.0}


def test_a_stream_ends_when_the_store_has_failed_for_too_long(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)

    def history_part(*args: Any) -> Any:
        raise RedisConnectionError

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.move((ada, bob), game_id)
    worker.clock.advance(MAX_FAILING_SECONDS - 1)
    assert not stream.is_closed
    worker.clock.advance(7)
    assert stream.is_closed
    assert stream.greenlet.successful()
    last = stream.events[-1]
    # Without an id of its own, so that the client continues where it was.
    assert (last.name, last.id, last.data["code"]) == ("unavailable", "", "store_unavailable")


def test_a_game_that_cannot_be_read_ends_its_streams(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, caplog: pytest.LogCaptureFixture
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.client.hset(f"game:{{{game_id}}}".encode(), b"game", b"nonsense")
    worker.client.tell(f"game:{{{game_id}}}".encode(), b"")
    assert stream.is_closed
    assert stream.greenlet.successful()
    with pytest.raises(Unreadable):
        Stream(worker, ada, game_id)


def test_an_error_while_an_event_is_made_ends_the_stream_and_is_logged(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(worker.queries, "events", fail)
    worker.move((ada, bob), game_id)
    assert stream.is_closed
    assert game_id in caplog.text


def test_a_game_that_expires_ends_its_streams(worker: MemoryWorker, ada: Credentials) -> None:
    game_id = worker.create(ada)
    stream = Stream(worker, ada, game_id)
    worker.client.delete(f"game:{{{game_id}}}")
    worker.clock.advance(IN_FLIGHT_MS / 1000 + 2 * RECHECK_SECONDS + 1)
    assert stream.is_closed


# --- Who may see it ------------------------------------------------------------------------


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_leaving_ends_the_streams_and_the_ticket(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, visibility: str
) -> None:
    game_id = worker.create(ada, 3, visibility=visibility)
    worker.join(bob, game_id, worker.game(game_id).invite)
    made = worker.event_streams.create_ticket(bob, game_id)
    streams = [
        Stream(worker, bob, game_id),
        Stream(worker, None, game_id, ticket=made.ticket),
    ]
    other = Stream(worker, ada, game_id)
    worker.leave(bob, game_id)
    end = {"id": game_id, "status": "open", "result": None, "reason": "left"}
    for stream in streams:
        assert stream.is_closed
        assert [event.name for event in stream.events] == ["snapshot", "end"]
        assert stream.events[-1][1:] == ("", end)
    assert not other.is_closed
    with refused("game_not_found" if visibility == "private" else "invalid_ticket"):
        Stream(worker, None, game_id, ticket=made.ticket)


def ends(*streams: Stream) -> list[Any]:
    """The data of the last events of streams that have closed."""
    assert all(stream.is_closed for stream in streams)
    assert {stream.events[-1].name for stream in streams} == {"end"}
    # It is no event of the game: a client that opens the stream again continues where it was.
    assert {stream.events[-1].id for stream in streams} == {""}
    return [stream.events[-1].data for stream in streams]


def test_leaving_a_game_in_play_ends_the_stream_which_goes_on_as_a_spectators(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, bob, game_id)
    worker.leave(bob, game_id)
    (end,) = ends(stream)
    assert end == {"id": game_id, "status": "playing", "result": None, "reason": "left"}
    again = Stream(worker, bob, game_id, stream.events[0].id)
    (update,) = again.events
    assert (update.data["game"]["you"], update.data["game"]["left_seat"]) == (None, 1)
    types = [event["type"] for item in update.data["items"] for event in item["events"]]
    assert types[0] == "seat_handed_over"


def test_a_game_that_its_last_player_leaves_ends_with_that(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada, 2, house=["random"])
    own, other = Stream(worker, ada, game_id), Stream(worker, None, game_id)
    worker.leave(ada, game_id)
    (end,) = ends(own)
    assert end == {"id": game_id, "status": "cancelled", "result": None, "reason": "left"}
    assert other.is_closed
    assert other.events[-1].data == {**end, "reason": "ended"}


def test_the_house_that_takes_a_seat_over_for_an_absent_player_ends_its_stream(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=10)
    gone = worker.mover((ada, bob), game_id)
    stays = bob if gone is ada else ada
    made = worker.event_streams.create_ticket(gone, game_id)
    streams = [Stream(worker, gone, game_id), Stream(worker, None, game_id, ticket=made.ticket)]
    other = Stream(worker, stays, game_id)
    worker.clock.advance(10.1)
    worker.move((ada, bob), game_id)
    assert not any(stream.is_closed for stream in streams)
    worker.clock.advance(10.1)
    expected = {"id": game_id, "status": "playing", "result": None, "reason": "time"}
    assert ends(*streams) == [expected, expected]
    assert not other.is_closed
    with refused("invalid_ticket"):
        Stream(worker, None, game_id, ticket=made.ticket)
    assert Stream(worker, gone, game_id, streams[0].events[-2].id).names == ["update"]


def test_sitting_down_and_taking_the_seat_back_end_a_stream_as_the_view_changes(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada)
    stream = Stream(worker, bob, game_id)
    worker.join(bob, game_id)
    expected = {"id": game_id, "status": "playing", "result": None, "reason": "seat_changed"}
    assert ends(stream) == [expected]
    worker.leave(bob, game_id)
    stream = Stream(worker, bob, game_id)
    worker.join(bob, game_id)
    assert ends(stream) == [expected]
    again = Stream(worker, bob, game_id, stream.events[0].id)
    assert again.events[0].data["game"]["you"] == 1


def test_an_end_tells_nothing_of_a_private_game_that_does_not_exist_for_the_player_any_more(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """What happened after it left is a secret, also if the stream is late to notice."""
    game_id = worker.create(ada, 3, visibility="private")
    worker.join(bob, game_id, worker.game(game_id).invite)
    stream = Stream(worker, bob, game_id)
    worker.client.is_mute = True
    worker.leave(bob, game_id)
    worker.cancel(ada, game_id)
    worker.clock.advance(2 * RECHECK_SECONDS)
    expected = {"id": game_id, "status": "open", "result": None, "reason": "left"}
    assert ends(stream) == [expected]


def test_a_reservation_that_is_given_up_ends_the_stream_of_a_private_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    seats = [{"seat": 1, "player_id": bob.player_id}]
    game_id = worker.create(ada, 3, visibility="private", reserved_seats=seats)
    stream = Stream(worker, bob, game_id)
    worker.tables.start(ada, game_id, lambda tag: True)
    expected = {"id": game_id, "status": "open", "result": None, "reason": "left"}
    assert ends(stream) == [expected]


def test_a_new_token_ends_the_streams_and_the_tickets_of_the_old_one(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    made = worker.event_streams.create_ticket(ada, game_id)
    streams = [
        Stream(worker, ada, game_id),
        Stream(worker, None, game_id, ticket=made.ticket),
    ]
    others = Stream(worker, bob, game_id)
    worker.players.caller(worker.rotated(ada))
    assert all(stream.is_closed for stream in streams)
    assert not others.is_closed
    with refused("invalid_ticket"):
        Stream(worker, None, game_id, ticket=made.ticket)


def test_a_token_that_ended_unheard_is_noticed_by_the_next_check(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.client.is_mute = True
    worker.players.caller(worker.rotated(ada))
    worker.clock.advance(CHECK_SECONDS - 1)
    assert not stream.is_closed
    worker.clock.advance(2)
    assert stream.is_closed


def test_a_token_that_cannot_be_checked_now_is_checked_once_the_store_answers(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada, game_id)
    worker.client.is_mute = True
    worker.players.caller(worker.rotated(ada))
    worker.client.failure = RedisConnectionError()
    worker.clock.advance(CHECK_SECONDS + 5)
    assert not stream.is_closed
    worker.client.failure = None
    worker.clock.advance(PING_SECONDS)
    assert stream.is_closed


def test_a_token_is_checked_once_for_each_doubt(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Stream(worker, ada, worker.seated(ada, bob))
    checks = []
    authenticate = worker.players.authenticate
    monkeypatch.setattr(
        worker.players,
        "authenticate",
        lambda *args: checks.append(args) or authenticate(*args),
    )
    worker.clock.advance(2 * CHECK_SECONDS + 1)
    assert len(checks) == 2
    assert not stream.is_closed


def test_a_stream_without_a_token_needs_no_check(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, None, game_id)
    worker.clock.advance(2 * CHECK_SECONDS + 1)
    worker.move((ada, bob), game_id)
    assert not stream.is_closed
    assert stream.names == ["snapshot", "update"]


def test_a_ticket_opens_one_game_as_often_as_need_be(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id, other = worker.create(ada), worker.create(ada)
    made = worker.event_streams.create_ticket(ada, game_id)
    for _ in range(2):
        assert Stream(worker, None, game_id, ticket=made.ticket).events[0].data["you"] == 0
    for game, ticket in ((other, made.ticket), (game_id, "made-up")):
        with refused("invalid_ticket"):
            Stream(worker, None, game, ticket=ticket)
    worker.client.offset_ms += worker.retention.ticket
    with refused("invalid_ticket"):
        Stream(worker, None, game_id, ticket=made.ticket)


# --- Slots, stops --------------------------------------------------------------------------


def test_streams_beyond_the_quota_are_refused_until_a_slot_is_free(clock: FakeClock) -> None:
    worker = MemoryWorker(clock, quota=Quota(1000, 2, 1000))
    ada = worker.player()
    game_id = worker.create(ada)
    held = [Stream(worker, ada, game_id) for _ in range(2)]
    with refused("too_many_waiting"):
        Stream(worker, ada, game_id)
    held[0].stream.close()
    held[0].stream.close()
    Stream(worker, ada, game_id)
    with refused("too_many_waiting"):
        Stream(worker, ada, game_id)
    worker.close()


def test_a_worker_that_stops_opens_no_stream(worker: MemoryWorker, ada: Credentials) -> None:
    game_id = worker.create(ada)
    worker.hub.stop()
    with refused("stopping"):
        Stream(worker, ada, game_id)


def test_a_stream_that_a_stop_cuts_tells_no_end_before_what_comes_before_it(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.create(ada)
    stream = Stream(worker, ada, game_id)

    def history_part(*args: Any) -> Any:
        worker.hub.stop()
        raise RedisConnectionError

    monkeypatch.setattr(worker.store, "history_part", history_part)
    worker.cancel(ada, game_id)
    worker.clock.advance(1)
    assert stream.is_closed
    assert stream.names == ["snapshot"]


def test_a_stream_with_nothing_to_tell_takes_no_slot(clock: FakeClock) -> None:
    worker = MemoryWorker(clock, quota=Quota(1000, 0, 1000))
    ada = worker.player()
    game_id = worker.create(ada)
    worker.cancel(ada, game_id)
    assert worker.event_streams.open(ada, None, game_id, f"{cursor(worker, game_id)}-end").is_done


def test_a_stop_ends_every_stream_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    streams = [Stream(worker, reader, game_id) for reader in (ada, bob, None)]
    worker.hub.stop()
    assert all(stream.is_closed for stream in streams)
    assert worker.clock.now == 0


def test_events_after_a_version_that_a_failover_replaced_are_not_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    loaded = worker.load(ada, game_id)
    seen = EventsCursor.after(loaded.game)
    page = worker.queries.events(loaded, seen, 10)
    assert (page.items, page.cursor, page.reset) == ((), seen.text, False)
    lost = seen._replace(revision=Revision(seen.version, "0" * 16))
    page = worker.queries.events(loaded, lost, 10)
    assert (page.items, page.cursor, page.reset) == ((), seen.text, True)
