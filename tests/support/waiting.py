"""Wait for a condition instead of for a fixed time."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0
PAUSE = 0.02


def wait_until(
    condition: Callable[[], Any],
    what: str,
    patience: float = PATIENCE,
    *,
    ignoring: tuple[type[Exception], ...] = (),
) -> Any:
    """Return the first true value of `condition`; fail after `patience` seconds.

    An exception that is to be ignored counts as false.
    """
    deadline = time.monotonic() + patience
    while True:
        with contextlib.suppress(*ignoring):
            if value := condition():
                return value
        assert time.monotonic() < deadline, f"not within {patience:g} s: {what}"
        time.sleep(PAUSE)
