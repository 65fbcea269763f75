"""How requests slow down as what is stored grows, if they do.

Four things grow, each by itself: the games that are stored, those of the player who asks, what has
happened in the game, and who waits elsewhere. Every size is measured in turn, again and again, on
the service with two workers, at one connection: a figure is how long an answer takes, not how many
come. All sizes have copies of one game (`bench.stock`), so what is asked and played is the same to
the card; and the same 20 open games besides, so that the list is as long everywhere.

    python -m bench.growth [--quick] [--json FILE]

| grows | whose requests are measured |
| --- | --- |
| games | a player's with one game, half played, that waits for it |
| ended games | the same, but for listGames: the lobby with all the games |
| games of the player | the same with more games, which wait for others; beyond 100, ended ones |
| events of the game | the same in a game that has just begun, after many sat down and left again |
| waiters | as the first; the others wait for other games |
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

from bench.crowd import FOR_EACH_GAME, waiting
from bench.games import planned
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
EVENTS = 10
"""So many are asked for, from the middle on."""

MOST_IN_PLAY = 100
"""Nobody can be in more games that have not ended."""

WHOLE = range(24, 36)
"""So many moves the game has that is copied."""


class Load(NamedTuple):
    """How much is measured: how often, how many requests each time, how many whole games."""

    rounds: int
    reads: int
    plays: int
    sizes: dict[str, tuple[int, ...]]


LONG = Load(
    rounds=5,
    reads=200,
    plays=5,
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

    def measure(self, load: Load) -> dict[str, float]:
        """How long the median answer takes (ms)."""
        caller = Caller(self.running.port)
        found = {
            name: _median(caller, itertools.repeat(data, load.reads))
            for name, data in self._reads(caller).items()
        }
        found[PLAY] = _median(caller, self._moves(load.plays))
        return found

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
        if status != 200:
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
            stock.fill_ended(size)
            yield self._measuring(self._point(running, stock)._replace(lobby=""))

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
    growth = []
    for what in load.sizes:
        with contextlib.ExitStack() as ending:
            print(f"\r{what:40}", end="", file=sys.stderr)
            sizes = Growth(template, load, ending).sizes(what)
            rounds = [_round(sizes, number) for number in range(load.rounds)]
        growth.append(
            {
                "what": what,
                "sizes": [size for size, _ in sizes],
                "ms": {
                    name: [_spread([each[size][name] for each in rounds]) for size, _ in sizes]
                    for name in OPERATIONS
                },
            }
        )
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
            [
                [name, *(f"{median:.2f}" for median, _, _ in each["ms"][name])]
                for name in OPERATIONS
            ],
        )
        for each in measured["growth"]
    )


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
