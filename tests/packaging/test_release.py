"""A release: the files that `make dist` builds, and what names their version."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.tools import find_program

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", CHANGELOG, re.MULTILINE)


def build(clone: Path, umask: int, **environment: str) -> dict[str, str]:
    """Build in a clone of this repository. Return the digest of each file by its name."""
    subprocess.run([find_program("git"), "clone", "--quiet", ROOT, clone], check=True, umask=umask)
    # What is not in the commit does not get into a release.
    (clone / "api" / "secret.py").touch()
    (clone / "LICENSE").write_text("changed\n", encoding="utf-8")
    installed = Path(sys.prefix)
    # The environment of the tests stays as it is.
    make = [find_program("make"), "dist", f"VENV={installed}", f"--assume-old={installed / '.dev'}"]
    subprocess.run(
        make, cwd=clone, env=os.environ | environment, umask=umask, check=True, capture_output=True
    )
    files = (clone / "dist").iterdir()
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_a_commit_is_built_into_the_same_bytes_everywhere(tmp_path: Path) -> None:
    here = build(tmp_path / "here", 0o022, TZ="UTC", PYTHONHASHSEED="1")
    there = build(tmp_path / "there" / "deeper", 0o077, TZ="Asia/Tokyo", PYTHONHASHSEED="2")
    assert here == there
    assert set(here) == {f"ludotheque-{VERSION}.tar.gz", f"ludotheque-{VERSION}-py3-none-any.whl"}


def test_the_changelog_begins_with_the_version_or_with_what_is_unreleased() -> None:
    names = [name for name, _ in SECTIONS]
    assert names[0] in {VERSION, "Unreleased"}
    assert {name for name, day in SECTIONS if not day} == {"Unreleased"} & {names[0]}
    released = [tuple(map(int, name.split("."))) for name, day in SECTIONS if day]
    assert released == sorted(released, reverse=True)
    assert released[0] <= tuple(map(int, VERSION.split(".")))


def test_the_kubernetes_manifest_runs_the_version() -> None:
    manifest = (ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8")
    assert re.findall(r"image: \S+:(\S+)", manifest) == [VERSION]
