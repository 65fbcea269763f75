"""The command that takes pictures of the table in the browser."""

from pathlib import Path

import pytest

from tests.browser.playing import RULESETS
from tests.browser.scenes import SCHEMES
from tests.browser.screenshots import SCREENS, main

pytestmark = pytest.mark.slow


def test_a_picture_is_taken_of_each_page_in_each_scheme_and_on_each_screen(tmp_path: Path) -> None:
    main([str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{page}-{screen}-{scheme}.png"
        for page in ("lobby", *RULESETS, "result")
        for screen in SCREENS
        for scheme in SCHEMES
    }
