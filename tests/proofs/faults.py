"""Workers and stores that fail under load: no acknowledged change is lost or made twice.

A crowd plays whole games on two machines while something fails again and again. Each request is
answered within a bounded time, with a result or with 503 and Retry-After, and play goes on by
itself. An audit afterwards shows that a worker killed within a commit left either the old game or
the new one.

A store with `everysec` is the exception: it may lose the last moves, and the proofs count them.

    python -m tests.proofs.faults [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.proofs.caller import Tally, new_player
from tests.proofs.crowd import Crowd
from tests.proofs.disk import SlowDisk
from tests.proofs.ledger import Audit, Fate, Table
from tests.proofs.machines import REDIS_TIMEOUT_SECONDS, Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.ports import free_port
from tests.support.stores import Server, binary
from tests.support.waiting import wait_until

SLOWEST = 6 * REDIS_TIMEOUT_SECONDS
"""A request may use the store several times (to read, index and commit), each with a timeout."""

RECOVERY = 30.0
LEAST_MOVES = 50
BACK_WITHIN_SECONDS = 20.0


def during(crowd: Crowd, effort: Effort, fail: Callable[[int], None], pause: float) -> list[float]:
    """Fail again and again; return how long it took each time until play went on (s)."""
    recoveries = []
    until = time.monotonic() + effort.seconds
    crowd.recovery()
    while time.monotonic() < until or not recoveries:
        fail(len(recoveries))
        recoveries.append(crowd.recovery())
        time.sleep(pause)
    return recoveries


def tell(
    report: Report, running: Machines, crowd: Crowd, what: str, recoveries: list[float]
) -> Audit:
    """Report all figures of one kind of fault."""
    report.tell(what, len(recoveries))
    report.at_most("longest until play went on (s)", round(max(recoveries), 2), RECOVERY)
    return tell_play(report, running, crowd)


def tell_play(report: Report, running: Machines, crowd: Crowd) -> Audit:
    """Report the audit of the games and of the services."""
    found = crowd.tell(report, slowest=SLOWEST, least_moves=LEAST_MOVES)
    lost, errors = running.lost_workers(), running.tracebacks()
    report.none("workers that died by themselves", len(lost), lost[:3])
    report.none("errors that nobody has thought of", len(errors), errors[:1])
    return found


def killed_workers(report: Report, effort: Effort) -> None:
    """Kill a random worker about twice a second."""
    rng = random.Random(1)
    with machines(2) as running:
        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, lambda _: running.kill_worker(rng), 0.4)
        tell(report, running, crowd, "workers killed", recoveries)


def killed_embedded_store(report: Report, effort: Effort) -> None:
    """Kill the embedded Valkey, which syncs each change to its file first."""
    with machines(2, APPEND_FSYNC="always") as running:
        store = running.services[0].store

        def kill(_: int) -> None:
            os.kill(wait_until(lambda: store.pid, "the store runs"), signal.SIGKILL)

        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, kill, 1.5)
        tell(report, running, crowd, "times that the store was killed", recoveries)


POSTPONED = 2.0
"""Valkey postpones writes to its file for at most so many seconds while an fsync is running."""

EACH_SECOND = 1.0
"""With `everysec`, Valkey starts an fsync at most once in so many seconds."""

LATE = 0.5
"""Margin in seconds: Valkey checks the clock ten times a second, and later on a busy machine."""


class Failure(NamedTuple):
    """When a store failed, and when its successor answered (monotonic)."""

    at: float
    until: float


def killed_everysec_store(report: Report, effort: Effort) -> None:
    """Kill the embedded Valkey with `everysec` while an fsync is running.

    Valkey does not write to its file during an fsync, so the last acknowledged moves are lost. It
    waits for two seconds at most, so no older move is lost.
    """
    with slow_disk() as disk, machines(2, APPEND_FSYNC="everysec", **disk.environment) as running:
        store = running.services[0].store
        disk.slow_down(POSTPONED + 0.5)  # so that Valkey waits no longer

        def is_postponing() -> bool:
            with store.client() as client:
                return bool(client.info("persistence")["aof_buffer_length"])

        def kill() -> Failure:
            wait_until(is_postponing, "the store postpones writes")
            time.sleep(0.1)  # some moves are acknowledged meanwhile
            pid = wait_until(lambda: store.pid, "the store runs")
            at = time.monotonic()
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: store.pid not in {None, pid}, "another store runs")
            return Failure(at, time.monotonic())

        lose(report, effort, running, kill, POSTPONED)


def cut_everysec_store(report: Report, effort: Effort) -> None:
    """Cut the power of a store with `everysec`: all that is not synced is lost.

    In the worst case, a move is acknowledged just after an fsync starts. The next fsync starts up
    to a second after the end of this one, and only its end makes the move safe.
    """
    fsync = 1.0
    with (
        slow_disk() as disk,
        own_store("everysec", environment=disk.environment) as store,
        machines(2, REDIS_URL=address(store)) as running,
    ):
        disk.slow_down(fsync)

        def cut() -> Failure:
            at = time.monotonic()
            cut_power(store, disk)
            return Failure(at, time.monotonic())

        lose(report, effort, running, cut, EACH_SECOND + 2 * fsync)


def lose(
    report: Report, effort: Effort, running: Machines, fail: Callable[[], Failure], oldest: float
) -> None:
    """Let a store fail at random moments, and count the moves that are lost.

    No lost move may be older than `oldest` seconds.
    """
    rng = random.Random(5)
    failures: list[Failure] = []

    def fail_once(_: int) -> None:
        time.sleep(rng.uniform(1, 5))
        failures.append(fail())

    with Crowd(running.urls, may_lose=True) as crowd:
        recoveries = during(crowd, effort, fail_once, 0)
    found = tell(report, running, crowd, "times that the store failed", recoveries)
    tell_losses(report, found.fates, failures, oldest)


def tell_losses(
    report: Report, fates: list[Fate], failures: list[Failure], oldest_allowed: float
) -> None:
    """Report the moves that each failure lost: only the last ones of each game, and no old ones."""
    losses, oldest, gaps = [], 0.0, 0
    for before, failure in pairwise([Failure(0, 0), *failures]):
        # The last answers of the failed store may arrive until its successor answers.
        own = [each for each in fates if before.until <= each.at < failure.until]
        ages = [failure.at - each.at for each in own if each.is_lost]
        losses.append(len(ages))
        oldest = max([oldest, *ages])
        # The successor may have answered some of those that came after the failure.
        surely = [each for each in own if each.at < failure.at]
        ordered = sorted(surely, key=lambda each: (each.game_id, each.version))
        gaps += sum(
            a.game_id == b.game_id and a.is_lost and not b.is_lost for a, b in pairwise(ordered)
        )
    report.at_least("moves lost by these failures", sum(losses), 1)
    report.tell("  most by one failure", max(losses))
    age, allowed = round(oldest, 2), oldest_allowed + LATE
    report.at_most("age of the oldest at its failure (s)", age, allowed)
    report.none("moves kept that followed a lost one in a game", gaps)
    others = sum(each.is_lost for each in fates) - sum(losses)
    report.none("moves lost otherwise", others)


def slow_always_store(report: Report, effort: Effort) -> None:
    """Kill a store with `always` and a slow fsync, or cut its power, in turn: nothing is lost."""
    rng = random.Random(6)
    with slow_disk() as disk, own_store(environment=disk.environment) as store:

        def fail(number: int) -> None:
            time.sleep(rng.uniform(0.2, 1))
            if number % 2:
                store.kill()
                store.start()
            else:
                cut_power(store, disk)

        with machines(2, REDIS_URL=address(store)) as running:
            with Crowd(running.urls) as crowd:
                crowd.recovery()
                begin = crowd.moves
                disk.slow_down(0.1)  # each move waits for several of them
                recoveries = during(crowd, effort, fail, 0)
                slow_moves = crowd.moves - begin
                disk.slow_down(0)
            report.at_least("moves while an fsync was slow", slow_moves, effort.least(1))
            tell(report, running, crowd, "times that the store failed", recoveries)


def cut_power(store: Server, disk: SlowDisk) -> None:
    """Simulate a power cut of the store's machine, and start the store again."""
    store.kill()
    disk.lose_unsynced(store.directory)
    store.start()


@contextlib.contextmanager
def slow_disk() -> Iterator[SlowDisk]:
    """A slow disk for the store of a scenario."""
    with tempfile.TemporaryDirectory(prefix="proof") as directory:
        yield SlowDisk(Path(directory))


def slow_embedded_store(report: Report, effort: Effort) -> None:
    """Stop the embedded Valkey for up to three seconds."""
    rng = random.Random(2)
    with machines(2) as running:
        store = running.services[0].store

        def stop(_: int) -> None:
            pid = wait_until(lambda: store.pid, "the store runs")
            with frozen(pid):
                time.sleep(rng.uniform(0.2, 3.0))

        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, stop, 1.0)
        tell(report, running, crowd, "times that the store stood still", recoveries)


@contextlib.contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Stop a process for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def own_store(
    appendfsync: str = "always",
    *,
    server: str = "valkey",
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """A server that the services know only by its address."""
    with tempfile.TemporaryDirectory(prefix="proof") as directory:
        options = ("--appendonly", "yes", "--appendfsync", appendfsync)
        place = Path(directory)
        store = Server(binary(server), place, free_port(), *options, environment=environment)
        try:
            yield store
        finally:
            store.end()


def address(store: Server) -> str:
    """Return the REDIS_URL of a server."""
    return f"redis://127.0.0.1:{store.port}"


def killed_store(report: Report, effort: Effort) -> None:
    """Kill an external store, and start it again at once."""
    with own_store() as store, machines(2, REDIS_URL=address(store)) as running:

        def kill(_: int) -> None:
            store.kill()
            store.start()

        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, kill, 1.5)
        tell(report, running, crowd, "times that the store was killed", recoveries)


def absent_store(report: Report, effort: Effort) -> None:
    """Have the store away for ten seconds."""
    away = 10.0
    with own_store() as store, machines(2, REDIS_URL=address(store)) as running:
        watch = Watch(running)

        def leave(_: int) -> None:
            store.kill()
            watch.while_failing(away)
            store.start()
            watch.until_back()

        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, leave, 1.0)
        tell(report, running, crowd, "times that the store was away for 10 s", recoveries)
        watch.tell(report, reads={503}, writes={503})


def full_store(report: Report, effort: Effort) -> None:
    """Fill the store's memory without eviction: reads go on, changes wait."""
    with own_store() as store, machines(2, REDIS_URL=address(store)) as running:
        watch = Watch(running)

        def fill(_: int) -> None:
            store.client().config_set("maxmemory", "1mb")
            watch.while_failing(3.0)
            store.client().config_set("maxmemory", "0")
            watch.until_back()

        with Crowd(running.urls) as crowd:
            store.client().config_set("maxmemory-policy", "noeviction")
            recoveries = during(crowd, effort, fill, 1.0)
        tell(report, running, crowd, "times that the store was full", recoveries)
        watch.tell(report, reads={200, 503}, writes={503})


def read_only_store(report: Report, effort: Effort) -> None:
    """Make the store a replica of an absent server, and then a master again."""
    with own_store() as store, machines(2, REDIS_URL=address(store)) as running:
        watch = Watch(running)

        def demote(_: int) -> None:
            # Of a server that answered it would take over everything, or rather nothing.
            store.client().execute_command("REPLICAOF", "127.0.0.1", "1")
            watch.while_failing(3.0)
            store.client().execute_command("REPLICAOF", "NO", "ONE")
            watch.until_back()

        with Crowd(running.urls) as crowd:
            recoveries = during(crowd, effort, demote, 1.0)
        tell(report, running, crowd, "times that the store was read-only", recoveries)
        watch.tell(report, reads={200, 503}, writes={503})


class Watch:
    """A client that reads and writes while the store fails, and checks each response."""

    def __init__(self, running: Machines) -> None:
        self._running = running
        self._tally = Tally()
        self._player = new_player(running.urls, self._tally, random.Random(3))
        created = self._player.persist("POST", "/v1/games", {"ruleset": "parade", "seat_count": 2})
        other = new_player(running.urls, self._tally, random.Random(4))
        other.persist("POST", f"/v1/games/{created.json()['id']}/seats", {})
        self._table = Table(created.json()["id"], [self._player, other])
        self._back = 0.0
        self.reads: Counter[int] = Counter()
        self.writes: Counter[int] = Counter()
        self.ready: Counter[int] = Counter()
        self.alive: Counter[int] = Counter()

    def while_failing(self, seconds: float) -> None:
        """Send requests until the block ends."""
        time.sleep(0.1)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._note(self.reads, "GET", self._table.path)
            self._note(self.writes, "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2})
            self._note(self.writes, "POST", "/v1/players", {"name": "Late", "kind": "bot"})
            self._note(self.writes, "DELETE", f"{self._table.path}/seats/me")
            self._note(self.ready, "GET", "/readyz")
            self._note(self.alive, "GET", "/livez")

    def _note(self, counts: Counter[int], method: str, path: str, body: Any = None) -> None:
        answer = self._player.ask(method, path, body)
        counts[0 if answer is None else answer.status_code] += 1

    def until_back(self) -> None:
        """Return how long it takes until changes are accepted again (s)."""
        begin = time.monotonic()
        self._player.persist("POST", "/v1/players", {"name": "Early", "kind": "bot"})
        self._back = max(self._back, time.monotonic() - begin)

    def tell(self, report: Report, *, reads: set[int], writes: set[int]) -> None:
        """Report the responses, which must be of the expected kinds."""
        for name, counts, allowed in (
            ("reads", self.reads, reads),
            ("writes", self.writes, writes),
            ("/livez", self.alive, {200}),
            ("/readyz", self.ready, {200, 503}),
        ):
            for status in sorted(counts):
                report.tell(f"{name} meanwhile answered with {status}", counts[status])
            odd = sum(number for status, number in counts.items() if status not in allowed)
            report.none(f"{name} meanwhile answered with anything else", odd, counts)
        report.at_least("writes meanwhile refused", self.writes[503], 5)
        report.at_most("until it took changes again (s)", round(self._back, 2), BACK_WITHIN_SECONDS)
        slowest = round(self._tally.slowest, 2)
        report.at_most("slowest of them (s)", slowest, SLOWEST)
        bare = self._tally.bare + self._tally.errors
        report.none("of them 5xx that were no proper 503", len(bare), bare[:2])


SCENARIOS: dict[str, Scenario] = {
    "killed-workers": killed_workers,
    "killed-embedded-store": killed_embedded_store,
    "killed-everysec-store": killed_everysec_store,
    "cut-everysec-store": cut_everysec_store,
    "slow-always-store": slow_always_store,
    "slow-embedded-store": slow_embedded_store,
    "killed-store": killed_store,
    "absent-store": absent_store,
    "full-store": full_store,
    "read-only-store": read_only_store,
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
