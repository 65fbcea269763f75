"""The lock files pin what pyproject.toml asks for, and would install anywhere."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = PROJECT["project"]["dependencies"]
GROUPS = PROJECT["dependency-groups"]
# What one group takes from another is written as a table.
DEVELOPMENT = RUNTIME + GROUPS["bench"] + [each for each in GROUPS["dev"] if isinstance(each, str)]
LOCKS = {"requirements.lock": RUNTIME, "requirements-dev.lock": DEVELOPMENT}


def entries(lock: str) -> list[str]:
    """The requirements of a lock file, each with its hashes, as one line."""
    joined = (ROOT / lock).read_text().replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def pins(lock: str) -> dict[str, str]:
    """The version of each package that a lock file installs."""
    requirements = [Requirement(entry.partition("--hash")[0]) for entry in entries(lock)]
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement in requirements
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_what_the_project_asks_for(lock: str) -> None:
    pinned = pins(lock)
    for text in LOCKS[lock]:
        asked = Requirement(text)
        version = pinned[canonicalize_name(asked.name)]
        assert asked.specifier.contains(version), f"{lock} pins {asked.name} {version}, not {text}"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_one_version_and_its_hashes(lock: str) -> None:
    assert len(pins(lock)) == len(entries(lock))
    assert all(re.search(r"==\S+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in entries(lock))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place_to_get_packages_from(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash)", text, re.MULTILINE)


def test_development_runs_with_what_is_deployed() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()
