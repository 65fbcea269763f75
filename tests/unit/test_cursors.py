"""Cursors of a game's events: what they mean, also after a failover that lost changes."""

import copy
from typing import NamedTuple

import pytest

from api.games.answers import EventPage
from api.games.cursors import BEGINNING, EventsCursor, find_events_cursor, read_events_cursor
from api.games.players import Credentials
from api.model.game import HistoryItem, Revision
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, refused

LIMIT = 1000
ID = "0123456789abcdef"


@pytest.mark.parametrize(
    ("cursor", "text"),
    [
        (BEGINNING, "0-"),
        (EventsCursor(31, Revision(31, ID)), f"31-{ID}"),
        (EventsCursor(31, Revision(31, "")), "31-"),
        (EventsCursor(31, Revision(57, ID)), f"31-57-{ID}"),
        (EventsCursor(31, Revision(57, "")), "31-57-"),
        # An id may be all digits.
        (EventsCursor(31, Revision(31, "5" * 16)), "31-5555555555555555"),
    ],
)
def test_a_cursor_is_read_as_it_was_written(cursor: EventsCursor, text: str) -> None:
    assert cursor.text == text
    assert read_events_cursor(text) == cursor


@pytest.mark.parametrize(
    "text", ["", "31", "-", "-31", "31--", f"57-31-{ID}", f"31-{ID}-end", f"31-{ID.upper()}", "x-"]
)
def test_another_text_is_no_cursor(text: str) -> None:
    assert find_events_cursor(text) is None
    with refused("invalid_request") as caught:
        read_events_cursor(text)
    (error,) = caught.value.errors
    assert error.parameter == "since"


class Told(NamedTuple):
    """A cursor, and the versions that a client with it has."""

    cursor: EventsCursor
    versions: list[int]


def page(worker: MemoryWorker, game_id: str, since: EventsCursor, limit: int = LIMIT) -> EventPage:
    """A page whose items are read with the game, which must be one that is read later."""
    first = worker.queries.load_with_events(None, game_id, since, limit)
    read = worker.queries.events(first, since, limit)
    assert worker.queries.events(worker.load(None, game_id), since, limit) == read
    return read


def told(worker: MemoryWorker, game_id: str) -> list[Told]:
    """Every cursor that a client may have of a game now."""
    version = worker.game(game_id).version
    parts = [page(worker, game_id, BEGINNING, limit) for limit in range(1, version + 1)]
    return [
        Told(read_events_cursor(part.cursor), [item.version for item in part.items])
        for part in parts
    ]


def items(worker: MemoryWorker, game_id: str) -> list[HistoryItem]:
    return worker.items(game_id, 1, LIMIT)


def test_a_cursor_is_continued_unless_a_failover_has_lost_the_game_that_it_is_of(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    kept, lost = [], []
    for _ in range(3):
        worker.move((ada, bob), game_id)
        kept += told(worker, game_id)
    replica = copy.deepcopy(worker.client.values)
    for _ in range(3):
        worker.move((ada, bob), game_id)
        lost += told(worker, game_id)
    before = items(worker, game_id)

    worker.client.values = replica
    for number in range(5):
        now = worker.game(game_id)
        for cursor, versions in kept:
            read = page(worker, game_id, cursor)
            assert not read.reset
            assert versions + [each.version for each in read.items] == [*range(1, now.version + 1)]
            assert read.cursor == EventsCursor.after(now).text
        for cursor, _ in lost:
            read = page(worker, game_id, cursor)
            assert (read.items, read.more, read.reset) == ((), False, True)
            assert read.cursor == EventsCursor.after(now).text
        if number < 4:
            # Other moves get the versions of those that were lost, and later ones follow.
            mover = worker.mover((ada, bob), game_id)
            moves = worker.moves.list_legal(worker.load(mover, game_id), now.to_move[0], False)
            worker.move((ada, bob), game_id, moves.moves[-1])
    assert before != items(worker, game_id)


def test_a_page_that_a_failover_overtakes_is_a_reset(
    clock: FakeClock, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """The game is read from the old master, its items from the new one.

    By a worker that did not make the commits: one that did need not read them.
    """
    game_id = worker.seated(ada, bob)
    since = EventsCursor.after(worker.game(game_id))
    replica = copy.deepcopy(worker.client.values)
    worker.move((ada, bob), game_id)
    other = MemoryWorker(clock, worker.client)
    loaded = other.load(ada, game_id)
    worker.client.values = replica
    assert other.queries.events(loaded, since, LIMIT).reset
    worker.move((ada, bob), game_id)
    assert other.queries.events(loaded, since, LIMIT).reset
    other.close()


def test_a_game_whose_commits_have_no_ids_is_continued_by_its_versions(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """Early releases stored none."""
    game_id = worker.seated(ada, bob)
    worker.change(game_id, version_id="")
    since = EventsCursor.after(worker.game(game_id))
    assert since.text == "3-"
    worker.move((ada, bob), game_id)
    read = page(worker, game_id, since)
    assert ([each.version for each in read.items], read.reset) == ([4], False)
