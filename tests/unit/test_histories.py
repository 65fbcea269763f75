"""Histories as they are stored: derived again, they are the items that the commits were told with.

Random games of every ruleset, with the fewest and the most seats, are written in each stored
format, and read by a worker that has never met them.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import msgspec
import pytest

from api.games.cursors import BEGINNING, EventsCursor, read_events_cursor
from api.games.moves import key_of_move
from api.games.representations import item_answers
from api.model.game import FORMAT, NOT_A_MOVE, HistoryItem
from api.storage.errors import Unreadable
from engine.registry import RULESETS
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, matches_anything

CASES = [
    (ruleset.id, seats)
    for ruleset in RULESETS.values()
    for seats in (ruleset.min_seats, ruleset.max_seats)
]
SETUPS = pytest.mark.parametrize(("ruleset", "seats"), CASES)


@pytest.fixture
def other(clock: FakeClock, worker: MemoryWorker) -> Iterator[MemoryWorker]:
    """Another worker on the same store."""
    other = MemoryWorker(clock, worker.client)
    yield other
    other.close()


@pytest.fixture
def pinned(clock: FakeClock, worker: MemoryWorker) -> Iterator[MemoryWorker]:
    """Another worker on the same store, which writes format 1."""
    pinned = MemoryWorker(clock, worker.client, stored_format=1)
    yield pinned
    pinned.close()


class Game:
    """A game that goes on at random: moves, time that runs out, seats that change.

    Attributes:
        told: The items as the commits made them.
    """

    def __init__(self, worker: MemoryWorker, ruleset: str, seats: int, seed: int) -> None:
        self.worker = worker
        self.rng = Random(seed)
        self.told: list[HistoryItem] = []
        commit_all = worker.transactions.store.commit_all

        def noted(commits: Any, *args: Any) -> Any:
            outcomes = commit_all(commits, *args)
            for commit, outcome in zip(commits, outcomes, strict=True):
                if outcome is True and commit.change.game.id == getattr(self, "id", None):
                    self.told += commit.change.items
            return outcomes

        worker.store.commit_all = noted  # type: ignore[method-assign]
        self.players = [worker.player(f"Player {number}") for number in range(seats)]
        self.id = worker.create(self.players[0], seats, ruleset=ruleset)
        self.told += worker.items(self.id)
        for player in self.players[1:]:
            worker.join(player, self.id)

    @property
    def is_over(self) -> bool:
        return self.worker.game(self.id).has_ended

    def go_on(self) -> None:
        """One thing happens."""
        chance = self.rng.random()
        self.worker.clock.advance(self.rng.random())
        if chance < 0.01:
            self.worker.leave(self.players[-1], self.id)
            if not self.is_over:
                self.worker.join(self.players[-1], self.id)
        elif chance < 0.02:
            self._let_time_run_out()
        else:
            self._move()

    def _let_time_run_out(self) -> None:
        deadline = self.worker.game(self.id).deadline
        if deadline is not None:
            self.worker.clock.advance(max(deadline - self.worker.client.time_ms, 0) / 1000 + 1)
            self.worker.load(self.players[0], self.id)

    def _move(self) -> None:
        game = self.worker.game(self.id)
        if not game.to_move:
            return
        seat = self.rng.choice(game.to_move)
        loaded = self.worker.load(self.players[seat], self.id)
        if loaded.seat is None or loaded.game.turn is None:
            return
        moves = self.worker.moves.list_legal(loaded, loaded.seat, previews=False).moves
        if moves:
            move = self.rng.choice(moves)
            player, turn = self.players[seat], loaded.game.turn
            self.worker.moves.play(player, self.id, turn, move, matches_anything)

    def play_out(self, most: int = 1000) -> None:
        """All the rest happens; after so many things, all players leave."""
        for _ in range(most):
            if self.is_over:
                return
            self.go_on()
        for player in self.players:
            if not self.is_over:
                self.worker.leave(player, self.id)


def events(worker: MemoryWorker, game: Game, limit: int = 1000) -> list[Any]:
    """What each seat is told of a game, page by page."""
    found: list[Any] = []
    for player in (None, *game.players):
        since, more = BEGINNING, True
        while more:
            loaded = worker.queries.load_with_events(player, game.id, since, limit)
            page = worker.queries.events(loaded, since, limit)
            assert not page.reset
            found += page.items
            since, more = read_events_cursor(page.cursor), page.more
    return [msgspec.json.encode(each) for each in found]


@SETUPS
def test_a_worker_that_has_not_met_a_game_derives_the_items_that_were_committed(
    worker: MemoryWorker, ruleset: str, seats: int
) -> None:
    game = Game(worker, ruleset, seats, seed=seats)
    while not game.is_over:
        for _ in range(100):
            if not game.is_over:
                game.go_on()
        assert worker.items(game.id) == game.told
    assert worker.items(game.id) == game.told
    assert len(game.told) == worker.game(game.id).version


@SETUPS
def test_a_worker_that_follows_a_game_derives_the_items_that_were_committed(
    worker: MemoryWorker, other: MemoryWorker, ruleset: str, seats: int
) -> None:
    game = Game(worker, ruleset, seats, seed=10 + seats)
    rng, known = Random(seats), 0
    while not game.is_over:
        for _ in range(rng.choice((1, 1, 2, 5))):
            if not game.is_over:
                game.go_on()
        stored = other.game(game.id)
        first = max(known + 1 - rng.choice((0, 0, 0, 1, 7)), 1)
        if first <= stored.version:
            part = other.store.history_part(stored, first, stored.version, first - 1)
            assert list(part.items) == game.told[first - 1 :]
            assert part.seen_id == (game.told[first - 2].version_id if first > 1 else None)
            known = stored.version


@SETUPS
def test_a_page_from_the_middle_has_the_items_that_were_committed(
    worker: MemoryWorker, other: MemoryWorker, ruleset: str, seats: int
) -> None:
    game, rng = Game(worker, ruleset, seats, seed=20 + seats), Random(seats)
    for _ in range(60):
        if not game.is_over:
            game.go_on()
    stored = other.game(game.id)
    for _ in range(40):
        first = rng.randint(1, stored.version)
        last = rng.randint(first, min(first + 19, stored.version))
        part = other.store.history_part(stored, first, last, first - 1)
        assert list(part.items) == game.told[first - 1 : last]
        assert part.seen_id == (game.told[first - 2].version_id if first > 1 else None)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_worker_remembers_of_lost_commits_is_told_no_more(
    worker: MemoryWorker, other: MemoryWorker, seed: int
) -> None:
    game, rng = Game(worker, "parade", 3, seed), Random(seed)

    def go_on(happening: MemoryWorker) -> EventsCursor:
        game.worker = happening
        for _ in range(rng.choice((1, 1, 2))):
            if not game.is_over:
                game.go_on()
        return EventsCursor.after(happening.game(game.id))

    while not game.is_over:
        saved = deepcopy((worker.client.values, worker.client.ends))
        go_on(worker)
        # A failover loses that.
        worker.client.values, worker.client.ends = saved
        kept = EventsCursor.after(other.game(game.id))
        since = go_on(other) if rng.random() < 0.5 else kept
        last = go_on(other).version
        page = worker.queries.events(worker.load(None, game.id), since, 100)
        assert not page.reset
        assert page.items == item_answers(worker.items(game.id, since.version + 1, last), None)


@SETUPS
def test_a_converted_game_tells_every_seat_what_it_told_in_format_1(
    worker: MemoryWorker, pinned: MemoryWorker, ruleset: str, seats: int
) -> None:
    for is_ended in (False, True):
        game = Game(pinned, ruleset, seats, seed=20 + seats)
        for _ in range(8):
            game.go_on()
        if is_ended:
            # A pinned worker converts a game at each read: few are played to their ends.
            game.play_out(100 if ruleset == "parade" else 30)
        key = f"game:{{{game.id}}}:items".encode()
        decoder = msgspec.json.Decoder(HistoryItem)
        items = [decoder.decode(each) for each in pinned.client.values[key]]
        record = pinned.queries.record(pinned.load(None, game.id)) if game.is_over else None
        before = events(pinned, game)

        assert worker.game(game.id).format == FORMAT
        assert events(worker, game) == events(worker, game, limit=7) == before
        for item, was in zip(worker.items(game.id), items, strict=True):
            assert (item.told, item.told_to, item.move) == (was.told, was.told_to, was.move)
            assert (item.at, item.turn, item.by, item.seat) == (was.at, was.turn, was.by, was.seat)
            assert (item.version, item.version_id) == (was.version, was.version_id)
        if record is not None:
            assert worker.queries.record(worker.load(None, game.id)) == record


@pytest.mark.parametrize("is_converted", [False, True])
@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_move_can_be_repeated_while_a_game_goes_on_and_when_it_has_ended(
    worker: MemoryWorker, pinned: MemoryWorker, ruleset: str, is_converted: bool
) -> None:
    seats = max(3, RULESETS[ruleset].min_seats)
    game = Game(pinned if is_converted else worker, ruleset, seats, seed=30)
    for is_ended in (False, True):
        for _ in range(8):
            game.go_on()
        if is_ended:
            game.play_out(50)
        ends = [each.version for each in game.told if each.version_id]
        for item in game.told:
            if item.move == NOT_A_MOVE or item.by != "player":
                continue
            assert item.seat is not None
            assert item.turn is not None
            move = msgspec.json.decode(item.move, type=RULESETS[ruleset].move_type)
            key = key_of_move(game.players[item.seat].player_id, item.turn, move)
            last = min(end for end in ends if end >= item.version)
            assert worker.store.read(None, game.id, key).played_versions == (item.version, last)
        unknown = key_of_move(game.players[0].player_id, 10_000, move)
        assert worker.store.read(None, game.id, unknown).played_versions is None


def test_a_game_that_has_ended_is_one_key(worker: MemoryWorker) -> None:
    game = Game(worker, "parade", 2, seed=1)
    game.play_out()
    keys = [key for key in worker.client.values if game.id.encode() in key]
    assert keys == [f"game:{{{game.id}}}".encode()]
    fields = worker.client.values[keys[0]]
    assert fields.keys() == {b"game", b"version", b"commit", b"record"}


def test_a_game_that_is_cancelled_before_its_start_keeps_its_history(
    worker: MemoryWorker, other: MemoryWorker
) -> None:
    ada = worker.player()
    game_id = worker.create(ada)
    before = worker.items(game_id)
    worker.cancel(ada, game_id)
    assert other.game(game_id).has_ended
    assert other.items(game_id)[:-1] == before
    assert other.load(ada, game_id).stored.position is None


def test_a_commit_that_comes_before_the_last_one_of_a_game_is_in_its_record(
    worker: MemoryWorker, other: MemoryWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes after the history was read for the record."""
    ada, bob = worker.player("Ada"), worker.player("Bob")
    game_id = worker.seated(ada, bob)
    worker.leave(ada, game_id)
    before_commits = worker.indexes.before_commits

    def interrupted(*args: Any) -> Any:
        monkeypatch.undo()
        answer = before_commits(*args)
        other.join(ada, game_id)
        other.leave(ada, game_id)
        return answer

    monkeypatch.setattr(worker.indexes, "before_commits", interrupted)
    worker.leave(bob, game_id)
    game = other.game(game_id)
    assert game.has_ended
    told = [
        event["type"]
        for item in other.items(game_id)
        for event in msgspec.json.decode(item.told)
        if event["type"].startswith(("seat_handed", "seat_taken_back", "game_c"))
    ]
    handed_over = "seat_handed_over"
    assert told == [handed_over, "seat_taken_back", *[handed_over] * 2, "game_cancelled"]


@pytest.mark.parametrize("record", [b"", b"nonsense", b"x\x9c"])
def test_a_record_that_cannot_be_read_is_unreadable(worker: MemoryWorker, record: bytes) -> None:
    game = Game(worker, "parade", 2, seed=1)
    game.play_out()
    worker.client.hset(f"game:{{{game.id}}}".encode(), b"record", record)
    with pytest.raises(Unreadable):
        worker.items(game.id)
    with pytest.raises(Unreadable):
        _ = worker.load(None, game.id).stored.position
