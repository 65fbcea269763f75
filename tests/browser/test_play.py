"""What a visitor does with the table in the browser at /play."""

import functools
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.browser.prefix import below_prefix
from tests.support.api_client import new_player
from tests.support.paths import ROOT
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

EXTREMES = [
    ("parade", 2),
    ("parade", 6),
    ("tea-time", 2),
    ("tea-time", 4),
    ("mit-list-und-tuecke", 4),
    ("mit-list-und-tuecke", 6),
    ("contrast", 2),
    ("contrast", 6),
]
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}


@contextmanager
def static_server() -> Iterator[str]:
    """Serve the page's folder from an origin of its own."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Write no log."""

    folder = ROOT / "api" / "web" / "pages"
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def assert_in_order(browser: Browser, *urls: str) -> None:
    """Nothing was complained of, and no other host was asked."""
    assert browser.complaints == []
    near = tuple(f"{url}/" for url in urls)
    assert [url for url in browser.requests_beyond(urls[0]) if not url.startswith(near)] == []


def assert_shows_the_result(page: PlayPage, service: Service) -> None:
    """The page's ranks and points are those that the service tells."""
    result = new_player(service.url).get(f"/v1/games/{page.game_id}")["result"]
    shown = page.browser.find(".result .places").text
    assert [f"{score} point" in shown for score in result["scores"]] == [True] * len(
        result["scores"]
    )
    heading = page.browser.find("#outcome").text
    assert ("You" in heading) == (0 in result["winners"])


@pytest.mark.parametrize(("ruleset", "seat_count"), EXTREMES)
def test_a_person_plays_against_the_house_by_clicking_what_is_offered(
    service: Service, browser: Browser, ruleset: str, seat_count: int
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start(ruleset, seat_count)
    page.play_to_the_end()
    assert_shows_the_result(page, service)
    assert_in_order(browser, service.url)
    page.click_now("#rematch")
    wait_until(lambda: not page.is_over and page.sees("[data-part]"), "the rematch is shown")


@pytest.mark.parametrize("ruleset", ["parade", "tea-time", "mit-list-und-tuecke"])
def test_a_game_is_played_by_keyboard_alone(
    service: Service, browser: Browser, ruleset: str
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start(ruleset, 4)
    while page.make_a_move_by_keyboard():
        pass
    assert_shows_the_result(page, service)
    assert_in_order(browser, service.url)


@pytest.mark.parametrize(
    ("ruleset", "seat_count"), [("parade", 6), ("tea-time", 4), ("mit-list-und-tuecke", 6)]
)
def test_a_game_is_played_on_a_phone_without_scrolling_sideways(
    service: Service, browser: Browser, ruleset: str, seat_count: int
) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    page = PlayPage(browser, f"{service.url}/play", "A player with quite a long name, in fact")
    assert not page.is_wider_than_screen
    page.start(ruleset, seat_count)
    while page.make_a_move():
        assert not page.is_wider_than_screen
    assert not page.is_wider_than_screen
    assert_in_order(browser, service.url)


def test_a_page_that_is_loaded_again_goes_on_with_the_game(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 3)
    page.make_a_move()
    browser.driver.refresh()
    page.play_to_the_end()
    assert_shows_the_result(page, service)


def test_a_card_that_cannot_be_played_says_why_in_the_visitors_language(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    browser.click("#language option[value='fr']")
    wait_until(lambda: "règles" in browser.find("h1").text, "the page is in French")
    page.start("tea-time", 2)
    while not page.sees("[data-part][aria-disabled='true']:not([aria-pressed='true'])"):
        page.make_a_move()
        page.click_now("#skip")
        wait_until(lambda: page.sees("[data-offer]") or page.is_over, "it is my turn")
        page.click_now("[data-offer]")
    page.click_now("[data-part][aria-disabled='true']")
    reasons = ("alignées", "trop de cartes", "un trou")
    wait_until(
        lambda: any(each in browser.find("#says").text for each in reasons), "the page says why"
    )


def test_two_people_meet_by_a_link_and_one_takes_the_seat_back(
    service: Service, browser: Browser, tmp_path: Path
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2, "private_table")
    link = browser.find("#link").get_property("value")
    other = Browser(tmp_path / "other")
    try:
        guest = PlayPage(other, str(link), "Bob")
        guest.give_name()
        other.find("[data-part]")
        browser.find("[data-part]")
        assert "Bob" in browser.find(".seats").text
        guest.click_now("#leave")
        other.click("#answer")
        other.find(".games")
        other.click("#mine a")
        other.click("#take-back")
        wait_until(lambda: not guest.sees("#take-back"), "the seat is mine again")
        while not (page.is_over or guest.is_over):
            for each in (page, guest):
                for selector in ("#skip", "#confirm:enabled", "[data-offer][aria-pressed='false']"):
                    each.click_now(selector)
        for each in (page, guest):
            wait_until(lambda each=each: each.is_over, "both see the end")
            assert each.browser.find("#outcome").text
            assert_in_order(each.browser, service.url)
    finally:
        other.close()


def played_cards(page: PlayPage) -> list[str]:
    """The cards that the page has told of as played, in order."""
    told: list[str] = page.browser.run(
        "return [...document.querySelectorAll('.log li')].map((each) => each.textContent)"
    )
    return [text for text in reversed(told) if "plays" in text]


def test_nothing_is_lost_or_told_twice_while_the_network_a_worker_and_the_store_fail(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path / "data", WEB_CONCURRENCY="2") as service:
        page = PlayPage(browser, f"{service.url}/play")
        page.start("parade", 3)
        reader = new_player(service.url)
        items = reader.get(f"/v1/games/{page.game_id}/events")["items"]

        page.make_a_move()
        page.choose_a_move()
        page.go_offline(True)
        page.make_a_move()  # is not answered yet
        browser.find("#trouble")
        time.sleep(3)
        page.go_offline(False)
        page.make_a_move()

        before = service.worker_pids
        for pid in before:
            os.kill(pid, signal.SIGTERM)
        page.make_a_move()
        wait_until(lambda: not before & service.worker_pids, "the workers have stopped")
        service.await_ready()
        page.make_a_move()

        store = wait_until(lambda: service.store.pid, "the store runs")
        page.choose_a_move()
        os.kill(store, signal.SIGSTOP)
        try:
            page.make_a_move()
            time.sleep(8)
        finally:
            os.kill(store, signal.SIGCONT)
        page.play_to_the_end()
        assert_shows_the_result(page, service)

        history = reader.get(f"/v1/games/{page.game_id}/events")["items"][len(items) :]
        played = [event for item in history for event in item["events"]]
        cards = [event["card"] for event in played if event["type"] == "card_played"]
        assert [text.rpartition("plays ")[2].rstrip(".") for text in played_cards(page)] == [
            card.replace("-", " ") for card in cards
        ]


def test_a_quick_match_falls_back_to_the_house(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("tea-time", 2, "quick_match")
    assert browser.find(".open").text
    wait_until(lambda: page.sees("[data-part]"), "the house has sat down", 40)
    assert_in_order(browser, service.url)


def test_the_token_lets_another_browser_go_on(
    service: Service, browser: Browser, tmp_path: Path
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    browser.click("#account")
    token = browser.find("#token").get_property("value")
    other = Browser(tmp_path / "other")
    try:
        again = PlayPage(other, f"{service.url}/play")
        other.click("#account")
        other.write("#other", str(token))
        other.click("#answer")
        other.click("#mine a")
        other.find("[data-part]")
        assert again.game_id == page.game_id
    finally:
        other.close()


def test_the_page_works_below_a_prefix(service: Service, browser: Browser) -> None:
    with below_prefix(service.url, "/cards") as url:
        page = PlayPage(browser, f"{url}/play")
        page.start("tea-time", 2)
        page.make_a_move()
        assert_in_order(browser, url)


def test_a_copy_on_another_server_plays_with_the_service(
    service: Service, browser: Browser
) -> None:
    with static_server() as origin:
        page = PlayPage(browser, f"{origin}/play/index.html")
        browser.write("#api", service.url)
        browser.click("#use")
        page.start("parade", 2)
        page.play_to_the_end()
        assert_shows_the_result(page, service)
        # The page has looked for the service beside itself first.
        expected = [each for each in browser.complaints if "404" not in each]
        assert expected == []
