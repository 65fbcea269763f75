"""Where the workers of one master keep their counts, so that any of them can tell the sum.

The master makes a directory when it starts and removes it when it ends. Each worker has a number
that no other living one has, and writes files of that number; one that follows a dead worker gets
its number and counts on in its files, so there are never more files than workers, and no count goes
back. What is in the files is the business of `api.observability.metrics`. This module imports
nothing of the service, as the master loads it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Collection
from itertools import count
from pathlib import Path

PREFIX = f"ludotheque-metrics-{os.geteuid()}-"
MEMORY = Path("/dev/shm")
NEW_SECONDS = 60
"""A directory without an owner that is younger may be one whose owner has yet to claim it."""

_directory: Path | None = None
_number = 0
_claim: int | None = None


def directory() -> Path | None:
    """Where the counts are; None if this process counts for itself alone."""
    return _directory


def number() -> int:
    """This worker's number."""
    return _number


def begin() -> None:
    """In the master, at its start: make the directory, and remove those of killed masters."""
    global _directory, _claim  # noqa: PLW0603 (there is one of it in a process)
    # In memory, as counts are written all the time and end with the master.
    place = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    _remove_orphans(place)
    _directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    # Workers inherit the lock, so it is held as long as anyone counts here.
    _claim = _lock(_directory)


def end() -> None:
    """In the master, at its end: remove the directory."""
    global _directory, _claim  # noqa: PLW0603
    if _directory is not None:
        shutil.rmtree(_directory, ignore_errors=True)
        _directory = None
    if _claim is not None:
        os.close(_claim)
        _claim = None


def free_number(taken: Collection[int]) -> int:
    """In the master: the lowest number that no living worker has."""
    return next(each for each in count() if each not in taken)


def join(worker: int) -> None:
    """In a new worker: this is its number."""
    global _number  # noqa: PLW0603
    _number = worker


def forget(worker: int) -> None:
    """In the master: a worker has ended, so what it said of the present is no longer true.

    This is what prometheus_client's `mark_process_dead` does, which the master must not load.
    """
    if _directory is not None:
        for file in _directory.glob(f"gauge_live*_{worker}.db"):
            file.unlink(missing_ok=True)


def _remove_orphans(place: Path) -> None:
    for found in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            status = found.lstat()
            if status.st_uid != os.geteuid() or time.time() - status.st_mtime < NEW_SECONDS:
                continue
            claim = _lock(found)
            if claim is not None:
                shutil.rmtree(found, ignore_errors=True)
                os.close(claim)


def _lock(place: Path) -> int | None:
    """An open lock on a directory, None if another holds it."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
