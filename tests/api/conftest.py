"""Players of the one service that all tests of the API speak to."""

import random

import pytest

from tests.support.api_client import Client, NewPlayers, new_player
from tests.support.service import Service


@pytest.fixture
def stranger(service: Service) -> Client:
    """A caller without a token."""
    return Client(service.url)


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
