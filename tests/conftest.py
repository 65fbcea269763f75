"""A real service for the tests over HTTP, with two workers and an embedded Valkey."""

from collections.abc import Iterator

import pytest

from tests.support.service import UNLIMITED, Service, serving


@pytest.fixture(scope="module")
def fresh_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with an empty lobby, for programs that join whatever is open."""
    with serving(tmp_path_factory.mktemp("service"), APPEND_FSYNC="everysec") as running:
        yield running


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # No test needs what a power cut could lose.
    directory = str(tmp_path_factory.mktemp("service"))
    with serving(directory, APPEND_FSYNC="everysec", **UNLIMITED) as running:
        yield running
