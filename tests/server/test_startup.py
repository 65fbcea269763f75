"""What the service says before it serves and while it runs: of the store, its disk, its pages.

The store's findings are logged at the start, and again every ten seconds if they change. Which
there are, and their sentences, is in tests/storage/test_findings.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.http_client import HttpClient
from tests.support.paths import PROGRAMS, ROOT
from tests.support.ports import free_port
from tests.support.service import SERVE, Service, Start, clean_environment, service_environment
from tests.support.stores import Server, binary, ended
from tests.support.waiting import wait_until

PASSWORD = "sw0rdf1sh"
# It checks the store every second.
QUICK_WATCH = PROGRAMS / "quick_watch.py"
SAFE = ("--appendonly", "yes", "--maxmemory", "100mb")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store as it should be."""
    with ended(Server(binary("valkey"), tmp_path / "store", free_port(), *SAFE)) as server:
        yield server


@contextlib.contextmanager
def protected(directory: Path, port: int) -> Iterator[Server]:
    """A store that asks for a password."""
    with ended(Server(binary("valkey"), directory / "store", port, *SAFE)) as server:
        server.client().config_set("requirepass", PASSWORD)
        yield server


def findings(service: Service) -> list[str]:
    """The levels and sentences about the store so far."""
    found = re.findall(r"\[(INFO|WARNING|ERROR)\] (The (?:store|disk) .*)", service.output)
    return [f"{level} {sentence}" for level, sentence in found]


def before_it_serves(service: Service) -> list[str]:
    """What is said of the store before the address is."""
    text = service.output.partition("Ludothèque serves on")[0]
    found = re.findall(r"\[(INFO|WARNING|ERROR)\] (The store .*)", text)
    return [f"{level} {sentence}" for level, sentence in found]


def await_finding(service: Service, sentence: str) -> None:
    wait_until(lambda: sentence in findings(service), f"{sentence!r} is logged")


def test_a_store_as_it_should_be_is_one_line(start: Start, store: Server) -> None:
    service = start(own=True, REDIS_URL=f"redis://127.0.0.1:{store.port}")
    version = store.client().info()["valkey_version"]
    assert before_it_serves(service) == [
        f"INFO The store at 127.0.0.1:{store.port} is Valkey {version}"
    ]


def test_one_worker_of_several_tells_of_the_store(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=3)
    wait_until(lambda: len(service.worker_pids) == 3, "all workers run")
    assert [each.partition(" is ")[0] for each in findings(service)] == [
        f"INFO The store at {service.store.address}"
    ]


@pytest.mark.parametrize("given", ["", f"{PASSWORD}-not@", f"nobody:{PASSWORD}@"])
def test_a_wrong_password_is_one_clear_line(start: Start, tmp_path: Path, given: str) -> None:
    port = free_port()
    with protected(tmp_path, port):
        url = f"redis://{':' if given and ':' not in given else ''}{given}127.0.0.1:{port}"
        service = start(own=True, REDIS_URL=url)
        what = (
            "refuses the user or the password of REDIS_URL"
            if given
            else "asks for a password: put it into REDIS_URL"
        )
        assert before_it_serves(service) == [f"ERROR The store at 127.0.0.1:{port} {what}"]
        assert service.request("GET", "/readyz").status_code == 503
        assert PASSWORD not in service.output


def test_an_unknown_host_is_one_clear_line(start: Start) -> None:
    service = start(own=True, REDIS_URL=f"redis://:{PASSWORD}@store.invalid:7000/0")
    (line,) = before_it_serves(service)
    assert re.fullmatch(
        r"ERROR The store at store\.invalid:7000 cannot be reached: "
        r"(Name or service not known|.*resolution)",
        line,
    )
    assert PASSWORD not in service.output


def test_a_store_that_evicts_and_one_that_forgets_are_told(start: Start, tmp_path: Path) -> None:
    port = free_port()
    options = ("--maxmemory-policy", "allkeys-lru", "--appendonly", "no")
    with ended(Server(binary("valkey"), tmp_path / "store", port, *options)) as store:
        service = start(program=QUICK_WATCH, REDIS_URL=f"redis://127.0.0.1:{port}")
        at = f"The store at 127.0.0.1:{port}"
        assert set(before_it_serves(service)[1:]) == {
            (
                f"ERROR {at} drops games when its memory is full (maxmemory-policy allkeys-lru): "
                "set maxmemory-policy to noeviction"
            ),
            (
                f"WARNING {at} writes no append-only file: when it restarts, the games since its "
                "last snapshot are lost. Set appendonly to yes"
            ),
            (
                f"WARNING {at} has no memory limit, so the system may end it when memory runs out: "
                "set maxmemory"
            ),
        }
        assert service.request("GET", "/readyz").code == "store_evicts"
        store.client().config_set("maxmemory-policy", "noeviction")
        await_finding(service, f"INFO {at} drops no games any more")
        assert service.request("GET", "/readyz").ok


def test_a_replica_is_told_and_so_is_its_promotion(
    start: Start, store: Server, tmp_path: Path
) -> None:
    port = free_port()
    options = (*SAFE, "--replicaof", f"127.0.0.1 {store.port}", "--repl-diskless-sync-delay", "0")
    with ended(Server(binary("valkey"), tmp_path / "replica", port, *options)) as replica:
        service = start(program=QUICK_WATCH, REDIS_URL=f"redis://127.0.0.1:{port}")
        at = f"The store at 127.0.0.1:{port}"
        assert before_it_serves(service)[1:] == [
            (
                f"ERROR {at} is a replica and takes no changes: put the address of its master, or "
                "of its Sentinels, into REDIS_URL"
            )
        ]
        replica.client().replicaof("NO", "ONE")
        await_finding(service, f"INFO {at} is a master again")


def test_a_store_that_goes_and_comes_back_is_told_once_each(start: Start, store: Server) -> None:
    service = start(program=QUICK_WATCH, REDIS_URL=f"redis://127.0.0.1:{store.port}")
    at = f"The store at 127.0.0.1:{store.port}"
    store.kill()
    gone = f"ERROR {at} cannot be reached: Connection refused"
    await_finding(service, gone)
    store.start()
    await_finding(service, f"INFO {at} answers again")
    assert findings(service)[1:] == [gone, f"INFO {at} answers again"]
    assert "Traceback" not in service.output


def test_a_store_that_is_not_there_yet_does_not_keep_the_service_from_starting(
    start: Start, tmp_path: Path
) -> None:
    port = free_port()
    service = start(program=QUICK_WATCH, REDIS_URL=f"redis://127.0.0.1:{port}")
    assert service.request("GET", "/livez").ok
    with ended(Server(binary("valkey"), tmp_path / "store", port, *SAFE)):
        await_finding(service, f"INFO The store at 127.0.0.1:{port} answers again")
        assert service.request("GET", "/readyz").ok


# --- The embedded store ----------------------------------------------------------------------


def restarts(service: Service) -> dict[str, float]:
    pattern = r'^ludotheque_embedded_store_restarts_total\{cause="(\w+)"\} (\S+)$'
    found = re.findall(pattern, service.get("/metrics"), re.MULTILINE)
    return {cause: float(number) for cause, number in found}


def test_of_an_embedded_valkey_that_was_killed_log_and_metrics_say_why(start: Start) -> None:
    service = start(own=True)
    assert restarts(service) == {"killed": 0, "exited": 0, "supervisor": 0}
    service.kill_valkey()
    (line,) = service.await_lines("was killed")
    assert line.endswith(
        "[WARNING] The embedded Valkey was killed by SIGKILL, as the system does when memory runs "
        "out: it is started again"
    )
    assert service.await_lines("The embedded Valkey answers again")
    wait_until(lambda: restarts(service)["killed"] == 1, "it is counted")


def test_of_an_embedded_valkey_that_ended_by_itself_log_and_metrics_say_why(start: Start) -> None:
    service = start(own=True)
    before = service.store.pid
    with service.store.client() as client:
        client.shutdown(nosave=True)
    wait_until(lambda: service.store.pid not in {None, before}, "Valkey is back")
    (line,) = service.await_lines("ended with exit code")
    assert re.search(
        r"\[WARNING\] The embedded Valkey ended with exit code 0, and is started again\. "
        r"Its last message: .+ \(see .*/valkey\.log\)$",
        line,
    )
    wait_until(lambda: restarts(service)["exited"] == 1, "it is counted")


def test_of_a_supervisor_that_was_killed_log_and_metrics_say_so(start: Start) -> None:
    service = start(own=True)
    os.kill(service.store.supervisor, signal.SIGKILL)
    assert service.await_lines(
        "[WARNING] The supervisor of the embedded Valkey was killed by SIGKILL: both are"
    )
    wait_until(lambda: restarts(service)["supervisor"] == 1, "it is counted")


# --- What to open, and how to stop -----------------------------------------------------------


def test_after_the_start_it_names_its_pages_its_data_and_how_to_stop(start: Start) -> None:
    service = start(own=True)
    wait_until(lambda: "Ctrl-C\n" in service.output, "it has said all")
    lines = service.output[service.output.index("Ludothèque serves on") :].splitlines()
    pages = dict(each.split(None, 1) for each in lines[1:5])
    assert lines[0] == f"Ludothèque serves on {service.url}"
    assert pages["reference"] == f"{service.url}/docs"
    assert pages["guide"] == f"{service.url}/guide"
    for name, url in pages.items():
        if url.startswith("http"):
            assert service.request("GET", url.removeprefix(service.url)).ok, name
    # What DATA_DIR is, and what a copy takes as an address.
    data = f"  data       {Path(service.store.directory).parent}"
    assert data in lines
    assert lines[lines.index(data) + 1] == "  stop       Ctrl-C"


def test_a_store_elsewhere_is_named_without_its_password(start: Start, tmp_path: Path) -> None:
    port = free_port()
    with protected(tmp_path, port):
        service = start(own=True, REDIS_URL=f"redis://:{PASSWORD}@127.0.0.1:{port}")
        wait_until(lambda: "Ctrl-C\n" in service.output, "it has said all")
        assert f"  data       the store at 127.0.0.1:{port}\n" in service.output
        assert PASSWORD not in service.output


def test_as_json_the_start_is_one_object_a_line(start: Start) -> None:
    service = start(own=True, LOG_FORMAT="json")
    messages = [json.loads(each)["message"] for each in service.lines]
    assert messages.count(f"Ludothèque serves on {service.url}") == 1


# --- A full disk that is not the store's -----------------------------------------------------


def test_a_log_on_a_full_disk_keeps_nothing_from_being_served(tmp_path: Path) -> None:
    port = free_port()
    environment = service_environment(tmp_path / "data", PORT=str(port))
    with Path("/dev/full").open("wb") as full:
        process = subprocess.Popen(SERVE, env=environment, cwd=tmp_path, stdout=full, stderr=full)
    try:
        client = HttpClient(f"http://127.0.0.1:{port}", keep_alive=False)
        wait_until(lambda: client.request("GET", "/readyz").ok, "it serves", ignoring=(OSError,))
        assert client.request("GET", "/nowhere").status_code == 404
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_a_document_that_cannot_be_written_is_one_clear_line() -> None:
    command = [sys.executable, "-P", "-m", "api.server.cli", "openapi"]
    environment = clean_environment() | {"PYTHONPATH": str(ROOT)}
    for output in ([], ["--output", "/dev/full"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*command, *output],
                env=environment,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        what = output[-1] if output else "the document"
        assert done.stderr == f"ludotheque: cannot write {what}: No space left on device\n"
