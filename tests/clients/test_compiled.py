"""Clients that openapi-generator and orval write compile; those in Java and Go play."""

import re
import shutil
from pathlib import Path

import pytest

from tests.clients.generators import Make
from tests.clients.playing import GAMES
from tests.clients.toolbox import Toolbox, need
from tests.support.paths import ROOT
from tests.support.service import Service

pytestmark = pytest.mark.slow

JAKARTA = Path("/usr/share/java/jakarta-annotation-api.jar")
"""Debian's libjakarta-annotation-api-java."""

BOTS = ROOT / "examples"

GO_VALIDATOR = Path("/usr/share/gocode/src/gopkg.in/validator.v2")
"""Debian's golang-gopkg-validator.v2-dev."""


def test_the_python_package_imports_whole(client: Make, tools: Toolbox) -> None:
    project = client("openapi-generator-python")
    modules = [
        ".".join(path.relative_to(project).with_suffix("").parts)
        for path in sorted(project.glob("ludotheque_client/**/*.py"))
    ]
    assert len(modules) > 100
    program = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    assert tools.run("python", "-W", "error", "-c", program, *modules, cwd=project) == ""


@pytest.fixture(scope="module")
def java(client: Make, tools: Toolbox) -> Path:
    """The project of the Java bot, compiled."""
    need(shutil.which("javac") is not None, "javac (Debian's default-jdk-headless)")
    need(JAKARTA.exists(), "libjakarta-annotation-api-java")
    project = client("openapi-generator-java")
    # The generator is written in Java itself, and brings the Jackson that its clients use.
    (jar,) = tools.python.glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar")
    (project / "libraries.jar").symlink_to(jar)
    sources = [BOTS / "java" / "Bot.java", *(project / "src" / "main").glob("**/*.java")]
    assert len(sources) > 100
    command = ("javac", "-nowarn", "-d", "classes", "-cp", f"libraries.jar:{JAKARTA}")
    tools.run(*command, *sources, cwd=project)
    return project


@pytest.fixture(scope="module")
def go(client: Make, tools: Toolbox) -> Path:
    """The project of the Go bot, compiled."""
    need(GO_VALIDATOR.exists(), "golang-gopkg-validator.v2-dev")
    project = client("openapi-generator-go")
    shutil.copy(BOTS / "go" / "bot.go", project)
    shutil.copytree(GO_VALIDATOR, project / "validator")
    (project / "validator" / "go.mod").write_text("module gopkg.in/validator.v2\n")
    # The generated tests ask for a library that only they need.
    shutil.rmtree(project / "ludotheque" / "test")
    module = "gopkg.in/validator.v2"
    edits = f"-require={module}@v2.0.0 -replace={module}=./validator"
    build = "go vet ./... && go build -o bot ."
    offline = "export GOPROXY=off GOFLAGS=-mod=mod"
    tools.shell(f"{offline}; go mod init bot; go mod edit {edits}; {build}", project)
    return project


def assert_played(said: str) -> None:
    """The bot had moves in the game's record, and knows who won."""
    match = re.search(r"^moves: (\d+),? winners: \[\d", said, re.MULTILINE)
    assert match, said
    assert int(match[1]) > 0


@pytest.mark.parametrize(("ruleset", "seat_count"), GAMES)
def test_the_java_client_plays_a_game_and_reads_its_record(
    java: Path, tools: Toolbox, service: Service, ruleset: str, seat_count: int
) -> None:
    command = ("java", "-cp", f"classes:libraries.jar:{JAKARTA}", "Bot")
    assert_played(tools.run(*command, service.url, ruleset, str(seat_count), cwd=java))


@pytest.mark.parametrize(("ruleset", "seat_count"), GAMES)
def test_the_go_client_plays_a_game_and_reads_its_record(
    go: Path, tools: Toolbox, service: Service, ruleset: str, seat_count: int
) -> None:
    assert_played(tools.run("./bot", service.url, ruleset, str(seat_count), cwd=go))


@pytest.mark.parametrize("name", ["orval", "openapi-generator-typescript"])
def test_the_typescript_client_compiles(name: str, client: Make, tools: Toolbox) -> None:
    project = client(name)
    entry = "client/index.ts" if (project / "client").is_dir() else "client.ts"
    options = "--noEmit --strict --target es2022 --module preserve --lib es2022,dom,dom.iterable"
    assert tools.run("tsc", *options.split(), entry, cwd=project).strip() == ""
