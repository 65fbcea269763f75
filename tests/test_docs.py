"""The README, its neighbours and the documents of docs/: every command in them is run here as it
stands there, and their tables and links are true.

The commands of docs/clients.md for generated clients are run by tests/clients/test_guide.py.
"""

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.config.settings import describe
from api.observability.metrics import exposition
from engine.registry import RULESETS
from engine.texts import rules_text
from tests.support.api_client import new_player
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.service import Service, clean_environment
from tests.support.stores import Server, binary, ended

DOCS = ROOT / "docs"
FILES = (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")))
TEXTS = {path: path.read_text(encoding="utf-8") for path in FILES}
README = TEXTS[ROOT / "README.md"]
OPERATING = TEXTS[DOCS / "operating.md"]


def read_blocks(kind: str, texts: list[str]) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", "\n".join(texts), re.DOTALL)


# tests/clients/test_guide.py runs all commands of this document.
CLIENTS = TEXTS[DOCS / "clients.md"]
OTHERS = [text for text in TEXTS.values() if text is not CLIENTS]
BLOCKS = read_blocks("sh", OTHERS)
# There is no engine for containers here; tests/packaging/test_image.py tries what can be tried.
UNTRIED = read_blocks("sh needs-docker", OTHERS)
FIRST_REQUEST = 'curl -sS "${API:-http://127.0.0.1:8000}/v1/players" '
GAME_ALONE, GAME_OF_TWO = "pick() {", "# Extracts a value"
ARENA = "python3 examples/arena.py"
BACKUP, RESTORE, PACK = "ludotheque export", "ludotheque import", "(umask 077; ludotheque"
COPY, COPY_AGAIN = 'ludotheque copy "$FROM"', "ludotheque copy --overwrite"
PIPE = 'REDIS_URL="$FROM" ludotheque export'
SCRAPE = 'curl -sS "${API:-http://127.0.0.1:8000}/metrics"'
MOST_WORDS = 1000


def block(part: str, blocks: list[str] = BLOCKS) -> str:
    """The one block of commands with a line that begins like this."""
    (found,) = (each for each in blocks if f"\n{part}" in f"\n{each}")
    return found


def run_quietly(commands: str, cwd: Path, **variables: str) -> str:
    """Run commands of the service in a directory; return what they write to standard error."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=clean_environment() | {"PATH": path, "PYTHONPATH": str(ROOT), **variables},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    return done.stderr


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


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def test_no_command_is_forgotten_here() -> None:
    parts = ["make serve", "make test", FIRST_REQUEST, GAME_ALONE]
    parts += ["python3 examples/random_bot.py", ARENA, "gunicorn", SCRAPE]
    parts += [BACKUP, RESTORE, PACK, COPY, COPY_AGAIN, PIPE]
    assert sorted(BLOCKS) == sorted(map(block, parts))


def test_nothing_but_docker_goes_untried() -> None:
    assert len(UNTRIED) == 1
    assert all(line.startswith("docker ") for block in UNTRIED for line in block.splitlines())
    # Every other block is a picture of text or an answer.
    kinds = re.findall(r"^```(.+)", "\n".join(OTHERS), re.MULTILINE)
    assert set(kinds) == {"sh", "sh needs-docker", "json", "text"}


def test_the_first_request_is_answered_as_shown(service: Service) -> None:
    (shown,) = map(json.loads, read_blocks("json", OTHERS))
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
    listed = set(re.findall(r"^\| `(ludotheque_\w+)` \|", OPERATING, re.MULTILINE))
    assert listed == described(exposition({}, False).decode())
    # A real service leaves out what nothing was counted by yet.
    told = described(run(block(SCRAPE), service.url))
    assert {"ludotheque_commit_conflicts_total", "ludotheque_workers"} <= told <= listed


def described(metrics: str) -> set[str]:
    return set(re.findall(r"^# HELP (ludotheque_\w+) ", metrics, re.MULTILINE))


def test_the_first_game_can_be_pasted(service: Service) -> None:
    output = run(block(GAME_OF_TWO, read_blocks("sh", [CLIENTS])), service.url)
    lines = output.splitlines()
    assert lines[0] == "playing"
    # Three rounds, of which the first is half a one if Bob begins.
    assert len([line for line in lines if line.startswith("plays ")]) in (5, 6)
    assert '"card_played"' in output
    # In the last round no cards are drawn. Few deals begin it so early, but some do.
    assert re.search(r'"hand_sizes": \[[45], [45]\]', lines[-2])
    assert '"code":"stale_turn"' in lines[-1]


def test_a_game_alone_can_be_pasted(service: Service) -> None:
    played = json.loads(run(block(GAME_ALONE), service.url))
    assert [seat["house"] for seat in played["game"]["seats"]] == [None, "careful", "random"]
    # The move, and the replies of the house.
    plays = [item for item in played["items"] if item["events"][0]["type"] == "card_played"]
    assert [play["events"][0]["seat"] for play in plays] == [0, 1, 2]


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


def test_a_backup_is_restored_into_an_empty_store(fresh_service: Service, tmp_path: Path) -> None:
    new_player(fresh_service.url)
    running = {"DATA_DIR": str(fresh_service.store.directory.parent)}
    run_quietly(block(BACKUP), tmp_path, **running)
    assert "new" in run_quietly(block(RESTORE), tmp_path, DATA_DIR="restored")
    export, import_ = block(PACK).splitlines()
    run_quietly(export, tmp_path, **running)
    assert (tmp_path / "backup.jsonl.gz").stat().st_mode & 0o777 == 0o600
    run_quietly(import_, tmp_path, DATA_DIR="restored as well")


def test_a_store_is_copied_to_another_one(fresh_service: Service, tmp_path: Path) -> None:
    new_player(fresh_service.url)
    with ended(Server(binary("redis"), tmp_path / "there", free_port())) as there:
        store = there.client()
        places = {
            "FROM": f"unix://{fresh_service.store.address}",
            "TO": f"redis://127.0.0.1:{there.port}",
        }
        for part in (COPY, PIPE):
            assert "new" in run_quietly(block(part), tmp_path, **places)
            store.set("ticket:{only there}", "x")
            store.hset(next(store.scan_iter("player:*")), "name", "changed")
            report = run_quietly(block(COPY_AGAIN), tmp_path, **places)
            assert {"changed", "same", "removed"} <= set(report.splitlines()[0].split())
            store.flushall()


def test_the_table_of_settings_is_what_the_settings_are() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \| (.*) \|$", OPERATING, re.MULTILINE)
    assert rows == [
        (each.variable, f"`{each.default}`" if each.default else "unset", each.bounds, each.meaning)
        for each in describe()
    ]


def test_no_block_has_a_line_that_begins_like_a_heading() -> None:
    """The guide of the service is rendered in parts, each from one heading to the next."""
    for path, text in TEXTS.items():
        for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
            assert part.count("```") % 2 == 0, path


def prose(text: str) -> str:
    """A document without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def links(text: str) -> Iterator[tuple[str, str]]:
    """The files and anchors of the repository that a document names."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    found += re.findall(r'\b(?:src|srcset)="([^"]+)"', prose(text))
    for link in found:
        if not link.startswith(("http://", "https://")):
            file, _, anchor = link.partition("#")
            yield file, anchor


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(path: Path) -> None:
    for file, anchor in links(TEXTS[path]):
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), file
        assert not anchor or anchor in anchors(TEXTS[target]), f"{file}#{anchor}"


def test_the_first_document_links_to_all_others() -> None:
    named = {(DOCS / file).resolve() for file, _ in links(TEXTS[DOCS / "README.md"])}
    assert named == {path for path in FILES if path.is_relative_to(DOCS)} - {DOCS / "README.md"}


def test_every_route_that_is_named_is_in_the_document() -> None:
    document = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    for text in TEXTS.values():
        for path in re.findall(r"`(?:GET|POST|DELETE) (/[^`? ]*)", text):
            assert f"\n  {path}:\n" in document, path


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_rules_are_those_of_the_service(ruleset: str) -> None:
    """`make rules` writes them."""
    assert TEXTS[DOCS / "rules" / f"{ruleset}.md"] == rules_text(ruleset, "en")


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
            assert '"items":' in run(block(GAME_ALONE), service.url), time
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
