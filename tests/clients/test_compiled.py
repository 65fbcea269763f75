"""Clients that openapi-generator and orval write compile, in each language."""

import shutil
from pathlib import Path

import pytest

from tests.clients.generators import Make
from tests.clients.toolbox import Toolbox, need

pytestmark = pytest.mark.slow

JAKARTA = Path("/usr/share/java/jakarta-annotation-api.jar")
"""Debian's libjakarta-annotation-api-java."""

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


def test_the_java_classes_compile(client: Make, tools: Toolbox) -> None:
    need(shutil.which("javac") is not None, "javac (Debian's default-jdk-headless)")
    need(JAKARTA.exists(), "libjakarta-annotation-api-java")
    project = client("openapi-generator-java")
    # The generator is written in Java itself, and brings the Jackson that its clients use.
    (jar,) = tools.python.glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar")
    sources = sorted((project / "src" / "main").glob("**/*.java"))
    assert len(sources) > 100
    command = ("javac", "-nowarn", "-d", "classes", "-cp", f"{jar}:{JAKARTA}")
    tools.run(*command, *sources, cwd=project)
    assert (
        project / "classes" / "org" / "openapitools" / "client" / "model" / "Move.class"
    ).exists()


def test_the_go_package_compiles(client: Make, tools: Toolbox, tmp_path: Path) -> None:
    need(GO_VALIDATOR.exists(), "golang-gopkg-validator.v2-dev")
    project = client("openapi-generator-go") / "ludotheque"
    validator = tmp_path / "validator"
    shutil.copytree(GO_VALIDATOR, validator)
    (validator / "go.mod").write_text("module gopkg.in/validator.v2\n")
    replaced = f"-replace=gopkg.in/validator.v2={validator}"
    tools.shell(f"go mod edit {replaced}; export GOPROXY=off GOFLAGS=-mod=mod; go vet .", project)


@pytest.mark.parametrize("name", ["orval", "openapi-generator-typescript"])
def test_the_typescript_client_compiles(name: str, client: Make, tools: Toolbox) -> None:
    project = client(name)
    entry = "client/index.ts" if (project / "client").is_dir() else "client.ts"
    options = "--noEmit --strict --target es2022 --module preserve --lib es2022,dom,dom.iterable"
    assert tools.run("tsc", *options.split(), entry, cwd=project).strip() == ""
