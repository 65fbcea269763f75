"""The environment that make creates: of the right Python, made anew for another one, or one line.

The recipe is run as it stands in the Makefile, for an environment elsewhere. Other versions of
Python are programs that only say so.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def make_environment(place: Path, python: str | Path, version: str) -> tuple[int, str]:
    """Make the environment with this Python. Return the exit code and what is printed."""
    target = place / f".python-{version}"
    # Not as a part of the make that runs the tests.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        ["make", "--no-print-directory", f"VENV={place}", f"PYTHON={python}", str(target)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # Make itself adds a line about the target that failed.
    lines = (done.stdout + done.stderr).splitlines(keepends=True)
    return done.returncode, "".join(line for line in lines if not line.startswith("make: ***"))


def other_python(directory: Path, version: str) -> Path:
    """A program that says it is this Python, and does what the one of the tests does."""
    program = directory / f"python-{version}"
    numbers = ", ".join(version.split("."))
    program.write_text(
        f"""#!/bin/sh
exec {sys.executable} -c '
import platform, runpy, sys
sys.version_info = ({numbers})
platform.python_version = lambda: "{version}"
if sys.argv[1] == "-c":
    exec(sys.argv[2])
else:
    del sys.argv[:2]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
' "$@"
"""
    )
    program.chmod(0o755)
    return program


def test_an_older_python_is_one_clear_line(tmp_path: Path) -> None:
    python = other_python(tmp_path, "3.10.12")
    assert make_environment(tmp_path / "venv", python, "3.10.12") == (
        2,
        (
            f"make needs Python 3.11 or newer, and {python} is 3.10.12: install a newer one, or "
            "name another one: make PYTHON=/path/to/python3\n"
        ),
    )
    assert not (tmp_path / "venv").exists()


def test_no_python_is_one_clear_line(tmp_path: Path) -> None:
    python = tmp_path / "python3"
    assert make_environment(tmp_path / "venv", python, "") == (
        2,
        (
            f"make needs Python 3.11 or newer, and there is no {python}: install it, or name "
            "another one: make PYTHON=/path/to/python3\n"
        ),
    )


def test_a_python_without_pip_is_one_clear_line(tmp_path: Path) -> None:
    python = other_python(tmp_path, "3.11.2")
    python.write_text(python.read_text().replace("del sys.argv[:2]", "sys.exit(1)"))
    assert make_environment(tmp_path / "venv", python, "3.11.2") == (
        2,
        f"make needs {python} with pip: install it (Debian: python3-pip)\n",
    )


@pytest.mark.parametrize("before", ["another version", "an interpreter that has gone"])
def test_an_environment_of_another_python_is_made_anew(tmp_path: Path, before: str) -> None:
    # The one that make takes by itself, which has pip: the environment of the tests has none.
    ask = ["python3", "-c", "import platform; print(platform.python_version())"]
    version = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    place = tmp_path / "venv"
    (place / "bin").mkdir(parents=True)
    (place / ".runtime").touch()
    if before == "another version":
        (place / ".python-3.99.1").touch()
    else:
        (place / "bin" / "python").symlink_to(tmp_path / "gone")
    assert make_environment(place, "python3", version) == (0, "")
    assert not (place / ".runtime").exists(), "what was installed goes with it"
    shown = subprocess.run([place / "bin" / "python", "-V"], capture_output=True, check=True)
    assert shown.stdout.decode() == f"Python {version}\n"
    # It stays as long as the Python does.
    (place / ".runtime").touch()
    assert make_environment(place, "python3", version)[0] == 0
    assert (place / ".runtime").exists()
