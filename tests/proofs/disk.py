"""A disk with an fsync that can be slowed down, and which can lose what is not synced.

`slow_fsync.c` is compiled with the system's C compiler and preloaded into Valkey servers.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.paths import PROGRAMS
from tests.support.tools import find_program

SOURCE = PROGRAMS / "slow_fsync.c"


class SlowDisk:
    """The disk of one server. Its fsync takes no longer than usual until `slow_down` is called."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._library = directory / "slow_fsync.so"
        self.slow_down(0)
        command = [find_program("cc"), "-shared", "-fPIC", "-o", str(self._library), str(SOURCE)]
        subprocess.run(command, check=True)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a server that uses this disk, or of its service."""
        return {"LD_PRELOAD": str(self._library), "FSYNC_DIRECTORY": str(self._directory)}

    def slow_down(self, seconds: float) -> None:
        """Make each fsync take this much longer from now on."""
        # Renamed into place: the server must not read half of the number.
        new = self._directory / "delay.new"
        new.write_text(f"{seconds}\n")
        new.replace(self._directory / "delay")

    def lose_unsynced(self, server_directory: Path) -> None:
        """Cut the files of a dead server off where their last completed fsync began.

        This is the worst that a power cut does: a real system may have written more by itself.
        """
        synced: dict[int, int] = {}
        for line in (self._directory / "synced").read_text().splitlines():
            inode, size = line.split()
            synced[int(inode)] = int(size)
        for file in server_directory.glob("appendonlydir/*.incr.aof"):
            os.truncate(file, synced.get(file.stat().st_ino, 0))
