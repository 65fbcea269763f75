"""The pictures of Contrast in a real browser: on a page from elsewhere, and by themselves."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.prefix import below_prefix
from tests.support.http_client import HttpClient
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

SENT_AGAIN = """
return performance.getEntriesByType('resource')
    .filter(each => each.name.includes('/pictures/') && each.transferSize)
    .map(each => each.name)
"""
"""The pictures that the page loaded from the service and not from the browser's cache."""


@contextmanager
def page_of(images: list[str]) -> Iterator[str]:
    """Serve a page that shows these images from an origin of its own."""
    page = "<!doctype html><title>Pictures</title>" + "".join(
        f"<img crossorigin src={json.dumps(address)}>" for address in images
    )

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def paths(url: str) -> list[str]:
    components = HttpClient(url).request("GET", "/v1/rulesets/contrast").json()["components"]
    return [each["url"] for each in components if each["url"] is not None]


def test_a_page_of_another_origin_shows_all_pictures_also_below_a_prefix(
    service: Service, browser: Browser
) -> None:
    with (
        below_prefix(service.url, "/cards") as url,
        page_of([url + path for path in paths(service.url)]) as page,
    ):
        browser.open(page)
        sizes = "return [...document.images].map(each => each.complete && each.naturalWidth)"
        wait_until(lambda: browser.run(sizes) == [240] * 74, "all pictures are shown")
        assert browser.complaints == []
        browser.open(page)
        wait_until(lambda: browser.run(sizes) == [240] * 74, "all pictures are shown again")
        assert browser.run(SENT_AGAIN) == [], "the cache has all pictures"


def test_a_picture_by_itself_breaks_no_policy(service: Service, browser: Browser) -> None:
    browser.open(service.url + paths(service.url)[0])
    assert browser.run("return document.documentElement.localName") == "svg"
    assert browser.run("return document.documentElement.childElementCount") > 1
    assert browser.complaints == []
