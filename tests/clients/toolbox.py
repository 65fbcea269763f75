"""The generators at their pinned versions, and the runtimes that they need.

All come from PyPI and npm, also Node, Go and a Java runtime. They are installed into a directory
that is kept until the lock files change. Only what compiles a Java client must be on the machine.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.service import clean_environment

HERE = Path(__file__).parent
CACHE = ROOT / "build" / "clients"
PYTHON_LOCK = HERE / "requirements.lock"
NODE_LOCK = HERE / "package-lock.json"
MINUTE = 60


@dataclass(frozen=True)
class Toolbox:
    """The directories of the tools, and how to run them."""

    python: Path
    """The virtual environment."""

    node: Path
    """The directory that `node_modules` is in."""

    def environment(self) -> dict[str, str]:
        """Return this process's environment with the tools first on the PATH."""
        places = [self.node / "node_modules" / ".bin", self.python / "bin", os.environ["PATH"]]
        hidden = {"PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS"}
        known = {name: value for name, value in clean_environment().items() if name not in hidden}
        return known | {"PATH": os.pathsep.join(map(str, places)), "NO_COLOR": "1"}

    def start(self, *command: str | Path, cwd: Path) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def try_to(self, *command: str | Path, cwd: Path) -> tuple[int, str]:
        """Run a command, and return its exit code and its output."""
        process = self.start(*command, cwd=cwd)
        try:
            said, _ = process.communicate(timeout=10 * MINUTE)
        finally:
            process.kill()
        return process.returncode, said

    def run(self, *command: str | Path, cwd: Path) -> str:
        """Run a command that must succeed, and return its output."""
        code, said = self.try_to(*command, cwd=cwd)
        assert code == 0, f"{command}\n{said}"
        return said

    def shell(self, commands: str, cwd: Path) -> str:
        """Run a block of commands that must all succeed, and return their output."""
        return self.run("bash", "-euo", "pipefail", "-c", commands, cwd=cwd)


def open_toolbox() -> Toolbox:
    return Toolbox(
        python=_prepared("python", [PYTHON_LOCK], _install_python),
        node=_prepared("node", [NODE_LOCK, PYTHON_LOCK], _install_node),
    )


def _prepared(name: str, locks: list[Path], install: Callable[[Path], None]) -> Path:
    """Return a directory for this state of the lock files, filled once by one of all processes."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:16]
    directory = CACHE / f"{name}-{digest}"
    complete = directory / "complete"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            for old in CACHE.glob(f"{name}-*"):
                shutil.rmtree(old)
            install(directory)
            complete.touch()
    return directory


def _install_python(directory: Path) -> None:
    uv = [sys.executable, "-m", "uv", "--no-config", "--quiet"]
    _install(*uv, "venv", "--python", sys.executable, directory)
    python = directory / "bin" / "python"
    _install(*uv, "pip", "sync", "--python", python, "--require-hashes", PYTHON_LOCK)


def _install_node(directory: Path) -> None:
    directory.mkdir()
    for name in ("package.json", NODE_LOCK.name):
        shutil.copy(HERE / name, directory)
    (python,) = CACHE.glob("python-*")
    tools = Toolbox(python, directory)
    tools.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=directory)


def _install(*command: str | Path) -> None:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def pinned(package: str) -> str:
    """Return the version of a package in the lock files of either language."""
    python = re.search(rf"^{re.escape(package)}==(\S+)", PYTHON_LOCK.read_text(), re.MULTILINE)
    pattern = rf'"node_modules/{re.escape(package)}": \{{\s+"version": "([^"]+)"'
    found = python or re.search(pattern, NODE_LOCK.read_text())
    assert found, f"{package} is in no lock"
    return found[1]


def need(found: bool, what: str) -> None:
    """Skip the test if something is missing on this machine, or fail it where CI is set."""
    if not found:
        assert "CI" not in os.environ, f"{what} is missing"
        pytest.skip(f"{what} is missing")
