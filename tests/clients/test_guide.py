"""The guide: every command and every program in it is run here as it stands there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from api.problems.catalogue import CATALOGUE
from engine.registry import RULESETS
from tests.clients.compiling import PROGRAMS, compile_
from tests.clients.generators import GENERATORS, Make
from tests.clients.toolbox import PYTHON_LOCK, Toolbox, pinned
from tests.support.paths import ROOT
from tests.support.service import Service

GUIDE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
DOCUMENT = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
PLACE = ROOT / "docs"
NEWEST = "2026-11-28T00:00:00Z"
"""What a pinned package asks for in turn is taken as it was then."""


def blocks(language: str, text: str = GUIDE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def sections() -> dict[str, str]:
    """The parts of the guide that have commands, by their headings."""
    parts = re.split(r"^##+ (.+)\n", GUIDE, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {heading: text for heading, text in found.items() if blocks("sh", text)}


def programs(text: str) -> list[Path]:
    """The programs that a part of the guide links to."""
    return [(PLACE / link).resolve() for link in re.findall(r"\]\((\.\./examples/[^)]+)\)", text)]


def games_in(command: str) -> int:
    """Return how many games a program plays: one for each ruleset that its command names."""
    return max(1, sum(word in RULESETS for word in command.split()))


class Newcomer:
    """Somebody with Python, Node and an empty directory, and none of our tools."""

    def __init__(self, tools: Toolbox, home: Path, url: str) -> None:
        self.tools = tools
        self.home = home
        self.url = url
        python = tools.python / "bin" / "python"
        command = (sys.executable, "-m", "uv", "--no-config", "venv", "--seed", "--python", python)
        tools.run(*command, ".venv", cwd=home)
        self.programs = home / ".node"
        self.programs.mkdir()
        for name in ("node", "npm", "npx"):
            (self.programs / name).symlink_to(tools.python / "bin" / name)

    def paste(self, commands: str) -> str:
        constraints = self.home / ".constraints"
        pins = re.findall(r"^(\S+==\S+)", PYTHON_LOCK.read_text(), re.MULTILINE)
        constraints.write_text("\n".join(pins))
        path = os.pathsep.join([f"{self.home}/.venv/bin", str(self.programs), os.environ["PATH"]])
        environment = self.tools.environment() | {
            "API": self.url,
            "PATH": path,
            "PIP_CONSTRAINT": str(constraints),
            "npm_config_before": NEWEST,
            "npm_config_loglevel": "error",
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("heading", sections())
def test_the_commands_of_a_section_can_be_pasted(
    heading: str, tools: Toolbox, fresh_service: Service, tmp_path: Path
) -> None:
    text = sections()[heading]
    newcomer = Newcomer(tools, tmp_path, fresh_service.url)
    for program in programs(text):
        shutil.copy(program, tmp_path)
    (get_the_document,) = (each for each in blocks("sh") if each.endswith("-o openapi.yaml\n"))
    output = newcomer.paste("".join([get_the_document, *blocks("sh", text)]))
    lines = "".join(blocks("sh", text)).splitlines()
    played = [line for line in lines if re.match(r"npx tsx |python ", line)]
    assert output.count("winners") == sum(map(games_in, played))


def test_the_programs_are_the_examples() -> None:
    found = programs(GUIDE)
    shown = [block for language in ("ts", "python", "java", "go") for block in blocks(language)]
    for program in found:
        # The module for browsers is used as it is: the guide shows a page that imports it.
        if program.suffix != ".js":
            assert program.read_text(encoding="utf-8") in shown, program
    examples = ROOT / "examples"
    folders = ("typescript", "python_client", "java", "go", "browser")
    assert set(found) == {each for folder in folders for each in (examples / folder).iterdir()}


def test_the_versions_are_those_that_are_tested() -> None:
    named = re.findall(r"(?<=[\s'])([@\w/.-]+?)(?:\[\w+\])?(?:==|@)(\d[\w.]*)", GUIDE)
    assert len(named) > 10
    for package, version in named:
        assert pinned(package) == version, package


@pytest.mark.parametrize("name", GENERATORS)
def test_the_commands_are_those_that_are_tested(name: str) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert GENERATORS[name].command in lines


@pytest.mark.slow
def test_the_switch_compiles(client: Make, tools: Toolbox) -> None:
    (switch,) = (block for block in blocks("ts") if block.startswith("function describe"))
    project = client("openapi-fetch")
    for file in (PROGRAMS / "tsconfig.json", PROGRAMS / "openapi-fetch" / "schema.ts"):
        shutil.copy(file, project)
    head = "import type { Move } from './schema';\nexport "
    (project / "described.ts").write_text(head + switch)
    assert compile_(tools, project, "described.ts") == []
    # And it is the whole of it: any case less, and it does not compile.
    shorter = re.sub(r"    case 'count'.*\n", "", switch)
    (project / "described.ts").write_text(head + shorter)
    errors = compile_(tools, project, "described.ts")
    assert errors
    assert all('type: "count"' in error for error in errors)


def test_the_table_of_problems_has_every_status() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \| (.*?) \|", GUIDE, re.MULTILINE)
    statuses = [int(status) for row, _ in rows for status in row.split(", ")]
    assert sorted(statuses) == sorted({kind.status for kind in CATALOGUE.values()})


def test_every_code_in_the_table_belongs_to_its_status() -> None:
    for row, meaning in re.findall(r"^\| ([\d, ]+) \| (.*?) \|", GUIDE, re.MULTILINE):
        for code in re.findall(r"`(\w+_\w+)`", meaning):
            assert str(CATALOGUE[code].status) in row.split(", "), code


def test_every_operation_and_type_that_is_named_is_in_the_document() -> None:
    operations = {
        operation["operationId"]
        for item in DOCUMENT["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
    }
    prose = re.sub(r"```.*?```", "", GUIDE, flags=re.DOTALL)
    for name in re.findall(r"\b(?:list|get|create|play|stream)[A-Z]\w+", prose):
        assert name in operations, name
    for name in re.findall(r"`([A-Z][a-z]+[A-Za-z]*)`", prose):
        assert name in DOCUMENT["components"]["schemas"], name
