"""The table in the browser and the services that it can play with: slow ones, several, others."""

import re
import time
from datetime import UTC, datetime

import pytest

from tests.browser.browser import Browser
from tests.browser.ended import keep_player
from tests.browser.playing import PlayPage
from tests.browser.prefix import below_prefix
from tests.support.api_client import Client, new_player
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


def test_a_clock_shows_no_more_time_than_there_is_after_a_slow_answer(
    service: Service, browser: Browser
) -> None:
    def is_slow(method: str, path: str) -> bool:
        if method == "POST" and path.endswith("/moves"):
            time.sleep(SLOW_SECONDS)
        return False

    with below_prefix(service.url, "/cards", is_slow) as url:
        other = new_player(service.url)
        game_id = other.create(2, turn_seconds=120)["id"]
        page = PlayPage(browser, f"{url}/play")
        browser.click(f"[data-key='join-{game_id}']")
        page.give_name()
        browser.find("[data-part]")
        if other.game(game_id)["legal_moves"]:
            other.play_first(game_id)
        page.make_a_move()
        wait_until(lambda: other.game(game_id)["legal_moves"], "the page has moved")
        time.sleep(SLOW_SECONDS + 1)  # until the page has its answer
        deadline = datetime.fromisoformat(other.game(game_id)["deadline"])
        shown = re.fullmatch(r"(\d+):(\d+)", browser.text(".clock"))
        left = (deadline - datetime.now(UTC)).total_seconds()
        assert shown
        assert int(shown[1]) * 60 + int(shown[2]) <= left + 2
        browser.open("about:blank")  # before the prefix is gone


def test_a_player_of_one_service_is_unknown_to_another_on_the_same_host(
    service: Service, browser: Browser
) -> None:
    with below_prefix(service.url, "/cards", others=["/games"]) as url:
        page = PlayPage(browser, f"{url}/play")
        page.start("parade", 2)
        token = page.saved["token"]
        browser.open(f"{url.removesuffix('/cards')}/games/play")
        browser.find(".games")
        assert browser.text("#account") == "Token"
        assert not page.has_token
        browser.open(f"{url}/play")
        wait_until(lambda: browser.text("#account") == page.name, "the player is known")
        assert page.saved["token"] == token
        browser.open("about:blank")  # before the prefix is gone


def test_a_newer_token_is_not_forgotten_with_one_that_has_ended(
    service: Service, browser: Browser
) -> None:
    browser.tolerate("status of 401")
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    old = Client(service.url, page.saved["token"])
    me = Client(service.url, old.post("/v1/me/token")["token"], page.saved["id"])
    me.get("/v1/me")  # the old token ends when the new one is used
    keep_player(browser, me, page.name)
    page.open_lobby()
    wait_until(lambda: browser.text("#account") == "Token", "the old token is not used")
    assert page.saved["token"] == me.token


def test_an_invitation_to_a_game_that_the_page_cannot_draw_takes_no_seat(
    service: Service, browser: Browser
) -> None:
    host = new_player(service.url)
    game = host.create(2, visibility="private")
    page = PlayPage(browser, f"{service.url}/play#/join/chess/{game['id']}/{game['invite']}")
    assert "older than the service" in browser.text("#older")
    assert [each.url for each in browser.sent if each.method == "POST"] == []
    browser.click("#older a")
    browser.find(".games")
    browser.run("location.hash = arguments[0]", f"#/join/parade/{game['id']}/{game['invite']}")
    page.give_name()
    browser.find("[data-part]")
