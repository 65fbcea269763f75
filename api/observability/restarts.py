"""How often the embedded Valkey was started again, and why.

The master counts and the workers report. The master must not load the metrics, which gevent has to
patch first, so the counts are in memory that the workers inherit from it. This module imports
nothing of the service.
"""

from __future__ import annotations

import mmap
import struct

CAUSES = ("killed", "exited", "supervisor")
"""A signal ended the server, it ended by itself, or its supervisor ended."""

_NUMBERS = struct.Struct(f"{len(CAUSES)}Q")
_shared = mmap.mmap(-1, _NUMBERS.size)


def count(cause: str) -> None:
    """Count a restart. Only the master calls this."""
    numbers = list(_NUMBERS.unpack_from(_shared))
    numbers[CAUSES.index(cause)] += 1
    _NUMBERS.pack_into(_shared, 0, *numbers)


def counts() -> dict[str, int]:
    """Return the number of restarts by cause."""
    return dict(zip(CAUSES, _NUMBERS.unpack_from(_shared), strict=True))
