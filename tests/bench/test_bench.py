"""Every benchmark runs, in its quick form, and tells all that it is there for.

Each makes sure by itself that all it sends is answered as it has to be, and fails otherwise. How
fast anything is, no test says.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from api.config.settings import Settings
from api.storage.keys import game_key, items_key, played_key
from bench import boardgame_io, capacity, growth, memory, report
from bench.__main__ import BENCHMARKS
from bench.growth import LOBBY_OPERATIONS, OPERATIONS
from bench.kept import read
from engine.registry import RULESETS
from tests.support.paths import ROOT
from tests.support.service import clean_environment
from tests.support.tools import find_program

REQUESTS = {
    "getGame",
    "getGame, 304",
    "listLegalMoves",
    "listTurns, none",
    "listTurns, one",
    "listEvents, 20 from the middle",
    "listGames, 20 of 10,000",
    "playMove, 1 game at once",
    "playMove, 8 games at once",
    "playMove, 32 games at once",
    "createGame",
    "joinGame, which starts it",
    "quickMatch, two to a game",
    "analyse, a whole game",
    "playMoves, minimal",
    "playMoves, games and items",
}

PROGRAMS = {"http": ("wrk",), "boardgame_io": boardgame_io.PROGRAMS}
"""What a benchmark needs besides Python."""


def figures(name: str, tmp_path: Path) -> Any:
    """What a benchmark writes, as `make bench` runs it."""
    for program in PROGRAMS.get(name, ()):
        find_program(program)
    command = [sys.executable, "-m", "bench", "--quick", "--json", str(tmp_path), name]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((tmp_path / f"{name}.json").read_text())


def are_all_positive(value: Any) -> bool:
    """Whether every number in some figures is greater than zero."""
    if isinstance(value, dict):
        return all(map(are_all_positive, value.values()))
    if isinstance(value, list):
        return all(map(are_all_positive, value))
    return not isinstance(value, int | float) or value > 0


@pytest.mark.slow
def test_requests_are_measured_beside_the_bare_application(tmp_path: Path) -> None:
    measured = figures("http", tmp_path)
    assert {each["name"] for each in measured["scenarios"]} == REQUESTS
    for each in measured["scenarios"]:
        lowest, highest = each["ratios"]
        assert 0 < lowest <= each["ratio"] <= highest, each
        assert each["per_second"] > 0, each
        assert each["bare"]["per_second"] > 0, each


@pytest.mark.slow
def test_parade_is_measured_beside_boardgame_io(tmp_path: Path) -> None:
    measured = figures("boardgame_io", tmp_path)
    assert len(measured["scenarios"]) == 7
    for each in measured["scenarios"]:
        assert each["per_second"] > 0, each
        assert each["bare"]["per_second"] > 0, each
    for weights in measured["bytes"].values():
        assert weights["moves"] > 0
        assert are_all_positive(weights)
    # The kept figures may have none of it.
    text = report.text(read() | {"boardgame_io": measured})
    assert boardgame_io.tables(measured) in text
    assert measured["machine"] in boardgame_io.heading(measured)


def test_without_its_programs_boardgame_io_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["bench.boardgame_io", "--json", str(tmp_path / "figures")])
    boardgame_io.main()
    said = capsys.readouterr().out
    assert said == "boardgame.io is left out: there is no npm, node, redis-server.\n"
    assert list(tmp_path.iterdir()) == []


def test_without_a_registry_boardgame_io_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in boardgame_io.PROGRAMS:
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "package-lock.json").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setattr(boardgame_io, "DIRECTORY", tmp_path)
    assert boardgame_io.obstacle() == "npm cannot install it"


def test_the_tables_leave_boardgame_io_out_if_it_was_not_measured() -> None:
    kept = {name: each for name, each in read().items() if name != "boardgame_io"}
    assert "boardgame.io" not in report.text(kept)
    assert "\n\n\n" not in report.text(kept)


@pytest.mark.slow
def test_the_rules_are_measured_for_each_ruleset(tmp_path: Path) -> None:
    measured = figures("engine", tmp_path)
    assert measured["per_second"].keys() == RULESETS.keys()
    for each in measured["per_second"].values():
        assert each.keys() == {"checked moves", "legal moves", "views", "encode", "decode"}
    assert are_all_positive(measured)


@pytest.mark.slow
def test_the_house_is_measured_for_each_number_of_seats(tmp_path: Path) -> None:
    measured = figures("house", tmp_path)
    assert {(each["ruleset"], each["seats"]) for each in measured["margins"]} == {
        (name, seats)
        for name, ruleset in RULESETS.items()
        for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
    }


@pytest.mark.slow
def test_all_who_wait_are_woken(tmp_path: Path) -> None:
    measured = figures("waiting", tmp_path)
    assert measured["waiting"] == measured["clients"]
    assert measured["wakes"] == 4 * measured["moves"]


@pytest.mark.slow
def test_memory_is_measured_of_games_and_workers(tmp_path: Path) -> None:
    measured = figures("memory", tmp_path)
    played = [(each["ruleset"], each["seats"]) for each in measured["games"]]
    assert sorted(played) == sorted(
        (name, seats)
        for name, ruleset in RULESETS.items()
        for seats in range(ruleset.min_seats, ruleset.max_seats + 1)
    )
    assert f"| `{played[0][0]}` | {played[0][1]} |" in memory.table_of_games(measured)
    for each in measured["games"]:
        assert each["moves"] > 0
        assert 0 < each["start"] < each["half"]
        # Then it is one compressed record.
        assert 0 < each["end"] < each["half"]
    assert measured["worker"]["started"] > 0


@pytest.mark.slow
def test_the_store_and_the_networks_are_measured_for_each_kind_of_request(tmp_path: Path) -> None:
    measured = figures("traffic", tmp_path)
    assert measured["requests"].keys() == {*capacity.SCENARIOS, "getGame"}
    assert all(are_all_positive(each) for each in measured["requests"].values())
    assert measured["requests"]["playMove"]["reads"] < 3
    assert 0 < measured["player"] < measured["end"]


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    measured = figures("growth", tmp_path)
    assert len(measured["growth"]) == 5
    for each in measured["growth"]:
        assert each["ms"].keys() == set(OPERATIONS)
        assert {len(figures) for figures in each["ms"].values()} == {len(each["sizes"])}
        assert are_all_positive(each["ms"])
    (lobby,) = (each for each in measured["growth"] if "lobby_ms" in each)
    assert lobby["what"] == "ended games"
    assert lobby["lobby_ms"].keys() == set(LOBBY_OPERATIONS)
    for spreads in (*lobby["lobby_ms"].values(), lobby["lobby_kb"]):
        assert len(spreads) == len(lobby["sizes"])
        assert are_all_positive(spreads)
    assert "kB of the lobby's keys" in growth.lobby_in_short(measured)
    drawing = [sys.executable, "-m", "bench.picture", str(tmp_path / "growth.json"), str(tmp_path)]
    subprocess.run(drawing, cwd=ROOT, check=True, timeout=120)
    picture = (tmp_path / "growth.svg").read_text(encoding="utf-8")
    # Text that can be searched and read aloud.
    assert all(f">{operation}</text>" in picture for operation in OPERATIONS)
    assert "prefers-color-scheme: dark" in picture


def test_one_command_runs_all_benchmarks() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^bench:.*\n\t@\$\(BIN\)/python -m bench \$\(ARGS\)$", makefile, re.MULTILINE)
    programs = {
        path.stem
        for path in (ROOT / "bench").glob("*.py")
        if f"python -m bench.{path.stem} [--quick]" in path.read_text(encoding="utf-8")
    }
    assert programs == set(BENCHMARKS)


@pytest.mark.parametrize("document", report.DOCUMENTS, ids=lambda path: path.name)
def test_a_document_tells_the_figures_that_are_kept(document: Path) -> None:
    assert report.written(document, read()) == document.read_text(encoding="utf-8")


# --- The capacity model -------------------------------------------------------------------------


def test_needs_grow_with_the_games() -> None:
    kept = read()
    given = capacity.assumptions(kept)
    once, twice = (capacity.needs(kept, given, games) for games in (1_000_000, 2_000_000))
    assert twice == pytest.approx([2 * each for each in once])
    assert twice.workers in (2 * once.workers, 2 * once.workers - 1)


def test_a_game_costs_what_its_requests_cost_together() -> None:
    kept = read()
    given = capacity.assumptions(kept, moves=10, seats=3, lobby_reads=0, new_players=0)
    game = capacity.game(kept, given)
    # One creation, two joins, ten moves, each of which two others read.
    assert game.number == 1 + 2 + 10 + 20
    costs = kept["traffic"]["requests"]
    numbers = {"createGame": 1, "joinGame": 2, "playMove": 10, "listEvents": 20}
    assert game.cost.store_ms == pytest.approx(
        sum(number * costs[kind]["store_cpu_ms"] for kind, number in numbers.items())
    )


def test_players_are_kept_for_longer_than_games() -> None:
    kept = read()
    given = capacity.assumptions(kept, kept_days=0, unfinished=0, move_seconds=0)
    stored = capacity.needs(kept, given, 1000).store_bytes
    assert stored == pytest.approx(1000 * Settings().player_days * kept["traffic"]["player"])


def test_of_the_waiters_no_more_is_used_than_of_a_core() -> None:
    kept = read()
    full, half = (capacity.assumptions(kept, busy=busy) for busy in (1, 0.5))
    at_most = capacity.needs(kept, full, 1000)
    assert at_most.waiting_workers == at_most.waiting / Settings().waiters
    assert capacity.needs(kept, half, 1000).waiting_workers == 2 * at_most.waiting_workers


def test_all_keys_of_a_game_are_on_one_shard_and_games_spread_evenly() -> None:
    keys = {game_key("a"), items_key("a"), played_key("a")}
    assert len({capacity.shard(each, 100) for each in keys}) == 1
    games = capacity.spread(20_000, 100)
    assert sum(games) == 20_000
    # Five standard deviations of a shard's number.
    assert all(abs(each - 200) < 5 * 200**0.5 for each in games)


def test_the_shards_of_a_model_are_those_of_a_new_cluster() -> None:
    """Valkey divides the slots as evenly as it can, in order."""
    slots = Counter(capacity.shard(f"{{{each}}}", 3) for each in range(30_000))
    assert set(slots) == {0, 1, 2}
    assert max(slots.values()) - min(slots.values()) < 1_000


def test_an_assumption_can_be_chosen() -> None:
    command = [sys.executable, "-m", "bench.capacity", "--games", "5000", "--kept-days", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "| `--kept-days` | 1 |" in done.stdout
    assert "5,000 games a day" in done.stdout
    assert set(capacity.MEANINGS) == set(capacity.Assumptions._fields)
