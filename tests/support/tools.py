"""Programs that slow tests need besides Python."""

import os
import shutil

import pytest


def find_program(name: str) -> str:
    """Where a program is. Without it the test is skipped; where CI runs, it fails."""
    found = shutil.which(name)
    if found is None and os.environ.get("CI"):
        pytest.fail(f"{name} is not installed")
    return found or pytest.skip(f"{name} is not installed")
