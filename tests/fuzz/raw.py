"""Malformed requests to every route, over sockets and through a client library.

Starts a service with an embedded store. Attackers send mutated requests about their own games and
others' games; the players of the attacked games send moves with one value of a wrong type. No
response may be a server error, and each refusal must be a problem. Afterwards the attacked games
must be unchanged, and the workers the same. Request number N of a seed is the same in every run,
except for ids and tokens.

    python -m tests.fuzz.raw [--requests N] [--seed N] [--threads N] [--only N]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import requests

from tests.fuzz.health import Watch
from tests.fuzz.mutations import content, hopeless, raw_bytes, spoil, target
from tests.fuzz.verdict import fault
from tests.fuzz.world import Request, World
from tests.support.raw_http import PATIENCE, STREAM, Answer, exchange
from tests.support.service import Service, serving

PIECES = (None, None, None, None, None, 1000, 100, 10)
"""Bytes to send at a time."""
SHOWN = 2000
"""Bytes of a request, and of its response, to print."""


@dataclass
class Tally:
    """The responses, counted, and the faults."""

    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def report(self) -> str:
        """Return the numbers as lines."""
        lines = [f"{sum(self.statuses.values())} requests, {len(self.faults)} answered wrongly"]
        names = {0: "  no answer"}
        lines += [
            f"{names.get(at, f'  {at}')}: {number}" for at, number in sorted(self.statuses.items())
        ]
        for counted in (self.codes, self.operations):
            lines += [f"    {name}: {number}" for name, number in sorted(counted.items())]
        return "\n".join(lines)


class Fuzzer:
    """Sends the requests of a seed to a service."""

    def __init__(self, service: Service, seed: int) -> None:
        self.service = service
        self.seed = seed
        self.world = World(service.url, random.Random(seed))
        self.tally = Tally()
        self._local = threading.local()
        self._lock = threading.Lock()

    def run(self, numbers: range, threads: int) -> Tally:
        """Send these requests, some at a time."""
        before = [game.state() for game in self.world.attacked]
        for number in numbers:
            self.world.attacker(number)  # made here: not by two threads at once
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(self.send, numbers):
                pass
        after = [game.state() for game in self.world.attacked]
        self.tally.faults += ["an attacked game has changed" for _ in range(before != after)]
        return self.tally

    def send(self, number: int) -> None:
        """Make and send a request, and check the response."""
        try:
            self._send(number)
        except (OSError, requests.RequestException) as error:
            with self._lock:
                self.tally.faults.append(f"request {number}: {type(error).__name__}: {error}")

    def _send(self, number: int) -> None:
        rng = random.Random(f"{self.seed}:{number}")
        if rng.random() < 0.15:
            request = hopeless(rng.choice(self.world.attacked), rng)
        else:
            request = self.world.request(number, rng)
            spoil(request, rng)
        if rng.random() < 0.5:
            sent = raw_bytes(request, rng)
            method = sent.partition(b" ")[0].decode("latin-1")
            piece = random.Random(f"{self.seed}:{number}:pieces").choice(PIECES)
            answer = exchange(self.service.port, sent, piece)
            # A mutation of the bytes may make it another request, which need not be refused.
            wrong = fault(answer, method, whole=b"\r\n\r\n" in sent)
        else:
            sent = repr(request).encode()
            answer = self._through_library(request)
            wrong = fault(answer, request.method, hopeless=request.hopeless)
        with self._lock:
            self.tally.statuses[answer.status] += 1
            self.tally.operations[request.operation_id] += 1
            if answer.status >= 400:
                self.tally.codes[answer.code] += 1
            if wrong:
                shown = f"{wrong}\n  sent: {sent[:SHOWN]!r}\n  got: {answer.body[:SHOWN]!r}"
                self.tally.faults.append(f"request {number}: {shown}")

    def _through_library(self, request: Request) -> Answer:
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        body = content(request)
        headers = {name: value.encode("utf-8").strip() for name, value in request.headers}
        if body is not None:
            headers.setdefault("Content-Type", b"application/json")
        prepared = requests.Request(request.method, self.service.url, headers, data=body).prepare()
        prepared.url = self.service.url + target(request)
        with session.send(prepared, timeout=PATIENCE, stream=True, allow_redirects=False) as answer:
            content_type = answer.headers.get("Content-Type", "")
            text = b"" if content_type.startswith(STREAM) else answer.content
        return Answer(answer.status_code, content_type, text)


def fuzz(numbers: range, seed: int, threads: int) -> Tally:
    """Send the requests with these numbers to a service of their own."""
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(directory, APPEND_FSYNC="everysec", RATE_LIMITS="off") as service,
    ):
        watch = Watch(service)
        tally = Fuzzer(service, seed).run(numbers, threads)
        watch.check()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--only", type=int, help="send the request of this number alone")
    chosen = parser.parse_args()
    only = chosen.only
    numbers = range(chosen.requests) if only is None else range(only, only + 1)
    begun = time.monotonic()
    tally = fuzz(numbers, chosen.seed, chosen.threads)
    print(f"Seed {chosen.seed}, {time.monotonic() - begun:.0f} s")
    print(tally.report())
    print("\n".join(tally.faults[:20]))
    return 1 if tally.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
