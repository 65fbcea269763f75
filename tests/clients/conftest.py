"""The tools, and for each generator a project with its client, made once."""

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
    """The warnings of each generator, by its name."""
    return {}


@pytest.fixture(scope="session")
def client(
    tools: Toolbox, warned: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Make:
    """Return a function that generates a client from the published document, in a directory."""

    @functools.cache
    def make(name: str) -> Path:
        directory = tmp_path_factory.mktemp(name)
        for shared in ("package.json", "node_modules"):
            (directory / shared).symlink_to(tools.node / shared)
        warned[name] = GENERATORS[name].run(tools, directory)
        return directory

    return make
