"""The service's logger, and a limit for lines that every request could cause."""

from __future__ import annotations

import logging
import time

SERVICE = "ludotheque"
"""The name of the service's logger. gunicorn and libraries have loggers of their own."""

ANSWERED = "answered"
"""The message of a request's line, whose facts are its status and its seconds."""

MINUTE_SECONDS = 60.0

log = logging.getLogger(SERVICE)


class OnceAMinute:
    """Limits a line of the log to one a minute for each key."""

    def __init__(self) -> None:
        self._silent_until: dict[str, float] = {}

    def is_due(self, key: str = "") -> bool:
        """Return whether to log the line for `key` now. If so, it is not due for a minute."""
        now = time.monotonic()
        if now < self._silent_until.get(key, now):
            return False
        self._silent_until = {each: at for each, at in self._silent_until.items() if now < at}
        self._silent_until[key] = now + MINUTE_SECONDS
        return True
