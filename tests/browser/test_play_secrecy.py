"""What the browser of one player receives, shows and keeps, searched for what is hidden from it."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from engine.registry import read_move
from engine.ruleset import Told
from tests.browser.browser import Browser
from tests.browser.ended import FEWEST_SEATS, open_as
from tests.browser.playing import RULESETS, PlayPage, play_together
from tests.engine.play import Case, plain, told_to
from tests.support.api_client import Client, new_player
from tests.support.service import Service

pytestmark = pytest.mark.slow

EVERYBODY_READS = re.compile(r"/v1/rulesets|/play/")
"""The addresses of what is the same for all, with the names of all cards."""

BY_THE_SERVICE = re.compile(r"game_|seat_|time_ran_out")
"""The types of the events that no ruleset makes, which are the same for all."""

LAST_VERSION = 70
"""So much of a game is watched: all of a game of two, and the first round of one of four."""

KEPT = """
const copy = document.body.cloneNode(true);
copy.querySelectorAll('.rules').forEach((each) => each.remove());
return copy.outerHTML + document.title + location.href
  + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage});
"""
"""What the page holds, but for the rules, which name cards as examples."""


class Truth:
    """A game as it was, from its record: what a seat could know at each version."""

    def __init__(self, reader: Client, game_id: str) -> None:
        self.record = reader.get(f"/v1/games/{game_id}/record")
        given = tuple(self.record["options"].items())
        self.case = Case(self.record["ruleset"], self.record["seat_count"], given)
        self.ruleset = self.case.ruleset
        items = reader.get(f"/v1/games/{game_id}/events")["items"]
        self.started = next(
            item["version"]
            for item in items
            if any(event["type"] == "game_started" for event in item["events"])
        )
        self.positions = list(self._replay())
        """One after the start and after each move, as each of them is a version."""

    def _replay(self) -> Iterator[tuple[Any, tuple[Told, ...]]]:
        """The positions, from the first to the last, each with what led to it."""
        deal = self.record["deal"]
        yield (position := self.case.start(self.ruleset.read_deal(deal)))
        for move in self.record["moves"]:
            if move["type"] == "move":
                played = read_move(move["move"])
                position = self.ruleset.apply(position[0], move["seat"], played)
            else:
                position = self.ruleset.expire(position[0])
            yield position

    def table(self, version: int, seat: int) -> Any:
        state, _ = self.positions[version - self.started]
        return plain(self.ruleset.view(state, seat))

    def events(self, version: int, seat: int) -> list[Any]:
        """What the ruleset tells this seat at a version."""
        at = version - self.started
        if not 0 <= at < len(self.positions):
            return []
        _, told = self.positions[at]
        return [without_clock(event) for event in plain(told_to(told, seat))]

    def unseen(self, seat: int) -> Iterator[set[str]]:
        """At each position, the dealt components that exist once and that the seat has not seen."""
        dealt = json.dumps(self.record["deal"])
        left = {
            each.name
            for each in self.ruleset.components
            if each.count == 1 and f'"{each.name}"' in dealt
        }
        for at, (_, told) in enumerate(self.positions):
            shown = json.dumps([self.table(self.started + at, seat), plain(told_to(told, seat))])
            left = left - set(re.findall(r'"([^"]+)"', shown))
            yield left


class Held(NamedTuple):
    """A text that a browser held when it had been told of a version of the game."""

    version: int
    where: str
    text: str


class Watched:
    """All that one browser receives, shows and keeps until the game is over."""

    def __init__(self, page: PlayPage, game_id: str) -> None:
        page.browser.forget_received()
        self.page = page
        self.game_id = game_id
        self.held: list[Held] = []
        self.tables: list[tuple[int, Any]] = []
        self.items: list[tuple[int, list[Any]]] = []
        self.version = 0
        self._is_over = False
        self._read = 0

    def look(self) -> None:
        kept = str(self.page.browser.run(KEPT))
        received = self.page.browser.received[self._read :]
        self._read += len(received)
        for url, text in received:
            if not EVERYBODY_READS.search(url):
                for value in dicts_in(json.loads(text)):
                    self._learn(value)
                    if self.game_id in url and "events" in value and "version" in value:
                        self.items.append((value["version"], value["events"]))
                self._add(url, text)
        if not self.held or self.held[-1].text != kept:
            self._add("the page", kept)

    def _add(self, where: str, text: str) -> None:
        if not self._is_over:
            self.held.append(Held(self.version, where, text))

    def _learn(self, value: dict[str, Any]) -> None:
        """Note the version that the browser is told of, and the table at it."""
        is_game = value.get("id") == self.game_id
        if is_game or "events" in value:
            self.version = max(self.version, value.get("version", 0))
        if is_game and value.get("status") == "finished":
            self._is_over = True
        elif is_game and value.get("table"):
            self.tables.append((value["version"], value["table"]))

    def assert_knows_nothing_hidden(self, truth: Truth, seat: int, titles: dict[str, str]) -> None:
        unseen = list(truth.unseen(seat))
        salt = json.loads(truth.record["deal_text"])["salt"]
        assert self.held
        assert self.tables
        for version, where, text in self.held:
            hidden = unseen[max(0, version - truth.started)]
            names = [*hidden, *(titles[name] for name in hidden)]
            found = re.findall(rf"\b({'|'.join(map(re.escape, names))})\b", text) if names else []
            assert found == [], f"{where} at version {version} holds what is hidden"
            assert salt not in text
            assert not re.search(r'"(deal|deal_text|salt)"', text), where
        for version, table in self.tables:
            assert without_clock(table) == without_clock(truth.table(version, seat))
        assert len(self.items) > 1
        for version, events in self.items:
            of_the_ruleset = [
                without_clock(event) for event in events if not BY_THE_SERVICE.match(event["type"])
            ]
            assert of_the_ruleset == truth.events(version, seat)


def dicts_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a JSON value."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from dicts_in(each)


def without_clock(value: dict[str, Any]) -> dict[str, Any]:
    """A table or event without its deadline, which an engine without a clock does not know."""
    return {name: each for name, each in value.items() if name != "deadline"}


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_browser_never_holds_what_is_hidden_from_its_player(
    service: Service, open_browser: Callable[..., Browser], ruleset: str
) -> None:
    ada, bob = (new_player(service.url, name=name) for name in ("Ada", "Bob"))
    seats = FEWEST_SEATS.get(ruleset, 2)
    game_id = ada.create(seats, ruleset, house=["random"] * (seats - 2))["id"]
    bob.join(game_id)
    seats_of = [player.game(game_id)["you"] for player in (ada, bob)]
    pages = [
        open_as(open_browser(), service.url, ada, "Ada"),
        open_as(open_browser(), service.url, bob, "Bob"),
    ]
    watched = [Watched(page, game_id) for page in pages]
    for page in pages:
        page.open_game(game_id)

    def have_seen_enough() -> bool:
        for each in watched:
            each.look()
        return all(each.version >= LAST_VERSION or each.page.is_over for each in watched)

    play_together(pages, have_seen_enough, "both see the end, or enough of a long game")
    reader = new_player(service.url)
    if reader.game(game_id)["status"] == "playing":
        for player in (ada, bob):
            player.delete(f"/v1/games/{game_id}/seats/me")
    truth = Truth(reader, game_id)
    titles = {
        each["name"]: each["title"] for each in reader.get(f"/v1/rulesets/{ruleset}")["components"]
    }
    for each, seat in zip(watched, seats_of, strict=True):
        each.assert_knows_nothing_hidden(truth, seat, titles)
