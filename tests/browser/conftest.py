"""A fresh Chromium for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.browser import Browser


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    opened = Browser(tmp_path / "profile")
    try:
        yield opened
    finally:
        opened.close()
