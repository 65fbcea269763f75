"""A clock that can be moved on by days, for the stores that are started with it.

They ask libfaketime (Debian's package `faketime`) for the time instead of the system; it adds
what a file says. How long something takes is measured by another clock, which is not moved: so
nobody who waits for a second notices.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import redis

from tests.support.tools import find_program
from tests.support.waiting import wait_until

DAY_SECONDS = 24 * 60 * 60

READ_EVERY_SECONDS = 1
"""How often a process reads the file."""


class Clock:
    """It goes as the system's does until it is moved on."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "clock"
        self._ahead = 0
        self._write()

    @property
    def environment(self) -> dict[str, str]:
        """What a process has to be started with, to go by this clock."""
        return {
            "LD_PRELOAD": _library(),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": str(READ_EVERY_SECONDS),
            "FAKETIME_DONT_RESET": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def move_on(self, days: int, store: redis.Redis) -> None:
        """It is so many days later; when this returns, the store knows."""
        until = store.time()[0] + days * DAY_SECONDS
        self._ahead += days * DAY_SECONDS
        self._write()
        wait_until(lambda: store.time()[0] >= until, "the store has looked at its clock")

    @property
    def days(self) -> int:
        """How far it was moved on."""
        return self._ahead // DAY_SECONDS

    def _write(self) -> None:
        # In one step: nobody may read half of it.
        new = self._file.with_suffix(".new")
        new.write_text(f"+{self._ahead}\n")
        new.replace(self._file)


def _library() -> str:
    """The library, as the program that comes with it would load it."""
    command = [find_program("faketime"), "-m", "-f", "+0", "env"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^LD_PRELOAD=(.+)$", told, re.MULTILINE)
    assert found, told
    return found[1]
