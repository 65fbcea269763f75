"""Real services, started as a person starts them and stopped whatever a test did to them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.service import ROOT, Service, clean_environment

PROBE = Path(__file__).with_name("probe.py")

Start = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `ludotheque serve` with the probe's application, or the service's own.

    Settings are given by name; by default the data directory is one for the whole test, and
    the port is any free one. With `ready=False` it does not wait until requests are answered.
    """
    services: list[Service] = []

    def start_service(*, ready: bool = True, own: bool = False, **settings: Any) -> Service:
        environment = clean_environment()
        environment |= {"PORT": "0", "DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
        environment |= {name: str(value) for name, value in settings.items()}
        program = ["-P", "-m", "api.server.cli", "serve"] if own else [str(PROBE)]
        service = Service([sys.executable, *program], environment, tmp_path)
        services.append(service)
        return service.await_ready() if ready else service

    try:
        yield start_service
    finally:
        for service in services:
            service.end()
        for store in {service.store.directory: service.store for service in services}.values():
            store.end()
