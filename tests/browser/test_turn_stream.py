"""A page that follows all games of a player with one EventSource, behind nginx, from elsewhere."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.support.api_client import Client, new_player
from tests.support.nginx import nginx
from tests.support.paths import ROOT
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

FILES = {
    "/": (ROOT / "tests" / "browser" / "follow.html", "text/html"),
    "/follow.js": (ROOT / "examples" / "browser" / "follow.js", "text/javascript"),
}
STANDSTILL = 8.0


@contextmanager
def page_server() -> Iterator[str]:
    """Serve the page from an origin of its own."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = FILES.get(self.path.partition("?")[0])
            self.send_response(200 if found else 404)
            if found:
                self.send_header("Content-Type", found[1])
            self.end_headers()
            if found:
                self.wfile.write(found[0].read_bytes())

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Page:
    """The page of a player, and what it was told."""

    def __init__(self, browser: Browser, origin: str, api: str, player: Client) -> None:
        self.browser = browser
        self.player = player
        browser.tolerate("Failed to load resource")
        browser.open(f"{origin}/?api={api}&token={player.token}")

    @property
    def told(self) -> list[list[str]]:
        told: list[list[str]] = self.browser.run("return window.told")
        return told

    @property
    def news(self) -> list[list[str]]:
        return [each for each in self.told if each[0] != "unavailable"]

    def is_told_of_a_new_game(self) -> None:
        game_id = self.player.create(2, house=["careful"])["id"]
        expected = [["started", game_id], ["turn", game_id]]
        wait_until(lambda: expected == self.news[-2:], "the page is told", 60)
        assert len(self.news) == len({tuple(each) for each in self.news})

    def is_told_why(self, code: str) -> None:
        wait_until(lambda: ["unavailable", code] in self.told, f"the page is told {code}")


@pytest.fixture
def service(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with one worker, and the settings of the test."""
    settings = getattr(request, "param", {})
    with serving(tmp_path / "data", WEB_CONCURRENCY="1", **settings) as running:
        yield running


@contextmanager
def open_page(
    service: Service, browser: Browser, directory: Path, location: str = ""
) -> Iterator[Page]:
    """The page of a new player, behind an nginx with these settings."""
    with nginx(service, directory, location=location) as api, page_server() as origin:
        opened = Page(browser, origin, api, new_player(service.url, checked=False))
        opened.is_told_of_a_new_game()
        yield opened


@pytest.fixture
def page(service: Service, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with open_page(service, browser, tmp_path) as opened:
        yield opened


def test_a_page_recovers_from_a_restart_of_the_worker(service: Service, page: Page) -> None:
    before = service.worker_pids
    for pid in before:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not before & service.worker_pids, "the worker has stopped")
    service.await_ready()
    page.is_told_of_a_new_game()


def test_a_page_recovers_from_a_store_that_stands_still(service: Service, page: Page) -> None:
    pid = wait_until(lambda: service.store.pid, "the store runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(STANDSTILL)
    finally:
        os.kill(pid, signal.SIGCONT)
    page.is_told_of_a_new_game()


def test_a_page_that_is_opened_while_the_store_stands_still_recovers(
    service: Service, page: Page
) -> None:
    pid = wait_until(lambda: service.store.pid, "the store runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        page.browser.run("location.reload()")
        time.sleep(STANDSTILL)
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: len(page.news) == 2, "the page is told what it was told before", 60)
    page.is_told_of_a_new_game()


@pytest.mark.parametrize("service", [{"WAITERS_PER_PLAYER": "1"}], indirect=True)
def test_a_page_recovers_from_a_crowd(page: Page) -> None:
    """A second page of the same player has no slot until the first one is closed."""
    first = page.browser.driver.current_window_handle
    address = page.browser.driver.current_url
    page.browser.driver.switch_to.new_window("tab")
    second = page.browser.driver.current_window_handle
    page.browser.open(address)
    page.is_told_why("too_many_waiting")
    page.browser.driver.switch_to.window(first)
    page.browser.driver.close()
    page.browser.driver.switch_to.window(second)
    wait_until(lambda: len(page.news) == 2, "the second page is told", 60)
    page.is_told_of_a_new_game()


@pytest.mark.parametrize("service", [{"RATE_LIMITS": "polls=2/second"}], indirect=True)
def test_a_page_recovers_from_a_rate_limit(
    service: Service, browser: Browser, tmp_path: Path
) -> None:
    """A proxy that cuts silent streams makes the browser open the stream again and again."""
    stop = threading.Event()

    def use_up(ticket: str) -> None:
        stranger = Client(service.url, checked=False)
        while not stop.wait(0.02):
            stranger.request("HEAD", f"/v1/me/stream?ticket={ticket}")

    with open_page(service, browser, tmp_path, "proxy_read_timeout 2s;") as page:
        spender = threading.Thread(target=use_up, args=(browser.run("return window.ticket"),))
        spender.start()
        try:
            page.is_told_why("too_many_requests")
        finally:
            stop.set()
            spender.join()
        page.is_told_of_a_new_game()


def test_a_page_recovers_from_a_ticket_that_has_expired(service: Service, page: Page) -> None:
    with service.store.client() as store:
        store.delete(*store.keys("ticket:*"))
    for pid in service.worker_pids:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: page.browser.run("return window.tickets") == 2, "there is a new ticket", 60)
    page.is_told_of_a_new_game()


def test_the_page_paces_what_comes_at_once_and_knows_the_services_clock(page: Page) -> None:
    wait_until(lambda: len(page.browser.run("return window.drawn")) == 3, "all is drawn")
    items = page.browser.run("return window.drawn")
    assert [item for item, _ in items] == [1, 2, 3]
    assert items[2][1] - items[0][1] >= 190
    assert abs(page.browser.run("return window.offset")) < 5000
