"""A worker on a store in memory, with a clock that only the tests advance."""

from collections.abc import Iterator

import pytest

from api.games.players import Credentials
from tests.support.fake_clock import FakeClock, fake_clock
from tests.support.memory_worker import MemoryWorker


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    with fake_clock() as clock:
        yield clock


@pytest.fixture
def worker(clock: FakeClock) -> Iterator[MemoryWorker]:
    worker = MemoryWorker(clock)
    yield worker
    worker.close()


@pytest.fixture
def ada(worker: MemoryWorker) -> Credentials:
    return worker.player("Ada")


@pytest.fixture
def bob(worker: MemoryWorker) -> Credentials:
    return worker.player("Bob")


@pytest.fixture
def eve(worker: MemoryWorker) -> Credentials:
    return worker.player("Eve")
