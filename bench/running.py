"""What the benchmarks have in common: the real service and the bare one, and who calls them.

A service that is started here has a Valkey of its own on a Unix socket, which writes to its disk
once a second: what is compared is the work, not the disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import redis

ROOT = Path(__file__).resolve().parents[1]

UNLIMITED = {"RATE_LIMITS": "off", "TRUSTED_PROXIES": "127.0.0.1", "LOG_LEVEL": "warning"}
"""Settings with which no load is refused for being one, and nothing is said of each request.

A trusted proxy's connections are not counted.
"""


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


@contextlib.contextmanager
def service(workers: int = 2, **settings: str) -> Iterator[Running]:
    """The real service, in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        environment = _environment(WEB_CONCURRENCY=str(workers), PORT="0")
        environment |= {"DATA_DIR": f"{directory}/data", "APPEND_FSYNC": "everysec"}
        environment |= UNLIMITED | settings
        command = [sys.executable, "-P", "-m", "api.commands", "serve"]
        with _process(command, environment, " serves on ") as (process, line):
            port = int(line.split("http://")[1].split()[0].rpartition(":")[2])
            store = f"{directory}/data/valkey/valkey.sock"
            yield Running(port, _workers(process.pid), store)


@contextlib.contextmanager
def bare_service(beside: Running) -> Iterator[Running]:
    """The bare application under the same workers, on the same store as another service."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    environment = _environment(WEB_CONCURRENCY="2", PORT=str(port))
    environment["REDIS_URL"] = f"unix://{beside.store}"
    command = [
        *(sys.executable, "-P", "-m", "gunicorn", "bench.bare:create_app()"),
        *("--config", "python:api.gunicorn_config"),
    ]
    with _process(command, environment, "Booting worker") as (process, _):
        ask = Caller(port)
        ask.raw("GET", "/ready")
        yield Running(port, _workers(process.pid), beside.store)


def _environment(**more: str) -> dict[str, str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
    environment.pop("REDIS_URL", None)
    return environment


@contextlib.contextmanager
def _process(
    command: list[str], environment: dict[str, str], sign: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process from the line that says that it is ready until it is told to end."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if sign in line:
                    break
            else:
                raise SystemExit(f"{' '.join(command)} does not start.")
            drain = subprocess.Popen(["cat"], stdin=process.stdout, stdout=output)
            yield process, line
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            drain.wait(10)


def _workers(master: int) -> list[int]:
    """The processes that serve."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    return [int(c) for c in children if b"keeper.py" not in Path(f"/proc/{c}/cmdline").read_bytes()]


def memory(pid: int) -> int:
    """How many bytes a process holds for itself."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return 1024 * (int(fields["Private_Clean"]) + int(fields["Private_Dirty"]))


def machine() -> str:
    """What it was measured on."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"


class Caller:
    """A connection that speaks just enough HTTP."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))

    def ask(self, method: str, path: str, token: str = "", body: Any = None) -> Any:
        """The answer's JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        return json.loads(self.raw(method, path, token, data)[1])

    def raw(self, method: str, path: str, token: str = "", data: bytes = b"") -> tuple[int, bytes]:
        """The answer's status and body."""
        self.socket.sendall(request(method, path, token, data))
        return self.answer()

    def answer(self) -> tuple[int, bytes]:
        """The answer to what was sent."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        while len(body) < int(length or 0):
            body += self._more()
        return status, body

    def _more(self) -> bytes:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        return chunk


def request(method: str, path: str, token: str = "", data: bytes = b"") -> bytes:
    """A request as it is sent."""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(data)}\r\n"
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + data
