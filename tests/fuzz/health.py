"""Whether a service has come through what was sent to it."""

from __future__ import annotations

from pathlib import Path

import requests

from tests.server.service import Service

FAULTS = ("Traceback (most recent call last)", " [ERROR] ", " [CRITICAL] ")


def workers(service: Service) -> set[int]:
    """The pids of its workers: children that run the same command."""
    process = service.process.pid
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    return {
        int(pid)
        for pid in children.split()
        if b"api.commands" in Path(f"/proc/{pid}/cmdline").read_bytes()
    }


class Watch:
    """What a service was like when the watch began."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.workers = workers(service)
        assert len(self.workers) == 2

    def check(self) -> None:
        """Fail unless it is alive and ready, with the same workers, and logged no fault."""
        for path in ("/livez", "/readyz"):
            assert requests.get(self.service.url + path, timeout=30).status_code == 200
        assert workers(self.service) == self.workers, "a worker has died"
        faults = [line for line in self.service.lines if any(mark in line for mark in FAULTS)]
        assert not faults, "".join(faults[:20])
