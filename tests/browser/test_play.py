"""What a visitor does with the table in the browser at /play."""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import OFFERED, PlayPage, assert_shows_places
from tests.browser.prefix import below_prefix
from tests.support.api_client import new_player
from tests.support.paths import ROOT
from tests.support.service import Service
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


def assert_shows_the_result(page: PlayPage, service: Service) -> None:
    """The page's ranks and points are those that the service tells."""
    game = new_player(service.url).game(page.game_id)
    assert_shows_places(page, game)
    heading = page.browser.text("#outcome")
    assert ("You" in heading) == (0 in game["result"]["winners"])


@pytest.mark.parametrize(("ruleset", "seat_count"), EXTREMES)
def test_a_person_plays_against_the_house_by_clicking_what_is_offered(
    service: Service, browser: Browser, ruleset: str, seat_count: int
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start(ruleset, seat_count)
    page.play_to_the_end()
    assert_shows_the_result(page, service)
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


@pytest.mark.parametrize(("key", "text", "code"), [("1", "1", 49), ("Enter", "\r", 13)])
def test_a_key_that_is_held_chooses_a_card_and_does_not_play_it(
    service: Service, browser: Browser, key: str, text: str, code: int
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    browser.find("[data-offer]")
    browser.run("document.querySelector('[data-offer]').focus()")
    page.hold(key, text, code)
    assert page.sees("[data-offer][aria-pressed='true']")
    assert [each.url for each in browser.sent if each.url.endswith("/moves")] == []


@pytest.mark.parametrize(
    ("ruleset", "seat_count"), [("parade", 6), ("tea-time", 4), ("mit-list-und-tuecke", 6)]
)
def test_a_game_is_played_on_a_phone_without_scrolling_sideways(
    service: Service, browser: Browser, ruleset: str, seat_count: int
) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    page = PlayPage(browser, f"{service.url}/play", "A player with quite a long name, in fact")
    page.must_reach = True
    assert not page.is_wider_than_screen
    page.start(ruleset, seat_count)
    while page.make_a_move():
        assert not page.is_wider_than_screen
    assert page.is_over
    assert not page.is_wider_than_screen


def test_a_screen_reader_hears_all_that_is_skipped_and_each_turn_of_mine(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 3)
    page.choose_a_move()
    browser.run(
        "window.heard = []; const live = document.querySelector('#live');"
        "new MutationObserver(() => window.heard.push(live.textContent))"
        "  .observe(live, { childList: true })"
    )
    before = len(wait_until(lambda: page.told, "the past is listed"))
    page.click_now("#confirm:enabled")
    wait_until(lambda: page.click_now("#skip"), "the events are shown")
    wait_until(lambda: page.sees(OFFERED), "it is my turn again")

    def heard() -> str:
        return " ".join(browser.run("return window.heard"))

    wait_until(lambda: heard().endswith("Your turn"), "my turn is said")
    assert [line for line in page.told[before:] if line not in heard()] == []


def test_a_page_that_is_loaded_again_goes_on_with_the_game(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 3)
    page.make_a_move()
    browser.driver.refresh()
    page.play_to_the_end()
    assert_shows_the_result(page, service)


def test_an_event_leaves_what_the_visitor_reads_as_it_is(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 3)
    for _ in range(4):
        page.make_a_move()
    page.choose_a_move()
    browser.run(
        "for (const each of document.querySelectorAll('details')) each.open = true;"
        "const list = document.querySelector('.log > ol'); list.focus(); list.scrollTop = 40"
    )
    before = len(page.told)
    page.click_now("#confirm:enabled")
    wait_until(lambda: len(page.told) > before, "an event is told")
    assert browser.run(
        "const list = document.querySelector('.log > ol');"
        "return [list === document.activeElement, list.scrollTop,"
        "  document.querySelector('.log details').open]"
    ) == [True, 40, True]


def test_a_card_that_cannot_be_played_says_why_in_the_visitors_language(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    browser.click("#language option[value='fr']")
    wait_until(lambda: "règles" in browser.text("h1"), "the page is in French")
    page.start("tea-time", 2)
    while not page.sees("[data-part][aria-disabled='true']:not([aria-pressed='true'])"):
        page.make_a_move()
        page.click_now("#skip")
        wait_until(lambda: page.sees("[data-offer]") or page.is_over, "it is my turn")
        page.click_now("[data-offer]")
    page.click_now("[data-part][aria-disabled='true']")
    reasons = ("alignées", "trop de cartes", "un trou")
    wait_until(lambda: any(each in browser.text("#says") for each in reasons), "the page says why")


def test_two_people_meet_by_a_link_and_one_takes_the_seat_back(
    service: Service, browser: Browser, open_browser: Callable[..., Browser]
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2, "private_table")
    link = browser.value("#link")
    other = open_browser()
    guest = PlayPage(other, str(link), "Bob")
    guest.give_name()
    other.find("[data-part]")
    browser.find("[data-part]")
    assert "Bob" in browser.text(".seats")
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
        assert each.browser.text("#outcome")


def test_a_quick_match_falls_back_to_the_house(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("tea-time", 2, "quick_match")
    assert browser.text(".open")
    wait_until(lambda: page.sees("[data-part]"), "the house has sat down", 40)


def test_the_token_lets_another_browser_go_on(
    service: Service, browser: Browser, open_browser: Callable[..., Browser]
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    browser.click("#account")
    token = browser.value("#token")
    other = open_browser()
    again = PlayPage(other, f"{service.url}/play")
    other.click("#account")
    other.write("#other", str(token))
    other.click("#answer")
    other.click("#mine a")
    other.find("[data-part]")
    assert again.game_id == page.game_id


def test_the_page_works_below_a_prefix(service: Service, browser: Browser) -> None:
    with below_prefix(service.url, "/cards") as url:
        page = PlayPage(browser, f"{url}/play")
        page.start("tea-time", 2)
        page.make_a_move()
        assert browser.requests_beyond(url) == []
        browser.open("about:blank")  # before the prefix is gone


def test_a_copy_on_another_server_plays_with_the_service(
    service: Service, browser: Browser
) -> None:
    with static_server() as origin:
        browser.tolerate(" 404 ")  # the page looks for the service beside itself first
        page = PlayPage(browser, f"{origin}/play/index.html")
        browser.write("#api", service.url)
        browser.click("#use")
        page.start("parade", 2)
        page.play_to_the_end()
        assert_shows_the_result(page, service)


def test_an_address_that_is_confirmed_twice_opens_the_page_once(
    service: Service, browser: Browser
) -> None:
    with static_server() as origin:
        browser.tolerate(" 404 ")  # the page looks for the service beside itself first
        PlayPage(browser, f"{origin}/play/index.html")
        browser.write("#api", service.url)
        browser.run("const use = document.querySelector('#use'); use.click(); use.click()")
        browser.find(".games")
        sent = [each.url for each in browser.sent if each.method == "GET"]
        # One request finds the service, and one is for the lobby.
        assert sent.count(f"{service.url}/v1/rulesets") == 2
