"""The table in the browser and the services that it can play with: slow ones, several, others."""

import time

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.browser.prefix import below_prefix
from tests.support.api_client import Client
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

START = "[data-ruleset='parade'] [data-start='play_now']"
SLOW_SECONDS = 3


def test_a_second_click_while_the_table_is_loaded_opens_no_second_table(
    service: Service, browser: Browser
) -> None:
    def is_slow(method: str, path: str) -> bool:
        if method == "GET" and path.startswith("/v1/games/") and path.count("/") == 3:
            time.sleep(SLOW_SECONDS)
        return False

    with below_prefix(service.url, "/cards", is_slow) as url:
        page = PlayPage(browser, f"{url}/play")
        browser.click(START)
        page.give_name()
        wait_until(lambda: "#/game/" in browser.driver.current_url, "the table is created")
        assert page.click_now(START)
        browser.find(".tablehead")
        mine = Client(service.url, page.saved["token"]).get("/v1/me/games")["items"]
        assert [game["id"] for game in mine] == [page.game_id]
        browser.open("about:blank")  # before the prefix is gone
