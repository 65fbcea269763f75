"""A player's stream: all that is true and that the client does not know, each once."""

import copy
import re
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.concurrency.waits import Parts
from api.games import turns as turns_module
from api.games.cursors import find_turns_cursor
from api.games.players import Credentials
from api.games.turns import ENDED_SHOWN_MS, MAX_END_MARKS, MAX_TURNS
from api.live.hub import RECHECK_SECONDS
from api.live.quota import Quota
from api.live.server_sent_events import PING, RETRY
from api.live.streaming import CHECK_SECONDS, MAX_FAILING_SECONDS, PING_SECONDS
from api.model.retention import COMMIT_MS
from api.storage.indexes import MAX_INVITATIONS
from api.web.headers import MAX_CURSOR_LENGTH
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, refused


class Event(NamedTuple):
    name: str
    id: str
    data: Any

    @property
    def game(self) -> str:
        return str(self.data["id"] if self.name == "ended" else self.data["game"]["id"])

    @property
    def about(self) -> tuple[str, str]:
        return self.name, self.game


def read_event(part: bytes) -> Event:
    fields = dict(re.findall(r"^(event|id|data): (.*)$", part.decode(), re.MULTILINE))
    return Event(fields["event"], fields.get("id", ""), msgspec.json.decode(fields["data"]))


class Stream:
    """An open stream of a player, and what it has sent."""

    def __init__(
        self,
        worker: MemoryWorker,
        player: Credentials | None,
        last_id: str | None = None,
        ticket: str | None = None,
    ) -> None:
        self.worker = worker
        self.stream = worker.turn_streams.open(player, ticket, last_id)
        self.parts: list[bytes] = []
        self.greenlet = worker.start(self._read)

    def _read(self) -> None:
        try:
            self.parts.extend(Parts(self.stream.steps(), self.stream.close))
        finally:
            self.stream.close()

    @property
    def events(self) -> list[Event]:
        self.worker.clock.settle()
        return [read_event(part) for part in self.parts if part not in (PING, RETRY)]

    @property
    def told(self) -> list[tuple[str, str]]:
        return [event.about for event in self.events]

    @property
    def last_id(self) -> str:
        return self.events[-1].id

    @property
    def pings(self) -> int:
        return self.parts.count(PING)

    @property
    def is_closed(self) -> bool:
        self.worker.clock.settle()
        return bool(self.greenlet.ready())

    def cut(self) -> None:
        self.greenlet.kill()


def invite(worker: MemoryWorker, host: Credentials, guest: Credentials, **members: Any) -> str:
    """The id of a new game for two with a seat that is reserved for the guest."""
    reserved = [{"seat": 1, "player_id": guest.player_id}]
    return worker.create(host, 2, reserved_seats=reserved, **members)


def since(worker: MemoryWorker, player: Credentials) -> str:
    """The cursor of a list of the player's turns."""
    return worker.turns.turns(player, None).answer.cursor


# --- What is told --------------------------------------------------------------------------


def test_a_stream_tells_what_concerns_a_player_as_it_comes(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, bob)
    assert stream.parts == [RETRY]
    game_id = invite(worker, ada, bob)
    assert stream.told == [("invited", game_id)]
    worker.join(bob, game_id)
    expected = [("invited", game_id), ("started", game_id)]
    if worker.mover((ada, bob), game_id) is ada:
        assert stream.told == expected
        worker.move((ada, bob), game_id)
    expected.append(("turn", game_id))
    assert stream.told == expected
    worker.move((ada, bob), game_id)
    assert stream.told == expected
    worker.move((ada, bob), game_id)
    assert stream.told == [*expected, ("turn", game_id)]
    for player in (ada, bob):
        worker.leave(player, game_id)
    assert stream.told == [*expected, ("turn", game_id), ("ended", game_id)]


def test_an_end_is_told_at_once_to_a_player_who_left_and_to_a_host_without_a_seat(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(eve, 2, take_seat=False)
    for player in (ada, bob):
        worker.join(player, game_id)
    worker.leave(bob, game_id)
    streams = [Stream(worker, each, since(worker, each)) for each in (bob, eve)]
    assert [stream.told for stream in streams] == [[], []]
    worker.leave(ada, game_id)
    assert worker.game(game_id).has_ended
    assert [stream.told for stream in streams] == [[("ended", game_id)]] * 2


def test_a_turn_has_the_whole_game_and_a_start_and_an_invitation_its_summary(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, ada)
    worker.create(ada, 2, house=["careful"])
    invite(worker, bob, ada)
    invited, started, turn = sorted(stream.events, key=lambda event: event.name)
    assert turn.data["game"]["legal_moves"]
    assert turn.data["game"]["table"]
    assert started.data["game"]["status"] == "playing"
    assert invited.data["game"]["status"] == "open"
    for event in (invited, started):
        assert not {"legal_moves", "table"} & event.data["game"].keys()


def test_without_a_cursor_all_that_is_true_is_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    for player in (ada, bob):
        worker.cancel(player, worker.create(player))
    worker.client.offset_ms += ENDED_SHOWN_MS + 1
    ended = worker.create(ada)
    worker.cancel(ada, ended)
    invitation = invite(worker, bob, ada)
    mine = worker.create(ada, 2, house=["careful"])
    worker.clock.advance(1)
    others = worker.seated(ada, bob)
    if worker.mover((ada, bob), others) is ada:
        worker.move((ada, bob), others)
    assert Stream(worker, ada).told == [
        ("ended", ended),
        ("invited", invitation),
        ("started", mine),
        ("started", others),
        ("turn", mine),
    ]


def test_a_deadline_that_changes_is_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    players = (ada, bob, eve)
    game_id = worker.seated(*players, ruleset="contrast")
    stream = Stream(worker, eve)
    for player in (ada, bob):
        loaded = worker.load(player, game_id)
        move = worker.moves.list_legal(loaded, loaded.seat, previews=False).moves[0]
        worker.moves.play(player, game_id, loaded.game.turn, move, lambda _: True)
    before = len(stream.events)
    loaded = worker.load(ada, game_id)
    (count,) = worker.moves.list_legal(loaded, 0, previews=False).moves
    worker.moves.play(ada, game_id, loaded.game.turn, count, lambda _: True)
    (event,) = stream.events[before:]
    assert event.about == ("turn", game_id)
    assert event.data["game"]["deadline"] < stream.events[before - 1].data["game"]["deadline"]


def test_a_missed_turn_that_has_passed_is_not_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    mover = worker.mover((ada, bob), game_id)
    other = bob if mover is ada else ada
    stream = Stream(worker, other)
    stream.cut()
    worker.move((ada, bob), game_id)
    worker.clock.advance(60)
    worker.load(None, game_id)
    again = Stream(worker, other, stream.last_id)
    assert again.told == []


def test_a_game_is_told_again_to_a_player_who_comes_back_to_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    stream = Stream(worker, ada)
    worker.leave(ada, game_id)
    worker.clock.advance(CHECK_SECONDS)
    worker.join(ada, game_id)
    assert stream.told.count(("started", game_id)) == 2


def test_an_invitation_that_is_withdrawn_in_between_is_not_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    opened = Stream(worker, bob)
    game_id = invite(worker, ada, bob)
    assert opened.told == [("invited", game_id)]
    opened.cut()
    worker.cancel(ada, invite(worker, ada, bob))
    assert Stream(worker, bob, opened.last_id).told == []


# --- Streams that are cut --------------------------------------------------------------------


def test_a_stream_that_is_cut_anywhere_goes_on_without_loss_or_repetition(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    for number in range(4):
        worker.clock.advance(1)
        worker.cancel(ada, worker.create(ada))
        invite(worker, bob, ada)
        worker.create(ada, 2, house=["careful"])
        if number % 2:
            worker.clock.advance(COMMIT_MS / 1000)
    whole = Stream(worker, ada).events
    assert [event.name for event in whole] == [
        name for name in ("ended", "invited", "started", "turn") for _ in range(4)
    ]
    for at, event in enumerate(whole):
        rest = Stream(worker, ada, event.id)
        assert rest.told == [each.about for each in whole[at + 1 :]]


@pytest.mark.parametrize("seed", range(6))
def test_however_a_stream_is_cut_while_games_go_on_the_last_word_is_true_and_said_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, seed: int
) -> None:
    """The client keeps the events up to the cut, and opens the stream with the last id of them."""
    rng = Random(seed)
    told: list[Event] = []
    games: list[str] = []
    last_id = None
    for _ in range(40):
        stream = Stream(worker, ada, last_id)
        for _ in range(rng.randrange(3)):
            act(worker, ada, bob, games, rng)
            worker.clock.advance(rng.choice((0, 0.5, COMMIT_MS / 1000)))
        kept = stream.events[: rng.randrange(len(stream.events) + 1)]
        stream.cut()
        told += kept
        if kept:
            last_id = kept[-1].id
    told += Stream(worker, ada, last_id).events
    keys = [(event.about, turn_of(event)) for event in told]
    assert len(keys) == len(set(keys))
    names = {game_id: [event for event in told if event.game == game_id] for game_id in games}
    for game_id in games:
        game = worker.game(game_id)
        about = [event.name for event in names[game_id]]
        if game.has_ended:
            assert about[-1] == "ended"
        else:
            assert "started" in about
            if game.to_move == (0,):
                assert turn_of(names[game_id][-1]) == (game.turn, "turn")


def turn_of(event: Event) -> Any:
    return (event.data["game"]["turn"], event.name) if event.name == "turn" else None


def act(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, games: list[str], rng: Random
) -> None:
    """Begin a game, move in one, or end one."""
    playing = [each for each in games if worker.game(each).status == "playing"]
    choice = rng.random()
    if not playing or choice < 0.2:
        games.append(worker.seated(ada, bob))
    elif choice < 0.3:
        game_id = rng.choice(playing)
        for player in (ada, bob):
            worker.leave(player, game_id)
    else:
        worker.move((ada, bob), rng.choice(playing))


def test_a_cursor_of_a_list_opens_a_stream_and_the_id_of_an_event_continues_a_list(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada, 2, house=["careful"])
    worker.cancel(ada, worker.create(ada))
    stream = Stream(worker, ada, since(worker, ada))
    # A list tells no starts.
    assert stream.told == [("started", game_id)]
    assert worker.turns.turns(ada, stream.last_id).answer.unchanged
    invitation = invite(worker, bob, ada)
    assert stream.told == [("started", game_id), ("invited", invitation)]
    ended = worker.create(ada)
    worker.cancel(ada, ended)
    turns = worker.turns.turns(ada, stream.events[1].id).answer
    assert [game.id for game in turns.ended] == [ended]


@pytest.mark.parametrize("last_id", ["", "soon", "1", "1.abc", "1.äöü", "31-0123456789abcdef"])
def test_an_id_that_is_no_cursor_counts_as_none(
    worker: MemoryWorker, ada: Credentials, last_id: str
) -> None:
    game_id = worker.create(ada, 2, house=["careful"])
    assert Stream(worker, ada, last_id).told == [("started", game_id), ("turn", game_id)]


def test_marks_of_what_is_not_true_any_more_are_dropped(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, ada)
    for _ in range(5):
        worker.cancel(bob, invite(worker, bob, ada))
        worker.cancel(ada, worker.create(ada))
        worker.clock.advance(COMMIT_MS / 1000 + 1)
    worker.cancel(ada, worker.create(ada))
    cursor = find_turns_cursor(stream.last_id)
    assert cursor is not None
    assert len(cursor.marks) == 1


def test_the_longest_cursor_fits_into_a_request_line(worker: MemoryWorker) -> None:
    """The line has 4094 bytes at most."""
    marks = 2 * MAX_TURNS + MAX_INVITATIONS + MAX_END_MARKS
    known = find_turns_cursor(f"{worker.client.time_ms}.")
    assert known is not None
    longest = known.with_marks(number.to_bytes(6, "big") for number in range(marks)).text
    assert len(longest) < MAX_CURSOR_LENGTH
    line = f"GET /v1/me/stream?ticket={'x' * 43}&last_event_id={longest} HTTP/1.1"
    assert len(line) < 4000


def test_many_ends_are_told_in_parts_and_each_once(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "MAX_ENDED", 4)
    monkeypatch.setattr(turns_module, "MAX_END_MARKS", 5)
    ids = []
    for _ in range(11):
        worker.clock.advance(0.01)
        ids.append(worker.create(ada))
        worker.cancel(ada, ids[-1])
    whole = Stream(worker, ada).events
    assert [event.about for event in whole] == [("ended", each) for each in ids]
    for at, event in enumerate(whole):
        assert len(event.id.partition(".")[2]) <= 5 * 8
        assert Stream(worker, ada, event.id).told == [each.about for each in whole[at + 1 :]]


def test_a_stream_waits_between_reads_that_find_only_games_that_are_gone(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "MAX_ENDED", 4)
    for _ in range(9):
        worker.clock.advance(0.01)
        worker.cancel(ada, worker.create(ada))
    worker.client.offset_ms += worker.retention.cancelled
    ended = worker.create(ada)
    worker.cancel(ada, ended)
    find_ended, reads = worker.turns.ended, list[float]()

    def counted(own: Any) -> Any:
        reads.append(worker.clock.now)
        assert len(reads) < 20, "the stream reads without a pause"
        return find_ended(own)

    monkeypatch.setattr(worker.turns, "ended", counted)
    stream = Stream(worker, ada, "0.")
    worker.clock.advance(4 * CHECK_SECONDS)
    assert stream.told == [("ended", ended)]


def test_many_games_at_once_are_told_each_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, ada)
    ids = {worker.seated(bob, ada) for _ in range(30)}
    for game_id in ids:
        if worker.game(game_id).to_move == (0,):
            worker.move((bob, ada), game_id)
    told = stream.told
    assert len(told) == len(set(told))
    assert {game_id for name, game_id in told if name == "turn"} == ids
    assert {game_id for name, game_id in told if name == "started"} == ids


# --- Notifications, faults, stops --------------------------------------------------------------


def test_a_move_of_another_worker_is_told(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    other = MemoryWorker(clock, worker.client)
    stream = Stream(worker, ada)
    game_id = other.seated(bob, ada)
    if other.game(game_id).to_move == (0,):
        other.move((bob, ada), game_id)
    assert stream.told == [("started", game_id), ("turn", game_id)]
    other.close()


def test_a_deadline_that_hands_over_the_turn_is_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=10)
    mover = worker.mover((ada, bob), game_id)
    stream = Stream(worker, bob if mover is ada else ada)
    worker.clock.advance(10.5)
    assert stream.told == [("started", game_id), ("turn", game_id)]


def test_a_turn_is_told_again_after_a_failover_that_loses_the_players_move(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    stream = Stream(worker, mover)
    told = [("started", game_id), ("turn", game_id)]
    assert stream.told == told
    replica = copy.deepcopy(worker.client.values)
    worker.move((ada, bob), game_id)
    worker.clock.advance(1)
    worker.client.values = replica
    worker.clock.advance(RECHECK_SECONDS + 0.5)
    assert stream.told == [*told, ("turn", game_id)]
    worker.clock.advance(CHECK_SECONDS)
    assert len(stream.told) == 3


def test_a_turn_is_told_once_though_an_older_snapshot_comes_late(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id)
    other = bob if worker.mover((ada, bob), game_id) is ada else ada
    stream = Stream(worker, other)
    worker.move((ada, bob), game_id)
    told = [("started", game_id), ("turn", game_id)]
    assert stream.told == told
    assert not stream.stream._would_be_news(before)
    assert not stream.stream._would_be_news(worker.game(game_id))


def test_lost_notifications_delay_news_until_the_next_recheck(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    stream = Stream(worker, bob if mover is ada else ada)
    worker.client.is_mute = True
    worker.move((ada, bob), game_id)
    worker.clock.advance(RECHECK_SECONDS + 0.5)
    assert stream.told == [("started", game_id), ("turn", game_id)]


def test_a_game_that_ended_is_watched_no_more(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    Stream(worker, ada)
    for _ in range(5):
        worker.cancel(bob, invite(worker, bob, ada))
        worker.cancel(ada, worker.create(ada))
    worker.clock.advance(CHECK_SECONDS + 1)
    (waiter,) = worker.hub.waiters
    assert len(waiter._topics) == 1


def test_a_silent_stream_is_pinged(worker: MemoryWorker, ada: Credentials) -> None:
    stream = Stream(worker, ada)
    worker.clock.advance(PING_SECONDS - 0.1)
    assert stream.pings == 0
    worker.clock.advance(3 * PING_SECONDS)
    assert stream.pings == 3


def test_a_store_that_fails_is_read_again_and_nothing_is_lost(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    stream = Stream(worker, ada)
    game_id = worker.create(ada, 2, house=["careful"])
    worker.client.failure = RedisConnectionError()
    worker.clock.advance(40)
    worker.client.failure = None
    invitation = invite(worker, bob, ada)
    worker.clock.advance(6)
    told = [("started", game_id), ("turn", game_id), ("invited", invitation)]
    assert sorted(stream.told) == sorted(told)
    assert stream.pings >= 2


def test_a_stream_is_unavailable_when_the_store_has_failed_for_too_long(
    worker: MemoryWorker, ada: Credentials
) -> None:
    stream = Stream(worker, ada)
    worker.client.failure = RedisConnectionError()
    worker.clock.advance(CHECK_SECONDS + MAX_FAILING_SECONDS - 1)
    assert not stream.is_closed
    worker.clock.advance(7)
    assert stream.is_closed
    (event,) = stream.events
    assert (event.name, event.id, event.data["code"]) == ("unavailable", "", "store_unavailable")


def test_a_game_that_cannot_be_read_does_not_keep_others_from_being_told(
    worker: MemoryWorker, ada: Credentials
) -> None:
    ids = []
    for _ in range(2):
        worker.clock.advance(1)
        ids.append(worker.create(ada, 2, house=["careful"]))
    worker.client.hset(f"game:{{{ids[0]}}}".encode(), b"state", b'{"nonsense": 1}')
    stream = Stream(worker, ada)
    assert stream.told == [("started", ids[0]), ("started", ids[1]), ("turn", ids[1])]
    assert not stream.is_closed


def test_an_error_ends_the_stream_and_is_logged(
    worker: MemoryWorker,
    ada: Credentials,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(worker.turns, "ended", fail)
    stream = Stream(worker, ada)
    assert stream.is_closed
    assert ada.player_id in caplog.text


def test_a_stop_ends_every_stream_at_once_and_opens_no_other(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    streams = [Stream(worker, reader) for reader in (ada, bob)]
    worker.hub.stop()
    assert all(stream.is_closed for stream in streams)
    with refused("stopping"):
        Stream(worker, ada)


def test_streams_beyond_the_quota_are_refused_until_a_slot_is_free(clock: FakeClock) -> None:
    worker = MemoryWorker(clock, quota=Quota(1000, 2, 1000))
    ada = worker.player()
    held = [Stream(worker, ada) for _ in range(2)]
    with refused("too_many_waiting"):
        Stream(worker, ada)
    held[0].stream.close()
    Stream(worker, ada)
    worker.close()


# --- Who may open it -----------------------------------------------------------------------------


def test_a_ticket_opens_its_players_stream_and_nothing_else(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada, 2, house=["careful"])
    own = worker.turn_streams.create_ticket(ada).ticket
    of_game = worker.event_streams.create_ticket(ada, game_id).ticket
    for _ in range(2):
        told = Stream(worker, None, ticket=own).told
        assert told == [("started", game_id), ("turn", game_id)]
    for ticket in (of_game, "made-up"):
        with refused("invalid_ticket"):
            Stream(worker, None, ticket=ticket)
    with refused("invalid_ticket"):
        worker.event_streams.open(None, own, game_id, None)
    with refused("missing_token"):
        Stream(worker, None)
    worker.client.offset_ms += worker.retention.ticket
    with refused("invalid_ticket"):
        Stream(worker, None, ticket=own)


def test_a_new_token_ends_the_streams_and_the_tickets_of_the_old_one(
    worker: MemoryWorker, ada: Credentials
) -> None:
    ticket = worker.turn_streams.create_ticket(ada).ticket
    streams = [Stream(worker, ada), Stream(worker, None, ticket=ticket)]
    new = worker.rotated(ada)
    assert not any(stream.is_closed for stream in streams)
    worker.players.caller(new)
    assert all(stream.is_closed for stream in streams)
    with refused("invalid_ticket"):
        Stream(worker, None, ticket=ticket)
    with refused("invalid_token"):
        Stream(worker, ada)
    assert not Stream(worker, new).is_closed


def test_a_token_that_ended_unheard_is_noticed_by_the_next_check(
    worker: MemoryWorker, ada: Credentials
) -> None:
    stream = Stream(worker, ada)
    worker.client.is_mute = True
    worker.players.caller(worker.rotated(ada))
    worker.clock.advance(CHECK_SECONDS - 1)
    assert not stream.is_closed
    worker.clock.advance(2)
    assert stream.is_closed
