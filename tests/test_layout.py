"""Where the tests keep what they share: in `tests/support` or in a helper, never in a test module.

A helper may lie beside the tests that use it. What the tests of several folders share is in
`tests/support`, which imports no other part of the tests but the engine's helpers.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TESTS = ROOT / "tests"
MODULES = sorted(TESTS.rglob("*.py"))


def imported(source: str, path: Path) -> Iterator[str]:
    """Yield the modules and names of the tests that a module imports: `tests.folder.name`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(ROOT).parent.parts if node.level else ()
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names = [module, *(f"{module}.{each.name}" for each in node.names)]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == "tests")


def is_private(module: str) -> bool:
    """Whether nothing may import a module: it holds tests, or fixtures for pytest to find."""
    name = module.rpartition(".")[2]
    return name.startswith("test_") or name == "conftest"


def test_no_module_imports_a_test_module_or_a_conftest() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}: move what they share to tests/support"
        for path in MODULES
        for name in imported(path.read_text(encoding="utf-8"), path)
        if is_private(name) and (ROOT / f"{name.replace('.', '/')}.py").exists()
    ]
    assert not wrong, "\n".join(wrong)


def test_the_shared_helpers_import_no_folder_of_tests() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}: shared helpers import only tests.support"
        for path in MODULES
        if path.is_relative_to(TESTS / "support")
        for name in imported(path.read_text(encoding="utf-8"), path)
        if not name.startswith(("tests.support", "tests.engine"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import tests.api.test_house", "tests.api.test_house"),
        ("from tests.api.test_house import make_late", "tests.api.test_house"),
        ("from tests.api import test_house", "tests.api.test_house"),
        ("from . import test_house", "tests.api.test_house"),
        ("from .test_house import make_late", "tests.api.test_house"),
        ("def later():\n    from ..test_docs import run", "tests.test_docs"),
    ],
)
def test_each_form_of_import_is_recognized(source: str, module: str) -> None:
    assert module in imported(source, TESTS / "api" / "helper.py")
