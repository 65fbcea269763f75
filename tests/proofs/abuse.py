"""Abuse: how much expensive requests of some clients delay the requests of others.

Each scenario is one kind of expensive request at a rate that the limits allow, against a service
of one worker. Ordinary clients measure their latencies without the attack, then during it: their
p99 must not grow to more than `MOST` times what it was (or `MOST` times `QUIET_MS`, if it was
less than that).

    python -m tests.proofs.abuse [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial

from tests.proofs.bystanders import Latencies, latencies
from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.http_client import BROKEN, HttpClient, authorized
from tests.support.raw_http import connect
from tests.support.recordings import recordings
from tests.support.service import Service, serving

MOST = 5.0
"""The p99 of other clients during an attack may be this many times its value without one."""

QUIET_MS = 4.0
"""A lower p99 counts as this value, as it is a matter of chance on an idle machine."""

AGAIN = 2
"""How often a ratio above `MOST` is measured again during the same attack. The lowest counts, as
other programs on the machine easily disturb a p99.
"""

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 13)]
"""The addresses of attackers whose limit is by address."""

OK, REFUSED = 200, 422

JSON = {"Content-Type": "application/json"}

LARGE_GAME = {
    "ruleset": "contrast",
    "seat_count": 2,
    "house": ["random"],
    "options": {"pictures": [f"{number:02}{'x' * 195}" for number in range(74)]},
}
"""A game with the largest document that is possible, in which its host is to move."""


def _named(marks: int) -> bytes:
    """Return the body of a new player with a name that is slow to normalise."""
    name = "\u0344" * marks + "\u0334" * marks
    return json.dumps({"name": name, "kind": "bot"}, ensure_ascii=False).encode()


START_OF_HEAD = b"GET /v1/games HTTP/1.1\r\nHost: x\r\n"


class Attackers:
    """Threads that each repeat a request until the attack is over."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.done = 0
        self.under_way = 0

    def __enter__(self) -> Attackers:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._is_over.set()
        for each in self._threads:
            each.join()

    def add(self, act: Callable[[], bool], each_second: float) -> None:
        """Start a thread that calls `act` at this rate; `done` counts those that return true."""
        thread = threading.Thread(target=self._repeat, args=(act, 1 / each_second), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _repeat(self, act: Callable[[], bool], pause: float) -> None:
        due = time.monotonic() + random.random() * pause
        while not self._is_over.wait(max(due - time.monotonic(), 0)):
            with contextlib.suppress(*BROKEN):
                self.under_way += 1
                try:
                    self.done += act()
                finally:
                    self.under_way -= 1
            # Calls that were missed during a slow response are not made up for.
            due = max(due + pause, time.monotonic())


def _measure(report: Report, service: Service, effort: Effort, attack: Attack) -> None:
    seconds = effort.times(6.0, max(effort.seconds / 2, 6.0))
    with contextlib.ExitStack() as stack:
        attackers = stack.enter_context(Attackers())
        begin = attack(service)
        quiet = latencies(service.url, seconds)
        begin(attackers)
        time.sleep(1)
        busy = latencies(service.url, seconds)
        for _ in range(AGAIN):
            if _times(busy, quiet) > MOST:
                busy = min(busy, latencies(service.url, seconds), key=lambda each: each.p99)
        attacks = attackers.done + attackers.under_way
        report.at_least("(attacks that make it real)", attacks, effort.least(0.5))
    for name, value in (("p50", quiet.p50), ("p99", quiet.p99), ("slowest", quiet.slowest)):
        report.tell(f"{name} of other clients without it (ms)", round(value, 1))
    for name, value in (("p50", busy.p50), ("p99", busy.p99), ("slowest", busy.slowest)):
        report.tell(f"{name} of other clients during it (ms)", round(value, 1))
    report.at_most("times the p99", round(_times(busy, quiet), 2), MOST)
    report.none("requests of other clients that failed", quiet.failed + busy.failed)
    report.at_least("(requests that make it real)", busy.requests, effort.least(5))


def _times(busy: Latencies, quiet: Latencies) -> float:
    return busy.p99 / max(quiet.p99, QUIET_MS)


Begin = Callable[[Attackers], None]
Attack = Callable[[Service], Begin]
"""Prepares an attack on a service, and returns a function that begins it."""


def _against_one_worker(attack: Attack) -> Scenario:
    def scenario(report: Report, effort: Effort) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="abuse", ignore_cleanup_errors=True) as directory,
            serving(directory, WEB_CONCURRENCY="1", APPEND_FSYNC="everysec") as service,
        ):
            _measure(report, service, effort, attack)

    return scenario


def _send(
    service: Service,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    *,
    address: str = "127.0.0.1",
    status: int = OK,
) -> bool:
    """Send a request over its own connection; return whether the response has this status."""
    client = HttpClient(service.url, source_address=address, keep_alive=False)
    return client.request(method, path, data=body, headers=headers).status_code == status


def _player(service: Service) -> Caller:
    return new_player([service.url], Tally(), random.Random(1))


# --- The attacks ---------------------------------------------------------------------------------


def _names(service: Service) -> Begin:
    """Names that take seconds to normalise, and the longest that the service normalises."""
    create = partial(_send, service, "POST", "/v1/players")

    def begin(attackers: Attackers) -> None:
        for _ in range(7):
            attackers.add(partial(create, _named(16_200), JSON, status=413), 1)
            attackers.add(partial(create, _named(1000), JSON, status=REFUSED), 1)

    return begin


def _heads(service: Service) -> Begin:
    """Sixty connections: a large head, then ten bytes at a time, and again after the close."""

    def drip(size: int) -> bool:
        fields = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 3900) for n in range(size // 3910))
        with connect(service.port, START_OF_HEAD + fields) as connection:
            connection.settimeout(0.01)
            for _ in range(500):
                connection.sendall(b"X: aaaaa\r\n")
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(65536):
                        break
        return True

    def begin(attackers: Attackers) -> None:
        for number in range(60):
            attackers.add(partial(drip, 350_000 if number % 2 else 24_000), 2)

    return begin


def _bodies_in_drips(service: Service) -> Begin:
    """Sixty connections that send a body ten bytes at a time."""

    def drip() -> bool:
        head = (
            b"POST /v1/analysis HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 200000\r\n\r\n"
        )
        with connect(service.port, head) as connection:
            for _ in range(500):
                connection.sendall(b'{"a": "b"}')
                time.sleep(0.01)
        return True

    def begin(attackers: Attackers) -> None:
        for _ in range(60):
            attackers.add(drip, 2)

    return begin


def _metrics(service: Service) -> Begin:
    def begin(attackers: Attackers) -> None:
        for _ in range(5):
            attackers.add(lambda: _send(service, "GET", "/metrics"), 20)

    return begin


def _documents(service: Service) -> Begin:
    """The pages and documents that are the same for all callers."""
    page = {"Accept": "text/html"}

    def begin(attackers: Attackers) -> None:
        for path in ("/problems", "/openapi.json", "/openapi.yaml", "/v1/rulesets"):
            attackers.add(partial(_send, service, "GET", path, None, page), 20)

    return begin


def _house(service: Service) -> Begin:
    """Four hundred games with five house players and short turns, and sixteen polls that play."""
    hosts = [_player(service) for _ in range(4)]
    body = {"ruleset": "parade", "seat_count": 6, "house": ["careful"] * 5, "turn_seconds": 5}
    for host in hosts:
        for _ in range(100):
            host.persist("POST", "/v1/games", body)

    def begin(attackers: Attackers) -> None:
        for number in range(16):
            attackers.add(partial(poll, hosts[number % 4].again()), 1 / 2)

    def poll(caller: Caller) -> bool:
        answer = caller.ask("GET", "/v1/me/turns?wait=5")
        assert answer is not None
        for game in answer.json()["items"][:4]:
            # A game whose player misses two turns in a row is cancelled.
            move = {"turn": game["turn"], "move": game["legal_moves"][0]}
            caller.ask("POST", f"/v1/games/{game['id']}/moves", move)
        caller.ask("GET", f"/v1/me/turns?wait=20&since={answer.json()['cursor']}", wait=20)
        return answer.status_code == OK

    return begin


def _analyses(service: Service) -> Begin:
    """Whole games with a trace, from twelve addresses."""
    (recording,) = [each for each in recordings() if each.name == "mit-list-und-tuecke-6"]
    game = max(recording.games, key=lambda each: len(each["steps"]))
    moves = [{"seat": each["seat"], "move": each["move"]} for each in game["steps"]]
    members = {"ruleset": game["ruleset"], "seat_count": game["seats"], "options": game["options"]}
    body = json.dumps({**members, "deal": game["deal"], "moves": moves, "trace": True}).encode()
    assert _send(service, "POST", "/v1/analysis", body, JSON)
    return partial(_analyse, service, [body], OK)


def _analyse(service: Service, bodies: list[bytes], status: int, attackers: Attackers) -> None:
    """Analyses from twelve addresses, each at its limit."""
    for number, each in enumerate(ADDRESSES):
        body = bodies[number % len(bodies)]
        send = partial(_send, service, "POST", "/v1/analysis", body, JSON)
        attackers.add(partial(send, address=each, status=status), 59 / 60)


def _mistakes(service: Service) -> Begin:
    """Large bodies in which everything is wrong, from twelve addresses."""
    start = b'{"ruleset":"parade","seat_count":2,"moves":[],"deal":{},"options":'
    unknown = b",".join(b'"%d":0' % number for number in range(25_000))
    values = (
        b"{%s}" % unknown,
        b"[%s]" % b",".join([b"{}"] * 80_000),
        b"[%s]" % b",".join([b"1e9"] * 60_000),
    )
    return partial(_analyse, service, [start + each + b"}" for each in values], REFUSED)


def _turns(service: Service) -> Begin:
    """The list of turns of a player with a hundred games, twenty times a second."""
    return _lists(service, "/v1/me/turns", 5)


def _pages(service: Service) -> Begin:
    """Pages of a hundred games, forty times a second."""
    return _lists(service, "/v1/games?limit=100", 10)


def _lists(service: Service, path: str, each_second: float) -> Begin:
    host = _player(service)
    for _ in range(100):
        host.persist("POST", "/v1/games", LARGE_GAME)

    def begin(attackers: Attackers) -> None:
        for _ in range(4):
            ask = partial(_send, service, "GET", path, None, authorized(str(host.token)))
            attackers.add(ask, each_second)

    return begin


def _previews(service: Service) -> Begin:
    """Legal moves with their previews, forty times a second."""
    host = _player(service)
    body = {"ruleset": "tea-time", "seat_count": 2, "house": ["random"]}
    path = f"/v1/games/{host.persist('POST', '/v1/games', body).json()['id']}"

    def begin(attackers: Attackers) -> None:
        for _ in range(4):
            previews = f"{path}/legal-moves?previews=true"
            attackers.add(
                partial(_send, service, "GET", previews, None, authorized(str(host.token))), 10
            )

    return begin


SCENARIOS: dict[str, Scenario] = {
    name: _against_one_worker(attack)
    for name, attack in {
        "names": _names,
        "heads": _heads,
        "bodies-in-drips": _bodies_in_drips,
        "metrics": _metrics,
        "documents": _documents,
        "house": _house,
        "analyses": _analyses,
        "mistakes": _mistakes,
        "turns": _turns,
        "pages": _pages,
        "previews": _previews,
    }.items()
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
