"""Conflicting requests at the same moment on several machines: exactly one succeeds.

Afterwards each game's record is replayed. It must hold each acknowledged move once, and no other
move.

    python -m tests.proofs.races [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import itertools
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.crowd import tell_answers
from tests.proofs.ledger import Table, audit
from tests.proofs.machines import Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.http_client import Response

Send = Callable[[], Response]

AT_ONCE = 32
CHOICES = 4
"""The moves of one seat at once."""

SLOWEST = 15.0
"""The slowest request (s): no proof of speed, as 32 threads and four workers share few cores."""


class Field:
    """Machines on one store, and threads that send requests to them at the same moment."""

    def __init__(self, running: Machines, seed: int) -> None:
        self.urls = running.urls
        self.tally = Tally()
        self.rng = random.Random(seed)
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._machine = itertools.count()

    def players(self, number: int) -> list[Caller]:
        """Create this many players."""
        return [new_player(self.urls, self.tally, self.rng) for _ in range(number)]

    def sending(self, player: Caller, method: str, path: str, body: Any = None, **how: Any) -> Send:
        """Return a function that sends a request on an open connection, to each machine in turn."""
        caller, machine = player.again(), next(self._machine)
        caller.client(machine).connect()

        def send() -> Response:
            answer = caller.ask(method, path, body, machine=machine, **how)
            if answer is None:
                raise ConnectionError(f"{method} {path}")
            return answer

        return send

    def at_once(self, sends: Sequence[Send]) -> list[Response]:
        """Send all requests at the same moment, and return the responses."""
        self.rng.shuffle(order := list(range(len(sends))))
        barrier = Barrier(len(sends))

        def go(index: int) -> Response:
            barrier.wait(60)
            return sends[index]()

        coming = {index: self._threads.submit(go, index) for index in order}
        return [coming[index].result() for index in range(len(sends))]

    def seat(self, ruleset: str, seats: int) -> Table:
        """Create a game of these players that has begun."""
        players = self.players(seats)
        created = players[0].persist("POST", "/v1/games", {"ruleset": ruleset, "seat_count": seats})
        table = Table(created.json()["id"], players)
        for each in players[1:]:
            each.persist("POST", f"{table.path}/seats", {})
        return table


def overlap(one: Response, other: Response) -> bool:
    """Whether both requests were in flight at the same time."""
    return one.sent < other.received and other.sent < one.received


def _tell_overlaps(report: Report, effort: Effort, counts: Counter[str], least: int) -> None:
    what = "  under way while another was"
    report.at_least(what, counts["overlaps"], effort.least(least))


def conflicting_moves(report: Report, effort: Effort) -> None:
    """Send different legal moves for a seat and turn, for all seats that are to move."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        field = Field(running, 1)
        tables, counts = [], Counter[str]()
        until = time.monotonic() + effort.seconds
        for ruleset, seats in itertools.cycle(
            [("contrast", 4), ("parade", 4), ("tea-time", 3), ("mit-list-und-tuecke", 5)]
        ):
            if time.monotonic() > until:
                break
            tables.append(field.seat(ruleset, seats))
            _play_with_conflicts(field, tables[-1], counts)
        report.tell("turns at which several moves were sent at once", counts["turns"])
        report.tell("  several seats' at once among them", counts["secret"])
        report.at_least("moves in conflict", counts["conflicts"], effort.least(10))
        _tell_overlaps(report, effort, counts, 5)
        report.none("two accepted of one seat", counts["two"])
        report.none("none accepted of a seat", counts["none"])
        report.none("refused in any other way than as too late", counts["odd"], counts)
        audit(tables).tell(report)
        tell_answers(report, field.tally, SLOWEST)
        report.none("workers that died", len(running.lost_workers()), running.lost_workers())


TOO_LATE = {"stale_turn", "already_moved", "not_your_turn", "game_over"}


def _play_with_conflicts(field: Field, table: Table, counts: Counter[str]) -> None:
    while True:
        views = [player.get(table.path) for player in table.players]
        if views[0]["status"] != "playing":
            return
        if len({view["version"] for view in views}) > 1:
            continue
        sends, what = [], []
        for seat in views[0]["to_move"]:
            legal = views[seat]["legal_moves"]
            for move in field.rng.sample(legal, min(CHOICES, len(legal))):
                body = {"turn": views[seat]["turn"], "move": move}
                sends.append(
                    field.sending(table.players[seat], "POST", f"{table.path}/moves", body)
                )
                what.append((seat, views[seat]["turn"], move))
        answers = field.at_once(sends)
        counts["turns"] += 1
        counts["secret"] += len(views[0]["to_move"]) > 1
        for seat in views[0]["to_move"]:
            own = [(w, a) for w, a in zip(what, answers, strict=True) if w[0] == seat]
            _judge(table, own, counts)


def _judge(table: Table, own: list[tuple[Any, Response]], counts: Counter[str]) -> None:
    """Check one seat's moves: exactly one must be accepted."""
    accepted = [(what, answer) for what, answer in own if answer.status_code == 200]
    refused = [answer for _, answer in own if answer.status_code != 200]
    counts["two"] += len(accepted) > 1
    counts["none"] += not accepted
    counts["conflicts"] += len(refused)
    for answer in refused:
        counts["overlaps"] += any(overlap(answer, other) for _, other in accepted)
        if answer.status_code != 409 or answer.code not in TOO_LATE:
            counts["odd"] += 1
            counts[f"odd: {answer.status_code} {answer.code}"] += 1
    for what, answer in accepted:
        table.note(*what, answer.json()["items"])


def retried_moves(report: Report, effort: Effort) -> None:
    """Send each move one to three times at the same moment, as a client does that retries."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        field = Field(running, 2)
        tables, counts = [], Counter[str]()
        until = time.monotonic() + effort.seconds
        for ruleset, seats in itertools.cycle(
            [("parade", 3), ("contrast", 3), ("mit-list-und-tuecke", 4), ("tea-time", 2)]
        ):
            if time.monotonic() > until:
                break
            tables.append(field.seat(ruleset, seats))
            _play_with_retries(field, tables[-1], counts)
        report.at_least("moves sent twice or three times", counts["again"], effort.least(5))
        _tell_overlaps(report, effort, counts, 3)
        report.none("not acknowledged each time", counts["refused"])
        report.none("acknowledged with other items than the first time", counts["differ"])
        audit(tables).tell(report)
        tell_answers(report, field.tally, SLOWEST)


def _play_with_retries(field: Field, table: Table, counts: Counter[str]) -> None:
    while True:
        views = [player.get(table.path) for player in table.players]
        if views[0]["status"] != "playing":
            return
        seat = field.rng.choice(views[0]["to_move"])
        if views[seat]["turn"] != views[0]["turn"] or seat not in views[seat]["to_move"]:
            continue
        turn, move = views[seat]["turn"], field.rng.choice(views[seat]["legal_moves"])
        body = {"turn": turn, "move": move}
        times = field.rng.randint(1, 3)
        answers = field.at_once(
            [
                field.sending(table.players[seat], "POST", f"{table.path}/moves", body)
                for _ in range(times)
            ]
        )
        # And once more, long after the others were answered.
        answers.append(table.players[seat].persist("POST", f"{table.path}/moves", body))
        counts["again"] += times > 1
        counts["overlaps"] += any(overlap(*pair) for pair in itertools.combinations(answers, 2))
        counts["refused"] += sum(answer.status_code != 200 for answer in answers)
        told = [answer.json().get("items") for answer in answers]
        counts["differ"] += any(each != told[0] for each in told)
        table.note(seat, turn, move, told[0])


def last_seats(report: Report, effort: Effort) -> None:
    """Many players join a table with few seats, some of them twice."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        field = Field(running, 3)
        counts = Counter[str]()
        people = field.players(13)
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until:
            _fill(field, people, field.rng.randint(2, 6), counts)
        report.tell("tables", counts["tables"])
        report.at_least("requests for a seat in conflict", counts["full"], effort.least(10))
        _tell_overlaps(report, effort, counts, 4)
        report.none("seats given to two", counts["oversold"])
        report.none("players with two seats", counts["two seats"])
        report.none("answers that the game contradicts", counts["contradicted"])
        report.none("refused in any other way than as full", counts["odd"], counts)
        tell_answers(report, field.tally, SLOWEST)


def _fill(field: Field, people: list[Caller], seats: int, counts: Counter[str]) -> None:
    host, *guests = field.rng.sample(people, len(people))
    body = {"ruleset": "parade", "seat_count": seats}
    game_id = host.persist("POST", "/v1/games", body).json()["id"]
    table = Table(game_id, [host])
    # Each guest asks for any seat on both machines, and must get one seat.
    asking = [guest for guest in guests for _ in range(2)]
    answers = field.at_once(
        [field.sending(each, "POST", f"{table.path}/seats", {}) for each in asking]
    )
    given: dict[str, set[int]] = {}
    for guest, answer in zip(asking, answers, strict=True):
        if answer.status_code == 200:
            given.setdefault(guest.id, set()).add(answer.json()["you"])
            continue
        counts["full"] += 1
        counts["overlaps"] += any(overlap(answer, a) for a in answers if a.status_code == 200)
        if (answer.status_code, answer.code) != (409, "game_full"):
            counts["odd"] += 1
            counts[f"odd: {answer.status_code} {answer.code}"] += 1
    final = host.get(table.path)
    sitting = [each["player"]["id"] for each in final["seats"] if each["player"]]
    counts["tables"] += 1
    taken = [seat for own in given.values() for seat in own]
    counts["oversold"] += len(taken) - len(set(taken)) + abs(len(taken) - (seats - 1))
    counts["two seats"] += len(sitting) - len(set(sitting))
    counts["two seats"] += sum(len(own) > 1 for own in given.values())
    told = {seat: guest for guest, own in given.items() for seat in own}
    counts["contradicted"] += sum(sitting[seat] != guest for seat, guest in told.items())
    counts["contradicted"] += final["status"] != "playing"
    for each in {host.id, *given}:
        player = next(one for one in people if one.id == each)
        player.persist("DELETE", f"{table.path}/seats/me")


OUTCOMES = (
    "begun with the last guest",
    "begun with the house in the last seat",
    "begun by the house's taking both seats",
    "called off",
)


def parting(report: Report, effort: Effort) -> None:
    """A host starts and cancels, one guest leaves, and another one takes the last seat."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        field = Field(running, 4)
        host, guest, late = field.players(3)
        counts, wrong = Counter[str](), []
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until:
            outcome, fault = _part(field, host, guest, late)
            counts[outcome] += 1
            wrong += [fault] if fault else []
        for outcome in OUTCOMES:
            report.tell(f"games {outcome}", counts[outcome])
        report.at_least("games", counts.total(), effort.least(3))
        report.none("outcomes that are not allowed", len(wrong), wrong[:3])
        tell_answers(report, field.tally, SLOWEST)


def _part(field: Field, host: Caller, guest: Caller, late: Caller) -> tuple[str, str]:
    body = {"ruleset": "parade", "seat_count": 3}
    table = Table(host.persist("POST", "/v1/games", body).json()["id"], [host])
    guest.persist("POST", f"{table.path}/seats", {})
    kinds = ["cancel", "leave", "join"] + ["start"] * field.rng.randint(0, 1)
    sends = {
        "cancel": field.sending(host, "DELETE", table.path),
        "leave": field.sending(guest, "DELETE", f"{table.path}/seats/me"),
        "join": field.sending(late, "POST", f"{table.path}/seats", {}),
        "start": field.sending(host, "POST", f"{table.path}/start"),
    }
    answers = dict(zip(kinds, field.at_once([sends[kind] for kind in kinds]), strict=True))
    final = host.get(table.path)
    items = host.get(f"{table.path}/events")["items"]
    fault = _fault_of_parting(final, items, answers, guest, late)
    outcome = "called off"
    if final["status"] == "playing":
        people = {each["player"]["id"] for each in final["seats"] if each["player"]}
        outcome = "begun with the house in the last seat"
        if late.id in people:
            outcome = "begun with the last guest"
        elif guest.id not in people:
            outcome = "begun by the house's taking both seats"
        for each in (host, guest, late):
            each.persist("DELETE", f"{table.path}/seats/me")
    told = {kind: (answer.status_code, answer.code) for kind, answer in answers.items()}
    return outcome, fault and f"{fault}: {table.game_id} {told}"


def _fault_of_parting(
    final: Any, items: Any, answers: dict[str, Response], guest: Caller, late: Caller
) -> str:
    """Return what is inconsistent between the game, the responses and the items, if anything."""
    told = {kind: (answer.status_code, answer.code) for kind, answer in answers.items()}
    if [each["version"] for each in items] != list(range(1, final["version"] + 1)):
        return "versions"
    seats, status = _retell(items)
    shown = [(each["player"] and each["player"]["id"], each["house"]) for each in final["seats"]]
    if (seats, status) != (shown, final["status"]):
        return f"the items tell {seats}, {status}, the game is {shown}, {final['status']}"
    sitting = [player for player, _ in seats if player]
    if len(set(sitting)) != len(sitting):
        return "a player has two seats"
    if told["leave"] != (200, ""):
        return "leaving is always allowed"
    joined = told["join"] == (200, "")
    if final["status"] == "playing":
        if told["cancel"] != (409, "game_already_started"):
            return "called off after the start"
        if told.get("start", (200, "")) != (200, ""):
            return "the host cannot start again"
        if joined != (late.id in sitting) or not (joined or told["join"] == (409, "game_full")):
            return "the last guest was told something else"
        has_left = guest.id not in sitting or dict(seats).get(guest.id) == "careful"
        return "" if has_left else "whoever has left plays"
    if final["status"] != "cancelled" or told["cancel"] != (200, ""):
        return "neither played nor called off"
    if told.get("start", (409, "game_over")) != (409, "game_over"):
        return "started and called off"
    if guest.id in sitting and answers["leave"].json()["status"] == "open":
        return "whoever has left sits"
    if joined != (late.id in sitting) or not (joined or told["join"] == (409, "game_over")):
        return "the last guest was told something else"
    return ""


def _retell(items: Any) -> tuple[list[tuple[str | None, str | None]], str]:
    """Return the seats (player, house) and the status that the items describe."""
    seats: list[tuple[str | None, str | None]] = [(None, None)] * 3
    status = "open"
    for event in (event for item in items for event in item["events"]):
        match event["type"]:
            case "seat_taken":
                seats[event["seat"]] = (event["player"]["id"], None)
            case "seat_left":
                seats[event["seat"]] = (None, None)
            case "seat_handed_over":
                seats[event["seat"]] = (seats[event["seat"]][0], event["house"])
            case "game_started":
                status = "playing"
            case "game_cancelled":
                status = "cancelled"
    return seats, status


def one_creation(report: Report, effort: Effort) -> None:
    """Use one Idempotency-Key on many connections to all machines at once: one game is created."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        field = Field(running, 5)
        host = field.players(1)[0]
        counts = Counter[str]()
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until:
            key = {"Idempotency-Key": str(uuid.UUID(int=field.rng.getrandbits(128)))}
            body = {"ruleset": "parade", "seat_count": 2}
            answers = field.at_once(
                [field.sending(host, "POST", "/v1/games", body, headers=key) for _ in range(12)]
            )
            ids = {answer.json().get("id") for answer in answers}
            counts["keys"] += 1
            counts["conflicts"] += len(answers) - 1
            created = [answer for answer in answers if answer.status_code == 201]
            counts["overlaps"] += sum(overlap(a, b) for a in created for b in answers if a != b)
            counts["games"] += len(ids) - 1
            counts["not one 201"] += len(created) != 1
            counts["odd"] += sum(answer.status_code not in (200, 201) for answer in answers)
            listed = host.get("/v1/me/games?status=open")["items"]
            counts["listed"] += [each["id"] for each in listed] != list(ids)
            for each in ids:
                host.persist("DELETE", f"/v1/games/{each}")
        report.tell("keys", counts["keys"])
        report.at_least("requests with a key in use", counts["conflicts"], effort.least(10))
        _tell_overlaps(report, effort, counts, 5)
        report.none("further games", counts["games"])
        report.none("keys without exactly one 201", counts["not one 201"])
        report.none("other answers than 200 and 201", counts["odd"], field.tally.refusals)
        report.none("games that were listed and not told of", counts["listed"])
        tell_answers(report, field.tally, SLOWEST)


SCENARIOS: dict[str, Scenario] = {
    "conflicting-moves": conflicting_moves,
    "retried-moves": retried_moves,
    "last-seats": last_seats,
    "parting": parting,
    "one-creation": one_creation,
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
