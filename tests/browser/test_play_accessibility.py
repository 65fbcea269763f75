"""axe-core finds no barrier in the lobby, at any table, at the end, or on the start page."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import RULESETS
from tests.browser.scenes import DESKTOP, PHONE, SCHEMES, Scenes
from tests.clients.toolbox import open_toolbox
from tests.support.service import Service

pytestmark = pytest.mark.slow

LOOKS = [(scheme, screen) for scheme in SCHEMES for screen in (DESKTOP, PHONE)]
RUN = "const done = arguments[0]; axe.run().then(({violations}) => done(violations))"


@pytest.fixture(scope="module")
def axe() -> str:
    """The program of axe-core."""
    return (open_toolbox().node / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def scenes(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenes]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        yield Scenes(browser, service.url)
        browser.assert_in_order()
    finally:
        browser.close()


def barriers(scenes: Scenes, axe: str) -> list[str]:
    """What axe-core finds in the page that is shown, in each colour scheme and on each screen."""
    found = []
    for scheme, screen in LOOKS:
        scenes.look(scheme, **screen)
        scenes.browser.run(axe)
        violations: list[dict[str, Any]] = scenes.browser.driver.execute_async_script(RUN)
        found += [
            f"{scheme} {screen['width']}: {each['id']} in {node['html'][:200]} "
            f"{node['failureSummary']}"
            for each in violations
            for node in each["nodes"]
        ]
    return found


def test_the_lobby_has_no_barrier(scenes: Scenes, axe: str) -> None:
    scenes.show_lobby()
    assert barriers(scenes, axe) == []
    scenes.browser.click("#account")
    scenes.browser.find("dialog[open]")
    assert barriers(scenes, axe) == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_table_has_no_barrier(scenes: Scenes, axe: str, ruleset: str) -> None:
    scenes.show_table(ruleset, scenes.most_seats(ruleset), 3)
    assert barriers(scenes, axe) == []
    scenes.choose_the_most_telling_part()
    scenes.browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
    assert barriers(scenes, axe) == []


def test_a_table_that_waits_for_players_has_no_barrier(scenes: Scenes, axe: str) -> None:
    scenes.show_waiting("parade")
    assert barriers(scenes, axe) == []


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_result_and_its_replay_have_no_barrier(scenes: Scenes, axe: str, ruleset: str) -> None:
    scenes.show_result(ruleset, scenes.most_seats(ruleset))
    scenes.browser.click("#check-deal")
    scenes.browser.click(".deal summary")
    assert barriers(scenes, axe) == []
    scenes.browser.click("#replay")
    scenes.browser.click("#next")
    assert barriers(scenes, axe) == []
    scenes.browser.click("#last")
    scenes.browser.find(".result")
    assert barriers(scenes, axe) == []


@pytest.mark.parametrize(
    "path",
    ["/", "/problems", "/problems/busy", "/guide/", "/guide/clients", "/guide/operating"],
)
def test_a_page_of_text_has_no_barrier(scenes: Scenes, axe: str, path: str) -> None:
    scenes.browser.open(scenes.url + path)
    assert barriers(scenes, axe) == []


def test_a_barrier_is_found(scenes: Scenes, axe: str) -> None:
    scenes.browser.open(f"{scenes.url}/problems")
    scenes.browser.run("document.querySelector('h1').append(document.createElement('button'))")
    assert "button-name" in "".join(barriers(scenes, axe))


def test_the_page_can_draw_every_game_of_the_lobby(scenes: Scenes) -> None:
    scenes.show_lobby()
    assert sorted(scenes.rulesets) == sorted(RULESETS)
