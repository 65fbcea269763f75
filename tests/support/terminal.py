"""`ludotheque serve` on a pseudo-terminal, as a person at a keyboard sees it."""

import contextlib
import os
import pty
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.support.http_client import BROKEN, HttpClient
from tests.support.service import SERVE, Store, service_environment
from tests.support.waiting import wait_until


class Terminal:
    """What a pseudo-terminal shows."""

    def __init__(self, descriptor: int) -> None:
        self.text = ""
        self._descriptor = descriptor
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        # The terminal ends with an error when the last process has closed it.
        with contextlib.suppress(OSError):
            while part := os.read(self._descriptor, 4096):
                self.text += part.decode(errors="replace").replace("\r\n", "\n")

    def until(self, part: str) -> str:
        """Return the text once a whole line with `part` is in it, asking the service meanwhile."""

        def find() -> bool:
            if (url := re.search(r"serves on (http://[^\s\x1b]+)", self.text)) is not None:
                with contextlib.suppress(*BROKEN):
                    HttpClient(url[1], keep_alive=False).request("GET", "/v1/rulesets")
            return "\n" in self.text.partition(part)[2]

        wait_until(find, f"{part!r} is shown")
        return self.text


@contextlib.contextmanager
def terminal_showing(directory: Path, **settings: str) -> Iterator[Terminal]:
    """Run a service with its output on a terminal."""
    directory.mkdir(parents=True)
    shown, given = pty.openpty()
    environment = service_environment(directory / "data", WEB_CONCURRENCY="1", **settings)
    process = subprocess.Popen(
        SERVE, env=environment, cwd=directory, stdin=given, stdout=given, stderr=given
    )
    os.close(given)
    try:
        yield Terminal(shown)
    finally:
        process.terminate()
        process.wait()
        os.close(shown)
        Store(directory / "data").end()
