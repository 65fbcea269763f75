"""How many can wait on one worker: memory for each, and how fast a move wakes who waits for it.

Starts the service with one worker and a store of its own, lets clients wait for the events of as
many games as there are, four to a game, and plays moves at an even pace. A wake-up is measured
from the move's sending to the answer's arrival at each client that waits for that game.

    python -m bench.waiting [--clients N] [--moves N] [--json FILE]
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import argparse  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
FOR_EACH_GAME = 4
PACE_SECONDS = 0.05
OPENED_AT_ONCE = 200


def start(directory: str) -> tuple[subprocess.Popen[str], int]:
    """The service with one worker, and its port."""
    environment = os.environ | {
        "PORT": "0",
        "DATA_DIR": f"{directory}/data",
        "WEB_CONCURRENCY": "1",
        # All clients come from one address, whose connections are counted only if it is no proxy.
        "RATE_LIMITS": "off",
        "WAITERS_PER_ADDRESS": "5000",
        "TRUSTED_PROXIES": "127.0.0.1",
        "APPEND_FSYNC": "everysec",
        # Nobody reads what it writes after it has started.
        "LOG_LEVEL": "warning",
        "PYTHONPATH": str(ROOT),
    }
    environment.pop("REDIS_URL", None)
    command = [sys.executable, "-P", "-m", "api.commands", "serve"]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if " serves on " in line:
            port = int(line.split("http://")[1].split()[0].rpartition(":")[2])
            gevent.spawn(process.stdout.read)
            return process, port
    raise SystemExit("The service does not start.")


def worker_of(master: int) -> int:
    """The process that serves."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    return next(
        int(c) for c in children if Path(f"/proc/{c}/cmdline").read_bytes().endswith(b"serve\0")
    )


def memory(pid: int) -> int:
    """How many bytes a process holds for itself."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return 1024 * (int(fields["Private_Clean"]) + int(fields["Private_Dirty"]))


class Caller:
    """A connection that speaks just enough HTTP."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))

    def ask(self, method: str, path: str, token: str = "", body: Any = None) -> Any:
        """The answer's JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(data)}\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        self.socket.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + data)
        return json.loads(self._body())

    def _body(self) -> bytes:
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more()
        return body

    def _more(self) -> bytes:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("closed")
        return chunk


class Game:
    """A game between two, and who waits for its events."""

    def __init__(self, caller: Caller) -> None:
        players = [
            caller.ask("POST", "/v1/players", body={"name": "Bench", "kind": "bot"})
            for _ in range(2)
        ]
        self.tokens = [player["token"] for player in players]
        body = {"ruleset": "parade", "seat_count": 2}
        self.id = caller.ask("POST", "/v1/games", self.tokens[0], body)["id"]
        started = caller.ask("POST", f"/v1/games/{self.id}/seats", self.tokens[1], {})
        self.version: int = started["version"]
        self.moved_at = 0.0

    def move(self, caller: Caller) -> None:
        """Play one move; when it was sent is noted."""
        path = f"/v1/games/{self.id}"
        views = [caller.ask("GET", path, token) for token in self.tokens]
        token, view = next(
            (t, v) for t, v in zip(self.tokens, views, strict=True) if v["you"] in v["to_move"]
        )
        self.moved_at = time.perf_counter()
        move = {"turn": view["turn"], "move": view["legal_moves"][0]}
        caller.ask("POST", f"{path}/moves", token, move)

    def follow(self, port: int, times: list[float]) -> None:
        """Wait for its events, until something fails."""
        caller, since = Caller(port), self.version
        with contextlib.suppress(OSError):
            self._follow(caller, since, times)

    def _follow(self, caller: Caller, since: int, times: list[float]) -> None:
        while True:
            page = caller.ask("GET", f"/v1/games/{self.id}/events?since={since}&wait=25")
            if page["items"]:
                times.append(time.perf_counter() - self.moved_at)
            since = page["version"]


def measure(clients: int, moves: int) -> dict[str, float]:
    """All figures."""
    with tempfile.TemporaryDirectory() as directory:
        process, port = start(directory)
        try:
            return _measure(port, worker_of(process.pid), clients, moves)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _measure(port: int, worker: int, clients: int, moves: int) -> dict[str, float]:
    caller = Caller(port)
    games = [Game(caller) for _ in range(max(clients // FOR_EACH_GAME, 1))]
    times: list[float] = []
    before = memory(worker)
    greenlets = []
    for number in range(clients):
        greenlets.append(gevent.spawn(games[number % len(games)].follow, port, times))
        if number % OPENED_AT_ONCE == 0:
            gevent.sleep(0.2)
    gevent.sleep(2)
    held = memory(worker) - before
    caller = Caller(port)  # the first one has been silent for too long
    for number in range(moves):
        begin = time.perf_counter()
        games[number % len(games)].move(caller)
        gevent.sleep(max(PACE_SECONDS - (time.perf_counter() - begin), 0))
    gevent.sleep(1)
    failed = sum(greenlet.dead for greenlet in greenlets)
    gevent.killall(greenlets)
    parts = statistics.quantiles(times, n=100)
    return {
        "clients": clients,
        "failed": failed,
        "moves": moves,
        "wakes": len(times),
        "kb_each": round(held / clients / 1000, 1),
        "p50_ms": round(parts[49] * 1000, 1),
        "p99_ms": round(parts[98] * 1000, 1),
    }


def allow_open_files(number: int) -> None:
    """As many as are needed, if the system lets us: the service inherits it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> None:
    """Print the table; with --json also write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=5000)
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    allow_open_files(2 * arguments.clients + 1000)
    figures = measure(arguments.clients, arguments.moves)
    print(f"Waiting on one worker, {FOR_EACH_GAME} clients to a game, a move every 50 ms:\n")
    print("".join(f"{name:>10}" for name in figures))
    print("".join(f"{value:>10,}" for value in figures.values()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
