"""The table in the browser in the states that are looked at: the lobby, tables and results."""

import random
from collections.abc import Sequence

from tests.browser.browser import Browser
from tests.browser.playing import PlayPage
from tests.support.api_client import Client, new_player

NAMES = ("Ada", "Mina", "Théo", "Jo", "A player with quite a long name", "Noor")
SEED = 7
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
SCHEMES = ("light", "dark")
MOST_TELLING = """
    const marks = (part) => (part.focus(), document.querySelectorAll('.leaves').length);
    const parts = [...document.querySelectorAll('[data-offer]')];
    parts.sort((a, b) => marks(b) - marks(a))[0]"""


class Scenes:
    """A visitor named Ada, and other people at the same service who play by its API."""

    def __init__(self, browser: Browser, url: str, language: str = "en") -> None:
        self.url = url
        self.browser = browser
        self.players = [new_player(url, name=name, checked=False) for name in NAMES]
        self.page = PlayPage(browser, f"{url}/play")
        browser.click(f"#language option[value='{language}']")
        browser.find(f"html[lang='{language}'] .games")
        token = self.players[0].token
        assert token
        browser.click("#account")
        browser.write("#other", token)
        browser.click("#answer")
        browser.find("html:not(:has(dialog[open])) .games")

    def look(self, scheme: str, width: int, height: int, scale: float = 1) -> None:
        """Show the page in a colour scheme, on a screen of this size."""
        screen = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        command = self.browser.driver.execute_cdp_cmd
        command("Emulation.setDeviceMetricsOverride", screen)
        command("Emulation.setEmulatedMedia", {"features": features})

    @property
    def rulesets(self) -> list[str]:
        """The rulesets that the page can play."""
        found: list[str] = self.browser.run(
            "return [...document.querySelectorAll('.games [data-ruleset]')]"
            ".map((each) => each.dataset.ruleset)"
        )
        return found

    def most_seats(self, ruleset: str) -> int:
        return int(self.players[0].get(f"/v1/rulesets/{ruleset}")["seat_counts"]["maximum"])

    def show_lobby(self) -> None:
        """Show the lobby with some games of the visitor, and tables that wait for players."""
        host = self.players[1]
        for ruleset, seat_count in (("tea-time", 3), ("parade", 6)):
            host.create(seat_count, ruleset)
            self._start(ruleset, seat_count, 2)
        self.browser.open(f"{self.url}/play")
        self.browser.find("#mine a")
        self.browser.find("#tables button")

    def show_table(self, ruleset: str, seat_count: int, moves: int) -> None:
        """Show a table at which it is the visitor's turn, after at least this many moves."""
        self._open(self._start(ruleset, seat_count, moves))
        self.browser.find("[data-offer]")

    def show_waiting(self, ruleset: str) -> None:
        """Show a private table of the visitor that waits for players."""
        game = self.players[0].create(ruleset=ruleset, visibility="private")
        self._open(str(game["id"]))
        self.browser.find(".open #link")

    def show_result(self, ruleset: str, seat_count: int) -> None:
        """Show how a game ended."""
        self._open(self._start(ruleset, seat_count, None))
        self.browser.find(".result")

    def _start(self, ruleset: str, seat_count: int, moves: int | None) -> str:
        """Play a game for some moves or to its end, and return its id. The house has one seat."""
        players = self.players[: seat_count - 1]
        game = players[0].create(seat_count, ruleset, house=["careful"])
        for player in players[1:]:
            player.join(game["id"])
        play(players, game["id"], moves)
        return str(game["id"])

    def _open(self, game_id: str) -> None:
        self.browser.open(f"{self.url}/play/#/game/{game_id}")

    def focus_the_most_telling_part(self) -> int:
        """Focus the part of a move whose preview marks most on the table; return how much."""
        count = "return document.querySelectorAll('.leaves').length"
        marked: int = self.browser.run(f"{MOST_TELLING}.focus(); {count}")
        return marked

    def choose_the_most_telling_part(self) -> None:
        self.browser.run(f"{MOST_TELLING}.click()")


def play(players: Sequence[Client], game_id: str, moves: int | None) -> None:
    """Play random legal moves, until the first player is to move after so many, or to the end."""
    rng = random.Random(SEED)
    played = 0
    while True:
        game = players[0].game(game_id)
        is_enough = moves is not None and played >= moves and 0 in game["to_move"]
        if game["status"] != "playing" or is_enough:
            return
        player = players[game["to_move"][0]]
        own = player.game(game_id)
        player.play(game_id, own["turn"], rng.choice(own["legal_moves"]))
        played += 1
