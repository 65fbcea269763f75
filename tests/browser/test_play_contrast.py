"""Contrast at the table in the browser: the countdown, pictures of others, phones, the keyboard."""

import time
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.support.api_client import Client, new_player
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
SHORT = [f"picture-{number}" for number in range(1, 21)]
"""As many pictures as leave four to play for with six seats."""

OUT_OF_REACH = """
return [...document.querySelectorAll('.hand .card')].filter((card) => {
    const { x, y, width, height } = card.getBoundingClientRect();
    return !card.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).length
"""
"""How many cards of the hand a finger would not meet in their middle."""

SYMBOLS_SHOWN = """
return [...document.querySelectorAll('.laid [data-symbol]')].map((each) => each.dataset.symbol)
"""
CARDS_FACE_DOWN = "return document.querySelectorAll('.laid .back').length"


def open_table(page: PlayPage, service: Service, seat_count: int, **body: Any) -> Client:
    """Open a table of Contrast as the visitor's player, and return this player's client."""
    me = new_player(service.url, name=page.name)
    page.browser.click("#account")
    page.browser.write("#other", str(me.token))
    page.browser.click("#answer")
    wait_until(lambda: page.has_token, "the page has the player's token")
    game = me.create(seat_count, "contrast", **body)
    page.browser.open(f"{service.url}/play#/game/{game['id']}")
    page.browser.find(".tablehead")
    return me


def choose(client: Client, game_id: str) -> str:
    """Lay a card, and return its symbol."""
    game = client.game(game_id)
    client.play(game_id, game["turn"], game["legal_moves"][0])
    symbol: str = game["legal_moves"][0]["symbol"]
    return symbol


def count(client: Client, game_id: str) -> None:
    client.play(game_id, client.game(game_id)["turn"], {"type": "count"})


def table_for_three(page: PlayPage, service: Service, seconds: int) -> Client:
    """Open a table with another person and the house, and return the other person."""
    options = {"countdown_seconds": seconds}
    open_table(page, service, 3, house=["random"], options=options)
    other = new_player(service.url, name="Bob")
    other.join(page.game_id)
    page.browser.find("[data-part][data-offer]")
    return other


def test_a_visitor_counts_and_sees_what_the_others_chose(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    table_for_three(page, service, 2)
    assert not page.sees("#count")
    page.make_a_move()
    browser.click("#count")
    assert "Bob" in browser.text(".news.urgent")
    assert ":" in browser.text(".news.urgent .clock")
    assert not browser.driver.find_element("css selector", ".tablehead .clock").is_displayed()
    wait_until(lambda: "Bob was counted out" in browser.text(".news"), "Bob is counted out")
    # His card is missing among those that are turned over, and another turn begins.
    browser.find("[data-part][data-offer]")
    assert len(browser.driver.find_elements("css selector", ".laid .before")) == 2
    assert browser.complaints == []


def test_a_visitor_who_is_counted_sees_the_time_that_is_left_and_can_still_choose(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    bob = table_for_three(page, service, 20)
    symbol = choose(bob, page.game_id)
    count(bob, page.game_id)
    assert "choose now" in browser.text(".news.urgent")
    first = browser.text(".news.urgent .clock")
    wait_until(lambda: browser.text(".news.urgent .clock") != first, "the countdown goes on")
    assert browser.run(SYMBOLS_SHOWN) == []
    assert page.choose_a_move()
    page.click_now("#confirm:enabled")
    wait_until(lambda: symbol in browser.run(SYMBOLS_SHOWN), "Bob's card is turned over")
    assert not page.sees(".news.urgent")


def test_a_choice_stays_while_others_lay_their_cards(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    bob = table_for_three(page, service, 20)
    page.choose_a_move()
    choose(bob, page.game_id)
    wait_until(lambda: browser.run(CARDS_FACE_DOWN) == 2, "Bob's card lies on the table")
    assert page.sees("#confirm:enabled")


def test_a_countdown_that_begins_while_cards_are_turned_over_is_seen_at_once(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    bob = table_for_three(page, service, 20)
    choose(bob, page.game_id)
    page.make_a_move()
    browser.find(".news.now")
    begun = time.monotonic()
    choose(bob, page.game_id)
    count(bob, page.game_id)
    browser.find(".news.urgent")
    assert page.choose_a_move()
    assert time.monotonic() - begun < 15


def test_a_picture_from_elsewhere_is_named_and_not_loaded(
    service: Service, browser: Browser
) -> None:
    address = "https://pictures.example/{}.svg"
    pictures = [address.format(number) for number in range(52)]
    page = PlayPage(browser, f"{service.url}/play")
    open_table(page, service, 2, house=["careful"], options={"pictures": pictures})
    assert "https://pictures.example/" in browser.text(".shown a")
    page.make_a_move()
    browser.find("[data-part][data-offer]")
    assert browser.requests_beyond(service.url) == []
    assert browser.complaints == []


def test_a_picture_has_a_text_and_is_the_one_of_the_game(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    me = open_table(page, service, 6, house=["careful"] * 5)
    name = me.game(page.game_id)["table"]["picture"]
    picture = browser.find(".shown")
    assert str(picture.get_property("src")).startswith(f"{service.url}/v1/")
    assert f"/{name}" in str(picture.get_property("src"))
    assert str(picture.get_property("alt")).startswith(f"{name.replace('-', ' ')}: ")
    wait_until(
        lambda: browser.run("return document.querySelector('.shown').naturalWidth > 0"),
        "the picture is loaded",
    )


def test_a_symbol_of_the_row_cannot_be_chosen_and_says_why(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    browser.click("#language option[value='fr']")
    open_table(page, service, 2, house=["careful"])
    browser.find("[data-part][data-offer]")
    browser.click(".hand .row [data-part][aria-disabled='true']")
    wait_until(lambda: "aucune carte de votre main" in browser.text("#says"), "it says why")


def test_two_players_win_or_lose_together(service: Service, browser: Browser) -> None:
    pictures = [f"picture-{number}" for number in range(1, 53)]
    page = PlayPage(browser, f"{service.url}/play")
    me = open_table(page, service, 2, house=["careful"], options={"pictures": pictures})
    assert "0 of 22 points together" in browser.text(".tablehead")
    page.play_to_the_end()
    result = me.game(page.game_id)["result"]
    assert str(result["breakdown"]["points"]) in browser.text("#outcome")
    assert "22" in browser.text(".result")
    assert ("win" in browser.text("#outcome")) == (result["winners"] == [0, 1])
    assert (not result["winners"]) != page.sees(".result .first")


@pytest.mark.parametrize("is_expert", [False, True])
def test_a_game_of_six_is_played_on_a_phone_with_all_cards_of_the_hand_in_reach(
    service: Service, browser: Browser, is_expert: bool
) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    page = PlayPage(browser, f"{service.url}/play", "A player with quite a long name, in fact")
    page.must_reach = True
    options = {"pictures": SHORT, "expert": is_expert}
    open_table(page, service, 6, house=["careful"] * 5, options=options)
    assert page.choose_a_move()
    while page.choose_a_move():
        assert not page.is_wider_than_screen
        wait_until(lambda: browser.run(OUT_OF_REACH) == 0, "the cards lie still, all in reach")
        page.click_now("#confirm:enabled")
    assert not page.is_wider_than_screen
    assert browser.complaints == []


def test_a_game_is_played_by_keyboard_alone(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    open_table(page, service, 6, house=["careful"] * 5, options={"pictures": SHORT})
    while page.make_a_move_by_keyboard():
        pass
    assert browser.text("#outcome")
    assert browser.complaints == []
