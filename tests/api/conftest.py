"""One real service for all tests of the API, with two workers and a Valkey of its own."""

import itertools
import random
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.api.client import Client
from tests.server.service import ROOT, Service, clean_environment

NewPlayers = Callable[[int], list[Client]]

_names = itertools.count(1)


def start_service(directory: str, **settings: str) -> Service:
    """A real `ludotheque serve` on a free port, with an embedded Valkey."""
    environment = clean_environment()
    environment |= {"PORT": "0", "DATA_DIR": f"{directory}/data", "PYTHONPATH": str(ROOT)}
    environment |= settings
    command = [sys.executable, "-P", "-m", "api.commands", "serve"]
    return Service(command, environment, ROOT)


def stop_service(service: Service) -> None:
    service.end()
    service.store.end()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # The tests wait for nothing that a power cut could lose.
    running = start_service(str(tmp_path_factory.mktemp("service")), APPEND_FSYNC="everysec")
    try:
        yield running.await_ready()
    finally:
        stop_service(running)


@pytest.fixture
def stranger(service: Service) -> Client:
    """A caller without a token."""
    return Client(service.url)


def new_player(url: str) -> Client:
    body = {"name": f"Player {next(_names)}", "kind": "bot"}
    created = Client(url).post("/v1/players", body, 201)
    return Client(url, created["token"], created["id"])


@pytest.fixture
def new_players(service: Service) -> NewPlayers:
    """Creates so many players."""
    return lambda number: [new_player(service.url) for _ in range(number)]


@pytest.fixture
def ada(new_players: NewPlayers) -> Client:
    return new_players(1)[0]


@pytest.fixture
def bob(new_players: NewPlayers) -> Client:
    return new_players(1)[0]


@pytest.fixture
def eve(new_players: NewPlayers) -> Client:
    return new_players(1)[0]


@pytest.fixture
def rng() -> random.Random:
    """The same moves in every run; the deals are the service's."""
    return random.Random(20_141_101)
