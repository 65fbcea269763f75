"""Every field of the engine's structs and data classes says what it holds.

A field of an answer says so in its annotation, from which its published schema is made.
"""

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
    described_types = {
        ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign) and is_described(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(statement, ast.AnnAssign) and not (
                    is_docstring(following)
                    or is_described(statement.annotation)
                    or ast.unparse(statement.annotation) in described_types
                ):
                    yield f"{node.name}.{ast.unparse(statement.target)}"


def is_described(annotation: ast.expr) -> bool:
    """Whether a type says what a member means, as `engine.published` has it."""
    called = {ast.unparse(node.func) for node in ast.walk(annotation) if isinstance(node, ast.Call)}
    return bool(called & {"described", "by_seat", "published_as"})


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
