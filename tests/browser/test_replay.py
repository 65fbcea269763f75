"""What a visitor can do with a game that has ended: see it again, check the deal, play again."""

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.browser import Browser
from tests.browser.ended import ended_game, keep_player, open_as
from tests.browser.playing import RULESETS, PlayPage, assert_shows_places
from tests.support.api_client import Client, new_player, play_out, seated, start_countdown
from tests.support.service import Service
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

TAMPER = """
const fetched = window.fetch;
const headers = {'Content-Type': 'application/json'};
window.fetch = async (url, ...more) => String(url).endsWith(%s)
  ? new Response(JSON.stringify(%s), {headers})
  : fetched(url, ...more);
"""


def replace_answer(browser: Browser, path: str, answer: Any) -> None:
    """Give the page this answer instead of the service's at a path."""
    source = TAMPER % (json.dumps(path), json.dumps(answer))
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})


@pytest.fixture
def ada(service: Service) -> Client:
    return new_player(service.url, name="Ada")


@pytest.fixture
def bob(service: Service) -> Client:
    return new_player(service.url, name="Bob")


def open_replay(browser: Browser, service: Service, game_id: str, more: str = "") -> PlayPage:
    page = PlayPage(browser, f"{service.url}/play/#/replay/{game_id}{more}")
    browser.find("#position")
    return page


def shown(page: PlayPage) -> dict[str, Any]:
    """What a replay shows now."""
    seen: dict[str, Any] = page.browser.run(
        """
        const all = (selector) => [...document.querySelectorAll(selector)];
        const slider = document.querySelector('#position');
        return {
          at: Number(slider.value),
          last: Number(slider.max),
          spoken: slider.ariaValueText,
          says: document.querySelector('#says').textContent,
          holds: all('.hold').map((each) => each.textContent),
          cards: all('.felt [data-flip]').map((each) => each.dataset.flip),
          hand: all('.hand [data-flip]').map((each) => each.dataset.flip),
          isOver: all('.result').length > 0,
        };
        """
    )
    return seen


def positions(record: Any, stranger: Client, seat: int | None) -> list[Any]:
    """The tables of a record from its start to its end, as the service tells them."""
    analysis = stranger.post("/v1/analysis", {**record, "trace": True, "seat": seat})
    last = analysis["spectator"] if seat is None else analysis["views"][seat]
    return [*(step["table"] for step in analysis["steps"]), last]


def assert_shows(seen: dict[str, Any], table: Any) -> None:
    """A replay shows this table."""
    standing = table["standing"]
    assert [hold.split(" ")[0] for hold in seen["holds"]] == [str(points) for points in standing]
    if table["ruleset"] == "parade":
        assert seen["cards"] == table["parade"]
    if table["ruleset"] == "tea-time":
        cells = [cell["cell"] for row in table["grid"] for cell in row if cell["card"]]
        assert seen["cards"] == cells


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_stranger_sees_a_game_again_from_its_first_position_to_its_last(
    service: Service, browser: Browser, ada: Client, ruleset: str
) -> None:
    game = ended_game([ada], ruleset)
    stranger = Client(service.url)
    record = stranger.get(f"/v1/games/{game['id']}/record")
    tables = positions(record, stranger, None)
    page = open_replay(browser, service, game["id"])
    assert not page.has_token
    for at, table in enumerate(tables):
        seen = shown(page)
        assert (seen["at"], seen["last"]) == (at, len(record["moves"]))
        assert seen["says"]
        assert seen["says"] in seen["spoken"]
        assert_shows(seen, table)
        assert seen["isOver"] == (at == len(record["moves"]))
        page.press(Keys.ARROW_RIGHT)
    assert_shows_places(page, game)
    page.press(Keys.HOME)
    assert_shows(shown(page), tables[0])
    page.press(Keys.END)
    assert_shows(shown(page), tables[-1])
    assert browser.complaints == []
    assert browser.requests_beyond(service.url) == []


def test_a_replay_plays_by_itself_and_stops_at_the_end(
    service: Service, browser: Browser, ada: Client
) -> None:
    game = ended_game([ada], "parade")
    page = open_replay(browser, service, game["id"])
    last = shown(page)["last"]
    browser.run("document.querySelector('#position').value = arguments[0]", last - 3)
    browser.run("document.querySelector('#position').dispatchEvent(new Event('input'))")
    browser.click("#speed option[value='4']")
    browser.run("document.activeElement.blur()")
    page.press(Keys.SPACE)
    wait_until(lambda: shown(page)["at"] == last, "it has played to the end")
    assert browser.value("#play", "aria-label") == "Play"
    page.press(Keys.SPACE)
    wait_until(lambda: shown(page)["at"] in {1, 2}, "it begins again")
    page.press(Keys.SPACE)
    at = shown(page)["at"]
    page.press(Keys.ARROW_LEFT)
    assert shown(page)["at"] == at - 1


def test_the_link_of_a_replay_opens_it_where_it_was_left(
    service: Service, browser: Browser, ada: Client, open_browser: Callable[..., Browser]
) -> None:
    game = ended_game([ada], "parade")
    page = open_replay(browser, service, game["id"], "/7")
    assert shown(page)["at"] == 7
    page.press(Keys.ARROW_RIGHT)
    link = browser.value("#link")
    wait_until(lambda: browser.driver.current_url == link, "the address names the position")
    other = open_browser()
    again = PlayPage(other, link)
    other.find("#position")
    assert shown(again) == shown(page)


def test_a_replay_shows_the_hand_of_the_seat_that_is_chosen(
    service: Service, browser: Browser, ada: Client, bob: Client
) -> None:
    game = ended_game([ada, bob], "parade")
    hands = ada.get(f"/v1/games/{game['id']}/record")["deal"]["hands"]
    page = open_replay(browser, service, game["id"])
    assert shown(page)["hand"] == []
    for seat in (0, 1):
        browser.click(f"#seen-by option[value='{seat}']")
        wait_until(
            lambda seat=seat: set(shown(page)["hand"]) == set(hands[seat]), "the hand is shown"
        )
    browser.click("#last")
    assert "wins" in browser.text("#outcome"), "the visitor has not played"


HOLD_ANALYSES = """
const fetched = window.fetch;
const released = new Promise((resolve) => { window.release = resolve; });
window.fetch = (url, ...more) => String(url).endsWith('/v1/analysis')
  ? released.then(() => fetched(url, ...more))
  : fetched(url, ...more);
"""


def test_a_hand_keeps_its_name_while_another_is_on_its_way(
    service: Service, browser: Browser, ada: Client, bob: Client
) -> None:
    game = ended_game([ada, bob], "parade")
    first, second = ada.get(f"/v1/games/{game['id']}/record")["deal"]["hands"]
    page = open_replay(browser, service, game["id"])
    browser.click("#seen-by option[value='0']")
    wait_until(lambda: set(shown(page)["hand"]) == set(first), "the first hand is shown")
    browser.run(HOLD_ANALYSES)
    browser.click("#seen-by option[value='1']")
    browser.run("document.querySelector('#next').click()")
    browser.run("document.querySelector('#first').click()")
    assert set(shown(page)["hand"]) == set(first)
    assert "Ada" in browser.text("#whose")
    assert browser.value("#seen-by") == "1", "the choice stays"
    browser.run("window.release()")
    wait_until(lambda: set(shown(page)["hand"]) == set(second), "the second hand is shown")
    assert "Bob" in browser.text("#whose")


def test_a_replay_opens_for_a_visitor_whose_player_has_expired(
    service: Service, browser: Browser, ada: Client
) -> None:
    game = ended_game([ada], "parade")
    gone = Client(service.url, f"{'0' * 32}.{'A' * 43}", "0" * 32)
    browser.tolerate("status of 401")
    browser.open(f"{service.url}/play/#/")
    browser.find(".games")
    keep_player(browser, gone, "Eve")
    browser.open("about:blank")
    open_replay(browser, service, game["id"])
    assert browser.text("#account") == "Token"


def test_a_game_that_was_broken_off_can_be_seen_as_far_as_it_went(
    service: Service, browser: Browser, ada: Client, bob: Client
) -> None:
    """A countdown runs out, and then all leave."""
    players = [ada, bob, new_player(service.url, name="Eve")]
    game = seated(players, ruleset="contrast")
    path = f"/v1/games/{game['id']}"
    counted = start_countdown(players, game["id"])
    ada.get(f"{path}/events?since={counted['cursor']}&wait=10")
    for player in players:
        player.delete(f"{path}/seats/me")
    moves = ada.get(f"{path}/record")["moves"]
    at = 1 + [move["type"] for move in moves].index("countdown_ran_out")
    page = open_replay(browser, service, game["id"], f"/{at}")
    assert shown(page)["last"] == len(moves)
    assert shown(page)["says"]
    page.press(Keys.END)
    assert browser.text("#outcome") == "The game was cancelled."
    assert browser.complaints == []


def test_a_visitor_who_may_not_read_the_record_is_told_why(
    service: Service, browser: Browser, ada: Client
) -> None:
    browser.tolerate("status of 4(04|09)")
    private = ended_game([ada], "parade", visibility="private")
    running = ada.create(2, house=["random"])
    unstarted = ada.create(2)
    ada.delete(f"/v1/games/{unstarted['id']}")
    for game, reason in (
        (private, "it is private"),
        (running, "still going on"),
        (unstarted, "cancelled before"),
    ):
        browser.open(f"{service.url}/play/#/replay/{game['id']}")
        wait_until(lambda reason=reason: reason in browser.text("#no-replay"), "it says why")
    open_as(browser, service.url, ada, "Ada")
    open_replay(browser, service, private["id"])


# --- The deal ---------------------------------------------------------------------------------


@pytest.fixture
def seen_game(service: Service, browser: Browser, ada: Client, bob: Client) -> dict[str, Any]:
    """The record of a game that the browser saw at its start, and not again until its end."""
    game = seated([ada, bob])
    open_as(browser, service.url, ada, "Ada")
    browser.open(f"{service.url}/play/#/game/{game['id']}")
    browser.find("[data-part]")
    browser.open(f"{service.url}/play/#/")
    browser.find(".games")
    play_out([ada, bob], game["id"], random.Random(1))
    record: dict[str, Any] = ada.get(f"/v1/games/{game['id']}/record")
    return record | {"id": game["id"]}


def check_deal(browser: Browser, service: Service, game_id: str, record: Any = None) -> str:
    """Check the deal of a game at its end; a record takes the place of the service's answer."""
    if record is not None:
        replace_answer(browser, "/record", record)
    browser.open("about:blank")
    browser.open(f"{service.url}/play/#/game/{game_id}")
    browser.click("#check-deal")
    return browser.value("#verdict", "data-verdict")


def swapped(deal: Any) -> Any:
    """A deal in which two cards have changed places."""
    first, second, *pile = deal["pile"]
    return {**deal, "pile": [second, first, *pile]}


def test_the_deal_that_was_promised_passes_the_check(
    service: Service, browser: Browser, seen_game: dict[str, Any]
) -> None:
    assert check_deal(browser, service, seen_game["id"]) == "good"
    browser.click(".deal summary")
    hashes = [line.text for line in browser.driver.find_elements("css selector", ".deal code")]
    promised = hashlib.sha256(seen_game["deal_text"].encode()).hexdigest()
    assert hashes[:3] == [promised] * 3


def test_a_deal_that_was_not_promised_to_this_browser_is_only_compared_with_its_own_hash(
    service: Service, browser: Browser, ada: Client, bob: Client
) -> None:
    game = ended_game([ada, bob], "tea-time")
    assert check_deal(browser, service, game["id"]) == "fits"


def change_kept(browser: Browser, game_id: str, change: str) -> None:
    """Change what the browser has kept of a game by a script that names it `kept`."""
    browser.run(
        f"""
        const all = JSON.parse(localStorage.getItem('ludotheque-deals'));
        const kept = all[arguments[0]];
        {change};
        localStorage.setItem('ludotheque-deals', JSON.stringify(all));
        """,
        game_id,
    )


def test_a_deal_that_does_not_lead_to_the_cards_that_were_shown_fails_the_check(
    service: Service, browser: Browser, seen_game: dict[str, Any]
) -> None:
    """The service has shown another card than the one that it dealt."""
    card = seen_game["deal"]["pile"][-1]
    change_kept(browser, seen_game["id"], f"kept.seen.table.hand[0] = '{card}'")
    assert check_deal(browser, service, seen_game["id"]) == "not_played"
    assert browser.text("#verdict").startswith("✗")


def test_a_browser_that_has_kept_no_table_claims_nothing_about_the_cards(
    service: Service, browser: Browser, seen_game: dict[str, Any]
) -> None:
    change_kept(browser, seen_game["id"], "delete kept.seen")
    assert check_deal(browser, service, seen_game["id"]) == "hash_kept"
    assert "cannot tell" in browser.text("#verdict")


@pytest.mark.parametrize("tampered", ["text", "deal", "text and deal", "text, deal and hash"])
def test_a_tampered_deal_fails_the_check(
    service: Service, browser: Browser, seen_game: dict[str, Any], tampered: str
) -> None:
    record = dict(seen_game)
    if "deal" in tampered:
        record["deal"] = swapped(record["deal"])
    if "text" in tampered:
        record["deal_text"] = json.dumps(swapped(json.loads(record["deal_text"])))
    if "hash" in tampered:
        record["deal_sha256"] = hashlib.sha256(record["deal_text"].encode()).hexdigest()
    verdicts = {"deal": "other_deal", "text, deal and hash": "hash_changed"}
    verdict = check_deal(browser, service, seen_game["id"], record)
    assert verdict == verdicts.get(tampered, "text_changed")
    assert browser.text("#verdict").startswith("✗")


def test_a_browser_that_cannot_compute_the_hash_says_so(
    service: Service, ada: Client, bob: Client, open_browser: Callable[..., Browser]
) -> None:
    """Over plain HTTP from another host, browsers have no Web Crypto."""
    game = ended_game([ada, bob], "tea-time")
    browser = open_browser("--host-resolver-rules=MAP cards.test 127.0.0.1")
    browser.hosts.add("cards.test")
    port = service.url.rpartition(":")[2]
    browser.open(f"http://cards.test:{port}/play/#/game/{game['id']}")
    browser.click("#check-deal")
    assert browser.value("#verdict", "data-verdict") == "cannot"
    assert "https" in browser.text("#verdict")


# --- The result -------------------------------------------------------------------------------


def score_table(browser: Browser) -> dict[str, Any]:
    """The points in the rows and at the foot of the result's table."""
    table: dict[str, Any] = browser.run(
        """
        const points = (row) => [...row.querySelectorAll('td b')].map((each) => +each.textContent);
        const rows = (selector) => [...document.querySelectorAll(`.result ${selector} tr`)];
        return {rows: rows('tbody').map(points), total: points(rows('tfoot')[0])};
        """
    )
    return table


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_rows_of_a_result_add_up_to_the_scores(
    service: Service, browser: Browser, ada: Client, ruleset: str
) -> None:
    game = ended_game([ada], ruleset, seat_count=4)
    PlayPage(browser, f"{service.url}/play/#/game/{game['id']}")
    assert not browser.text("#scoring").startswith("scoring.")
    table = score_table(browser)
    assert table["total"] == game["result"]["scores"]
    assert [sum(column) for column in zip(*table["rows"], strict=True)] == table["total"]


def test_a_result_says_what_decided_a_tie(
    service: Service, browser: Browser, ada: Client, bob: Client
) -> None:
    """Two players have 6 points; the one with fewer cards wins."""
    game = ended_game([ada, bob], "parade")
    scores = {"red": (1, 5, 0, 0), "blue": (1, 1, 0, 0), "green": (0, 0, 1, 6)}
    by_color = {
        line["color"]: scores.get(line["color"], (0, 0, 0, 0))
        for line in game["result"]["breakdown"]["seats"][0]["colors"]
    }
    game["result"] |= {
        "scores": [6, 6],
        "winners": [1],
        "ranks": [2, 1],
        "tie_break": "fewest_cards",
        "breakdown": {
            "ruleset": "parade",
            "seats": [
                {
                    "cards": 2 - seat,
                    "colors": [
                        {
                            "color": color,
                            "cards": of[2 * seat],
                            "points": of[2 * seat + 1],
                            "has_majority": False,
                        }
                        for color, of in by_color.items()
                    ],
                }
                for seat in (0, 1)
            ],
        },
    }
    replace_answer(browser, f"/v1/games/{game['id']}", game | {"you": None})
    PlayPage(browser, f"{service.url}/play/#/game/{game['id']}")
    assert browser.text("#outcome") == "Bob wins."
    said = browser.text(".result")
    assert "Ada and Bob have the same score: the fewest cards decide." in said
    places = [
        each.text.split() for each in browser.driver.find_elements("css selector", ".places li")
    ]
    assert [place[1:4] for place in places] == [["Bob", "1", "card"], ["Ada", "2", "cards"]]
    assert score_table(browser)["total"] == [6, 6]


# --- The rematch ------------------------------------------------------------------------------


def test_the_others_see_who_wants_to_play_again_and_join(
    service: Service,
    browser: Browser,
    ada: Client,
    bob: Client,
    open_browser: Callable[..., Browser],
) -> None:
    game = ended_game([ada, bob], "parade")
    other = open_browser()
    pages = [open_as(browser, service.url, ada, "Ada"), open_as(other, service.url, bob, "Bob")]
    for page in pages:
        page.browser.open(f"{service.url}/play/#/game/{game['id']}")
        page.browser.find("#rematch")
    browser.click("#rematch")
    wait_until(lambda: "Bob (invited)" in browser.text(".seats"), "Bob is waited for")
    assert other.text("#asked") == "Ada wants to play again."
    other.click("#rematch")
    for page in pages:
        page.browser.find(".hand [data-part]")
    assert pages[0].game_id == pages[1].game_id != game["id"]
