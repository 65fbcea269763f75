"""What a visitor does with the reference at /docs, in a real browser."""

import json
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.prefix import below_prefix
from tests.support.http_client import HttpClient
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

PATIENCE = 30


class Reference:
    """The reference as a visitor handles it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        browser.open(f"{url}/docs")
        browser.find(".opblock")

    def open(self, operation: str) -> str:
        """Unfold an operation, named by tag and id; the selector of its block."""
        block = f"#operations-{operation}"
        self.browser.click(f"{block} .opblock-summary-control")
        self.browser.find(f"{block} .execute")
        return block

    def send(self, operation: str, body: Any = None, **parameters: str) -> tuple[int, Any]:
        """Send a request; the status and the JSON that the page shows."""
        block = self.open(operation)
        for name, value in parameters.items():
            self.browser.write(f"{block} [data-param-name='{name}'] input", value)
        if body is not None:
            self.browser.write(f"{block} textarea.body-param__text", json.dumps(body))
        self.browser.click(f"{block} .execute")
        answer = f"{block} .live-responses-table"
        status = self.browser.text(f"{answer} tbody .response-col_status").split()[0]
        text = wait_until(
            lambda: self.browser.text(f"{answer} .highlight-code code"), "there is an answer"
        )
        return int(status), json.loads(text)

    def authorize(self, token: str) -> None:
        self.browser.click(".auth-wrapper button.authorize")
        self.browser.write(".auth-container input", token)
        self.browser.click(".auth-btn-wrapper button.authorize")
        self.browser.click(".auth-btn-wrapper button.btn-done")


def test_a_visitor_plays_a_move_from_the_page(service: Service, browser: Browser) -> None:
    page = Reference(browser, service.url)
    status, player = page.send("players-createPlayer", {"name": "Ada", "kind": "human"})
    assert status == 201
    page.authorize(player["token"])

    body = {"ruleset": "parade", "seat_count": 2, "house": ["random"]}
    status, game = page.send("games-createGame", body)
    assert (status, game["status"]) == (201, "playing")
    move = game["legal_moves"][0]
    body = {"turn": game["turn"], "move": move}
    status, played = page.send("play-playMove", body, game_id=game["id"])
    assert status == 200
    assert played["game"]["version"] > game["version"]

    caller = HttpClient(service.url, player["token"])
    path = f"/v1/games/{game['id']}/events"
    items = caller.request("GET", path, params={"since": game["cursor"]}).json()["items"]
    assert (items[0]["by"], items[0]["seat"]) == ("player", game["you"])
    assert items[0]["events"][0]["card"] == move["card"]

    assert browser.complaints == []
    assert browser.requests_beyond(service.url) == []
    assert f"{service.url}/v1/games/{game['id']}/moves" in browser.requests


def test_the_reference_works_below_a_prefix(service: Service, browser: Browser) -> None:
    with below_prefix(service.url, "/cards") as url:
        page = Reference(browser, url)
        status, player = page.send("players-createPlayer", {"name": "Bob", "kind": "bot"})
        assert (status, player["name"]) == (201, "Bob")
        browser.open(f"{url}/problems/busy")
        browser.click("nav a[href$='docs']")
        browser.find(".opblock")
        assert browser.complaints == []
        assert browser.requests_beyond(url) == []


@pytest.mark.parametrize("path", ["/", "/problems", "/problems/stale_turn"])
def test_a_page_of_text_loads_without_complaint(
    service: Service, browser: Browser, path: str
) -> None:
    browser.open(service.url + path)
    # Only with its style sheet is the page as narrow as this.
    assert browser.run("return document.querySelector('main').clientWidth") < 1000
    assert browser.run("return [...document.images].every((image) => image.naturalWidth > 0)")
    assert browser.complaints == []
    assert browser.requests_beyond(service.url) == []


def test_a_script_that_gets_into_the_page_does_not_run(service: Service, browser: Browser) -> None:
    browser.tolerate("Content Security Policy")
    Reference(browser, service.url)
    browser.run(
        """
        const script = document.createElement("script");
        script.textContent = "window.hasRun = true";
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/thief?token";
        document.body.append(script, image);
        """
    )
    wait_until(lambda: len(browser.complaints) >= 2, "the browser has complained of both")
    assert browser.run("return window.hasRun") is None
    assert all("Content Security Policy" in complaint for complaint in browser.complaints)
