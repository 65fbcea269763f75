"""The document under two linters that teams run before they generate clients from it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
MINUTE = 60


@pytest.fixture(scope="module")
def linters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the linters, their settings, and the document."""
    if shutil.which("npm") is None:
        if os.environ.get("CI"):
            pytest.fail("npm is missing")
        pytest.skip("npm is missing")
    directory = tmp_path_factory.mktemp("linters")
    for name in ("package.json", "package-lock.json", "redocly.yaml", ".spectral.yaml"):
        shutil.copy(HERE / name, directory)
    shutil.copy(ROOT / "openapi.yaml", directory)
    run(directory, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    return directory


def run(directory: Path, *command: str) -> str:
    """What a command says; that it finds faults is not yet a failure."""
    environment = {
        **os.environ,
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    result = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=10 * MINUTE,
        check=False,
    )
    assert result.returncode in (0, 1), f"{command}\n{result.stdout}{result.stderr}"
    assert command[0] != "npm" or result.returncode == 0, result.stderr
    return result.stdout


def test_redocly_recommended_strict_finds_nothing(linters: Path) -> None:
    said = run(linters, "node_modules/.bin/redocly", "lint", "openapi.yaml", "--format=json")
    found: Any = json.loads(said[said.index("{") :])
    assert found["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}, found["problems"][:5]


def test_spectral_finds_nothing(linters: Path) -> None:
    said = run(
        linters,
        "node_modules/.bin/spectral",
        *("lint", "openapi.yaml", "--ruleset=.spectral.yaml", "--format=json"),
        *("--fail-severity=hint", "--quiet"),
    )
    assert json.loads(said) == []


@pytest.mark.parametrize("linter", ["redocly", "spectral"])
def test_the_linters_find_what_is_wrong(linters: Path, linter: str) -> None:
    """So that finding nothing means something."""
    text = (linters / "openapi.yaml").read_text(encoding="utf-8")
    broken = text.replace("operationId: playMove", "operationId: getGame")
    assert broken != text
    (linters / "broken.yaml").write_text(broken, encoding="utf-8")
    said = run(linters, f"node_modules/.bin/{linter}", "lint", "broken.yaml", "--format=json")
    assert "getGame" in said or "operationId" in said
