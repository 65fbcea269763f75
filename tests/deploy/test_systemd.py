"""The systemd unit: that systemd takes it, that it is hardened, and that the service fits it."""

import configparser
import contextlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.config import capacity
from api.config.settings import Settings, describe
from tests.support.paths import ROOT
from tests.support.service import SERVE, Service, service_environment, stop_service
from tests.support.tools import find_program
from tests.support.waiting import wait_until

FILE = ROOT / "deploy" / "ludotheque.service"
TEXT = FILE.read_text(encoding="utf-8")
MOST_EXPOSED = 2.0
"""Of 10, as `systemd-analyze security` counts: from 2 on it is no longer OK, but MEDIUM."""


def unit() -> configparser.RawConfigParser:
    # Some options are there twice, and only their last value is needed here.
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(TEXT)
    return parser


SECTION = unit()["Service"]


def test_systemd_takes_every_line_of_it(tmp_path: Path) -> None:
    program = "/opt/ludotheque/bin/ludotheque"
    assert f"ExecStart={program} serve\n" in TEXT
    own = tmp_path / FILE.name
    # It has to exist on this machine.
    own.write_text(TEXT.replace(program, sys.executable))
    verify = [find_program("systemd-analyze"), "verify", "--man=no", str(own)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if FILE.stem in line] == []
    assert done.returncode == 0, done.stderr


def test_it_exposes_little_to_an_attacker() -> None:
    command = [find_program("systemd-analyze"), "security", "--offline=true", str(FILE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for ludotheque\.service: ([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    assert float(found[1]) < MOST_EXPOSED


def test_its_bounds_are_those_of_the_service() -> None:
    settings = Settings()
    assert int(SECTION["LimitNOFILE"]) >= capacity.needed(settings)
    slowest = settings.stop_delay_seconds + settings.grace_seconds + 60
    assert int(SECTION["TimeoutStopSec"]) > slowest
    known = {row.variable for row in describe()}
    set_here = {each.partition("=")[0] for each in SECTION["Environment"].split()}
    assert {each for each in set_here if not each.startswith("PYTHON")} <= known


@pytest.fixture
def notified(tmp_path: Path) -> Iterator[tuple[Service, socket.socket]]:
    """A service that reports to a socket, as to that of systemd."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(30)
        settings = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "120000000"}
        environment = service_environment(tmp_path / "data", **settings)
        service = Service(SERVE, environment, tmp_path)
        try:
            yield service, systemd
        finally:
            stop_service(service)


def test_it_reports_that_it_is_ready_and_then_that_it_does_not_hang(
    notified: tuple[Service, socket.socket],
) -> None:
    service, systemd = notified
    reported: list[str] = []

    def reports(state: str) -> bool:
        reported.append(systemd.recv(4096).decode())
        return state in reported[-1]

    wait_until(lambda: reports("READY=1"), "it is ready")
    for _ in range(3):
        wait_until(lambda: reports("WATCHDOG=1"), "it is alive")
    service.await_ready()
    service.signal(signal.SIGSTOP)
    systemd.settimeout(3)
    with contextlib.suppress(TimeoutError):
        while True:
            systemd.recv(4096)
    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        systemd.recv(4096)
    assert time.monotonic() - begin >= 2.9
    service.signal(signal.SIGCONT)
    wait_until(lambda: reports("WATCHDOG=1"), "it goes on")
