"""What a visitor does with the guide, in a real browser."""

import pytest

from tests.browser.browser import Browser
from tests.browser.prefix import below_prefix
from tests.browser.scenes import PHONE
from tests.support.service import Service

pytestmark = pytest.mark.slow

# The document with the widest tables, the one with a picture, the longest, and one of a folder.
DOCUMENTS = ("", "operating", "performance", "clients", "rules/parade")


def test_a_visitor_finds_a_section_from_the_start_page(service: Service, browser: Browser) -> None:
    with below_prefix(service.url, "/cards") as url:
        browser.open(f"{url}/")
        browser.click("a[href$='guide/']")
        browser.click("main a[href='operating']")
        browser.click(".sections a[href='#settings']")
        top = "return document.querySelector('#settings').getBoundingClientRect().top"
        assert abs(browser.run(top)) < 1
        browser.click("main a[href='scaling']")
        assert browser.text("h1") == "Scaling"
        browser.click("nav a[href$='guide/']")
        browser.click("main a[href='rules/parade']")
        assert browser.text("h1") == "Parade"
        assert browser.requests_beyond(url) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_loads_without_complaint_and_fits_a_phone(
    service: Service, browser: Browser, name: str
) -> None:
    screen = {**PHONE, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.open(f"{service.url}/guide/{name}")
    assert browser.run("return [...document.images].every((image) => image.naturalWidth > 0)")
    # Wide tables scroll by themselves.
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE["width"]
    assert browser.complaints == []
    assert browser.requests_beyond(service.url) == []


def test_a_picture_shown_by_itself_has_its_colours(service: Service, browser: Browser) -> None:
    browser.open(f"{service.url}/guide/growth.svg")
    ground = "return getComputedStyle(document.querySelector('#patch_1 path')).fill"
    assert browser.run(ground) == "rgb(255, 255, 255)"
    assert browser.complaints == []
