"""Games that have ended, for what the page shows of them."""

import random
from typing import Any

from tests.browser.browser import Browser
from tests.browser.playing import PLAYER_KEY, PlayPage
from tests.support.api_client import Client, play_out
from tests.support.waiting import wait_until

FEWEST_SEATS = {"mit-list-und-tuecke": 4}


def ended_game(
    players: list[Client], ruleset: str, seat_count: int | None = None, **members: Any
) -> Any:
    """Play a game of these players to its end; the house has the other seats."""
    seats = seat_count or max(len(players), FEWEST_SEATS.get(ruleset, 2))
    house = ["random"] * (seats - len(players))
    game = players[0].create(seats, ruleset, house=house, **members)
    for player in players[1:]:
        player.join(game["id"])
    return play_out(players, game["id"], random.Random(1))


def open_as(browser: Browser, url: str, player: Client, name: str) -> PlayPage:
    """Open the lobby as a player that exists already."""
    page = PlayPage(browser, f"{url}/play/#/", name)
    browser.find(".games")
    keep_player(browser, player, name)
    browser.run("location.reload()")
    wait_until(lambda: browser.text("#account") == name, "the page knows the player")
    browser.find(".games")
    return page


def keep_player(browser: Browser, player: Client, name: str) -> None:
    """Let a page find this player in its storage when it is loaded the next time."""
    browser.run(
        PLAYER_KEY
        + """
        const player = {id: arguments[0], token: arguments[1], name: arguments[2]};
        localStorage.setItem(key, JSON.stringify(player));
        localStorage.setItem('ludotheque', JSON.stringify({...settings, language: 'en'}));
        """,
        player.id,
        player.token,
        name,
    )
