"""Lists of games: they are complete whatever happens meanwhile, and read and rendered once."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import gevent
import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games.answers import GamePage
from api.games.players import Credentials, new_id, read_credentials
from api.games.queries import LobbyFilter
from api.model.game import (
    CANCELLED,
    FORMAT,
    OPEN,
    PLAYING,
    PUBLIC,
    UNFINISHED,
    Game,
    GameStatus,
)
from api.model.retention import COMMIT_MS
from api.observability.addresses import LOCAL
from api.observability.context import begin, current
from api.problems.problem import Problem
from api.storage import indexes as module
from api.storage.indexes import BUCKETS, Cursor, Entry, Page, lobby, of_player
from tests.support.earlier_releases import LAST, load_in_memory
from tests.support.fake_clock import FakeClock
from tests.support.memory_store import SortedSet
from tests.support.memory_worker import MemoryWorker, matches_anything, refused

FILTERS = [LobbyFilter(), *(LobbyFilter(status=each) for each in GameStatus)]


def pages(read: Callable[[str | None], GamePage]) -> list[Any]:
    """The games of all pages of a list, in order."""
    found: list[Any] = []
    cursor = None
    for _ in range(200):
        page = read(cursor)
        found += [msgspec.json.decode(each) for each in page.items]
        if page.next is None:
            return found
        cursor = page.next
    raise AssertionError("the list has no end")


def public(
    worker: MemoryWorker,
    wanted: LobbyFilter = LobbyFilter(),  # noqa: B008
    limit: int = 3,
    reader: Credentials | None = None,
) -> list[Any]:
    return pages(lambda cursor: worker.queries.public_games(reader, wanted, cursor, limit))


def own(worker: MemoryWorker, player: Credentials, status: str | None = None) -> list[Any]:
    return pages(lambda cursor: worker.queries.own_games(player, status, cursor, 3))


def ids(games: list[Any]) -> list[str]:
    return [each["id"] for each in games]


def stored_games(worker: MemoryWorker) -> dict[str, Game]:
    """All games in the store, newest first."""
    keys = [key.decode() for key in worker.client.values if key.startswith(b"game:{")]
    names = {key[6:-1] for key in keys if key.endswith("}")}
    games = [game for game in worker.store.games([*names]).values() if game is not None]
    games.sort(key=lambda game: (game.created_at, game.id), reverse=True)
    return {game.id: game for game in games}


def with_status(games: dict[str, Game], status: str | None) -> list[str]:
    return [each for each, game in games.items() if status in (None, game.status)]


# --- Complete, whatever happens ----------------------------------------------------------


class Crowd:
    """Players who create, join, leave and cancel games at two workers, which fail now and then.

    A request waits before each of its round trips, so others come in between. One that fails does
    so before a round trip or after it.
    """

    def __init__(self, workers: list[MemoryWorker], rng: Random, failures: float) -> None:
        self.workers = workers
        self.rng = rng
        self.failures = failures
        self.players = [workers[0].player(name) for name in ("Ada", "Bob", "Eve", "Dan")]
        self.client = workers[0].client
        self._execute = self.client.execute
        self.client.execute = self._interrupted  # type: ignore[method-assign]

    def _interrupted(self, *args: Any, **options: Any) -> list[Any]:
        gevent.sleep(self.rng.uniform(0.001, 0.02))
        if self.rng.random() < self.failures:
            raise RedisConnectionError("lost before")
        replies = self._execute(*args, **options)
        if self.rng.random() < self.failures:
            raise RedisConnectionError("lost after")
        return replies

    def calm(self) -> None:
        """Let no request wait or fail any more."""
        self.client.execute = self._execute  # type: ignore[method-assign]

    def act(self) -> None:
        """Send any request about any game."""
        worker, player = self.rng.choice(self.workers), self.rng.choice(self.players)
        games = [key[6:-1].decode() for key in self.client.values if _is_game(key)]
        action = self.rng.choice(["create", "join", "join", "join", "leave", "cancel"])
        try:
            if action == "create" or not games:
                ruleset = self.rng.choice(["parade", "contrast"])
                worker.create(player, 2, ruleset=ruleset)
            elif action == "cancel":
                worker.tables.cancel(player, self.rng.choice(games), matches_anything)
            elif action == "join":
                worker.join(player, self.rng.choice(games))
            else:
                worker.leave(player, self.rng.choice(games))
        except (Problem, RedisConnectionError):
            pass


def _is_game(key: bytes) -> bool:
    return key.startswith(b"game:{") and key.endswith(b"}")


@pytest.fixture(params=["both new", "one pinned"])
def workers(
    request: pytest.FixtureRequest, worker: MemoryWorker, clock: FakeClock
) -> Iterator[list[MemoryWorker]]:
    """Two workers on one store; one may write what workers of 0.1 read."""
    pinned = FORMAT - 1 if request.param == "one pinned" else FORMAT
    second = MemoryWorker(clock, worker.client, stored_format=pinned)
    yield [worker, second]
    second.close()


@pytest.mark.parametrize("seed", range(3))
def test_after_any_failures_every_list_is_right(
    workers: list[MemoryWorker], clock: FakeClock, seed: int
) -> None:
    crowd = Crowd(workers, Random(seed), failures=0.05)
    for _ in range(30):
        acts = [workers[0].start(crowd.act) for _ in range(4)]
        for each in acts:
            clock.result(each)
    crowd.calm()
    games = stored_games(workers[0])
    assert {game.status for game in games.values()} >= {OPEN, PLAYING, CANCELLED}
    for _ in range(2):
        for worker in workers:
            for wanted in FILTERS:
                assert ids(public(worker, wanted)) == with_status(games, wanted.status)
            for player in crowd.players:
                for status in (None, *GameStatus):
                    own_games = {
                        each: game
                        for each, game in games.items()
                        if player.player_id in game.participants()
                    }
                    assert ids(own(worker, player, status)) == with_status(own_games, status)
        # Then no entry is about to become true any more.
        clock.advance(COMMIT_MS / 1000)
    for status in UNFINISHED:
        listed = {each for entry in lobby(status=status) for each in members(workers[0], entry)}
        # An open game may keep the entry of a start that failed: it may yet start.
        assert not listed - {*with_status(games, OPEN), *with_status(games, status)}


@pytest.mark.parametrize("seed", range(3))
def test_a_list_lacks_no_game_and_repeats_none_while_games_change(
    workers: list[MemoryWorker], clock: FakeClock, seed: int
) -> None:
    rng = Random(seed)
    crowd = Crowd(workers, rng, failures=0)
    for _ in range(20):
        clock.result(workers[0].start(crowd.act))
    for _ in range(20):
        wanted, worker = rng.choice(FILTERS), rng.choice(workers)
        crowd.calm()
        before = stored_games(worker)
        crowd.client.execute = crowd._interrupted  # type: ignore[method-assign]
        acts = [worker.start(crowd.act) for _ in range(3)]
        listing = worker.start(public, worker, wanted, 2)
        found = ids(clock.result(listing))
        for each in acts:
            clock.result(each)
        crowd.calm()
        after = stored_games(worker)
        assert not [each for each, times in Counter(found).items() if times > 1]
        same = {
            each: game
            for each, game in before.items()
            if wanted.status is None or after[each].status == game.status
        }
        expected = with_status(same, wanted.status)
        assert [each for each in found if each in same] == expected


def test_a_game_that_starts_after_its_index_was_read_is_still_in_the_list_of_all(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game_id = worker.create(ada)
    documents = worker.store.documents

    def after_a_join(replies: Any) -> Any:
        monkeypatch.undo()
        worker.join(bob, game_id)
        return documents(replies)

    for read in (lambda: public(worker), lambda: own(worker, ada)):
        monkeypatch.setattr(worker.store, "documents", after_a_join)
        assert game_id in ids(read())
        assert worker.game(game_id).status == PLAYING
        game_id = worker.create(ada)


def test_a_game_is_found_though_its_entries_lie_on_both_sides_of_the_last_one_that_is_read(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    worker.cancel(ada, game_id)
    at = worker.game(game_id).created_at
    open_, cancelled = (Entry(ada.player_id, each) for each in (OPEN, CANCELLED))
    worker.client.zadd(key(open_), at, game_id.encode())
    most = Page((cancelled, open_), None, 1).max_games
    for number in range(1, most + 2):
        worker.client.zadd(key(open_), at + number, f"{number:032x}".encode())
        found: list[str] = []
        after: Cursor | None = None
        while not found:
            page = Page((cancelled, open_), after, 1)
            games, after = worker.indexes.page(page, worker.client.time_ms)
            found = [each.game.id for each in games]
            if after is None:
                break
        assert found == [game_id]


def test_a_page_of_games_that_cannot_be_read_is_short_after_a_bounded_number_of_reads(
    worker: MemoryWorker, ada: Credentials
) -> None:
    first = worker.create(ada)
    for _ in range(module.MAX_READS * 3):
        worker.clock.advance(1)
        worker.client.hset(f"game:{{{worker.create(ada)}}}".encode(), b"game", b"damaged")
    entries = of_player(ada.player_id, OPEN)
    found, following = worker.indexes.page(Page(entries, None, 1), worker.client.time_ms)
    assert found == []
    assert following is not None
    # The next pages go on behind them, and they stay in the index: it is not known what they are.
    assert ids(own(worker, ada)) == [first]
    assert len(members(worker, entries[0])) == 1 + module.MAX_READS * 3


# --- The lobby's size --------------------------------------------------------------------


def test_the_buckets_of_the_lobby_are_balanced_whatever_games_strangers_create_and_cancel() -> None:
    for status, number in BUCKETS.items():
        sizes = Counter(int(new_id()[:8], 16) % number for _ in range(4000))
        assert max(sizes.values()) - min(sizes.values()) < 400  # ten times the deviation
        assert len(lobby("parade", status)) == len(sizes) == number


def test_however_many_games_end_none_that_is_open_or_in_play_leaves_the_lobby(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_LISTED_ENDED", 8)
    playing = [worker.seated(ada, bob) for _ in range(12)]
    open_ = [worker.create(ada) for _ in range(12)]
    for _ in range(40):
        worker.clock.advance(1)
        worker.cancel(ada, worker.create(ada, 3))
        game_id = worker.seated(ada, bob)
        for each in (ada, bob):
            worker.leave(each, game_id)
    assert len(members(worker, *lobby("parade", CANCELLED))) == 8
    for wanted in (LobbyFilter(), LobbyFilter(ruleset="parade")):
        listed = public(worker, wanted)
        assert {each["id"] for each in listed if each["status"] == OPEN} == {*open_}
        assert {each["id"] for each in listed if each["status"] == PLAYING} == {*playing}
        assert len([each for each in listed if each["status"] == CANCELLED]) == 8
    assert {*ids(public(worker, LobbyFilter(status=OPEN)))} == {*open_}
    assert {*ids(public(worker, LobbyFilter(status=PLAYING)))} == {*playing}


# --- An update from 0.1 ------------------------------------------------------------------


@pytest.mark.parametrize("stored_format", [FORMAT - 1, FORMAT])
def test_every_list_of_0_1_is_the_same_after_the_update(
    clock: FakeClock, stored_format: int
) -> None:
    worker = MemoryWorker(clock, stored_format=stored_format)
    load_in_memory(worker.client, LAST["keys"])
    games = stored_games(worker)
    for wanted in FILTERS:
        of_status = with_status(games, wanted.status)
        listed = [each for each in of_status if games[each].visibility == PUBLIC]
        assert ids(public(worker, wanted)) == listed
        for ruleset in {game.ruleset for game in games.values()}:
            of_ruleset = [each for each in listed if games[each].ruleset == ruleset]
            assert ids(public(worker, wanted._replace(ruleset=ruleset))) == of_ruleset
    for name, each in LAST["players"].items():
        player = read_credentials(f"Bearer {each['token']}")
        assert player is not None
        for status in (None, *GameStatus):
            expected = [
                game_id
                for game_id in with_status(games, status)
                if player.player_id in games[game_id].participants()
            ]
            assert ids(own(worker, player, status)) == expected, name
        invited = [
            game_id
            for game_id in with_status(games, OPEN)
            if player.player_id in games[game_id].members() - games[game_id].participants()
        ]
        assert ids(own(worker, player, "invited")) == invited
    worker.close()


# --- Read and rendered once --------------------------------------------------------------


class Trips:
    """Counts the round trips of a store in memory."""

    def __init__(self, worker: MemoryWorker) -> None:
        self.number = 0
        self.commands = 0
        self.callers = Counter[str]()
        self._execute = worker.client.execute
        worker.client.execute = self._counted  # type: ignore[method-assign]

    def _counted(self, commands: Any, **options: Any) -> list[Any]:
        self.number += 1
        self.commands += len(commands)
        self.callers[current().address] += 1
        return self._execute(commands, **options)


def test_a_page_that_was_read_before_takes_one_round_trip_and_a_new_game_one_more(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    games = [worker.create(ada) for _ in range(3)]
    own(worker, bob)  # notes that the player was seen
    trips = Trips(worker)

    def listed() -> tuple[int, set[str]]:
        before = trips.number
        page = worker.queries.public_games(bob, LobbyFilter(), None, 20)
        return trips.number - before, {msgspec.json.decode(each)["id"] for each in page.items}

    assert listed() == (2, {*games})
    assert listed() == (1, {*games})
    games.append(worker.create(ada))
    assert listed() == (2, {*games})
    worker.cancel(ada, games.pop(0))
    worker.join(bob, games[0])
    page = worker.queries.public_games(bob, LobbyFilter(), None, 20)
    shown = {each["id"]: each for each in map(msgspec.json.decode, page.items)}
    assert shown[games[0]]["status"] == PLAYING
    assert shown[games[0]]["you"] == 1


def test_concurrent_requests_for_a_page_share_a_read_that_began_after_they_came(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, bob: Credentials
) -> None:
    first = worker.create(ada)
    worker.client.latency = 1.0
    trips = Trips(worker)

    def listed(reader: Credentials | None) -> list[str]:
        page = worker.queries.public_games(reader, LobbyFilter(), None, 20)
        return ids(list(map(msgspec.json.decode, page.items)))

    alone = worker.start(listed, ada)
    clock.advance(0.5)
    others = [worker.start(listed, each) for each in (ada, bob, None, bob)]
    creating = worker.start(worker.create, bob)
    assert clock.result(alone) == [first]
    created = clock.result(creating)
    late = worker.start(listed, None)
    assert created in clock.result(late)
    for each in others:
        assert first in clock.result(each)
    worker.client.latency = 0.0
    assert worker.queries._readers == {}
    indexes_read = len(lobby())
    before = trips.commands
    worker.client.latency = 1.0
    together = [worker.start(listed, bob) for _ in range(10)]
    for each in together:
        assert {first, created} == {*clock.result(each)}
    # One reads for itself, and the nine others read the page twice at most.
    assert trips.commands - before < 4 * indexes_read


def test_a_shared_read_waits_in_the_queue_of_no_caller(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    own(worker, ada)  # notes that the player was seen
    worker.client.latency = 1.0
    trips = Trips(worker)

    def listed(address: str) -> tuple[list[str], str]:
        begin(None, "GET", address)
        page = worker.queries.public_games(ada, LobbyFilter(), None, 20)
        return ids(list(map(msgspec.json.decode, page.items))), current().address

    addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
    requests = [worker.start(listed, each) for each in addresses]
    assert [clock.result(each) for each in requests] == [([game_id], each) for each in addresses]
    # The first reads its games after its page; of the others each reads its caller.
    assert trips.callers == {"192.0.2.1": 2, "192.0.2.2": 1, "192.0.2.3": 1, LOCAL: 2}


def test_a_wrong_token_fails_only_its_own_request(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    game_id = worker.create(ada)
    stranger = worker.player("Mal")._replace(secret_hash="0" * 64)
    worker.client.latency = 1.0

    def listed(reader: Credentials) -> list[str]:
        page = worker.queries.public_games(reader, LobbyFilter(), None, 20)
        return ids(list(map(msgspec.json.decode, page.items)))

    def refused_list() -> bool:
        with refused("invalid_token"):
            listed(stranger)
        return True

    requests = [worker.start(each) for each in (refused_list, lambda: listed(ada)) * 3]
    found = [clock.result(each) for each in requests]
    assert found == [True, [game_id]] * 3


def test_each_reader_is_shown_the_games_of_a_page_as_its_own_audience(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    public_game = worker.create(ada, 3)
    worker.join(bob, public_game)
    left = worker.seated(ada, bob)
    worker.leave(bob, left)
    private = worker.create(ada, 3, visibility="private")
    worker.join(bob, private, worker.game(private).invite)

    def shown(read: list[Any], game_id: str) -> tuple[Any, Any, bool]:
        (found,) = (each for each in read if each["id"] == game_id)
        return found["you"], found["left_seat"], found["invite"] is not None

    expected = {
        public_game: {ada: (0, None, False), bob: (1, None, False)},
        left: {ada: (0, None, False), bob: (None, 1, False)},
    }
    for readers in itertools.permutations([ada, bob, eve, None]):
        for reader in readers:
            listed = public(worker, reader=reader)
            for game_id, seen in expected.items():
                assert shown(listed, game_id) == seen.get(reader, (None, None, False))
            assert private not in ids(listed)
    for _ in range(2):
        assert shown(own(worker, bob), private) == (1, None, False)
        assert shown(own(worker, ada), private) == (0, None, True)


def key(entry: Entry) -> bytes:
    return f"index:{{{entry.owner}}}:{entry.status}".encode()


def members(worker: MemoryWorker, entry: Entry) -> list[str]:
    """The game ids in an index, false ones included."""
    return [each.decode() for each in worker.client.values.get(key(entry), SortedSet())]
