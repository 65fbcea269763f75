"""Processes, as Linux lists them in /proc."""

import contextlib
import os
from pathlib import Path

SERVICE = b"api.server.cli"
"""In the command line of each process that serves requests, and of their master."""


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that has ended but was not reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(OSError):
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    return True


def worker_pids(master: int, program: bytes = SERVICE) -> set[int]:
    """Return the children of a master that run this program: not the supervisor of the store."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    return {int(pid) for pid in children if program in _command_line(pid)}


def _command_line(pid: str) -> bytes:
    # The process may have ended meanwhile.
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def private_bytes(pid: int) -> int:
    """Return how much memory a process shares with no other."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return 1024 * (int(fields["Private_Clean"]) + int(fields["Private_Dirty"]))
