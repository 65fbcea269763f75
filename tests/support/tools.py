"""Programs that some tests need besides Python."""

import os
import shutil

import pytest


def find_program(name: str) -> str:
    """Return the path of a program. If there is none, skip the test, or fail it where CI is set."""
    found = shutil.which(name)
    if found is None and os.environ.get("CI"):
        pytest.fail(f"{name} is not installed")
    return found or pytest.skip(f"{name} is not installed")
