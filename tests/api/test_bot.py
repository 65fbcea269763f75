"""The example bot: three of them, started at once, meet and finish a game."""

import json
import subprocess
import sys

import pytest

from engine.registry import RULESETS
from tests.support.paths import ROOT
from tests.support.service import Service

BOT = ROOT / "examples" / "random_bot.py"


GAMES = [
    # Full tables take long, and the smallest one meets in the same way.
    pytest.param(ruleset.id, seats, marks=() if seats == ruleset.min_seats else (pytest.mark.slow,))
    for ruleset in RULESETS.values()
    for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
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
