"""A file that only its owner can read: it holds every hand and the hashes of all tokens."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write. It replaces an earlier one when all of it is on the disk.

    If the block fails, nothing is left of it. Raises `OSError`.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        # A device or a pipe, which must not be replaced.
        with path.open("wb") as device:
            yield device
        return
    # Created for its owner only, whatever the umask and the earlier file are.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Make sure that a power cut does not undo a renaming."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
