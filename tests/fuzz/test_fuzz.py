"""Short runs of all fuzzers; `make fuzz` runs the long ones."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import raw, worst
from tests.fuzz.health import Watch
from tests.fuzz.mutations import content, hopeless, raw_bytes, spoil, target
from tests.fuzz.verdict import fault
from tests.fuzz.world import Attacked, Request
from tests.support.document import operations
from tests.support.paths import ROOT
from tests.support.raw_http import Answer, parse
from tests.support.service import serving

REQUESTS = 2000
SECONDS = 200
PROBLEM = b'{"code": "not_found", "status": 404}'


@pytest.mark.slow
def test_no_malformed_request_is_answered_wrongly_or_changes_a_game() -> None:
    tally = raw.fuzz(range(REQUESTS), seed=20_141_101, threads=4)
    print(tally.report())
    assert not tally.faults, "\n".join(tally.faults[:10])
    assert sum(tally.statuses.values()) == REQUESTS
    documented = {operation["operationId"] for _, _, operation in operations()}
    assert set(tally.operations) == documented | {"undocumented"}
    # It is no use if all of it is refused at the door.
    assert {200, 201, 400, 401, 403, 404, 405, 409, 413, 415, 422} <= set(tally.statuses)


@pytest.mark.slow
def test_no_value_costs_a_worker_more_than_its_size_allows(tmp_path: Path) -> None:
    with worst.service_to_measure(tmp_path) as target:
        found = worst.measure(target, few=False)
    print(found.report())
    assert not found.faults, "\n".join(found.faults)


@pytest.mark.slow
def test_every_operation_does_what_the_document_says_however_it_is_asked() -> None:
    command = [sys.executable, "-m", "tests.fuzz.by_document"]
    command += [f"--seconds={SECONDS}", "--examples=6", "--seed=1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    print(done.stdout)
    assert f"Tested: {len(operations())}\n" in done.stdout
    phases = re.findall(r"(Examples|Coverage|Fuzzing|Stateful) \(in", done.stdout)
    assert phases == ["Examples", "Coverage", "Fuzzing", "Stateful"]


# --- The fuzzer itself: it sees what is wrong, and sends the same again -------------------------


@pytest.mark.parametrize(
    ("answer", "hopeless"),
    [
        (
            Answer(500, "application/problem+json", b'{"code": "internal_error", "status": 500}'),
            False,
        ),
        (Answer(503, "text/html", b"<html>"), False),
        (Answer(404, "text/html", b"<html>"), False),
        (Answer(404, "application/problem+json", b"Not found"), False),
        (Answer(404, "application/problem+json", b'{"status": 404}'), False),
        (Answer(400, "application/problem+json", PROBLEM), False),
        (Answer(0), False),
        (Answer(200, "application/json", b"{}"), True),
    ],
)
def test_a_wrong_answer_is_a_fault(answer: Answer, hopeless: bool) -> None:
    assert fault(answer, "GET", hopeless=hopeless)


def test_a_right_answer_is_none() -> None:
    coding = b'{"code": "unsupported_transfer_coding", "status": 501}'
    assert fault(Answer(404, "application/problem+json", PROBLEM), "GET", hopeless=True) is None
    assert fault(Answer(404, "application/problem+json"), "HEAD") is None
    assert fault(Answer(501, "application/problem+json", coding), "POST") is None
    assert fault(Answer(200, "application/json", b"{}"), "GET") is None


def test_the_first_final_answer_is_read() -> None:
    head = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: a/b\r\n"
    answer = parse(head + b"Content-Length: 2\r\n\r\n{}HTTP/1.1 400 Bad Request\r\n\r\n")
    assert answer == Answer(200, "a/b", b"{}")


def test_the_same_seed_makes_the_same_requests() -> None:
    def made() -> list[bytes]:
        rng = random.Random(7)
        right = Request(
            "POST", "/v1/players", [("a", "b")], [("If-Match", "*")], {"name": ["x", 1]}
        )
        sent = []
        for _ in range(200):
            request = Request(**vars(right))
            request.query, request.headers = list(right.query), list(right.headers)
            spoil(request, rng)
            sent += [raw_bytes(request, rng), content(request) or b"", target(request).encode()]
        return sent

    assert made() == made()
    assert len(set(made())) > 250


def test_a_hopeless_move_has_one_value_of_a_wrong_type() -> None:
    class Player:
        token = "t"

    move = {"turn": 1, "move": {"type": "pick", "cells": ["a1", "a2"]}}
    game = Attacked("g", [Player()], [move])  # type: ignore[list-item]
    rng = random.Random(1)
    for _ in range(200):
        assert hopeless(game, rng).body != move


def test_a_service_that_lost_a_worker_or_logged_a_fault_does_not_pass(tmp_path: Path) -> None:
    with serving(tmp_path, RATE_LIMITS="off") as service:
        watch = Watch(service)
        watch.check()
        service.lines.append("2026-01-01 ERROR a request failed\n")
        with pytest.raises(AssertionError, match="a request failed"):
            watch.check()
        service.lines.pop()
        watch.workers = {1, 2}
        with pytest.raises(AssertionError, match="worker"):
            watch.check()
