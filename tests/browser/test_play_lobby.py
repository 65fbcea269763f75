"""The lobby of the table in the browser: open tables, one's own games, and several tabs."""

import time

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.support.api_client import Client, new_player
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


def player_of(page: PlayPage, url: str) -> Client:
    """The player of a page, over HTTP."""
    saved = page.saved
    return Client(url, saved["token"], saved["id"])


def test_an_open_table_is_joined_from_the_lobby(service: Service, browser: Browser) -> None:
    host = new_player(service.url, name="Grace")
    game = host.create(2)
    page = PlayPage(browser, f"{service.url}/play")
    assert "Grace" in browser.text(f"#tables li:has([href$='{game['id']}'])")
    browser.click(f"[data-key='join-{game['id']}']")
    page.give_name()
    browser.find("[data-part]")
    assert page.game_id == game["id"]
    assert "Grace" in browser.text(".seats")
    assert host.game(game["id"])["status"] == "playing"


def test_a_lobby_in_which_nothing_has_changed_is_not_drawn_again(
    service: Service, browser: Browser
) -> None:
    game = new_player(service.url, name="Grace").create(2)
    PlayPage(browser, f"{service.url}/play")
    browser.find(f"#tables li:has([href$='{game['id']}'])")
    browser.run("document.querySelector('.games select').dataset.before = 'yes'")

    def reads() -> int:
        return sum("/v1/games?" in url for url in browser.requests)

    before = reads()
    browser.run("document.dispatchEvent(new Event('visibilitychange'))")
    wait_until(lambda: reads() > before, "the lobby reads its lists")
    time.sleep(1)  # until they have come
    assert browser.value(".games select", "data-before") == "yes"


def test_a_table_that_has_gone_meanwhile_says_why_it_cannot_be_joined(
    service: Service, browser: Browser
) -> None:
    browser.tolerate("status of 4(04|09)")
    host = new_player(service.url, name="Grace")
    game = host.create(2)
    page = PlayPage(browser, f"{service.url}/play")
    browser.find(f"[data-key='join-{game['id']}']")
    host.delete(f"/v1/games/{game['id']}")
    browser.click(f"[data-key='join-{game['id']}']")
    page.give_name()
    wait_until(lambda: browser.text("#says"), "the page says why")


def test_the_lobby_and_its_title_tell_at_once_whose_turn_it_is(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2, "private_table")
    game_id, invite = browser.value("#link").split("/")[-2:]
    me = player_of(page, service.url)
    other = new_player(service.url, name="Bob")
    other.join(game_id, invite=invite)
    if me.game(game_id)["legal_moves"]:
        me.play_first(game_id)
    page.open_lobby()
    mine = f"#mine li:has([href$='{game_id}'])"
    wait_until(lambda: "Under way" in browser.text(mine), "it is not my turn")
    assert browser.driver.title == "Ludothèque"
    page.go_to_background()  # where the lobby does not ask by itself
    other.play_first(game_id)
    wait_until(lambda: browser.driver.title.startswith("(1) Your turn"), "the title tells it", 5)
    assert "Your turn" in browser.text(mine)
    me.play_first(game_id)
    wait_until(lambda: browser.driver.title == "Ludothèque", "it is not my turn any more")


def test_an_invitation_that_is_closed_without_a_name_leads_to_the_lobby(
    service: Service, browser: Browser
) -> None:
    host = new_player(service.url, name="Grace")
    game = host.create(2, visibility="private")
    PlayPage(browser, f"{service.url}/play#/join/{game['id']}/{game['invite']}")
    browser.click("#dialog [type='button']")
    browser.find(".games")


def test_a_host_who_follows_the_own_link_comes_to_the_table(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2, "private_table")
    link = browser.value("#link")
    game_id = page.game_id
    browser.open(link)
    browser.driver.refresh()
    browser.find(".open")
    assert page.game_id == game_id


def test_a_player_who_follows_an_old_link_comes_to_the_game(
    service: Service, browser: Browser
) -> None:
    browser.tolerate("status of 409")
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2, "private_table")
    link = browser.value("#link")
    game_id, invite = link.split("/")[-2:]
    new_player(service.url).join(game_id, invite=invite)
    browser.find("[data-part]")
    browser.run("location.hash = arguments[0]", link.partition("#")[2])
    browser.find("[data-part]")
    wait_until(lambda: page.game_id == game_id, "the game is shown")


def test_two_tabs_share_the_player(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    browser.find(".games")
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    token = page.saved["token"]
    browser.driver.switch_to.window(first)
    browser.click("#language option[value='fr']")
    assert (page.saved["token"], page.saved["language"]) == (token, "fr")
    browser.click("#language option[value='en']")
    wait_until(lambda: page.name in browser.text("#account"), "the tab knows the player")
    browser.click("#mine a")
    browser.find("[data-part]")


def test_a_name_that_is_sent_twice_makes_one_player(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    browser.click("[data-ruleset='parade'] [data-start='play_now']")
    browser.write("#name", page.name)
    browser.run(
        """
        const form = document.querySelector("#dialog form");
        form.requestSubmit(document.querySelector("#answer"));
        document.querySelector("#answer").click();
        """
    )
    browser.find(".tablehead")
    created = [each for each in browser.sent if each.url.endswith("/v1/players")]
    assert len(created) == 1
    assert player_of(page, service.url).get("/v1/me/games")["items"]


def test_a_player_that_is_gone_is_asked_for_a_name_again(
    service: Service, browser: Browser
) -> None:
    browser.tolerate("status of 401")
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    new = player_of(page, service.url).post("/v1/me/token")["token"]
    Client(service.url, new).get("/v1/me")  # the old token ends when the new one is used
    page.open_lobby()
    wait_until(lambda: not page.has_token, "the token is forgotten")
    page.start("parade", 2)
    assert page.has_token


def test_a_dialog_closes_when_the_visitor_goes_elsewhere(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 2)
    game_id = page.game_id
    page.open_lobby()
    browser.click("#account")
    browser.find("dialog[open]")
    browser.run("history.back()")
    wait_until(lambda: page.sees("[data-part]"), "the table is shown")
    assert not page.sees("dialog[open]")
    assert page.game_id == game_id
