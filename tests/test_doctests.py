"""The examples in docstrings are true."""

import doctest
import importlib

import pytest

from tests.support.paths import ROOT

WITH_EXAMPLES = sorted(
    str(file.relative_to(ROOT).with_suffix("")).replace("/", ".")
    for package in ("api", "engine")
    for file in (ROOT / package).rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0
    assert failed == 0
