"""The packages of `api/` import downwards only, as docs/architecture.md draws them."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FLOORS = {
    "server": 9,
    "": 8,  # api/__init__.py
    "web": 7,
    "live": 6,
    "games": 5,
    "ratelimit": 4,
    "transfer": 4,
    "storage": 3,
    "model": 2,
    "problems": 2,
    "config": 2,
    "observability": 1,
    "concurrency": 1,
}
"""Each package of `api/` by its floor: it imports packages of lower floors only."""

WEB_LIBRARIES = frozenset({"flask", "werkzeug", "flask_smorest", "marshmallow", "webargs"})
"""Imported by `api/web/` only."""

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for top in ("api", "engine")
    for path in sorted((ROOT / top).rglob("*.py"))
}


def imports(source: str, modules: frozenset[str] = frozenset(MODULES)) -> set[str]:
    """Return the names of the modules that a module's text imports, at any depth.

    `from a import b` imports the module `a.b` if there is one, else `a`.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else module for name in names}
    return found


IMPORTS = {name: imports(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def package(module: str) -> str:
    """Return the package of `api/` that a module belongs to, empty for `api` itself."""
    return module.split(".")[1] if "." in module else ""


def violations(name: str, imported: set[str]) -> Iterator[str]:
    """Yield a sentence for each import that breaks a rule."""
    for other in sorted(imported):
        top = other.split(".")[0]
        if name.startswith("engine"):
            if top == "api" or top in {*WEB_LIBRARIES, "redis", "gevent", "gunicorn", "time"}:
                yield f"{name} imports {other}: the engine knows no web, no store and no clock."
        elif top in WEB_LIBRARIES and package(name) not in {"web", ""}:
            yield f"{name} imports {other}: only api/web/ knows Flask and its libraries."
        elif top == "api" and package(other) != package(name):
            floor, below = FLOORS[package(name)], FLOORS[package(other)]
            if below >= floor:
                yield (
                    f"{name} (floor {floor}) imports {other} (floor {below}): a package imports "
                    "packages of lower floors only."
                )


def test_every_module_of_api_belongs_to_a_package_of_the_table() -> None:
    assert [path.name for path in (ROOT / "api").glob("*.py")] == ["__init__.py"]
    packages = {path.name for path in (ROOT / "api").iterdir() if (path / "__init__.py").exists()}
    assert packages == set(FLOORS) - {""}
    assert max(FLOORS.values()) <= 9


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_downwards_only(name: str) -> None:
    assert list(violations(name, IMPORTS[name])) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: IMPORTS[name] & set(MODULES) - {"api"} for name in MODULES if name != "api"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_a_package_says_what_it_is_for() -> None:
    for name, path in MODULES.items():
        if path.name == "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            assert len(docstring) > 40, f"{name} has no docstring that names its public surface"


def test_the_document_draws_the_same_table() -> None:
    picture = re.search(r"```text\n(.*?)```", ARCHITECTURE, re.DOTALL)
    assert picture is not None
    drawn = {
        name.rstrip("/").removesuffix("__init__.py"): int(line[0])
        for line in picture[1].splitlines()
        if line[0].isdigit()
        for name in re.findall(r"api/([a-z_.]+/?)", line)
    }
    assert drawn == FLOORS


def names_of(node: ast.AST) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_the_documents_name_what_there_is() -> None:
    named = re.findall(r"`([\w.]+)` \(`(api/[\w/]+\.py)`\)", ARCHITECTURE + CONTRIBUTING)
    assert len(named) >= 10
    for name, path in named:
        parts = name.split(".")
        tree: ast.AST = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        for part in parts:
            found = [node for node in ast.iter_child_nodes(tree) if part in names_of(node)]
            assert found, f"{path} has no {name}"
            tree = found[0]


def test_a_wrong_import_is_told_with_both_modules_and_the_rule() -> None:
    source = "from api.web import app\nimport flask\nfrom api.model.game import Game"
    assert list(violations("api.storage.games", imports(source))) == [
        (
            "api.storage.games (floor 3) imports api.web.app (floor 7): a package imports "
            "packages of lower floors only."
        ),
        "api.storage.games imports flask: only api/web/ knows Flask and its libraries.",
    ]
    assert list(violations("engine.parade", {"api.model.game", "time"})) == [
        f"engine.parade imports {other}: the engine knows no web, no store and no clock."
        for other in ("api.model.game", "time")
    ]
