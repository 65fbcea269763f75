"""Check that a service is still healthy after an attack."""

from __future__ import annotations

import re

from tests.support.service import Service

FAULT = re.compile(r"Traceback|\b(?:error|critical)\b", re.IGNORECASE)
"""Matches log lines of faults. Errors of clients are logged at the level info."""


class Watch:
    """Compares a service with its state at the beginning."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.workers = service.worker_pids
        assert len(self.workers) == 2

    def check(self) -> None:
        """Fail unless it is alive and ready, has the same workers, and has logged no fault."""
        for path in ("/livez", "/readyz"):
            assert self.service.request("GET", path).status_code == 200
        assert self.service.worker_pids == self.workers, "a worker has died"
        faults = [line for line in self.service.lines if FAULT.search(line)]
        assert not faults, "".join(faults[:20])
