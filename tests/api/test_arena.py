"""The arena of the examples: its table adds up, and it leaves no game behind when it ends early."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.service import Service, serving
from tests.support.stored_games import unfinished_games
from tests.support.waiting import wait_until

ARENA = ROOT / "examples" / "arena.py"
ROW = re.compile(
    r"^(\S+) +(-?[\d.]+) ± [\d.]+ +(\d+) +(\d+) +(\d+) +([\d.]+) ± [\d.]+ %$", re.MULTILINE
)


def start(url: str, *options: str, cwd: Path = ROOT) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, ARENA, "--url", url, *options],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def play(url: str, *options: str, cwd: Path = ROOT) -> tuple[int, str, str]:
    arena = start(url, *options, cwd=cwd)
    try:
        output, said = arena.communicate(timeout=120)
    finally:
        arena.kill()
    return arena.returncode, output, said


def rows(output: str) -> dict[str, list[float]]:
    """By strategy: its score, wins, draws and losses, and its share of the wins."""
    return {name: [float(each) for each in row] for name, *row in ROW.findall(output)}


@pytest.mark.parametrize(
    ("ruleset", "strategies", "seats"),
    [
        ("parade", ("frugal", "random"), "2"),
        ("parade", ("frugal", "house:random"), "4"),
        ("contrast", ("random", "house:careful"), "3"),
        ("tea-time", ("random", "house:random"), "2"),
        ("mit-list-und-tuecke", ("random", "frugal", "house:random"), "4"),
    ],
)
def test_the_table_adds_up(
    service: Service, ruleset: str, strategies: tuple[str, ...], seats: str
) -> None:
    games = 6
    options = ("--ruleset", ruleset, "--seats", seats, "--games", str(games))
    code, output, said = play(service.url, *options, "--strategy", *strategies)
    assert (code, said) == (0, "")
    table = rows(output)
    assert tuple(table) == strategies
    assert f"\n{games} games in " in output
    for _, wins, draws, losses, share in table.values():
        assert wins + draws + losses == games
        assert wins <= share * games / 100 + 0.1 <= wins + draws + 0.2
    assert sum(share for *_, share in table.values()) == pytest.approx(100, abs=0.2)


def test_a_strategy_of_ones_own_plays_and_what_it_does_wrong_ends_the_arena(
    service: Service, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "def first(table, seat, moves):\n    return moves[0]\n\n"
        "def wrong(table, seat, moves):\n    return {'type': 'play', 'card': 'red-99'}\n\n"
        "def broken(table, seat, moves):\n    return table['nothing']\n"
    )
    options = ("--games", "3", "--strategy", "random")
    code, output, _ = play(service.url, *options, "mine:first", cwd=tmp_path)
    assert code == 0
    assert "mine:first" in rows(output)
    code, _, said = play(service.url, *options, "mine:wrong", cwd=tmp_path)
    assert code == 1
    assert said.startswith("mine:wrong: ")
    code, _, said = play(service.url, *options, "mine:broken", cwd=tmp_path)
    assert code == 1
    assert "KeyError: 'nothing'" in said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_arena_that_is_stopped_leaves_no_game_behind(
    fresh_service: Service, how: signal.Signals
) -> None:
    arena = start(fresh_service.url, "--games", "500")
    try:
        wait_until(lambda: len(unfinished_games(fresh_service)) > 20, "games are played")
        os.kill(arena.pid, how)
        output, said = arena.communicate(timeout=60)
    finally:
        arena.kill()
    assert arena.returncode == 1
    assert "has left its games" in said
    assert set(rows(output)) == {"frugal", "random"}
    assert unfinished_games(fresh_service) == []


def test_an_arena_that_asks_too_much_says_that_it_waits(tmp_path: Path) -> None:
    with serving(tmp_path, RATE_LIMITS="games=2/second") as service:
        code, output, said = play(service.url, "--games", "8")
    assert code == 0
    assert "Waiting 1 s: The limit of 2/second" in said
    assert "\n8 games in " in output
