"""Fresh Chromiums for each test. A test fails if one complains or asks another host."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.browser import Browser


@pytest.fixture
def open_browser(tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Open another browser with a profile of its own, and with these flags."""
    opened: list[Browser] = []

    def open_another(*flags: str) -> Browser:
        opened.append(Browser(tmp_path / f"profile-{len(opened)}", *flags))
        return opened[-1]

    try:
        yield open_another
        for each in opened:
            each.assert_in_order()
    finally:
        for each in opened:
            each.close()


@pytest.fixture
def browser(open_browser: Callable[..., Browser]) -> Browser:
    return open_browser()
