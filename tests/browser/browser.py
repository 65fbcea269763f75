"""A Chromium that tests drive, with all that it sent and received, and its console's messages."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.remote.webelement import WebElement

from tests.support.tools import find_program
from tests.support.waiting import wait_until

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,1600",
)
LOCAL = ("data:", "blob:", "about:", "chrome:")
NO_BODY = {204, 304}


class Received(NamedTuple):
    """A body, or the data of one event of a stream."""

    url: str
    text: str


class Sent(NamedTuple):
    """A request of a page."""

    method: str
    url: str
    body: str | None


class Browser:
    """A Chromium with a profile of its own."""

    def __init__(self, profile: Path, *flags: str) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = find_program("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}", *flags):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.ChromeService(find_program("chromedriver"))
        self.driver = webdriver.Chrome(options, driver)
        self._complaints: list[str] = []
        self._tolerated: list[str] = []
        self.hosts = {"127.0.0.1"}
        """The hosts that pages may ask."""
        self._network: list[tuple[str, dict[str, Any]]] = []
        """The events of the protocol's domain Network, with their names."""
        self._received: list[Received] = []
        self._examined = 0

    def open(self, url: str) -> None:
        self.driver.get(url)

    def find(self, selector: str) -> WebElement:
        """Wait for a visible element of a selector, and return the first one."""

        def look() -> WebElement | None:
            try:
                found = self.driver.find_elements("css selector", selector)
                return next((element for element in found if element.is_displayed()), None)
            except WebDriverException:  # it was drawn again meanwhile
                return None

        found: WebElement = wait_until(look, f"{selector} is seen")
        return found

    def text(self, selector: str) -> str:
        """Wait for a visible element of a selector, and return its text."""
        return self._read(selector, lambda element: element.text)

    def value(self, selector: str, name: str = "value") -> str:
        """Wait for a visible element of a selector, and return one of its attributes."""
        return self._read(selector, lambda element: str(element.get_attribute(name)))

    def _read(self, selector: str, read: Callable[[WebElement], str]) -> str:
        def look() -> tuple[str] | None:
            try:
                return (read(self.find(selector)),)
            except WebDriverException:  # it was drawn again meanwhile
                return None

        (found,) = wait_until(look, f"{selector} is read")
        return str(found)

    def click(self, selector: str) -> None:
        def attempt() -> bool:
            try:
                element = self.find(selector)
                self.run("arguments[0].scrollIntoView({block: 'center'})", element)
                element.click()
            except WebDriverException:
                return False
            return True

        wait_until(attempt, f"{selector} is clicked")

    def write(self, selector: str, text: str) -> None:
        """Replace the text of a field."""
        field = self.find(selector)
        field.send_keys("\ue009a\ue000")  # control-a
        field.send_keys(text)
        assert field.get_property("value") == text

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page, and return its result."""
        return self.driver.execute_script(script, *arguments)

    @property
    def complaints(self) -> list[str]:
        """The console's messages so far, with violations of the content security policy."""
        entries: list[dict[str, Any]] = self.driver.get_log("browser")
        self._complaints += [f"{entry['level']}: {entry['message']}" for entry in entries]
        return self._complaints

    def tolerate(self, pattern: str) -> None:
        """Expect messages of the console that match, because the test breaks something."""
        self._tolerated.append(pattern)

    def assert_in_order(self) -> None:
        """Check that the console has no message, and that no other host was asked."""
        unexpected = [
            complaint
            for complaint in self.complaints
            if not any(re.search(pattern, complaint) for pattern in self._tolerated)
        ]
        assert unexpected == []
        asked = [url for url in self.requests if not url.startswith(LOCAL)]
        assert [url for url in asked if urlsplit(url).hostname not in self.hosts] == []

    def _read_network(self) -> list[tuple[str, dict[str, Any]]]:
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"].startswith("Network."):
                self._network.append((message["method"], message["params"]))
        return self._network

    @property
    def sent(self) -> list[Sent]:
        """All requests so far."""
        requests = [
            params["request"]
            for name, params in self._read_network()
            if name == "Network.requestWillBeSent"
        ]
        return [Sent(each["method"], each["url"], each.get("postData")) for each in requests]

    @property
    def requests(self) -> list[str]:
        """The URLs of all requests so far."""
        return [each.url for each in self.sent]

    @property
    def received(self) -> list[Received]:
        """All bodies and events of streams so far, in order.

        The browser forgets the bodies of a page that it leaves: ask before.
        """
        network = self._read_network()
        about: dict[str, dict[str, Any]] = {}
        for at, (name, params) in enumerate(network):
            request = about.setdefault(str(params.get("requestId")), {})
            if name == "Network.requestWillBeSent":
                request.update(url=params["request"]["url"], method=params["request"]["method"])
            elif name == "Network.responseReceived":
                request.update(status=params["response"]["status"], type=params["type"])
            elif at >= self._examined:
                self._received += self._texts(name, params, request)
        self._examined = len(network)
        return self._received

    def forget_received(self) -> None:
        """Leave out of `received` all that was received so far, since its page has gone."""
        self._examined = len(self._read_network())

    def _texts(
        self, name: str, params: dict[str, Any], request: dict[str, Any]
    ) -> Iterator[Received]:
        if name == "Network.eventSourceMessageReceived":
            yield Received(request["url"], params["data"])
        if name != "Network.loadingFinished" or request.get("type") not in {"Fetch", "XHR"}:
            return
        if request["status"] not in NO_BODY:
            of = {"requestId": params["requestId"]}
            body = self.driver.execute_cdp_cmd("Network.getResponseBody", of)
            yield Received(request["url"], body["body"])

    def requests_beyond(self, url: str) -> list[str]:
        """The requests to other servers than this one."""
        near = (f"{url}/", *LOCAL)
        return [address for address in self.requests if not address.startswith(near)]

    def close(self) -> None:
        self.driver.quit()
