"""A clock for stores that can be moved forward by days.

A store that is started with it asks libfaketime (Debian's package `faketime`) for the time, which
adds the offset in a file. The monotonic clock is not changed, so timeouts are as usual.
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
"""How often a process reads the file (s)."""


class Clock:
    """The system's clock with an offset of days."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "clock"
        self._ahead = 0
        self._write()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a process that uses this clock."""
        return {
            "LD_PRELOAD": _library(),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": str(READ_EVERY_SECONDS),
            "FAKETIME_DONT_RESET": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def move_on(self, days: int, store: redis.Redis) -> None:
        """Move the clock forward, and wait until the store has noticed."""
        until = store.time()[0] + days * DAY_SECONDS
        self._ahead += days * DAY_SECONDS
        self._write()
        wait_until(lambda: store.time()[0] >= until, "the store has looked at its clock")

    @property
    def days(self) -> int:
        """The offset."""
        return self._ahead // DAY_SECONDS

    def _write(self) -> None:
        # Renamed into place: no process may read half of it.
        new = self._file.with_suffix(".new")
        new.write_text(f"+{self._ahead}\n")
        new.replace(self._file)


def _library() -> str:
    """Return the path of the library, as the `faketime` program gives it."""
    command = [find_program("faketime"), "-m", "-f", "+0", "env"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^LD_PRELOAD=(.+)$", told, re.MULTILINE)
    assert found, told
    return found[1]
