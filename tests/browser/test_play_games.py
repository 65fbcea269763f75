"""What the table in the browser at /play shows of each ruleset."""

import itertools
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.browser.prefix import below_prefix
from tests.support.api_client import Client, new_player, play_out, seated
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

FOLD = """
const [ruleset, table, events, me, done] = arguments;
import('/play/games.js').then(({ GAMES }) => {
  for (const event of events) GAMES[ruleset].fold(table, event, me);
  done(table);
});
"""
FOLDED: dict[str, list[str]] = {
    "parade": ["parade", "hand", "hand_sizes", "pile_size", "collections"],
    "contrast": [
        *("pile_size", "box_size", "rows", "hands", "scores", "standing"),
        *("has_chosen", "choice", "countdown", "last_turn"),
    ],
    "tea-time": ["grid", "round", "pile_size", "collections", "alice_holder"],
}
"""The members that events change on the page; of Mit List und Tücke all."""


def in_any_order(member: str, value: Any) -> Any:
    """A hand or what lies before a seat has no order."""
    if member == "hand" and value is not None:
        return sorted(value)
    return [sorted(each) for each in value] if member == "collections" else value


@pytest.mark.parametrize(
    ("ruleset", "seat_count", "options"),
    [
        ("parade", 3, {}),
        ("tea-time", 3, {}),
        ("mit-list-und-tuecke", 4, {}),
        ("mit-list-und-tuecke", 5, {"open_piles": True}),
        ("contrast", 2, {}),
        ("contrast", 4, {"expert": True}),
    ],
)
def test_events_change_the_shown_table_to_what_the_service_tells(
    service: Service, browser: Browser, ruleset: str, seat_count: int, options: dict[str, Any]
) -> None:
    browser.open(f"{service.url}/play")
    players = [new_player(service.url) for _ in range(seat_count)]
    game_id = seated(players, ruleset=ruleset, options=options)["id"]
    rng = random.Random(7)
    before = players[0].game(game_id)
    while before["status"] == "playing":
        play_out(players, game_id, rng, moves=5)
        after = players[0].game(game_id)
        path = f"/v1/games/{game_id}/events"
        items = players[0].get(path, params={"since": before["cursor"], "limit": 100})["items"]
        events = [event for item in items for event in item["events"]]
        shown = browser.driver.execute_async_script(FOLD, ruleset, before["table"], events, 0)
        for member in FOLDED.get(ruleset, list(after["table"])):
            assert in_any_order(member, shown[member]) == in_any_order(
                member, after["table"][member]
            ), (member, events)
        before = after


def player_of(page: PlayPage, service: Service) -> Client:
    """The page's player, as a client of its own."""
    return Client(service.url, page.saved["token"], page.saved["id"])


def play_until(page: PlayPage, condition: Callable[[], bool]) -> None:
    """Make moves until something is so at my turn."""
    while page.choose_a_move():
        if condition():
            return
        page.click_now("#confirm:enabled")
    raise AssertionError("the game is over")


def says(page: PlayPage) -> str:
    return str(page.browser.run("return document.querySelector('#says')?.textContent ?? ''"))


def test_the_last_card_of_a_trick_tells_who_would_take(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("mit-list-und-tuecke", 4)
    player = player_of(page, service)

    def preview() -> dict[str, Any] | None:
        card = browser.run("return document.querySelector('.hand .chosen')?.dataset.part")
        legal = player.get(f"/v1/games/{page.game_id}/legal-moves?previews=true")
        move = {"type": "play", "card": card}
        if move not in legal["moves"]:
            return None
        found: dict[str, Any] = legal["previews"][legal["moves"].index(move)]
        return found if found["low"] is not None else None

    play_until(page, lambda: preview() is not None)
    told = preview()
    assert told
    high, low = (page.name if told[who] == 0 else f"House {told[who]}" for who in ("high", "low"))
    assert says(page).endswith(f"{high} takes cards, {low} gets the rest and leads.")


def test_a_take_and_a_choice_of_colours_tell_what_becomes_of_the_rest(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("mit-list-und-tuecke", 4)
    play_until(
        page, lambda: len(browser.driver.find_elements("css selector", ".trick .chosen")) > 0
    )
    assert len(browser.driver.find_elements("css selector", ".trick .chosen")) == 2
    assert says(page).startswith("Take ")
    assert " gets " in says(page) or " leaves the round" in says(page)
    page.click_now(".trick [data-part][aria-pressed='false']")
    wait_until(lambda: "exactly two cards" in says(page), "a third card is one too many")
    play_until(page, lambda: page.sees(".piles.choice .chosen"))
    assert len(browser.driver.find_elements("css selector", ".piles .chosen")) == 2
    assert says(page).startswith("Keep ")


def test_a_card_of_a_fourth_colour_says_why_it_cannot_be_played(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("mit-list-und-tuecke", 4)
    fourth = ".hand:has(.offered) [data-part][aria-disabled='true']"
    play_until(page, lambda: page.sees(fourth))
    page.click_now(fourth)
    wait_until(lambda: "fourth colour" in says(page), "the page says why")


def test_open_piles_show_their_sizes(service: Service, browser: Browser) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("mit-list-und-tuecke", 4)
    player = player_of(page, service)
    game = player.create(
        4, "mit-list-und-tuecke", house=["careful"] * 3, options={"open_piles": True}
    )
    browser.run("location.hash = arguments[0]", f"#/game/{game['id']}")
    wait_until(lambda: page.game_id == game["id"], "the other game is shown")
    play_until(page, lambda: page.sees(".piles .card"))
    piles = player.game(game["id"])["table"]["piles"][0]
    shown = browser.run(
        "return [...document.querySelectorAll('.piles small')].map((each) => each.textContent)"
    )
    assert shown[: len(piles)] == [f"× {len(pile['cards'])}" for pile in piles]


def test_a_card_of_tea_time_tells_which_cards_it_can_be_taken_with(
    service: Service, browser: Browser
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start("tea-time", 2)
    player = player_of(page, service)

    def lines() -> set[str]:
        """The cells in a line with the one that is chosen."""
        cell = browser.run("return document.querySelector('.grid .chosen')?.dataset.part")
        moves = player.game(page.game_id)["legal_moves"]
        return {each for move in moves if cell in move["cells"] for each in move["cells"]} - {cell}

    play_until(page, lambda: bool(lines()))
    assert says(page).endswith(f"In line with it: {', '.join(sorted(lines()))}.")
    marked = browser.run(
        "return [...document.querySelectorAll('.joins')].map((each) => each.dataset.part)"
    )
    assert set(marked) == lines()


@pytest.mark.parametrize("ruleset", ["parade", "tea-time"])
def test_what_a_move_would_do_is_told_when_it_is_known(
    service: Service, browser: Browser, ruleset: str
) -> None:
    is_answered = threading.Event()

    def loses(_method: str, path: str) -> bool:
        return "/legal-moves" in path and not is_answered.is_set()

    with below_prefix(service.url, "/cards", loses) as url:
        browser.tolerate("Failed to load resource")
        page = PlayPage(browser, f"{url}/play")
        page.start(ruleset, 2)
        page.choose_a_move()

        def is_told() -> bool:
            return page.sees(".keeps, .leaves") or "you would" in says(page)

        assert not is_told()
        is_answered.set()
        wait_until(is_told, "the page tells what the move would do")


def test_a_stranger_sees_the_moves_and_is_told_that_they_only_watch(
    service: Service, browser: Browser
) -> None:
    players = [new_player(service.url) for _ in range(2)]
    game = seated(players, ruleset="tea-time")
    page = PlayPage(browser, f"{service.url}/play#/game/{game['id']}")
    browser.click("[data-part]")
    wait_until(lambda: says(page) == "You are watching this game.", "the page says why")
    players[game["to_move"][0]].play_first(game["id"])
    wait_until(lambda: page.sees(".grid .slot"), "the card that was taken is gone")
    assert browser.complaints == []


def test_cards_do_not_slide_for_a_visitor_who_wants_reduced_motion(
    service: Service, browser: Browser
) -> None:
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]},
    )
    page = PlayPage(browser, f"{service.url}/play")
    page.start("parade", 3)
    browser.run(
        "window.slides = 0; const { animate } = Element.prototype;"
        "Element.prototype.animate = function (...how) "
        "{ window.slides += 1; return animate.apply(this, how); }"
    )
    page.make_a_move()
    page.make_a_move()
    assert browser.run("return window.slides") == 0
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.make_a_move()
    page.choose_a_move()
    assert browser.run("return window.slides") > 0


@pytest.mark.parametrize("ruleset", ["parade", "tea-time", "mit-list-und-tuecke"])
def test_moves_of_the_house_are_shown_one_by_one_in_the_order_of_the_service(
    service: Service, browser: Browser, ruleset: str
) -> None:
    page = PlayPage(browser, f"{service.url}/play")
    page.start(ruleset, 4)
    page.choose_a_move()
    # Each change of the list of what happened, with its time.
    browser.run(
        "window.told = []; const items = () => document.querySelectorAll('.log ol li').length;"
        "let last = items(); new MutationObserver(() => {"
        "  if (items() === last) return; last = items();"
        "  window.told.push([performance.now(), document.querySelector('.log ol li').textContent,"
        "    document.querySelector('#says').textContent]);"
        "}).observe(document.querySelector('#page'), { childList: true, subtree: true })"
    )
    page.click_now("#confirm:enabled")
    wait_until(lambda: page.sees("[data-offer]") or page.is_over, "the house has moved")
    told = browser.run("return window.told")
    who = [text.partition(":")[0] for _, text, _ in told if ": " in text]
    assert who[0] == page.name
    assert len(told) >= 3
    assert [said for _, text, said in told if said != text] == []
    # The house replies in the same instant, but nobody could follow that.
    pauses = [after - before for (before, *_), (after, *_) in itertools.pairwise(told)]
    assert min(pauses) >= 200
