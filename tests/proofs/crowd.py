"""A crowd that plays whole games, one after the other, and listeners.

Each table is a thread that plays for all seats and sends each request to any machine. Each game
has a listener, which follows it by long polls or by a stream.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
import traceback
import uuid
from collections.abc import Sequence
from typing import Any

from tests.proofs.caller import PAUSE, Caller, Tally, new_player
from tests.proofs.ledger import Audit, Table, all_items, audit
from tests.proofs.report import Report
from tests.support.event_stream import Event, events
from tests.support.http_client import BROKEN

RULESETS = (
    ("parade", 2),
    ("tea-time", 2),
    ("mit-list-und-tuecke", 4),
    ("contrast", 2),
    ("parade", 3),
)
PATIENCE = 60.0

BEGINNING = "0-"
"""The cursor of a game without items."""


class Disturbed(Exception):
    """A game lost an acknowledged change. Allowed only where the store may lose something."""


class Listener:
    """Follows a game by long polls, or by streams."""

    def __init__(self, table: Table, by_stream: bool) -> None:
        self.table = table
        self.caller = table.players[-1].again()
        self.by_stream = by_stream
        self.items: list[Any] = []
        self.cursor = BEGINNING
        self.starts_again = 0
        self.is_done = False
        self.failure = ""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def version(self) -> int:
        """The last version that it has received."""
        return self.items[-1]["version"] if self.items else 0

    def _run(self) -> None:
        until = time.monotonic() + 10 * PATIENCE
        try:
            while not self.is_done and time.monotonic() < until:
                if self.by_stream:
                    with contextlib.suppress(*BROKEN):
                        self._stream()
                    time.sleep(PAUSE)
                else:
                    self._poll()
        except Exception:
            self.failure = traceback.format_exc()

    def _poll(self) -> None:
        path = f"{self.table.path}/events?since={self.cursor}&wait=20"
        try:
            page = self.caller.get(path, wait=20)
        except LookupError:
            # From a master that has been replaced, or the game is lost.
            time.sleep(PAUSE)
            return
        if page["reset"]:
            self._start_again()
            return
        self.items += page["items"]
        self.cursor = page["cursor"]
        self.is_done = page["status"] not in ("open", "playing") and not page["more"]

    def _stream(self) -> None:
        with self.caller.stream(f"{self.table.path}/stream", self.cursor) as response:
            if response.status_code == 204:
                self.is_done = True
            if response.status_code == 200:
                for event in events(response):
                    self._take(event)

    def _take(self, event: Event) -> None:
        if event.name == "snapshot":
            # The stream starts again, as the service no longer has what its last id names.
            self._start_again()
            raise OSError("started again")
        if event.name == "update":
            self.items += event.data["items"]
        self.cursor = event.id or self.cursor
        self.is_done = event.name == "end"

    def _start_again(self) -> None:
        self.items.clear()
        self.cursor = BEGINNING
        self.starts_again += 1

    def fault(self, may_start_again: bool) -> str:
        """Return what is wrong with the items that it received of the finished game."""
        self._thread.join(PATIENCE)
        if self.failure:
            return self.failure
        try:
            game = self.caller.get(self.table.path)
        except LookupError:
            if may_start_again:
                return ""  # the store lost the whole game, and the audit counts it
            raise
        if may_start_again and game["status"] in ("open", "playing"):
            return ""  # its players, and perhaps who listened, saw an end that was lost
        if may_start_again and self.is_done:
            # It may have heard of an end that was lost, and comes back with its cursor.
            self.is_done = False
            self._run()
            if self.failure:
                return self.failure
        if not self.is_done:
            return (
                f"{self.table.game_id} (stream: {self.by_stream}): has not heard of the end, but "
                f"up to {self.version} of {game['version']}, {self._thread.is_alive()}"
            )
        versions = [each["version"] for each in self.items]
        if versions != list(range(1, len(versions) + 1)):
            return f"{self.table.game_id} (stream: {self.by_stream}): heard {versions}"
        if self.starts_again and not may_start_again:
            return f"{self.table.game_id} (stream: {self.by_stream}): had to start again"
        told = all_items(self.caller, self.table)
        if told != self.items:
            return (
                f"{self.table.game_id} (stream: {self.by_stream}): heard of something else, "
                f"{len(versions)} items of {len(told)}"
            )
        return ""


class Crowd:
    """Plays at some tables until the block ends.

    `may_lose`: the store may lose acknowledged changes. A game that lost one is given up, and only
    has to be consistent.

    `may_replace`: the store may lose changes that readers have seen, but that were not
    acknowledged. Streams and long polls must say so, and are then begun again.
    """

    def __init__(
        self,
        urls: Sequence[str],
        tables: int = 6,
        *,
        seed: int = 1,
        may_lose: bool = False,
        may_replace: bool = False,
        rulesets: Sequence[tuple[str, int]] = RULESETS,
        listening: bool = True,
    ) -> None:
        self.urls = urls
        self.tally = Tally()
        self.tables: list[Table] = []
        self.listeners: list[Listener] = []
        self.failures: list[str] = []
        self.disturbed = 0
        self.old_answers = 0
        self.may_lose = may_lose
        self.may_replace = may_replace or may_lose
        self._rulesets = rulesets
        self._listening = listening
        self._is_ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._sit, args=(number, random.Random(f"{seed} {number}")))
            for number in range(tables)
        ]

    def __enter__(self) -> Crowd:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Play the games that have begun to their ends."""
        self._is_ending.set()
        for each in self._threads:
            each.join()

    def _sit(self, number: int, rng: random.Random) -> None:
        try:
            for count in itertools.count(number):
                if self._is_ending.is_set():
                    return
                ruleset, seats = self._rulesets[count % len(self._rulesets)]
                try:
                    self._play(self._open(rng, ruleset, seats, count), rng)
                except Disturbed:
                    if not self.may_lose:
                        raise
                    self.disturbed += 1
        except Exception:
            self.failures.append(traceback.format_exc())

    def _open(self, rng: random.Random, ruleset: str, seats: int, count: int) -> Table:
        players = [new_player(self.urls, self.tally, rng) for _ in range(seats)]
        body = {"ruleset": ruleset, "seat_count": seats}
        key = {"Idempotency-Key": str(uuid.UUID(int=rng.getrandbits(128)))}
        created = self._insist(players[0], "POST", "/v1/games", body, headers=key)
        table = Table(created["id"], players)
        for each in players[1:]:
            self._insist(each, "POST", f"{table.path}/seats", {})
        self.tables.append(table)
        if self._listening:
            self.listeners.append(Listener(table, by_stream=count % 2 == 0))
        return table

    def _play(self, table: Table, rng: random.Random) -> None:
        while True:
            game = self._insist(table.players[0], "GET", table.path)
            if self._is_old(table, game):
                continue
            if game["status"] != "playing":
                table.is_finished = True
                return
            seat = rng.choice(game["to_move"])
            own = self._insist(table.players[seat], "GET", table.path)
            if self._is_old(table, own) or seat not in own["to_move"]:
                continue
            move = rng.choice(own["legal_moves"])
            body = {"turn": own["turn"], "move": move}
            answer = self._insist(table.players[seat], "POST", f"{table.path}/moves", body)
            table.note(seat, own["turn"], move, answer["items"])

    def _is_old(self, table: Table, game: Any) -> bool:
        """Whether this game lacks an acknowledged change."""
        if self.may_lose or game["version"] >= table.version:
            return False
        if not self.may_replace:
            raise Disturbed(f"{table.game_id}: version {game['version']} after {table.version}")
        self.old_answers += 1
        time.sleep(PAUSE)
        return True

    def _insist(self, caller: Caller, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """Send a request that must be accepted, and return the JSON of the response.

        A master that does not know yet that it was replaced may refuse it; then try again.
        """
        until = time.monotonic() + (PATIENCE if self.may_replace and not self.may_lose else 0)
        while True:
            answer = caller.persist(method, path, body, **how)
            if answer.status_code in (200, 201):
                return answer.json()
            if time.monotonic() >= until:
                raise Disturbed(f"{method} {path}: {answer.status_code}: {answer.content[:500]!r}")
            self.old_answers += 1
            time.sleep(PAUSE)

    @property
    def moves(self) -> int:
        """The number of acknowledged moves."""
        return sum(len(each.acknowledged) for each in list(self.tables))

    def recovery(self, more: int = 10) -> float:
        """Wait until this many more moves are acknowledged; return how long it took (s)."""
        begin, goal = time.monotonic(), self.moves + more
        while self.moves < goal and time.monotonic() < begin + PATIENCE:
            if self.failures or not any(each.is_alive() for each in self._threads):
                break
            time.sleep(0.02)
        return time.monotonic() - begin

    def tell(self, report: Report, *, slowest: float, least_moves: int) -> Audit:
        """Report all figures after the end; return the audit."""
        found = audit(self.tables, may_lose=self.may_lose)
        found.tell(report)
        report.at_least("(moves that make the load real)", found.moves, least_moves)
        if self._listening:
            self._tell_listeners(report)
        if self.may_lose:
            report.tell("games given up by players who lost something", self.disturbed)
        report.none("players who could not go on", len(self.failures), self.failures[:2])
        tell_answers(report, self.tally, slowest)
        return found

    def _tell_listeners(self, report: Report) -> None:
        for each in self.listeners:
            each.is_done = each.is_done or not each.table.is_finished
        heard = [each for each in self.listeners if each.table.is_finished]
        polls = [each.fault(self.may_replace) for each in heard if not each.by_stream]
        streams = [each.fault(self.may_replace) for each in heard if each.by_stream]
        missed_polls, missed_streams = list(filter(None, polls)), list(filter(None, streams))
        report.tell("games heard by long polls", len(polls))
        kept = "kept what was replaced" if self.may_replace else "missed something"
        report.none(f"  of which some {kept}", len(missed_polls), missed_polls[:2])
        if self.may_replace:
            again = sum(each.starts_again for each in heard)
            report.tell("times that listeners were told to start again", again)
            report.tell("answers of masters that had been replaced", self.old_answers)
        report.tell("games heard by streams", len(streams))
        report.none(f"  of which some {kept}", len(missed_streams), missed_streams[:2])


def tell_answers(report: Report, tally: Tally, slowest: float) -> None:
    """Report the responses of all requests."""
    report.tell("requests answered", tally.requests)
    report.tell("  503 among them", tally.statuses[503])
    report.tell("connections broken", tally.broken)
    report.none("5xx other than 503", len(tally.errors), tally.errors[:3])
    report.none("503 that is no proper problem", len(tally.bare), tally.bare[:3])
    report.at_most("slowest request (s)", round(tally.slowest, 2), slowest)
