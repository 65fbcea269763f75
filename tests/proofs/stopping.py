"""A machine that is stopped under load answers the requests in flight, and ends in time.

A crowd plays on all machines; waits, streams and moves are in flight on the one that gets SIGTERM.
Each request has its own connection, so a request that was sent before the signal has reached the
service. Afterwards the machine is started again.

    python -m tests.proofs.stopping [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.crowd import Crowd
from tests.proofs.faults import address as address_of
from tests.proofs.faults import own_store, tell_play
from tests.proofs.ledger import Table
from tests.proofs.machines import Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.event_stream import events
from tests.support.http_client import BROKEN, Response
from tests.support.service import Service

POLLS = 20
STREAMS = 10
ASKERS = 8
ENDS_WITHIN_SECONDS = 20.0
ACCEPTED_WITHIN_SECONDS = 0.5
"""A request that was sent this long before the signal has been accepted."""


@dataclass
class Sent:
    """A request to the machine that is stopped."""

    at: float
    answer: Response | None = None
    is_over: bool = False


@dataclass
class Traffic:
    """The requests to one machine, each on its own connection."""

    url: str
    table: Table
    tally: Tally = field(default_factory=Tally)
    sent: list[Sent] = field(default_factory=list)
    streams_ended: int = 0
    streams_cut: int = 0
    is_ending: bool = False
    threads: list[threading.Thread] = field(default_factory=list)

    def begin(self) -> None:
        """Start all threads."""
        jobs: list[Callable[[int], None]] = [self._poll] * POLLS + [self._ask] * ASKERS
        jobs += [self._stream] * STREAMS
        for number, job in enumerate(jobs):
            self.threads.append(threading.Thread(target=job, args=(number,), daemon=True))
            self.threads[-1].start()

    def _once(self, number: int, path: str, wait: float) -> Sent:
        player = self.table.players[number % 2]
        caller = Caller([self.url], self.tally, random.Random(number), player.token)
        sent = Sent(time.monotonic())
        try:
            caller.client().connect()
        except OSError:
            sent.is_over = True  # it was never sent
            return sent
        self.sent.append(sent)
        sent.answer = caller.ask("GET", path, wait=wait, headers={"Connection": "close"})
        sent.is_over = True
        return sent

    def _ask(self, number: int) -> None:
        while not self.is_ending:
            self._once(number, self.table.path, 0)

    def _poll(self, number: int) -> None:
        path = f"{self.table.path}/events?wait=25"
        since = ""
        while not self.is_ending:
            answer = self._once(number, path + since, 25).answer
            if answer is not None and answer.status_code == 200:
                since = f"&since={answer.json()['cursor']}"

    def _stream(self, number: int) -> None:
        player = self.table.players[number % 2]
        caller = Caller([self.url], self.tally, random.Random(number), player.token)
        try:
            with caller.stream(f"{self.table.path}/stream") as response:
                for _ in events(response):
                    pass
            # The last chunk came: it was ended, not cut off.
            self.streams_ended += 1
        except (*BROKEN, ValueError):
            self.streams_cut += 1


def stop_and_start(running: Machines, service: Service, crowd: Crowd, report: Totals) -> None:
    """Stop a machine with requests in flight, and start it again."""
    tally = Tally()
    players = [new_player([service.url], tally, random.Random(7)) for _ in range(2)]
    body = {"ruleset": "parade", "seat_count": 2}
    game = players[0].persist("POST", "/v1/games", body).json()
    table = Table(game["id"], players)
    table.version = players[1].persist("POST", f"{table.path}/seats", {}).json()["version"]
    traffic = Traffic(service.url, table)
    traffic.begin()
    time.sleep(1.5)
    signalled = time.monotonic()
    service.signal(signal.SIGTERM)
    report.codes.append(service.exit_code())
    report.longest = max(report.longest, time.monotonic() - signalled)
    traffic.is_ending = True
    for each in traffic.threads:
        each.join(30)
    before = [each for each in traffic.sent if each.at < signalled - ACCEPTED_WITHIN_SECONDS]
    later = [each for each in traffic.sent if each not in before]
    report.before += len(before)
    report.in_flight += sum(e.answer is None or e.answer.received > signalled for e in traffic.sent)
    report.unanswered += [each for each in before if each.answer is None]
    report.late_unanswered += sum(each.answer is None for each in later)
    report.streams_ended += traffic.streams_ended
    report.streams_cut += traffic.streams_cut
    report.bad += traffic.tally.errors + traffic.tally.bare
    running.restart(service)


@dataclass
class Totals:
    """The figures of all stops."""

    codes: list[int] = field(default_factory=list)
    longest: float = 0.0
    before: int = 0
    in_flight: int = 0
    unanswered: list[Any] = field(default_factory=list)
    late_unanswered: int = 0
    streams_ended: int = 0
    streams_cut: int = 0
    bad: list[str] = field(default_factory=list)


def stopped(report: Report, effort: Effort) -> None:
    """Stop one machine after the other, as in a rolling update."""
    totals = Totals()
    with own_store() as store, machines(2, REDIS_URL=address_of(store)) as running:
        with Crowd(running.urls) as crowd:
            crowd.recovery()
            until = time.monotonic() + effort.seconds
            while not totals.codes or time.monotonic() < until:
                service = running.services[len(totals.codes) % 2]
                stop_and_start(running, service, crowd, totals)
                crowd.recovery()
        report.tell("times that a machine was stopped", len(totals.codes))
        report.none("exit codes other than 0", sum(code != 0 for code in totals.codes))
        report.at_most("longest until it had ended (s)", totals.longest, ENDS_WITHIN_SECONDS)
        report.tell("requests sent before the signal", totals.before)
        report.at_least("requests in flight at the signal", totals.in_flight, POLLS)
        report.none("sent before it and not answered", len(totals.unanswered), totals.unanswered)
        report.tell("sent after it and not answered", totals.late_unanswered)
        report.at_least("streams that were ended", totals.streams_ended, STREAMS)
        report.none("streams that were cut off", totals.streams_cut)
        report.none("5xx that were no proper 503", len(totals.bad), totals.bad[:2])
        tell_play(report, running, crowd)


SCENARIOS: dict[str, Scenario] = {"stopped": stopped}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
