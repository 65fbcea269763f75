"""The table in the browser while the network, the service, its store or the tab stands still."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import (
    OFFERED,
    PlayPage,
    assert_shows_places,
    assert_tells_all,
    meet,
    play_moves,
    play_out,
)
from tests.browser.prefix import below_prefix
from tests.support.api_client import Client, new_player
from tests.support.ports import free_port
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

OFFLINE_SECONDS = 20
STANDSTILL_SECONDS = 8
FAILED = "Failed to load resource"
"""What the console says of a request without an answer, or with an error."""


def press_for(pages: list[PlayPage], seconds: float) -> None:
    """Let all press what they are offered for some time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for page in pages:
            page.act_now()
        time.sleep(0.5)


def restart(service: Service, pages: list[PlayPage]) -> None:
    """Restart all workers while all play."""
    before = service.worker_pids
    for pid in before:
        os.kill(pid, signal.SIGTERM)
    press_for(pages, 2)
    wait_until(lambda: not before & service.worker_pids, "the workers have stopped")
    service.await_ready()


@contextmanager
def standstill(service: Service) -> Iterator[None]:
    """Let the store stand still."""
    store = wait_until(lambda: service.store.pid, "the store runs")
    os.kill(store, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(store, signal.SIGCONT)


def played_cards(reader: Client, game_id: str) -> list[str]:
    """The titles of the cards that were played in a game of Parade, in order."""
    items = reader.get(f"/v1/games/{game_id}/events")["items"]
    events = [event for item in items for event in item["events"]]
    return [each["card"].replace("-", " ") for each in events if each["type"] == "card_played"]


def told_cards(page: PlayPage) -> list[str]:
    """The titles of the cards that the page tells of as played, in order."""
    return [line.rpartition("plays ")[2].rstrip(".") for line in page.told if "plays " in line]


def assert_same_end(service: Service, pages: list[PlayPage]) -> None:
    """All show the service's result, and have told each event once and in order."""
    game_id = pages[0].game_id
    reader = new_player(service.url)
    game = reader.game(game_id)
    for page in pages:
        assert_shows_places(page, game)
        assert told_cards(page) == played_cards(reader, game_id)
        assert_tells_all(page)


def test_two_people_play_to_the_same_end_through_all_failures(
    open_browser: Callable[..., Browser], tmp_path: Path
) -> None:
    with serving(tmp_path / "data", WEB_CONCURRENCY="2") as service:
        pages = [PlayPage(open_browser(), f"{service.url}/play", name) for name in ("Ada", "Bob")]
        ada, bob = pages
        meet(pages, "parade", 2)
        for page in pages:
            page.browser.tolerate(FAILED)
        play_moves(pages, 2)

        bob.browser.driver.refresh()
        wait_until(lambda: bob.told, "the page shows the game again")
        play_moves(pages, 2)

        ada.go_offline(True)
        press_for(pages, OFFLINE_SECONDS)
        ada.go_offline(False)
        play_moves(pages, 2)

        restart(service, pages)
        play_moves(pages, 2)

        with standstill(service):
            press_for(pages, STANDSTILL_SECONDS)
        play_out(pages)
        assert_same_end(service, pages)


def test_a_service_that_is_started_again_goes_on_with_the_games(
    browser: Browser, tmp_path: Path
) -> None:
    browser.tolerate(FAILED)
    port = str(free_port())
    with serving(tmp_path / "data", PORT=port) as service:
        page = PlayPage(browser, f"{service.url}/play")
        page.start("parade", 2)
        page.make_a_move()
        page.choose_a_move()
        service.signal(signal.SIGTERM)
        service.process.wait(60)
        page.make_a_move()  # is not answered yet
        browser.find("#trouble")
    with serving(tmp_path / "data", PORT=port) as service:
        page.play_to_the_end()
        wait_until(lambda: not page.sees("#trouble:not([hidden])"), "nothing is wrong any more")
        assert_same_end(service, [page])


def test_a_page_that_is_loaded_while_the_store_stands_still_shows_the_game_later(
    browser: Browser, tmp_path: Path
) -> None:
    browser.tolerate(FAILED)
    with serving(tmp_path / "data") as service:
        page = PlayPage(browser, f"{service.url}/play")
        page.start("parade", 2)
        with standstill(service):
            browser.driver.refresh()
            browser.find("#trouble")
        page.make_a_move()


class Friends:
    """Two players of the API at the private table of a page, which has seat 0."""

    def __init__(self, service: Service, page: PlayPage) -> None:
        page.start("parade", 3, "private_table")
        link = page.browser.value("#link")
        self.game_id, invite = link.split("/")[-2:]
        self.players = [new_player(service.url, name=name) for name in ("Bob", "Cyd")]
        for player in self.players:
            player.join(self.game_id, invite=invite)
        self.play_on()

    @property
    def seat_to_move(self) -> int:
        seat: int = self.players[0].game(self.game_id)["to_move"][0]
        return seat

    def play_on(self) -> None:
        """Move until the game waits for the page."""
        while (seat := self.seat_to_move) != 0:
            self.players[seat - 1].play_first(self.game_id)

    def answer(self) -> None:
        """Wait for the move of the page, and move."""
        wait_until(lambda: self.seat_to_move != 0, "the page has moved")
        self.play_on()


def test_a_move_whose_answer_is_lost_is_sent_again_and_played_once(
    service: Service, browser: Browser
) -> None:
    lost: list[str] = []

    def loses(method: str, path: str) -> bool:
        is_lost = method == "POST" and path.endswith("/moves") and len(lost) < 2
        lost.extend([path] * is_lost)
        return is_lost

    with below_prefix(service.url, "/cards", loses) as url:
        browser.tolerate(FAILED)
        page = PlayPage(browser, f"{url}/play")
        page.start("parade", 2)
        page.make_a_move()
        browser.find("#trouble")
        page.make_a_move()
        moves = [each.body for each in browser.sent if each.url.endswith("/moves")]
        assert moves[0] == moves[1] == moves[2] != moves[3]
        chosen = [json.loads(str(move))["move"]["card"].replace("-", " ") for move in moves[2:]]
        page.play_to_the_end()
        told = told_cards(page)
        assert told == played_cards(new_player(service.url), page.game_id)
        assert [told.count(card) for card in chosen] == [1, 1]
        assert_tells_all(page)


def test_a_move_that_is_answered_late_hides_nothing_that_others_did_meanwhile(
    service: Service, browser: Browser
) -> None:
    friends: list[Friends] = []
    lost: list[str] = []

    def loses(method: str, path: str) -> bool:
        if "/stream?" in path:  # the stream would tell all in order
            return bool(friends)
        is_lost = bool(friends) and path.endswith("/moves") and not lost
        if is_lost:
            friends[0].play_on()
            lost.append(path)
        return is_lost

    with below_prefix(service.url, "/cards", loses) as url:
        browser.tolerate(FAILED)
        page = PlayPage(browser, f"{url}/play")
        friends.append(Friends(service, page))
        browser.driver.refresh()  # which opens the stream again
        page.make_a_move()
        wait_until(lambda: lost and page.sees(OFFERED), "it is my turn again", 40)
        assert told_cards(page) == played_cards(friends[0].players[0], page.game_id)
        assert_tells_all(page)


def test_a_table_is_opened_once_when_the_answer_is_lost_or_the_visitor_clicks_twice(
    service: Service, browser: Browser
) -> None:
    lost: list[str] = []

    def loses(method: str, path: str) -> bool:
        is_lost = method == "POST" and path == "/v1/games" and not lost
        lost.extend([path] * is_lost)
        return is_lost

    with below_prefix(service.url, "/cards", loses) as url:
        browser.tolerate(FAILED)
        page = PlayPage(browser, f"{url}/play")
        browser.click("[data-ruleset='parade'] [data-start='play_now']")
        page.give_name()
        browser.find("#trouble")
        page.click_now("[data-ruleset='parade'] [data-start='play_now']")
        browser.find(".tablehead")
    mine = Client(service.url, page.saved["token"]).get("/v1/me/games")["items"]
    assert [game["id"] for game in mine] == [page.game_id]


def test_a_tab_that_slept_tells_all_that_happened_meanwhile(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    friends = Friends(service, page)
    page.make_a_move()
    page.set_frozen(True)
    friends.answer()
    page.set_frozen(False)
    page.make_a_move()
    friends.answer()
    expected = played_cards(friends.players[0], friends.game_id)
    wait_until(lambda: told_cards(page) == expected, "all is told")
    assert_tells_all(page)


def test_a_tab_in_the_background_tells_all_and_names_the_turn_in_its_title(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    friends = Friends(service, page)
    page.make_a_move()
    wait_until(lambda: "Your turn" not in browser.driver.title, "the page has moved")
    page.go_to_background()
    friends.answer()
    wait_until(lambda: "Your turn" in browser.driver.title, "the title tells the turn")
    assert browser.run("return document.hidden")
    assert told_cards(page) == played_cards(friends.players[0], friends.game_id)
    assert_tells_all(page)
