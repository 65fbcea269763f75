"""One real service for all tests over HTTP, with two workers and a Valkey of its own."""

import sys
from collections.abc import Iterator

import pytest

from api.config.rate_policies import POLICIES
from tests.server.service import ROOT, Service, clean_environment

UNLIMITED = {
    "RATE_LIMITS": ",".join(f"{each.name}=1000000000/day" for each in POLICIES),
    "WAITERS_PER_ADDRESS": "5000",
}
"""The tests are a stranger with a script: limits are counted and told, but never reached."""


def start_service(directory: str, **settings: str) -> Service:
    """A real `ludotheque serve` on a free port, with an embedded Valkey."""
    environment = clean_environment()
    environment |= {"PORT": "0", "DATA_DIR": f"{directory}/data", "PYTHONPATH": str(ROOT)}
    environment |= settings
    command = [sys.executable, "-P", "-m", "api.server.cli", "serve"]
    return Service(command, environment, ROOT)


@pytest.fixture(scope="module")
def fresh_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with an empty lobby, for programs that join whatever is open."""
    running = start_service(str(tmp_path_factory.mktemp("service")), APPEND_FSYNC="everysec")
    try:
        yield running.await_ready()
    finally:
        stop_service(running)


def stop_service(service: Service) -> None:
    service.end()
    service.store.end()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # The tests wait for nothing that a power cut could lose.
    directory = str(tmp_path_factory.mktemp("service"))
    running = start_service(directory, APPEND_FSYNC="everysec", **UNLIMITED)
    try:
        yield running.await_ready()
    finally:
        stop_service(running)
