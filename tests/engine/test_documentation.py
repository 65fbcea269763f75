"""Every field of the engine's structs and data classes says what it holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

ROOT = Path(engine.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))


def undocumented_fields(tree: ast.Module) -> Iterator[str]:
    """The fields of classes that no docstring follows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(statement, ast.AnnAssign) and not is_docstring(following):
                    yield f"{node.name}.{ast.unparse(statement.target)}"


def is_docstring(statement: ast.stmt | None) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_field_has_a_docstring(module: Path) -> None:
    assert list(undocumented_fields(ast.parse(module.read_text(encoding="utf-8")))) == []


def test_a_field_without_a_docstring_is_found() -> None:
    tree = ast.parse('class Card:\n    color: str\n    value: int\n    """Points."""\n')
    assert list(undocumented_fields(tree)) == ["Card.color"]
