"""The example bot: those that are started at once finish a game; one that is stopped leaves it."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.registry import RULESETS
from tests.support.api_client import Client
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

BOT = ROOT / "examples" / "random_bot.py"


GAMES = [
    # Full tables take long, and the smallest one meets in the same way.
    pytest.param(ruleset.id, seats, marks=() if seats == ruleset.min_seats else (pytest.mark.slow,))
    for ruleset in RULESETS.values()
    for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
]


@contextmanager
def running_bot(url: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A bot that runs until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, BOT, "--url", url, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def unfinished(service: Service) -> list[Any]:
    reader = Client(service.url)
    return [
        game
        for status in ("open", "playing")
        for game in reader.get(f"/v1/games?status={status}")["items"]
    ]


@pytest.mark.parametrize(("ruleset", "seats"), GAMES)
def test_bots_that_start_at_once_meet_and_finish_a_game(
    fresh_service: Service, ruleset: str, seats: int
) -> None:
    bots = [
        subprocess.Popen(
            [
                sys.executable,
                BOT,
                "--url",
                fresh_service.url,
                "--name",
                f"Bot {i}",
                "--seats",
                str(seats),
                "--ruleset",
                ruleset,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(seats)
    ]
    try:
        outputs = [bot.communicate(timeout=120)[0] for bot in bots]
    finally:
        for bot in bots:
            bot.kill()
    assert [bot.returncode for bot in bots] == [0] * seats
    results = [json.loads(output.partition(": ")[2]) for output in outputs]
    assert results == [results[0]] * seats
    assert len(results[0]["scores"]) == seats
    games = {output.partition(" of game ")[2].partition(":")[0] for output in outputs}
    assert len(games) == 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_bot_that_is_stopped_leaves_its_game(fresh_service: Service, how: signal.Signals) -> None:
    with running_bot(fresh_service.url, "--seats", "3") as stopped:
        wait_until(lambda: unfinished(fresh_service), "it has a seat")
        stopped.send_signal(how)
        _, said = stopped.communicate(timeout=30)
    assert stopped.returncode == 1
    assert "has left its game" in said
    assert unfinished(fresh_service) == []


def test_a_bot_that_is_stopped_at_any_moment_leaves_no_seat_behind(fresh_service: Service) -> None:
    for number in range(8):
        with running_bot(fresh_service.url, "--seats", "2") as stopped:
            time.sleep(0.15 + 0.03 * number)
            stopped.send_signal(signal.SIGTERM)
            stopped.communicate(timeout=30)
    assert unfinished(fresh_service) == []


def test_a_bot_that_is_one_too_many_says_so_and_waits(tmp_path: Path) -> None:
    with (
        serving(tmp_path, RATE_LIMITS="players=1/second") as service,
        running_bot(service.url, "--name", "Ada") as ada,
        running_bot(service.url, "--name", "Bob") as bob,
    ):
        outputs = [each.communicate(timeout=60) for each in (ada, bob)]
    assert [ada.returncode, bob.returncode] == [0, 0]
    assert any("waits 1 s: The limit of 1/second" in said for _, said in outputs)


def test_a_bot_waits_for_a_service_that_is_away(tmp_path: Path) -> None:
    port = free_port()
    with running_bot(f"http://127.0.0.1:{port}", "--name", "Ada") as ada:
        assert ada.stderr is not None
        assert "Ada waits 1 s:" in ada.stderr.readline()
        with serving(tmp_path, PORT=str(port)) as service, running_bot(service.url) as bob:
            assert bob.wait(60) == 0
            assert ada.wait(60) == 0
