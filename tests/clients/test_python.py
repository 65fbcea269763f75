"""A client that is generated for Python: its types are exact, and it plays."""

import re
import shutil
from pathlib import Path

import pytest

from tests.clients.generators import Make
from tests.clients.playing import GAMES, assert_played_to_the_end, finish_without_store
from tests.clients.toolbox import HERE, Toolbox
from tests.support.service import Service

pytestmark = pytest.mark.slow


@pytest.fixture
def project(client: Make) -> Path:
    """The generated package, and beside it the programs that use it."""
    directory = client("openapi-python-client")
    for file in (HERE / "python").iterdir():
        shutil.copy(file, directory)
    return directory


def errors_of(tools: Toolbox, project: Path, *files: str) -> list[str]:
    """The errors of mypy --strict in these files; the generated package is only followed."""
    code, said = tools.try_to("mypy", "--strict", "--follow-imports=silent", *files, cwd=project)
    errors = [line for line in said.splitlines() if ": error: " in line]
    assert (code == 0) == (not errors), said
    return errors


def test_programs_and_their_matches_over_every_union_pass_mypy_strict(
    project: Path, tools: Toolbox
) -> None:
    assert errors_of(tools, project, "play.py", "switches.py", "patient.py") == []


def test_a_case_that_is_missing_is_an_error(project: Path, tools: Toolbox) -> None:
    errors = errors_of(tools, project, "missing_case.py")
    lines = (project / "missing_case.py").read_text().splitlines()
    calls = [number for number, line in enumerate(lines, 1) if " assert_never(" in line]
    assert [int(error.split(":")[1]) for error in errors] == calls
    for error, missing in zip(errors, ["Keep", "ContrastTable", "CANCELLED", ""], strict=True):
        assert 'Argument 1 to "assert_never" has incompatible type' in error
        assert missing in error


def test_a_wrong_move_is_an_error(project: Path, tools: Toolbox) -> None:
    found = {
        (int(match[1]), match[2])
        for error in errors_of(tools, project, "mistakes.py")
        if (match := re.match(r"mistakes\.py:(\d+): error: .*\[([a-z-]+)\]$", error))
    }
    lines = (project / "mistakes.py").read_text().splitlines()
    expected = {
        (number, line.partition("# expect: ")[2])
        for number, line in enumerate(lines, 1)
        if "# expect: " in line
    }
    assert found == expected
    assert len(expected) == 13


@pytest.mark.parametrize(("ruleset", "seat_count"), GAMES)
def test_a_generated_client_plays_every_game_to_its_end(
    project: Path, tools: Toolbox, service: Service, ruleset: str, seat_count: int
) -> None:
    said = tools.run("python", "play.py", service.url, ruleset, str(seat_count), cwd=project)
    assert_played_to_the_end(said, service, ruleset, seat_count)


def test_a_generated_client_plays_on_after_the_store_was_away(
    project: Path, tools: Toolbox, fresh_service: Service
) -> None:
    ruleset, seat_count = GAMES[-1]
    game = (fresh_service.url, ruleset, str(seat_count))
    playing = tools.start("python", "play.py", *game, cwd=project)
    said = finish_without_store(playing, fresh_service)
    assert_played_to_the_end(said, fresh_service, ruleset, seat_count)
