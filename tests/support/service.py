"""A running `ludotheque serve`: its processes, its store and its output."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import redis

from api.config.rate_policies import POLICIES
from api.config.settings import describe
from api.server import valkey, valkey_supervisor
from api.web.metrics_page import MAX_AGE_SECONDS
from tests.support.http_client import BROKEN, HttpClient, Response
from tests.support.paths import ROOT
from tests.support.processes import worker_pids
from tests.support.waiting import PATIENCE, wait_until


class Store:
    """The data directory of an embedded Valkey, and the Valkey that runs on it, if any."""

    def __init__(self, data_dir: Path) -> None:
        self.directory = data_dir / "valkey"

    @property
    def address(self) -> str:
        return valkey._socket_address(self.directory.resolve())

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=self.address, socket_timeout=5, retry=None)

    @property
    def pid(self) -> int | None:
        try:
            with self.client() as client:
                return int(client.info("server")["process_id"])
        except (redis.RedisError, OSError):
            return None

    @property
    def supervisor(self) -> int:
        lock = self.directory / valkey_supervisor.SUPERVISOR_LOCK
        # Empty for a moment, while a new supervisor writes its own.
        return int(wait_until(lock.read_text, "the supervisor has written its pid"))

    def end(self) -> None:
        """Stop the Valkey if it still runs."""
        if not self.directory.exists():
            return
        with contextlib.suppress(redis.RedisError, OSError), self.client() as client:
            client.shutdown(nosave=True)


SERVE = (sys.executable, "-P", "-m", "api.server.cli", "serve")
"""The command line of `ludotheque serve`."""

UNLIMITED = {
    "RATE_LIMITS": ",".join(f"{each.name}=1000000000/day" for each in POLICIES),
    "WAITERS_PER_ADDRESS": "5000",
}
"""Settings with which requests are counted, but no test reaches a limit."""


class Service:
    """A `ludotheque serve` in a process group of its own, as a terminal would start it."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], cwd: Path) -> None:
        self.lines: list[str] = []
        self.store = Store(Path(environment["DATA_DIR"]))
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def await_lines(self, part: str, number: int = 1) -> list[str]:
        """Wait until at least `number` lines of the log contain `part`; return all of them so far.

        A line may be read a moment after the answer to the request that it tells of.
        """

        def find() -> list[str]:
            return [line.rstrip("\n") for line in self.lines if part in line]

        wait_until(lambda: len(find()) >= number, f"{part!r} is logged")
        return find()

    def await_ready(self, patience: float = PATIENCE) -> "Service":
        wait_until(
            lambda: self._announced or self.process.poll() is not None, "it serves", patience
        )
        assert self._announced, self.output
        return self

    @property
    def _announced(self) -> str | None:
        found = re.search(r'serves on (http://[^\s"]+)', self.output)
        return found and found[1]

    @property
    def url(self) -> str:
        assert self._announced, self.output
        return self._announced

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def worker_pids(self) -> set[int]:
        """The processes that are its workers now."""
        return worker_pids(self.process.pid)

    def request(self, method: str, path: str, **how: Any) -> Response:
        """Send a request on a connection of its own, as `HttpClient.request` does."""
        return HttpClient(self.url, keep_alive=False).request(method, path, **how)

    def get(self, path: str, **query: Any) -> str:
        """Return the text of a response that must be 200."""
        answer = self.request("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.text

    def workers(self, number: int = 2) -> set[int]:
        """Wait until this many workers have answered; their process ids. Needs the probe."""
        pids: set[int] = set()

        def ask() -> bool:
            with contextlib.suppress(*BROKEN):
                pids.add(int(self.get("/pid")))
            return len(pids) >= number

        wait_until(ask, f"{number} workers have answered")
        return pids

    def waiters(self) -> int:
        """The number of open long polls and event streams, in all workers."""
        found = re.search(r"^ludotheque_waiters (\S+)$", self.get("/metrics"), re.MULTILINE)
        assert found
        return int(float(found[1]))

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def press_ctrl_c(self) -> None:
        """Send SIGINT to the whole process group, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill_valkey(self) -> None:
        """Kill its Valkey, and wait until another one answers."""
        killed = self.store.pid
        assert killed
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: self.store.pid not in {None, killed}, "Valkey is back")

    def exit_code(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def end(self) -> None:
        """Kill its process group. The supervisor and Valkey then end by themselves."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def clean_environment() -> dict[str, str]:
    """Return this process's environment without what changes the service, or how it writes."""
    hidden = {row.variable for row in describe()} | {"PYTHONUNBUFFERED"}
    return {name: value for name, value in os.environ.items() if name not in hidden}


def service_environment(data_dir: str | Path, **settings: str) -> dict[str, str]:
    """Return the environment of a service on a free port, with an embedded Valkey."""
    environment = clean_environment()
    environment |= {"PORT": "0", "DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}
    return environment | settings


def start_service(directory: str, **settings: str) -> Service:
    """Start a service with its data below a directory. It may not be ready yet."""
    return Service(SERVE, service_environment(f"{directory}/data", **settings), ROOT)


def stop_service(service: Service) -> None:
    service.end()
    service.store.end()


@contextlib.contextmanager
def serving(directory: str | Path, **settings: str) -> Iterator[Service]:
    """A service that is ready, and is stopped at the end."""
    service = start_service(str(directory), **settings)
    try:
        yield service.await_ready()
    finally:
        stop_service(service)


def fresh_metrics(service: Service) -> str:
    """Return the metrics, after the text that a worker has cached has expired."""
    time.sleep(MAX_AGE_SECONDS)
    return service.get("/metrics")


Start = Callable[..., Service]
"""The `start` fixture of `tests/server`."""
