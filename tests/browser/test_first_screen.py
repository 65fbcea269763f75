"""A newcomer who has only read the beginning of the README, after the installation."""

import re
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.support.paths import ROOT
from tests.support.service import Service, clean_environment

pytestmark = pytest.mark.slow

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = 30
"""What a screen shows of the README."""


def test_a_newcomer_has_a_game_on_the_screen_within_a_minute(
    browser: Browser, tmp_path: Path
) -> None:
    screen = "\n".join(README.splitlines()[:LINES])
    (command,) = re.findall(r"```sh\n(.*?)```", screen, re.DOTALL)[:1]
    (address,) = re.findall(r"http://127\.0\.0\.1:8000/\w+", screen)[:1]
    begin = time.monotonic()
    environment = clean_environment() | {"PORT": "0", "DATA_DIR": str(tmp_path), "MAKEFLAGS": ""}
    service = Service(["bash", "-c", command], environment, ROOT)
    try:
        service.await_ready()
        page = PlayPage(browser, service.url + urlsplit(address).path)
        page.start("parade", 3)
        browser.find("[data-offer]")
        seconds = time.monotonic() - begin
        browser.open("about:blank")  # a page that is left asks the service no more
    finally:
        service.end()
        service.store.end()
    print(f"A game after {seconds:.1f} seconds")
    assert seconds < 60
