"""Two stores, empty at the start of each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.config.settings import Settings
from api.storage.client import StoreClient
from api.storage.connect import connect
from tests.support.ports import free_port
from tests.support.stores import SERVERS, Server, binary


@pytest.fixture(scope="module", params=SERVERS)
def first(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """A server of each kind."""
    yield from running(request.param, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from running("redis", tmp_path_factory.mktemp("second"))


def running(kind: str, directory: Path) -> Iterator[Server]:
    server = Server(binary(kind), directory, free_port())
    yield server
    server.end()


def emptied(server: Server) -> StoreClient:
    server.client().flushall()
    return connect(Settings(redis_url=f"redis://127.0.0.1:{server.port}"))[0]


@pytest.fixture
def source(first: Server) -> StoreClient:
    return emptied(first)


@pytest.fixture
def target(second: Server) -> StoreClient:
    return emptied(second)
