"""Starting, serving and stopping `ludotheque serve`, as a person at a terminal sees it."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.http_client import BROKEN, HttpClient, Response
from tests.support.paths import ROOT
from tests.support.processes import is_alive
from tests.support.raw_http import connect
from tests.support.service import Service, Start, clean_environment
from tests.support.waiting import wait_until

BOOT = 90.0
"""Seconds that a worker may take to be there, on a machine that does much else."""

STOPS: dict[str, Callable[[Service], None]] = {
    "Ctrl-C": Service.press_ctrl_c,
    "SIGINT": lambda service: service.signal(signal.SIGINT),
    "SIGTERM": lambda service: service.signal(signal.SIGTERM),
    "SIGHUP": lambda service: service.signal(signal.SIGHUP),
}


@pytest.fixture(autouse=True)
def _heard_like_in_a_terminal() -> Iterator[None]:
    """What the tests themselves were told to ignore, with nohup, is not told to the service."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


class Request:
    """A request on its way, in a thread of its own."""

    def __init__(self, service: Service, seconds: float) -> None:
        self._client = HttpClient(service.url)
        self._path = f"/slow?seconds={seconds}"
        self.answer: Response | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(*BROKEN):
            self.answer = self._client.request("GET", self._path)

    def wait(self) -> Response | None:
        self._thread.join(30)
        return self.answer


def in_flight(service: Service, seconds: float) -> Request:
    """A request that the service is working on."""
    request = Request(service, seconds)
    # Both workers answer, so what was sent before has been accepted.
    service.workers()
    return request


def test_it_says_where_it_serves_and_serves_there(start: Start) -> None:
    service = start()
    assert service.output.count("serves on http://127.0.0.1:") == 1
    assert service.get("/increment", key="a") == "1"
    assert service.get("/increment", key="a") == "2"


def test_one_store_serves_all_workers(start: Start) -> None:
    service = start(WEB_CONCURRENCY=3)
    assert len(service.workers(3)) == 3
    assert service.get("/settings") == f"unix://{service.store.address}"


def test_it_serves_on_an_address_of_the_new_kind(start: Start) -> None:
    with socket.socket(socket.AF_INET6) as attempt:
        try:
            attempt.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    service = start(HOST="::1")
    assert service.url.startswith("http://[::1]:")
    assert service.get("/increment", key="a") == "1"


@pytest.mark.parametrize("stop", STOPS)
def test_stopping_finishes_requests_in_flight_and_leaves_nothing_behind(
    start: Start, stop: str
) -> None:
    service = start()
    processes = {*service.workers(), service.store.supervisor, service.store.pid}
    request = in_flight(service, seconds=1.0)
    STOPS[stop](service)
    answer = request.wait()
    assert answer is not None
    # The store was still there for it.
    assert (answer.status_code, answer.text) == (200, "1")
    assert service.exit_code() == 0
    assert not any(is_alive(pid) for pid in processes if pid)
    assert "Traceback" not in service.output


def test_a_second_ctrl_c_does_not_wait(start: Start) -> None:
    service = start()
    request = in_flight(service, seconds=20.0)
    service.press_ctrl_c()
    wait_until(lambda: "Handling signal: int" in service.output, "the first was heard")
    service.press_ctrl_c()
    assert service.exit_code() == 0
    assert "Quick shutdown" in service.output
    assert request.wait() is None


def test_an_idle_connection_does_not_delay_the_stop(start: Start) -> None:
    service = start()
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(service.port) as silent, connect(service.port, request) as served:
        assert served.recv(65536).startswith(b"HTTP/1.1 200")
        service.signal(signal.SIGTERM)
        assert (silent.recv(1), served.recv(1)) == (b"", b"")
        assert service.exit_code() == 0
    assert "cut off" not in service.output


def test_a_service_that_is_stopped_while_it_starts_stops_in_order(start: Start) -> None:
    service = start(ready=False)
    wait_until(lambda: "Booting worker" in service.output, "it starts")
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    assert "SIGKILL" not in service.output
    assert service.store.pid is None


def test_a_killed_worker_is_replaced(start: Start) -> None:
    service = start()
    before = service.workers()
    killed = before.pop()
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not is_alive(killed), "it is gone")
    after = service.workers()
    assert killed not in after
    assert before < after


def test_a_port_in_use_is_one_clear_line(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        service = start(PORT=port, ready=False)
        assert service.exit_code() == 1
    assert service.output == (
        f"ludotheque: port {port} on 127.0.0.1 is in use: set PORT to another one\n"
    )


def test_a_host_of_another_machine_is_one_clear_line(start: Start) -> None:
    service = start(HOST="192.0.2.1", ready=False)
    assert service.exit_code() == 1
    assert service.output == "ludotheque: HOST '192.0.2.1' is not an address of this machine\n"


def test_a_bad_setting_is_one_clear_line(start: Start) -> None:
    service = start(PORT="eighty", ready=False)
    assert service.exit_code() == 2
    assert service.output == (
        "ludotheque: PORT must be a whole number from 0 to 65535, not 'eighty'\n"
    )
    assert not service.store.directory.exists()


def test_with_a_redis_url_nothing_is_embedded(start: Start) -> None:
    provider = start()
    address = f"unix://{provider.store.address}"
    service = start(REDIS_URL=address, DATA_DIR=provider.store.directory.with_name("unused"))
    assert service.get("/settings") == address
    assert service.get("/increment", key="a") == "1"
    assert not service.store.directory.parent.exists()
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    assert provider.get("/increment", key="a") == "2"


def test_gunicorn_itself_runs_the_service_as_the_procfile_says(
    start: Start, tmp_path: Path
) -> None:
    procfile = (ROOT / "Procfile").read_text()
    provider = start()
    environment = clean_environment() | {
        "PORT": "0",
        "HOST": "127.0.0.1",
        "REDIS_URL": f"unix://{provider.store.address}",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
    }
    # A file, as nobody would empty a pipe: once it was full, the service would stand still.
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            ["sh", "-c", "exec " + procfile.partition("web: ")[2]],
            env=environment,
            cwd=provider.store.directory,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:

        def listens() -> str | None:
            assert process.poll() is None, log.read_text()
            found = re.search(r"Listening at: (http://[\d.:]+)", log.read_text())
            return found and found[1]

        url = wait_until(listens, "it listens")
        # The system takes connections from now on; they are answered once there is a worker.
        client = HttpClient(url, keep_alive=False, timeout=BOOT)
        ada = {"name": "Ada", "kind": "bot"}
        player = client.request("POST", "/v1/players", json=ada).json()
        with provider.store.client() as store:
            assert store.hget(f"player:{{{player['id']}}}", "name") == b"Ada"

        def counts_in_both_workers() -> bool:
            return "\nludotheque_workers 2.0\n" in client.request("GET", "/metrics").text

        wait_until(counts_in_both_workers, "its workers count together", BOOT)
        process.terminate()
        assert process.wait(BOOT) == 0
    finally:
        process.kill()
        process.wait()
    assert "api.server.worker.Worker" in log.read_text()


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["fly"], 2), ([], 2)])
def test_the_command_explains_itself(arguments: list[str], code: int) -> None:
    command = [sys.executable, "-P", "-m", "api.server.cli", *arguments]
    environment = clean_environment() | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert "serve" in result.stdout + result.stderr
