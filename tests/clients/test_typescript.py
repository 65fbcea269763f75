"""Clients that are generated for TypeScript: their types are exact, and they play."""

import re
import shutil
from pathlib import Path

import pytest

from tests.clients.compiling import PROGRAMS, compile_
from tests.clients.generators import Make
from tests.clients.playing import GAMES, assert_played_to_the_end, finish_without_store
from tests.clients.toolbox import Toolbox
from tests.support.service import Service

pytestmark = pytest.mark.slow

TYPED = ["hey-api", "openapi-fetch", "orval", "openapi-generator-typescript"]
PLAYING = ["hey-api", "openapi-fetch"]


@pytest.fixture
def project(client: Make, request: pytest.FixtureRequest) -> Path:
    """A generated client, and beside it the programs that use it."""
    directory = client(request.param)
    for file in [*PROGRAMS.glob("*.*"), *(PROGRAMS / request.param).iterdir()]:
        shutil.copy(file, directory)
    return directory


def where(errors: list[str]) -> set[tuple[str, int]]:
    """The files and lines that errors are in."""
    found = [re.match(r"(.+?)\((\d+),\d+\): error", error) for error in errors]
    return {(match[1], int(match[2])) for match in found if match}


@pytest.mark.parametrize("project", TYPED, indirect=True)
def test_switches_over_every_union_compile(project: Path, tools: Toolbox) -> None:
    assert compile_(tools, project, "switches.ts") == []


@pytest.mark.parametrize("project", TYPED, indirect=True)
def test_a_case_that_is_missing_does_not_compile(project: Path, tools: Toolbox) -> None:
    errors = compile_(tools, project, "missing_case.ts")
    lines = (project / "missing_case.ts").read_text().splitlines()
    calls = {number for number, line in enumerate(lines, 1) if "return never" in line}
    assert where(errors) == {("missing_case.ts", number) for number in calls}
    for error, missing in zip(errors, ["Keep", "Contrast", "cancelled", ""], strict=True):
        assert "is not assignable to parameter of type 'never'" in error
        # Of the last one nearly all are missing, and the message names but some.
        assert missing.lower() in error.lower()


@pytest.mark.parametrize("project", TYPED, indirect=True)
def test_a_wrong_move_does_not_compile(project: Path, tools: Toolbox) -> None:
    assert compile_(tools, project, "mistakes.ts") == []
    # And without the word that they are expected, each of them is an error.
    text = (project / "mistakes.ts").read_text()
    (project / "mistakes_made.ts").write_text(text.replace("@ts-expect-error", "expected:"))
    lines = text.splitlines()
    expected = {number for number, line in enumerate(lines, 2) if "@ts-expect-error" in line}
    assert len(expected) == text.count("@ts-expect-error") == 10
    errors = compile_(tools, project, "mistakes_made.ts")
    assert where(errors) == {("mistakes_made.ts", number) for number in expected}


@pytest.mark.parametrize("project", PLAYING, indirect=True)
def test_the_program_that_plays_compiles(project: Path, tools: Toolbox) -> None:
    assert compile_(tools, project, "play.ts") == []


@pytest.mark.parametrize(("ruleset", "seat_count"), GAMES)
@pytest.mark.parametrize("project", PLAYING, indirect=True)
def test_a_generated_client_plays_every_game_to_its_end(
    project: Path, tools: Toolbox, service: Service, ruleset: str, seat_count: int
) -> None:
    said = tools.run("tsx", "play.ts", service.url, ruleset, str(seat_count), cwd=project)
    assert_played_to_the_end(said, service, ruleset, seat_count)


@pytest.mark.parametrize("project", PLAYING, indirect=True)
def test_a_generated_client_plays_on_after_the_store_was_away(
    project: Path, tools: Toolbox, fresh_service: Service
) -> None:
    ruleset, seat_count = GAMES[-1]
    game = (fresh_service.url, ruleset, str(seat_count))
    playing = tools.start("tsx", "play.ts", *game, cwd=project)
    said = finish_without_store(playing, fresh_service)
    assert_played_to_the_end(said, fresh_service, ruleset, seat_count)
