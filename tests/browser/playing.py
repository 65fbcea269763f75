"""The table in the browser, as a visitor handles it."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser.browser import Browser
from tests.support.api_client import new_player
from tests.support.paths import ROOT
from tests.support.waiting import wait_until

FOLDER = ROOT / "api" / "web" / "pages" / "play"
OFFERED = "[data-part][data-offer]"
GAME_SECONDS = 60
TOGETHER_SECONDS = 480

IN_REACH = """
const found = document.querySelector(arguments[0]);
if (!found) return true;
const isMet = () => {
  const { x, y, width, height } = found.getBoundingClientRect();
  const meets = (part) =>
    found.contains(document.elementFromPoint(x + width * part, y + height / 2));
  return [0.2, 0.5, 0.8].some(meets);
};
if (isMet()) return true;
found.scrollIntoView({ behavior: 'instant', block: 'center', inline: 'center' });
return isMet();
"""
"""Whether a finger can meet an element, if need be by scrolling; true if there is none now."""


def rulesets() -> list[str]:
    """The rulesets that the page can draw, by the table in games.js."""
    games = re.search(
        r"export const GAMES = \{(.*?)\}", (FOLDER / "games.js").read_text("utf-8"), re.DOTALL
    )
    assert games
    return [entry.split(":")[0].strip(" \n'") for entry in games[1].split(",") if entry.strip()]


RULESETS = rulesets()

PLAYER_KEY = """
    const settings = JSON.parse(localStorage.getItem('ludotheque') ?? '{}');
    const service = settings.api ?? new URL('..', location.href).href;
    const key = `ludotheque ${service.replace(/[/]+$/, '')}`;
"""
"""The start of a script: where the page keeps its settings, and its player at this service."""


class PlayPage:
    """The page of one visitor, opened at an address."""

    must_reach = False
    """Whether what is clicked must be in reach of a finger."""

    def __init__(self, browser: Browser, url: str, name: str = "Ada") -> None:
        self.browser = browser
        self.name = name
        self.origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        browser.open(url)

    def give_name(self) -> None:
        self.browser.write("#name", self.name)
        self.browser.click("#answer")

    def start(self, ruleset: str, seat_count: int, how: str = "play_now") -> None:
        """Start a game from its card in the lobby."""
        card = f"[data-ruleset='{ruleset}']"
        self.browser.click(f"{card} select option[value='{seat_count}']")
        self.browser.click(f"{card} [data-start='{how}']")
        if not self.has_token:
            self.give_name()
        self.browser.find(".tablehead")

    @property
    def has_token(self) -> bool:
        return bool(self.saved.get("token"))

    @property
    def saved(self) -> dict[str, Any]:
        """The settings and the player that the page has kept."""
        saved: dict[str, Any] = self.browser.run(
            PLAYER_KEY + "return {...settings, ...JSON.parse(localStorage.getItem(key) ?? '{}')}"
        )
        return saved

    @property
    def game_id(self) -> str:
        return self.browser.driver.current_url.rpartition("/")[2]

    def sees(self, selector: str) -> bool:
        """Tell whether something is in the page now."""
        return bool(self.browser.run("return !!document.querySelector(arguments[0])", selector))

    @property
    def told(self) -> list[str]:
        """What the page lists as happened, oldest first."""
        lines: list[str] = self.browser.run(
            "return [...document.querySelectorAll('.log > ol > li')].map((li) => li.textContent)"
        )
        return lines[::-1]

    @property
    def places(self) -> list[list[str]]:
        """The rows of the result: rank, name and points."""
        rows: list[list[str]] = self.browser.run(
            """
            return [...document.querySelectorAll('.result .places li')].map((row) =>
              ['.rank', '.who', '.score'].map((part) => row.querySelector(part)?.textContent ?? ''))
            """
        )
        return rows

    @property
    def is_over(self) -> bool:
        return self.sees(".result")

    def click_now(self, selector: str) -> bool:
        """Click the first element of a selector if there is one now, wherever it is."""
        if self.must_reach:
            # Cards may be on their way.
            wait_until(lambda: self.browser.run(IN_REACH, selector), f"{selector} is in reach")
        found: bool = self.browser.run(
            "const found = document.querySelector(arguments[0]); found?.click(); return !!found",
            selector,
        )
        return found

    def choose_a_move(self) -> bool:
        """Choose what is offered until it is a move; false if the game is over."""

        def act() -> str | None:
            if self.is_over:
                return "over"
            if self.sees("#confirm:enabled"):
                return "chosen"
            if not self.click_now("#skip"):
                self.click_now(f"{OFFERED}[aria-pressed='false']")
            return None

        return wait_until(act, "it is my turn or the end", GAME_SECONDS) == "chosen"

    def make_a_move(self) -> bool:
        """Choose a move and play it; false if the game is over."""
        return self.choose_a_move() and self.click_now("#confirm:enabled")

    def act_now(self) -> None:
        """Press one thing that is offered, if there is any."""
        if not (self.click_now("#skip") or self.click_now("#confirm:enabled")):
            self.click_now(f"{OFFERED}[aria-pressed='false']")

    def play_to_the_end(self) -> None:
        while self.make_a_move():
            pass

    def make_a_move_by_keyboard(self) -> bool:
        """The same with the keys tab and enter alone."""

        def act() -> str | None:
            if self.is_over:
                return "over"
            for selector in ("#confirm:enabled", "#skip", f"{OFFERED}[aria-pressed='false']"):
                if self.sees(selector):
                    return selector if self.press_on(selector) else None
            return None

        return wait_until(act, "it is my turn or the end", GAME_SECONDS) != "over"

    def press_on(self, selector: str) -> bool:
        """Tab to an element, and press enter; false if it is gone meanwhile."""
        is_focused = "return !!document.activeElement?.matches(arguments[0])"
        for _ in range(80):
            if self.browser.run(is_focused, selector):
                self.press(Keys.ENTER)
                return True
            if not self.sees(selector):
                return False
            self.press(Keys.TAB)
        raise AssertionError(f"{selector} cannot be reached by keyboard")

    def go_offline(self, is_offline: bool) -> None:
        network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.browser.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions", {"offline": is_offline, **network}
        )

    def press(self, key: str) -> None:
        """Press a key, wherever the focus is."""
        ActionChains(self.browser.driver, duration=0).send_keys(key).perform()

    def hold(self, key: str, text: str, code: int) -> None:
        """Hold a key until it repeats."""
        event = {"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code}
        for is_repeated in (False, True, True):
            self.browser.driver.execute_cdp_cmd(
                "Input.dispatchKeyEvent", {**event, "autoRepeat": is_repeated}
            )

    def set_frozen(self, is_frozen: bool) -> None:
        """Let the tab sleep, as a browser does with one in the background, or wake it."""
        state = {"state": "frozen" if is_frozen else "active"}
        self.browser.driver.execute_cdp_cmd("Page.setWebLifecycleState", state)

    def open_lobby(self) -> None:
        self.browser.run("location.hash = '#/'")
        self.browser.find(".games")

    def open_game(self, game_id: str) -> None:
        self.browser.run("location.hash = arguments[0]", f"#/game/{game_id}")
        self.browser.find(".tablehead")

    def go_to_background(self) -> None:
        """Show another tab."""
        self.browser.driver.execute_cdp_cmd("Target.createTarget", {"url": "about:blank"})

    @property
    def is_wider_than_screen(self) -> bool:
        wider: bool = self.browser.run(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return wider


def play_together(pages: Sequence[PlayPage], is_done: Callable[[], Any], what: str) -> None:
    """Let all press what they are offered, until a condition is true."""

    def act() -> Any:
        for page in pages:
            page.act_now()
        return is_done()

    wait_until(act, what, TOGETHER_SECONDS)


def play_moves(pages: Sequence[PlayPage], number: int) -> None:
    """Let all play until each page tells this many more things."""
    before = [len(page.told) for page in pages]

    def all_have_moved() -> bool:
        return all(
            page.is_over or len(page.told) >= told + number
            for page, told in zip(pages, before, strict=True)
        )

    play_together(pages, all_have_moved, f"{number} more things are told")


def play_out(pages: Sequence[PlayPage]) -> None:
    play_together(pages, lambda: all(page.is_over for page in pages), "all see the end")


def meet(pages: Sequence[PlayPage], ruleset: str, seat_count: int) -> str:
    """Seat these visitors at one table by quick match, and return the game's id."""
    for page in pages:
        page.browser.click("#account")
        page.browser.write("#other", new_player(page.origin, name=page.name).token or "")
        page.browser.click("#answer")
        wait_until(lambda page=page: not page.sees("#dialog[open]"), "the token is taken")
    for page in pages:
        page.start(ruleset, seat_count, "quick_match")
    for page in pages:
        wait_until(lambda page=page: page.sees("[data-part]"), "the game has begun")
    assert len({page.game_id for page in pages}) == 1
    return pages[0].game_id


def english_name(game: Any, seat: int) -> str:
    """What the page calls a seat that is taken."""
    player = game["seats"][seat]["player"]
    if player:
        return str(player["name"])
    texts = json.loads((FOLDER / "en.json").read_text("utf-8"))
    houses = [each["seat"] for each in game["seats"] if each["house"] and not each["player"]]
    if len(houses) == 1:
        return str(texts["house"])
    return str(texts["house_n"]).format(n=houses.index(seat) + 1)


def assert_shows_places(page: PlayPage, game: Any) -> None:
    """The page lists each seat with its rank and points, the best first; an English page."""
    result = game["result"]
    seats = sorted(range(len(game["seats"])), key=lambda seat: result["ranks"][seat])
    assert page.places == [
        [
            f"{result['ranks'][seat]}." if result["winners"] else "",
            english_name(game, seat),
            f"{result['scores'][seat]} point{'' if abs(result['scores'][seat]) == 1 else 's'}",
        ]
        for seat in seats
    ]


def assert_tells_all(page: PlayPage) -> None:
    """Each event is told once and in order: as by a page that is opened now."""
    told = page.told
    page.browser.driver.refresh()
    wait_until(lambda: page.told, "the page lists what happened")
    assert told == page.told
