"""Players of the service that all tests of the API share."""

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
    """Return a function that creates this many players."""
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
    """A generator that chooses the same moves in every run; the service deals at random."""
    return random.Random(20_141_101)
