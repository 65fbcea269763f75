"""How requests slow down as what is stored grows, if they do.

Five things grow, each by itself: the games in the store, the ended games, the games of one player,
the events of a game, and the clients that wait for other games. Every size is measured in turn,
again and again, on the service with two workers, at one connection: a figure is how long an answer
takes, not how many come. All sizes have copies of one game (`bench.stock`), so the requests and the
moves are the same; and the same 20 open games besides, so that the list is as long everywhere.

    python -m bench.growth [--quick] [--json FILE]

| grows | whose requests are measured |
| --- | --- |
| games | a player's with one game, half played, that waits for it |
| ended games | the same, but for listGames: the lobby with all the games; and more of the lobby |
| games of the player | the same with more games, which wait for others; beyond 100, ended ones |
| events of the game | the same in a game that has just begun, after many sat down and left again |
| waiters | as the first; the others wait for other games |

With many ended games, more is measured of the lobby: a page of ended games, a page far down, the
creation of a game, the move that ends one, and the memory of the lobby's keys. Those ended games
have their document and their index entries, but no history, and their store writes no file.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from api.storage.indexes import MAX_LISTED_ENDED
from bench.crowd import FOR_EACH_GAME, waiting
from bench.games import planned
from bench.http import TABLE
from bench.running import (
    Caller,
    Refused,
    Running,
    allow_open_files,
    arguments,
    keep,
    machine,
    request,
    service,
    table,
)
from bench.stock import GAMES_EACH, Seated, Stock, Template

PLAY = "playMove"
OPERATIONS = ("getGame", "listTurns", "listGames", "listEvents", PLAY)
LOBBY = 20
KB = 1000
EVENTS = 10
"""So many are asked for, from the middle on."""

FINISHED_PAGE, FAR_PAGE = "listGames, finished", "listGames, far down"
CREATE, LAST_MOVE = "createGame", "playMove, the last"
LOBBY_OPERATIONS = (FINISHED_PAGE, FAR_PAGE, CREATE, LAST_MOVE)
LOBBY_KEYS = "index:{lobby*"
LOBBY_HEADING = (
    f"The lobby lists about {MAX_LISTED_ENDED:,} ended games of a ruleset. Its requests in "
    "milliseconds, and its memory, as more games end:"
)
LARGEST_PAGE, PAGES_BEFORE = 100, 5
"""A page far down comes after so many pages."""

MOST_IN_PLAY = 100
"""Nobody can be in more games that have not ended."""

WHOLE = range(24, 36)
"""So many moves the game has that is copied."""


class Load(NamedTuple):
    """How much is measured: how often, how many requests each time, whole games, ends of games."""

    rounds: int
    reads: int
    plays: int
    ends: int
    sizes: dict[str, tuple[int, ...]]


LONG = Load(
    rounds=5,
    reads=200,
    plays=5,
    ends=40,
    sizes={
        "games": (10, 100, 1_000, 10_000, 100_000),
        "ended games": (1_000, 10_000, 100_000, 1_000_000),
        "games of the player": (1, 10, 100, 1_000),
        "events of the game": (10, 30, 100, 300, 1_000),
        "waiters": (0, 10, 100, 1_000, 5_000),
    },
)
QUICK = Load(
    rounds=1,
    reads=10,
    plays=1,
    ends=2,
    sizes={
        "games": (10, 100),
        "ended games": (10, 100),
        "games of the player": (1, 110),
        "events of the game": (10, 100),
        "waiters": (0, 100),
    },
)

Measure = Callable[[], dict[str, float]]


class Point(NamedTuple):
    """A size: the service, copies in its store, and a game of these players to ask about."""

    running: Running
    stock: Stock
    players: list[Seated]
    moment: str
    game_id: str
    padding: int
    lobby: str = "status=open&"
    measures_lobby: bool = False

    def measure(self, load: Load) -> dict[str, float]:
        """How long the median answer takes (ms)."""
        caller = Caller(self.running.port)
        found = {
            name: _median(caller, itertools.repeat(data, load.reads))
            for name, data in self._reads(caller).items()
        }
        found[PLAY] = _median(caller, self._moves(load.plays))
        return found | self._lobby(caller, load) if self.measures_lobby else found

    def _lobby(self, caller: Caller, load: Load) -> dict[str, float]:
        """The median times of more requests about the lobby (ms), and its keys' memory (kB)."""
        token = self.players[0].token
        ended = f"/v1/games?status=finished&limit={LOBBY}"
        far = self._far_down(caller, token)
        hosts = self._each_player(load.reads)
        creations = [request("POST", "/v1/games", each.token, TABLE) for each in hosts]
        return {
            FINISHED_PAGE: _median(caller, [request("GET", ended, token)] * load.reads),
            FAR_PAGE: _median(caller, [request("GET", far, token)] * load.reads),
            CREATE: _median(caller, creations),
            LAST_MOVE: _median(caller, self._last_moves(load.ends)),
            LOBBY_KEYS: self.running.store_bytes(LOBBY_KEYS) / KB,
        }

    def _far_down(self, caller: Caller, token: str) -> str:
        """The path of a page after many others, or after as many as there are."""
        path = far = f"/v1/games?limit={LARGEST_PAGE}"
        for _ in range(PAGES_BEFORE):
            cursor = caller.ask("GET", path, token).get("next")
            if cursor is None:
                break
            path = f"/v1/games?limit={LARGEST_PAGE}&cursor={cursor}"
            far = f"/v1/games?limit={LOBBY}&cursor={cursor}"
        return far

    def _each_player(self, games: int) -> list[Seated]:
        """The host of each of some new games."""
        hosts = [self.stock.players()[0] for _ in range(-(-games // GAMES_EACH))]
        return [hosts[number // GAMES_EACH] for number in range(games)]

    def _last_moves(self, games: int) -> list[bytes]:
        """The moves that end some games."""
        move = self.stock.template.plan.moves[-1]
        requests = []
        for number in range(games):
            if number % GAMES_EACH == 0:
                players = self.stock.players()
            game_id = self.stock.copy("last", players)
            requests.append(move.request(game_id, [each.token for each in players]))
        self.stock.flush()
        return requests

    def _reads(self, caller: Caller) -> dict[str, bytes]:
        token = self.players[self.stock.template.mover(self.moment)].token
        path = f"/v1/games/{self.game_id}"
        game = caller.ask("GET", path, token)
        assert game["you"] in game["to_move"]
        before = max(game["version"] // 2, game["version"] - EVENTS)
        page = caller.ask("GET", f"{path}/events?limit={min(before, 500)}", token)
        paths = {
            "getGame": path,
            "listTurns": f"/v1/me/turns?since={_cursor(caller, token)}",
            "listGames": f"/v1/games?{self.lobby}limit={LOBBY}",
            "listEvents": f"{path}/events?since={page['cursor']}&limit={EVENTS}",
        }
        return {name: request("GET", each, token) for name, each in paths.items()}

    def _moves(self, games: int) -> list[bytes]:
        """All moves of some games that have just begun."""
        tokens = [each.token for each in self.players]
        begun = [self.stock.copy("start", self.players, self.padding) for _ in range(games)]
        self.stock.flush()
        moves = self.stock.template.plan.moves
        return [move.request(game_id, tokens) for game_id in begun for move in moves]


def _cursor(caller: Caller, token: str) -> str:
    """The cursor of a player to whom nothing is news."""
    cursor: str = caller.ask("GET", "/v1/me/turns", token)["cursor"]
    while True:
        turns = caller.ask("GET", f"/v1/me/turns?since={cursor}", token)
        if turns["unchanged"]:
            return cursor
        cursor = turns["cursor"]


def _median(caller: Caller, requests: Iterable[bytes]) -> float:
    times = []
    for data in requests:
        begin = time.perf_counter()
        status, body = caller.send(data)
        times.append(time.perf_counter() - begin)
        if status not in (200, 201):
            raise Refused(f"{data[:80]!r}: {status} {body.decode()[:300]}")
    return statistics.median(times) * 1000


class Growth:
    """What grows, on services that it starts and `ending` ends, with copies of one game."""

    def __init__(self, template: Template, load: Load, ending: contextlib.ExitStack) -> None:
        self.template = template
        self.load = load
        self.ending = ending

    def sizes(self, what: str) -> list[tuple[int, Measure]]:
        """Each size of what grows, and how to measure it once."""
        make = {
            "games": self._games,
            "ended games": self._ended_games,
            "games of the player": self._games_of_the_player,
            "events of the game": self._events,
            "waiters": self._waiters,
        }[what]
        return list(zip(self.load.sizes[what], make(self.load.sizes[what]), strict=True))

    def _games(self, sizes: tuple[int, ...]) -> Iterator[Measure]:
        for size in sizes:
            running, stock = self._service()
            stock.fill(size)
            yield self._measuring(self._point(running, stock))

    def _ended_games(self, sizes: tuple[int, ...]) -> Iterator[Measure]:
        for size in sizes:
            running, stock = self._service()
            running.redis().config_set("appendonly", "no")
            stock.fill_ended(size)
            point = self._point(running, stock)
            yield self._measuring(point._replace(lobby="", measures_lobby=True))

    def _games_of_the_player(self, sizes: tuple[int, ...]) -> Iterator[Measure]:
        running, stock = self._service()
        for size in sizes:
            point = self._point(running, stock)
            seat = self.template.mover("half")
            for number in range(1, size):
                if number % GAMES_EACH == 1:
                    others = stock.players()
                # The player sits where another is to move.
                others[1 - seat] = point.players[seat]
                stock.copy("half" if number < MOST_IN_PLAY else "ended", others)
            stock.flush()
            yield self._measuring(point)

    def _events(self, sizes: tuple[int, ...]) -> Iterator[Measure]:
        running, stock = self._service()
        begun = self.template.game("start").version
        for size in sizes:
            # Who sits down and leaves again is two events.
            point = self._point(running, stock, "start", padding=(size - begun + 1) // 2)
            yield self._measuring(point)

    def _waiters(self, sizes: tuple[int, ...]) -> Iterator[Measure]:
        for size in sizes:
            yield partial(self._beside, size)

    def _beside(self, waiters: int) -> dict[str, float]:
        """A service of its own each time: a poll that was given up is held until its time is up."""
        with service() as running:
            stock = Stock(running, self.template)
            self._add_lobby(stock)
            games = []
            for number in range(-(-waiters // FOR_EACH_GAME)):
                if number % GAMES_EACH == 0:
                    players = stock.players()
                games.append(stock.copy("half", players))
            point = self._point(running, stock)
            with waiting(running, games, waiters):
                return point.measure(self.load)

    def _service(self) -> tuple[Running, Stock]:
        running = self.ending.enter_context(service())
        stock = Stock(running, self.template)
        self._add_lobby(stock)
        return running, stock

    def _add_lobby(self, stock: Stock) -> None:
        players = stock.players()
        for _ in range(LOBBY):
            stock.copy("open", players)

    def _point(
        self, running: Running, stock: Stock, moment: str = "half", padding: int = 0
    ) -> Point:
        players = stock.players()
        game_id = stock.copy(moment, players, padding)
        stock.flush()
        return Point(running, stock, players, moment, game_id, padding)

    def _measuring(self, point: Point) -> Measure:
        return partial(point.measure, self.load)


def a_game() -> Template:
    """A game for two of a usual length, played."""
    rng = Random(1)
    with service() as running:
        caller = Caller(running.port)
        while True:
            plan = planned(caller, running, "parade", 2, rng)
            if len(plan.moves) in WHOLE:
                return Template.play(running, plan)


def measure(load: Load) -> dict[str, Any]:
    """All that grows."""
    template = a_game()
    growth: list[dict[str, Any]] = []
    for what in load.sizes:
        with contextlib.ExitStack() as ending:
            print(f"\r{what:40}", end="", file=sys.stderr)
            sizes = Growth(template, load, ending).sizes(what)
            rounds = [_round(sizes, number) for number in range(load.rounds)]
        found = {
            name: [_spread([each[size][name] for each in rounds]) for size, _ in sizes]
            for name in rounds[0][sizes[0][0]]
        }
        more = {name: found.pop(name) for name in [*found] if name not in OPERATIONS}
        growth.append({"what": what, "sizes": [size for size, _ in sizes], "ms": found})
        if more:
            growth[-1] |= {"lobby_kb": more.pop(LOBBY_KEYS), "lobby_ms": more}
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return {
        "machine": machine(),
        "rounds": load.rounds,
        "requests": load.reads,
        "moves": load.plays * len(template.plan.moves),
        "growth": growth,
    }


def _round(sizes: list[tuple[int, Measure]], number: int) -> dict[int, dict[str, float]]:
    """Every size once, in the other direction each time."""
    return {size: once() for size, once in (sizes if number % 2 else reversed(sizes))}


def _spread(values: list[float]) -> list[float]:
    """The median, the lowest and the highest."""
    return [round(each, 3) for each in (statistics.median(values), min(values), max(values))]


def tables(measured: dict[str, Any]) -> str:
    """The figures for people: milliseconds, by size, for all that grows."""
    return "\n\n".join(
        table(
            [each["what"], *(f"{size:,}" for size in each["sizes"])],
            [[name, *(f"{median:.2f}" for median, _, _ in each["ms"][name])] for name in OPERATIONS]
            + lobby_rows(each),
        )
        for each in measured["growth"]
    )


def lobby_rows(each: dict[str, Any]) -> list[list[str]]:
    """What is measured of the lobby alone, if this is what grows."""
    if "lobby_ms" not in each:
        return []
    rows = [
        [name, *(f"{median:.2f}" for median, _, _ in each["lobby_ms"][name])]
        for name in LOBBY_OPERATIONS
    ]
    return [*rows, ["kB of the lobby's keys", *(f"{kb:,.0f}" for kb, _, _ in each["lobby_kb"])]]


def lobby_in_short(measured: dict[str, Any]) -> str:
    """The lobby as games end, for people; nothing if that was not measured."""
    for each in measured["growth"]:
        if rows := lobby_rows(each):
            head = [f"the lobby, {each['what']}", *(f"{size:,}" for size in each["sizes"])]
            return f"\n\n{LOBBY_HEADING}\n\n{table(head, rows)}"
    return ""


def summary(measured: dict[str, Any]) -> str:
    """The same in short: from the smallest to the largest size."""
    grown = measured["growth"]
    head = [f"{each['what']}, {each['sizes'][0]:,} to {each['sizes'][-1]:,}" for each in grown]
    rows = [
        [name, *(f"{each['ms'][name][0][0]:.2f} → {each['ms'][name][-1][0]:.2f}" for each in grown)]
        for name in OPERATIONS
    ]
    return table(["ms", *head], rows)


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    given = parser.parse_args()
    load = QUICK if given.quick else LONG
    allow_open_files(2 * max(load.sizes["waiters"]) + 1000)
    measured = measure(load)
    print(measured["machine"])
    print("Milliseconds until the answer is there, the median:\n")
    print(tables(measured))
    keep(measured, given.json)


if __name__ == "__main__":
    main()
