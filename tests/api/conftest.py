"""Players of the one service that all tests of the API speak to."""

import itertools
import random
from collections.abc import Callable

import pytest

from tests.api.client import Client
from tests.server.service import Service

NewPlayers = Callable[[int], list[Client]]

_names = itertools.count(1)


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
