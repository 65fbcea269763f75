"""The README: every command in it is run here as it stands there, and its tables are true."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from api.config.settings import describe
from api.observability.metrics import exposition
from tests.support.paths import ROOT
from tests.support.service import Service, clean_environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
# What is marked `needs-docker` cannot be run here, where no engine for containers is;
# tests/packaging/test_image.py tries what can be tried of it.
UNTRIED = re.findall(r"```sh needs-docker\n(.*?)```", README, re.DOTALL)
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


ANSWERS = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
FIRST_REQUEST = 'curl -sS "${API:-http://127.0.0.1:8000}/v1/players" '
ARENA = "python3 examples/arena.py"
GAME_OF_TWO, GAME_ALONE = "# Extracts a value", "TOKEN="
SCRAPE = 'curl -sS "${API:-http://127.0.0.1:8000}/metrics"'


def block(part: str) -> str:
    """The one block of commands with a line that begins like this."""
    (found,) = (each for each in BLOCKS if f"\n{part}" in f"\n{each}")
    return found


def run(commands: str, url: str) -> str:
    environment = clean_environment() | {"API": url}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def test_no_command_is_forgotten_here() -> None:
    parts = ["make serve", "make test", FIRST_REQUEST, GAME_OF_TWO, GAME_ALONE]
    parts += ["python3 examples/random_bot.py", ARENA, "gunicorn", SCRAPE]
    assert [BLOCKS.index(block(part)) for part in parts] == list(range(len(BLOCKS)))


def test_nothing_but_docker_goes_untried() -> None:
    assert len(UNTRIED) == 1
    assert all(line.startswith("docker ") for block in UNTRIED for line in block.splitlines())
    # There is no other kind of block.
    assert README.count("```") == 2 * (len(BLOCKS) + len(UNTRIED) + len(ANSWERS))


def test_the_first_request_is_answered_as_shown(service: Service) -> None:
    (shown,) = map(json.loads, ANSWERS)
    player = json.loads(run(block(FIRST_REQUEST), service.url))
    assert player.keys() == shown.keys()
    assert {player[each] == shown[each] for each in ("name", "kind")} == {True}
    for name, value in shown.items():
        assert len(player[name]) == len(value), name


def test_the_start_page_shows_the_first_request(service: Service) -> None:
    page = service.request("GET", "/", headers={"Accept": "text/html"}).text
    shown = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    assert [html.unescape(each) for each in shown] == [block(FIRST_REQUEST).strip()]


def test_every_metric_that_is_listed_is_there_and_the_other_way_round(service: Service) -> None:
    listed = set(re.findall(r"^\| `(ludotheque_\w+)` \|", README, re.MULTILINE))
    assert listed == described(exposition({}, False).decode())
    # A real service leaves out what nothing was counted by yet.
    told = described(run(block(SCRAPE), service.url))
    assert {"ludotheque_commit_conflicts_total", "ludotheque_workers"} <= told <= listed


def described(metrics: str) -> set[str]:
    return set(re.findall(r"^# HELP (ludotheque_\w+) ", metrics, re.MULTILINE))


def test_the_first_game_can_be_pasted(service: Service) -> None:
    output = run(block(GAME_OF_TWO), service.url)
    lines = output.splitlines()
    assert lines[0] == "playing"
    # Three rounds, of which the first is half a one if Bob begins.
    assert len([line for line in lines if line.startswith("plays ")]) in (5, 6)
    assert '"card_played"' in output
    # In the last round no cards are drawn. Few deals begin it so early, but some do.
    assert re.search(r'"hand_sizes": \[[45], [45]\]', lines[-2])
    assert '"code":"stale_turn"' in lines[-1]


def test_a_game_alone_can_be_pasted(service: Service) -> None:
    game = json.loads(run(block(GAME_ALONE), service.url))
    assert game["status"] == "playing"
    assert [seat["house"] for seat in game["seats"]] == [None, "careful", "careful", "random"]


def test_three_bots_finish_a_game(fresh_service: Service) -> None:
    bots = block("python3 examples/random_bot.py").replace(
        ".py ", f".py --url {fresh_service.url} "
    )
    results = [line.partition(": ")[2] for line in run(bots, fresh_service.url).splitlines()]
    assert len(results) == 3
    assert len(set(results)) == 1


def test_the_arena_plays_and_prints_its_table(fresh_service: Service) -> None:
    command = block(ARENA).replace(".py ", f".py --url {fresh_service.url} ")
    output = run(command, fresh_service.url).splitlines()
    assert [line.split()[0] for line in output] == ["strategy", "frugal", "random", "20"]


def test_the_table_of_settings_is_what_the_settings_are() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \| (.*) \|$", README, re.MULTILINE)
    assert rows == [
        (each.variable, f"`{each.default}`" if each.default else "unset", each.bounds, each.meaning)
        for each in describe()
    ]


def test_every_file_that_is_linked_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    links += re.findall(r'\b(?:src|srcset)="([^":]+)"', README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_every_route_that_is_named_is_in_the_document() -> None:
    document = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    for path in re.findall(r"`(?:GET|POST|DELETE) (/[^`? ]*)", README):
        assert f"\n  {path}:\n" in document, path


@pytest.mark.slow
def test_the_two_commands_work_in_a_fresh_clone_and_when_run_again(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    environment = clean_environment() | {"PORT": "0", "MAKEFLAGS": ""}
    for time in ("first", "again"):
        service = Service(
            ["bash", "-c", block("make serve")],
            environment | {"DATA_DIR": str(clone / "data")},
            clone,
        )
        try:
            service.await_ready(600)
            environment_of_bots = run(block(GAME_OF_TWO), service.url)
            assert environment_of_bots.startswith("playing"), time
        finally:
            service.press_ctrl_c()
            service.exit_code()
            service.store.end()
        tested = subprocess.run(
            ["bash", "-c", block("make test").rstrip() + " ARGS='tests/engine/test_parade.py'"],
            env=environment | {"PATH": os.environ["PATH"]},
            cwd=clone,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert tested.returncode == 0, tested.stdout + tested.stderr
        assert " passed" in tested.stdout
