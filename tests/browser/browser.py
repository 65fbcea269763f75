"""A Chromium that tests drive, with the requests that it sent and its console's messages."""

import json
from pathlib import Path
from typing import Any

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
        self._requests: list[str] = []

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

    @property
    def requests(self) -> list[str]:
        """The URLs of all requests so far."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self._requests.append(message["params"]["request"]["url"])
        return self._requests

    def requests_beyond(self, url: str) -> list[str]:
        """The requests to other servers than this one."""
        near = (f"{url}/", *LOCAL)
        return [address for address in self.requests if not address.startswith(near)]

    def close(self) -> None:
        self.driver.quit()
