"""A progress bar, where there is a terminal to show it."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
REDRAW_SECONDS = 0.2


class Progress:
    """Shows how much of a known total is done, and how many records that were.

    `total` is in units of the caller, 0 if it is not known. On anything but a terminal, nothing is
    shown.
    """

    def __init__(self, stream: TextIO | None, total: int = 0) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._drawn_at = 0.0
        self.total = total
        self.done = 0
        self.records = 0

    def advance(self, done: int, records: int = 0) -> None:
        """Note what has been done besides, and show it if it is time."""
        self.done += done
        self.records += records
        now = time.monotonic()
        if self._stream is not None and now - self._drawn_at >= REDRAW_SECONDS:
            self._drawn_at = now
            self._write(f"\r{self._bar()}{self.records:,} records")

    def end(self) -> None:
        """Remove the bar."""
        if self._drawn_at:
            self._drawn_at = 0.0
            self._write("\r\x1b[K")

    def _bar(self) -> str:
        if not self.total:
            return ""
        # More can be done than was expected: keys are added meanwhile.
        part = min(self.done / self.total, 1.0)
        return f"[{'#' * int(part * WIDTH):{WIDTH}}] {part:4.0%}  "

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()
