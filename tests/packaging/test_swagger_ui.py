"""The Swagger UI that is served is the one that its makers have published."""

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from api.web.pages import assets
from tests.support.tools import find_program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tarfile.TarFile:
    """The release on npm of the version that the Python package says to carry.

    npm compares what it fetches with the digest that its registry states.
    """
    version = (assets.swagger_ui() / "VERSION").read_text().strip().removeprefix("v")
    directory = tmp_path_factory.mktemp("npm")
    packed = subprocess.run(
        [find_program("npm"), "pack", "--json", f"swagger-ui-dist@{version}"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return tarfile.open(directory / Path(json.loads(packed.stdout)[0]["filename"]))


@pytest.mark.parametrize("name", assets.SWAGGER_UI)
def test_it_is_byte_for_byte_the_published_one(published: tarfile.TarFile, name: str) -> None:
    member = published.extractfile(f"package/{name}")
    assert member is not None
    assert (assets.swagger_ui() / name).read_bytes() == member.read()
