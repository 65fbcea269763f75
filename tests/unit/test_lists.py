"""Lists of games: how much one request reads of them."""

from typing import Any

import pytest

from api.games.players import Credentials
from api.games.queries import LobbyFilter
from api.storage import indexes
from tests.support.memory_worker import MemoryWorker


def test_a_request_for_some_of_the_games_reads_a_bounded_number_and_the_next_goes_on_from_there(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "SPARSE_BATCH", 5)
    monkeypatch.setattr(indexes, "MAX_SPARSE_READS", 2)
    read: list[str] = []
    games = worker.store.games

    def count(ids: Any) -> Any:
        read.extend(ids)
        return games(ids)

    monkeypatch.setattr(worker.store, "games", count)
    wanted = worker.create(ada, 3)
    for _ in range(24):
        worker.clock.advance(1)
        worker.create(ada, 2)
    pages = []
    cursor = None
    while not pages or cursor is not None:
        read.clear()
        page = worker.queries.public_games(None, LobbyFilter(seat_count=3), cursor, 1)
        assert len(read) < 15  # ten, and the rest of a batch
        pages.append([each.id for each in page.items])
        cursor = page.next
    assert pages == [[], [], [wanted]]
