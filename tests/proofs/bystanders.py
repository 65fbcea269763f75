"""Measure the latencies of ordinary clients, in a process of their own.

Each client plays games of two seats: it reads the game, asks for its turns, and plays. One more
client asks for /livez at fixed moments. A request that is late because the one before was slow
counts from its moment, so a service that stands still shows in the figures. The program prints the
latencies of all requests, in milliseconds, as one JSON object.

    python -m tests.proofs.bystanders URL SECONDS
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

from tests.proofs.caller import Caller, Tally, new_player
from tests.support.paths import ROOT

ADDRESS = "127.0.2.1"
"""The clients' own address, so that they share no quota by address with the attackers."""

CLIENTS = 6
PAUSE_SECONDS = 0.02
PROBES_EACH_SECOND = 50


class Latencies(NamedTuple):
    """Latencies (ms), and the numbers of requests and failures."""

    requests: int
    failed: int
    p50: float
    p99: float
    slowest: float


def latencies(url: str, seconds: float) -> Latencies:
    """Run the clients in another process for a while, and return their latencies."""
    command = [sys.executable, "-m", "tests.proofs.bystanders", url, str(seconds)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Latencies(**json.loads(done.stdout))


class Bystander:
    """A client that plays both seats of its game."""

    def __init__(self, url: str, number: int) -> None:
        self.rng = random.Random(number)
        self.tally = Tally()
        self.times: list[float] = []
        self.failed = 0
        self.players = [new_player([url], self.tally, self.rng, address=ADDRESS) for _ in range(2)]
        self.path = ""

    def run(self, until: float) -> None:
        """Play until this time (monotonic)."""
        while time.monotonic() < until:
            game = self._ask(self.players[0], "GET", self.path) if self.path else None
            if game is None or game["status"] != "playing":
                self._sit_down()
                continue
            mover = self.players[game["to_move"][0]]
            self._ask(mover, "GET", "/v1/me/turns")
            own = self._ask(mover, "GET", self.path)
            if own is not None and own["legal_moves"]:
                body = {"turn": own["turn"], "move": self.rng.choice(own["legal_moves"])}
                self._ask(mover, "POST", f"{self.path}/moves", body)

    def _sit_down(self) -> None:
        body = {"ruleset": "parade", "seat_count": 2}
        game = self._ask(self.players[0], "POST", "/v1/games", body)
        if game is not None:
            self.path = f"/v1/games/{game['id']}"
            self._ask(self.players[1], "POST", f"{self.path}/seats", {})

    def _ask(self, caller: Caller, method: str, path: str, body: Any = None) -> Any:
        time.sleep(PAUSE_SECONDS * self.rng.uniform(0.5, 1.5))
        answer = caller.ask(method, path, body)
        if answer is None or answer.status_code >= 400:
            self.failed += 1
            return None
        self.times.append(1000 * (answer.received - answer.sent))
        return answer.json()


def probe(url: str, until: float, times: list[float]) -> None:
    """Ask at fixed moments, and note how long after them the responses came (ms)."""
    caller = Caller([url], Tally(), random.Random(0), address=ADDRESS)
    due = time.monotonic()
    while due < until:
        time.sleep(max(due - time.monotonic(), 0))
        if caller.ask("GET", "/livez") is not None:
            times.append(1000 * (time.monotonic() - due))
        due += 1 / PROBES_EACH_SECOND


def main(url: str, seconds: float) -> None:
    """Run all clients, then print their latencies."""
    clients = [Bystander(url, number) for number in range(CLIENTS)]
    until = time.monotonic() + seconds
    probes: list[float] = []
    threads = [threading.Thread(target=each.run, args=(until,)) for each in clients]
    threads.append(threading.Thread(target=probe, args=(url, until, probes)))
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    times = sorted([*probes, *(time for each in clients for time in each.times)])
    found = Latencies(
        requests=len(times),
        failed=sum(each.failed for each in clients),
        p50=times[len(times) // 2],
        p99=times[len(times) * 99 // 100],
        slowest=times[-1],
    )
    print(json.dumps(found._asdict()))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
