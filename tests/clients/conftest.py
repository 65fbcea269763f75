"""The tools, and a project with a generated client for each generator, made once."""

import functools
from pathlib import Path

import pytest

from tests.clients.generators import GENERATORS, Make
from tests.clients.toolbox import Toolbox, open_toolbox


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    return open_toolbox()


@pytest.fixture(scope="session")
def warned() -> dict[str, list[str]]:
    """By generator, what it warned of."""
    return {}


@pytest.fixture(scope="session")
def client(
    tools: Toolbox, warned: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Make:
    """A directory with the client that a generator makes of the published document."""

    @functools.cache
    def make(name: str) -> Path:
        directory = tmp_path_factory.mktemp(name)
        for shared in ("package.json", "node_modules"):
            (directory / shared).symlink_to(tools.node / shared)
        warned[name] = GENERATORS[name].run(tools, directory)
        return directory

    return make
