"""Services of a test's own, which are stopped whatever the test did to them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import PROGRAMS
from tests.support.service import SERVE, Service, Start, service_environment

PROBE = PROGRAMS / "probe.py"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `ludotheque serve` with the probe's application, or with the service's `own`.

    `program` is another one in place of the command that serves its own application.

    Settings are given by name. By default all services of a test share a data directory, listen on
    any free port, and the service's own has one worker, as loading it takes a second. With
    `ready=False` it does not wait until requests are answered.
    """
    services: list[Service] = []

    def start_service(
        *, ready: bool = True, own: bool = False, program: Path | None = None, **settings: Any
    ) -> Service:
        given = {name: str(value) for name, value in settings.items()}
        if own or program:
            given.setdefault("WEB_CONCURRENCY", "1")
        environment = service_environment(tmp_path / "data") | given
        command = SERVE if own else (sys.executable, str(program or PROBE))
        service = Service(command, environment, tmp_path)
        services.append(service)
        return service.await_ready() if ready else service

    try:
        yield start_service
    finally:
        for service in services:
            service.end()
        for store in {service.store.directory: service.store for service in services}.values():
            store.end()
