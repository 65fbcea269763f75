"""Whether a service has come through what was sent to it."""

from __future__ import annotations

import re

from tests.support.service import Service

FAULT = re.compile(r"Traceback|\b(?:error|critical)\b", re.IGNORECASE)
"""In a line of the log. What clients do wrong is logged as information."""


class Watch:
    """What a service was like when the watch began."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.workers = service.worker_pids
        assert len(self.workers) == 2

    def check(self) -> None:
        """Fail unless it is alive and ready, with the same workers, and logged no fault."""
        for path in ("/livez", "/readyz"):
            assert self.service.request("GET", path).status_code == 200
        assert self.service.worker_pids == self.workers, "a worker has died"
        faults = [line for line in self.service.lines if FAULT.search(line)]
        assert not faults, "".join(faults[:20])
