"""A real service as a test holds it: its processes, its store, and what it says."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis
import requests

from api.config.settings import describe
from api.server import valkey, valkey_supervisor
from api.web.metrics_page import MAX_AGE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30.0


def wait_until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """The first true value of `condition`, which must come before long."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)
    return value


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that has ended, but whose parent has not looked, does not live.
    status = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(OSError):
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    return True


class Store:
    """The files of an embedded Valkey, and the Valkey on them if one runs."""

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
        """Stop what is left, if anything."""
        if not self.directory.exists():
            return
        with contextlib.suppress(redis.RedisError, OSError), self.client() as client:
            client.shutdown(nosave=True)


class Service:
    """A `ludotheque serve` in a process group of its own, as a terminal would give it."""

    def __init__(self, command: list[str], environment: dict[str, str], cwd: Path) -> None:
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

    def get(self, path: str, **query: Any) -> str:
        answer = requests.get(self.url + path, params=query, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.text

    def workers(self, number: int = 2) -> set[int]:
        """The pids of its workers, found by asking until so many have answered."""
        pids: set[int] = set()

        def ask() -> bool:
            with contextlib.suppress(requests.ConnectionError):
                pids.add(int(self.get("/pid")))
            return len(pids) >= number

        wait_until(ask, f"{number} workers have answered")
        return pids

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def press_ctrl_c(self) -> None:
        """What a terminal does: SIGINT to everything in the foreground."""
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
        """Stop it without regard. Its supervisor and its Valkey follow by themselves."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def fresh_metrics(service: Service) -> str:
    """The metrics, and not a text that a worker has kept from before."""
    time.sleep(MAX_AGE_SECONDS)
    return service.get("/metrics")


def clean_environment() -> dict[str, str]:
    """This process's environment without any setting of ours."""
    settings = {row.variable for row in describe()}
    return {name: value for name, value in os.environ.items() if name not in settings}
