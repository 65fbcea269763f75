"""Several services with two workers each on one store: the machines of a deployment."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.service import UNLIMITED, Service, start_service, stop_service
from tests.support.waiting import wait_until

REDIS_TIMEOUT_SECONDS = 2.0

LOST_WORKER = re.compile(
    r"Worker \(pid:(\d+)\) (?!was sent SIG(?:TERM|INT|QUIT))|TIMEOUT \(pid:(\d+)\)"
)


class Machines:
    """Services on one store. Without REDIS_URL, it is the embedded store of the first one."""

    def __init__(
        self, directory: str, number: int = 2, settings: Mapping[str, str] | None = None
    ) -> None:
        self.services: list[Service] = []
        self.past: list[Service] = []
        self.killed: set[int] = set()
        self._directory = directory
        self._settings = UNLIMITED | dict(settings or {})
        try:
            for _ in range(number):
                self.add()
        except BaseException:
            self.end()
            raise

    def add(self) -> Service:
        """Start one more machine."""
        settings = dict(self._settings)
        if self.services:
            settings.setdefault("REDIS_URL", f"unix://{self.services[0].store.address}")
        place = str(Path(self._directory) / f"machine{len(self.services)}")
        self.services.append(start_service(place, **settings))
        return self.services[-1].await_ready()

    def restart(self, ended: Service) -> Service:
        """Start a machine again that has ended, on the same port."""
        at = self.services.index(ended)
        place = str(Path(self._directory) / f"machine{at}")
        self.past.append(ended)
        self.services[at] = start_service(place, **self._settings | {"PORT": str(ended.port)})
        return self.services[at].await_ready()

    @property
    def urls(self) -> list[str]:
        """The URLs of the machines."""
        return [each.url for each in self.services]

    def kill_worker(self, rng: random.Random) -> None:
        """Kill a random worker."""
        service = rng.choice(self.services)
        victim = rng.choice(sorted(wait_until(lambda: service.worker_pids, "there is a worker")))
        self.killed.add(victim)
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)

    def lost_workers(self) -> list[str]:
        """Return log lines of workers that died without being killed here."""
        return [
            line
            for each in self.services + self.past
            for line in each.lines
            if (found := LOST_WORKER.search(line)) and int(found[1] or found[2]) not in self.killed
        ]

    def tracebacks(self) -> list[str]:
        """Return the tracebacks in the services' logs."""
        return [
            each.output[at.start() : at.start() + 1500]
            for each in self.services + self.past
            for at in re.finditer("Traceback", each.output)
        ]

    def end(self) -> None:
        """Stop all machines."""
        for each in reversed(self.services):
            stop_service(each)
            wait_until(lambda each=each: each.store.pid is None, "its store has ended")


@contextlib.contextmanager
def machines(number: int = 2, **settings: str) -> Iterator[Machines]:
    """Run this many machines, with their data in a temporary directory."""
    # A supervisor may still be ending, and write into the directory.
    with tempfile.TemporaryDirectory(prefix="proof", ignore_cleanup_errors=True) as directory:
        running = Machines(directory, number, settings)
        try:
            yield running
        finally:
            running.end()
