"""Indexes of games: which entries a game has, and what is read, skipped and removed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from redis import OutOfMemoryError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games.players import Credentials
from api.model.game import (
    CANCELLED,
    FINISHED,
    FORMAT,
    OPEN,
    PLAYING,
    PRIVATE,
    PUBLIC,
    UNFINISHED,
    Game,
    GameStatus,
    Player,
    SeatRecord,
)
from api.model.retention import COMMIT_MS
from api.storage import indexes as module
from api.storage.client import Command
from api.storage.errors import Unreadable
from api.storage.indexes import (
    BUCKETS,
    Cursor,
    Entry,
    Page,
    can_become_true,
    entries,
    invited,
    is_true,
    lobby,
    occupied,
    of_player,
    read_entries,
)
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker
from tests.support.records import make_game

HOST, SEATED, AWAY, RESERVED = (
    Player(name, name, "bot") for name in ("host", "seated", "away", "reserved")
)
STRANGER = "stranger"
REACHABLE = {
    OPEN: {OPEN, PLAYING, FINISHED, CANCELLED},
    PLAYING: {PLAYING, FINISHED, CANCELLED},
    FINISHED: {FINISHED},
    CANCELLED: {CANCELLED},
}
NOW = 10_000_000
CURSOR = Cursor(NOW, "0")


def game_at(status: str, visibility: str = PUBLIC) -> Game:
    seats = (
        SeatRecord(player=SEATED),
        SeatRecord(player=AWAY, house="careful"),
        SeatRecord(reserved_for=RESERVED),
    )
    return make_game(id="0", visibility=visibility, host=HOST, status=status, seats=seats)


# --- Which entries a game has ------------------------------------------------------------


@pytest.mark.parametrize("status", GameStatus)
def test_a_game_is_listed_by_its_status_for_its_members_and_in_the_lobby(status: str) -> None:
    own = {Entry(player.id, status) for player in (HOST, SEATED, AWAY)}
    if status == OPEN:
        own.add(Entry("invited:reserved", OPEN))
    if status == PLAYING:
        own = {Entry(owner, PLAYING) for owner in ("host", "places:seated", "places:away")}
    game, private = game_at(status), game_at(status, PRIVATE)
    (in_lobby,) = entries(game) - own
    assert in_lobby in lobby("parade", status)
    assert entries(private) == own
    assert all(is_true(entry, game) for entry in own | {*lobby("parade", status)})
    lists = (*lobby("parade"), *lobby("contrast"), *lobby())
    assert not any(is_true(entry, private) for entry in lists)
    others = (Entry(STRANGER, status), Entry(RESERVED.id, status), invited(STRANGER))
    others += (occupied(RESERVED.id, PLAYING), *lobby("contrast"))
    assert not any(is_true(entry, game) for entry in others)
    assert not any(is_true(Entry(HOST.id, each), game) for each in set(GameStatus) - {status})
    assert not is_true(Entry(HOST.id, status), None)


def test_the_buckets_of_the_lobby_share_its_games() -> None:
    games = [replace(game_at(PLAYING), id=f"{number:08x}" + "0" * 24) for number in range(100)]
    owners = {entry.owner for game in games for entry in entries(game)} - {HOST.id}
    assert {each for each in owners if each.startswith("lobby")} == {
        "lobby:parade",
        "lobby:parade:playing:1",
        "lobby:parade:playing:2",
        "lobby:parade:playing:3",
    }


@pytest.mark.parametrize(("status", "of_entry"), [*itertools.product(GameStatus, GameStatus)])
def test_an_entry_is_kept_as_long_as_the_game_can_reach_its_status(
    status: GameStatus, of_entry: GameStatus
) -> None:
    game = game_at(status)
    for entry in (Entry(HOST.id, of_entry), *lobby("parade", of_entry)):
        can = can_become_true(entry, CURSOR, game, NOW)
        assert can == (of_entry in REACHABLE[status])


def test_after_the_start_only_a_player_who_left_comes_back() -> None:
    stranger, host, away = (occupied(each, PLAYING) for each in (STRANGER, HOST.id, AWAY.id))
    for status in (OPEN, PLAYING):
        game = game_at(status)
        can = {
            entry: can_become_true(entry, CURSOR, game, NOW)
            for entry in (Entry(STRANGER, PLAYING), stranger, host, away)
        }
        assert can == {
            Entry(STRANGER, PLAYING): status == OPEN,
            stranger: status == OPEN,
            host: status == OPEN,
            away: True,
        }


def test_an_entry_without_a_game_is_kept_while_a_commit_may_be_in_flight() -> None:
    entry = Entry(HOST.id, OPEN)
    assert can_become_true(entry, CURSOR, None, NOW + COMMIT_MS - 1)
    assert not can_become_true(entry, CURSOR, None, NOW + COMMIT_MS)


@pytest.mark.parametrize("reply", [[b"\xff", b"1"], [b"a", b"x"], [b"a", b"inf"], [b"a", b"nan"]])
def test_entries_that_nothing_could_have_written_are_unreadable(reply: list[bytes]) -> None:
    assert read_entries([b"a", b"1"]) == [("a", 1)]
    with pytest.raises(Unreadable):
        read_entries(reply)


# --- Writing -----------------------------------------------------------------------------


def members_of(worker: MemoryWorker, entry: Entry) -> list[str]:
    """The game ids in an index, false ones included."""
    key = f"index:{{{entry.owner}}}:{entry.status}".encode()
    return [each.decode() for each in worker.client.values.get(key, {})]


def test_entries_that_a_commit_has_made_false_for_good_are_removed(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada)
    assert members_of(worker, Entry(ada.player_id, OPEN)) == [game_id]
    worker.join(bob, game_id)
    for listed in (of_player(ada.player_id), of_player(bob.player_id), lobby("parade")):
        assert [each.status for each in listed if members_of(worker, each)] == [PLAYING]
    worker.leave(bob, game_id)
    # He may come back.
    assert members_of(worker, occupied(bob.player_id, PLAYING)) == [game_id]
    worker.leave(ada, game_id)
    for listed in (of_player(ada.player_id), of_player(bob.player_id), lobby("parade")):
        assert [each.status for each in listed if members_of(worker, each)] == [CANCELLED]


def test_a_finished_game_has_three_keys_of_a_player_besides_those_of_the_lobby(
    worker: MemoryWorker, ada: Credentials
) -> None:
    worker.cancel(ada, worker.create(ada))
    keys = {key.decode() for key, found in worker.client.values.items() if found}
    own = {key for key in keys if key.startswith(f"index:{{{ada.player_id}}}")}
    ends = ("cancelled", "cancelled:until", "ended")
    assert own == {f"index:{{{ada.player_id}}}:{end}" for end in ends}
    shared = "index:{lobby:parade}:cancelled"
    assert {key for key in keys if key.startswith("index:")} - own == {shared, f"{shared}:until"}


# --- Reading -----------------------------------------------------------------------------


def add(worker: MemoryWorker, entry: Entry, *games: tuple[int, str]) -> None:
    """Put entries into an index, whether there are such games or not."""
    key = f"index:{{{entry.owner}}}:{entry.status}".encode()
    for created_at, game_id in games:
        worker.client.zadd(key, created_at, game_id.encode())


def read(worker: MemoryWorker, page: Page) -> tuple[list[str], Cursor | None]:
    found, following = worker.indexes.page(page, worker.client.time_ms)
    return [each.game.id for each in found], following


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_page_goes_on_behind_false_entries_of_one_millisecond(
    worker: MemoryWorker, ada: Credentials, limit: int
) -> None:
    entry = Entry(ada.player_id, OPEN)
    first = worker.create(ada)
    at = worker.game(first).created_at
    add(worker, entry, *((at, f"{number:032x}") for number in range(1, 8)))
    worker.clock.advance(1)
    add(worker, entry, *((at + 500, f"{number:032x}") for number in range(11, 18)))
    last = worker.create(ada)
    found: list[str] = []
    after: Cursor | None = None
    for _ in range(20):
        ids, after = read(worker, Page((entry,), after, limit))
        found += ids
        if after is None:
            break
    assert after is None
    assert found == [last, first]


def test_an_entry_that_its_game_contradicts_is_skipped_and_removed_if_it_stays_false(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    waiting, playing = worker.create(ada), worker.seated(ada, bob)
    now = worker.client.time_ms
    for status, true, kept in (
        (OPEN, waiting, {waiting}),
        (PLAYING, playing, {waiting, playing}),
    ):
        entry = Entry(ada.player_id, status)
        add(worker, entry, (now, waiting), (now, playing))
        assert read(worker, Page((entry,), None, 10)) == ([true], None)
        # A game that is not played yet may still be.
        assert set(members_of(worker, entry)) == kept


def test_false_entries_that_no_commit_can_make_true_are_removed_in_chunks(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SCRIPT_IDS", 2)
    entry = Entry(ada.player_id, OPEN)
    game_id = worker.create(ada)
    now = worker.client.time_ms
    new = "a" * 32
    old = [f"{number:032x}" for number in range(5)]
    add(worker, entry, (now, new), *((now - COMMIT_MS, each) for each in old))
    removals: list[Command] = []
    write = worker.indexes._write
    monkeypatch.setattr(
        worker.indexes, "_write", lambda commands: removals.extend(commands) or write(commands)
    )
    assert read(worker, Page((entry,), None, 10)) == ([game_id], None)
    assert set(members_of(worker, entry)) == {game_id, new}
    assert len(removals) == 3


def test_false_entries_stay_while_the_store_is_full_and_the_page_is_answered(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Entry(ada.player_id, OPEN)
    game_id = worker.create(ada)
    add(worker, entry, (1, "a" * 32))

    def refuse(*args: Any) -> None:
        raise OutOfMemoryError

    monkeypatch.setattr(worker.indexes, "_write", refuse)
    assert read(worker, Page((entry,), None, 10)) == ([game_id], None)


def test_a_page_of_false_entries_is_short_after_a_bounded_number_of_reads(
    worker: MemoryWorker, ada: Credentials
) -> None:
    entry = Entry(ada.player_id, OPEN)
    now = worker.client.time_ms
    count = module.MAX_READS * 2
    add(worker, entry, *((now + number, f"{number:032x}") for number in range(1, count + 3)))
    ids, following = read(worker, Page((entry,), None, 1))
    assert ids == []
    assert following == Cursor(now + 3, f"{3:032x}")


def test_the_unfinished_games_of_each_player_are_those_it_plays_hosts_or_is_expected_in(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    played = worker.seated(ada, bob)
    hosted = worker.create(bob)
    worker.clock.advance(1)
    expected = worker.create(ada, reserved_seats=[{"seat": 1, "player_id": bob.player_id}])
    ended = worker.create(bob)
    worker.cancel(bob, ended)
    players = [ada.player_id, bob.player_id, eve.player_id]
    assert worker.indexes.unfinished(players, 10) == [
        {played, expected},
        {played, hosted, expected},
        frozenset(),
    ]
    # Strangers who reserve seats do not displace the games that a player plays or hosts.
    assert worker.indexes.unfinished([bob.player_id], 2) == [{played, hosted}]


def test_a_damaged_index_counts_as_empty_and_a_failing_server_does_not(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    played = worker.seated(ada, bob)
    worker.client.values[f"index:{{{ada.player_id}}}:open".encode()] = b"text"
    away = RedisConnectionError("away")
    worker.client.failures[f"index:{{invited:{bob.player_id}}}:open"] = away
    players = [ada.player_id, bob.player_id]
    assert worker.indexes.unfinished(players, 10) == [{played}, away]


def test_a_player_occupies_as_many_games_as_it_has_true_entries(
    worker: MemoryWorker, ada: Credentials
) -> None:
    for _ in range(2):
        worker.create(ada)
    entry = occupied(ada.player_id, PLAYING)
    add(worker, entry, (1, "a" * 32))
    occupies, now = worker.indexes.occupies, worker.client.time_ms
    assert occupies(ada.player_id, 2, now) is True
    assert occupies(ada.player_id, 3, now) is False
    # A damaged index does not keep its player from playing.
    worker.client.values[f"index:{{{entry.owner}}}:{PLAYING}".encode()] = b"text"
    assert occupies(ada.player_id, 2, now) is False


def test_the_lobby_of_a_ruleset_has_its_games_only(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada)
    worker.create(ada, visibility="private")
    worker.seated(bob, ada)
    for ruleset, expected in ((None, [game_id]), ("parade", [game_id]), ("contrast", [])):
        assert read(worker, Page(lobby(ruleset, OPEN), None, 10)) == (expected, None)
    assert worker.indexes.lobby_sizes() == {OPEN: 1, PLAYING: 1}


def test_entries_are_renewed_with_the_status_and_by_age(worker: MemoryWorker) -> None:
    due, renewal = worker.indexes.are_to_be_renewed, worker.retention.renewal
    game = replace(game_at(OPEN), indexed_at=NOW)
    assert due(None, game, NOW)
    assert due(game, replace(game, status=PLAYING), NOW)
    assert not due(game, game, NOW + renewal)
    assert due(game, game, NOW + renewal + 1)


# --- Merging -----------------------------------------------------------------------------


def number_of_bucket(game_id: str) -> int:
    return int(game_id[:8], 16) % BUCKETS[OPEN]


@pytest.mark.parametrize("limit", [1, 3, 4, 50])
def test_a_list_is_merged_from_its_indexes_newest_first(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, limit: int
) -> None:
    made: list[str] = []
    for number in range(24):
        worker.clock.advance(number % 3 / 1000)
        ruleset = ("parade", "contrast")[number % 2]
        game_id = worker.create(ada, 2, ruleset=ruleset)
        if number % 4 == 1:
            worker.join(bob, game_id)
        elif number % 4 == 2:
            worker.cancel(ada, game_id)
        made.append(game_id)
    assert len({number_of_bucket(each) for each in made}) > 1
    expected = sorted(made, key=lambda each: (worker.game(each).created_at, each), reverse=True)
    for listed in (lobby(), of_player(ada.player_id)):
        found: list[str] = []
        after: Cursor | None = None
        while True:
            ids, after = read(worker, Page(listed, after, limit))
            found += ids
            if after is None:
                break
        assert found == expected


@pytest.mark.parametrize("limit", [25, 30, 31])
def test_a_page_is_complete_though_one_of_many_indexes_has_all_of_it(
    worker: MemoryWorker, ada: Credentials, limit: int
) -> None:
    games = []
    for _ in range(30):
        worker.clock.advance(1)
        games.append(worker.game(worker.create(ada)))
    first, *others = lobby("parade", OPEN)
    for entry in others:
        worker.client.delete(f"index:{{{entry.owner}}}:{OPEN}")
    add(worker, first, *((game.created_at, game.id) for game in games))
    page = Page(lobby(), None, limit)
    assert page.first_batch < min(limit, 30)
    ids, following = read(worker, page)
    assert ids == [game.id for game in reversed(games)][:limit]
    assert (following is None) == (limit >= 30)


def test_false_entries_of_one_index_do_not_hide_the_games_of_another(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    now = worker.client.time_ms
    first, *others = lobby("parade", OPEN)
    add(worker, first, *((now + number, f"{number:032x}") for number in range(1, 30)))
    assert read(worker, Page(lobby(), None, 5)) == ([game_id], None)
    # Too young to be removed: a commit may be about to make them true.
    assert len(members_of(worker, first)) >= 29
    worker.clock.advance(COMMIT_MS / 1000 + 1)
    assert read(worker, Page(lobby(), None, 5)) == ([game_id], None)
    assert [each for entry in (first, *others) for each in members_of(worker, entry)] == [game_id]


def test_of_the_games_that_ended_the_lobby_keeps_the_newest(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LISTED_ENDED", 3)
    ended: list[str] = []
    for _ in range(6):
        worker.clock.advance(1)
        ended.append(worker.create(ada))
        worker.cancel(ada, ended[-1])
    worker.clock.advance(1)
    late, newest = worker.create(ada), ended[:-4:-1]
    for listed in (lobby("parade", CANCELLED), lobby(status=CANCELLED)):
        assert read(worker, Page(listed, None, 10)) == (newest, None)
    assert read(worker, Page(of_player(ada.player_id, CANCELLED), None, 10))[0] == ended[::-1]
    assert read(worker, Page(lobby(), None, 10)) == ([late, *newest], None)


def test_more_ended_games_than_the_lobby_keeps_are_removed_in_bounded_steps(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LISTED_ENDED", 5)
    (entry,) = lobby("parade", CANCELLED)
    # As an earlier release left it: it kept all.
    add(worker, entry, *((number, f"{number:032x}") for number in range(1, 31)))
    left = []
    for _ in range(4):
        worker.cancel(ada, worker.create(ada))
        left.append(len(members_of(worker, entry)))
    assert left == [31 - module.MAX_REMOVED, 32 - 2 * module.MAX_REMOVED, 5, 5]


# --- Workers of 0.1 ----------------------------------------------------------------------


@pytest.fixture
def pinned(worker: MemoryWorker, clock: FakeClock) -> Iterator[MemoryWorker]:
    """A worker that shares the store with workers of 0.1."""
    pinned = MemoryWorker(clock, worker.client, stored_format=FORMAT - 1)
    yield pinned
    pinned.close()


def owners(*players: Credentials) -> list[str]:
    return ["lobby", "lobby:parade", *(each.player_id for each in players)]


def test_workers_of_0_1_find_the_games_of_a_worker_that_is_pinned(
    pinned: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    def check(status: str, *players: Credentials) -> None:
        for owner in owners(*players):
            assert members_of(pinned, Entry(owner, status)) == [game_id]
            assert members_of(pinned, Entry(owner, "all")) == [game_id]
        for each in players:
            taken = Entry(f"places:{each.player_id}", status)
            assert members_of(pinned, taken) == ([game_id] if status in UNFINISHED else [])

    game_id = pinned.create(ada)
    check(OPEN, ada)
    pinned.join(bob, game_id)
    check(PLAYING, ada, bob)
    for each in (bob, ada):
        pinned.leave(each, game_id)
    check(CANCELLED, ada, bob)


def test_a_worker_that_is_not_pinned_any_more_finds_the_games_of_before_and_lists_each_once(
    worker: MemoryWorker, pinned: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    games = []
    for _ in range(8):
        games.append((pinned.create(ada), pinned.seated(ada, bob), pinned.create(bob)))
        pinned.cancel(bob, games[-1][2])
    open_, playing, cancelled = map(set, zip(*games, strict=True))

    def check() -> None:
        for each in (worker, pinned):
            for status, expected in (
                (OPEN, open_),
                (PLAYING, playing),
                (CANCELLED, cancelled),
                (None, open_ | playing | cancelled),
            ):
                ids, _ = read(each, Page(lobby("parade", status), None, 50))
                assert len(ids) == len(expected)
                assert set(ids) == expected
            ids, _ = read(each, Page(of_player(ada.player_id, PLAYING), None, 50))
            assert len(ids) == len(playing)
            assert each.indexes.occupies(ada.player_id, len(open_ | playing), each.client.time_ms)
            assert len(each.turns.turns(ada, None).answer.items) <= len(playing)

    check()
    # Now they change, and are in the indexes of before and in those of now.
    for _ in range(4):
        worker.join(bob, started := open_.pop())
        playing.add(started)
        worker.leave(bob, ended := playing.pop())
        worker.leave(ada, ended)
        cancelled.add(ended)
        worker.clock.advance(1)
    check()
    worker.clock.advance(COMMIT_MS / 1000)
    check()
    for status, expected in ((OPEN, open_), (PLAYING, playing), (CANCELLED, cancelled)):
        listed = [each for entry in lobby("parade", status) for each in members_of(worker, entry)]
        # Nothing is left behind of what they were.
        assert set(listed) == expected
