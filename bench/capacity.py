"""The capacity model: what a number of games a day takes, computed from the kept figures.

    python -m bench.capacity [--games N …] [--moves N] [--move-seconds N] …

The costs of requests are measured: the workers' CPU time by `bench.http`, the rest by
`bench.traffic` and `bench.waiting`. How clients behave, and how much of a machine may be used, are
assumptions, each with an option. The spread of keys is simulated with real names of keys and the
slots of a real cluster.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from api.config.settings import Settings
from api.model.game import OPEN
from api.storage.indexes import Page, lobby
from api.storage.keys import game_key
from bench.kept import read
from bench.running import table

DAY = 24 * 60 * 60
KB, MB, GB = 1e3, 1e6, 1e9

STEPS = (1_000, 1_000_000, 100_000_000)
"""Games a day."""

SHARDS = 100
SPREAD = 100_000
"""Games whose keys are spread over the shards."""

SCENARIOS = {
    "createPlayer": "listTurns, none",
    "createGame": "createGame",
    "joinGame": "joinGame, which starts it",
    "playMove": "playMove, 32 games at once",
    "listEvents": "listEvents, 20 from the middle",
    "listGames": "listGames, 20 of 10,000",
}
"""The scenario of `bench.http` that has the CPU time of a worker for each kind of request."""


class Assumptions(NamedTuple):
    """How clients behave, and how much of a machine may be used."""

    moves: float
    seats: float
    move_seconds: float = 15
    open_seconds: float = 30
    lobby_reads: float = 5
    new_players: float = 1
    unfinished: float = 0.1
    kept_days: float = Settings().finished_game_days
    peak: float = 3
    busy: float = 0.6
    shard_gb: float = 8
    shard_mb_a_second: float = 100


MEANINGS = {
    "moves": "moves of a game (by default the mean of the four games as they were played)",
    "seats": "seats of a game; each has a client that follows the game (by default as played)",
    "move_seconds": "seconds from one move of a game to the next",
    "open_seconds": "seconds until a new game is full",
    "lobby_reads": "requests for the lobby for each game",
    "new_players": "new players for each game; each is kept for `PLAYER_DAYS`",
    "unfinished": "games that stop at the half and stay until they expire, for each game",
    "kept_days": "days that a finished game is kept (`FINISHED_GAME_DAYS`)",
    "peak": "the load of the busiest minute, divided by the mean of the day",
    "busy": "how much of a core, `WAITERS`, a shard's memory and its network is used at the peak",
    "shard_gb": "GB of memory of a shard",
    "shard_mb_a_second": "MB a second of a shard's network, in both directions together",
}


class Cost(NamedTuple):
    """What a request costs."""

    worker_ms: float
    store_ms: float
    reads: float
    store_bytes: float
    client_bytes: float

    def times(self, number: float) -> Cost:
        """The cost of a number of these requests."""
        return Cost(*(number * each for each in self))


class Game(NamedTuple):
    """What a game costs: its requests by kind, with their numbers and their costs together."""

    requests: dict[str, tuple[float, Cost]]

    @property
    def number(self) -> float:
        """The number of its requests."""
        return sum(number for number, _ in self.requests.values())

    @property
    def cost(self) -> Cost:
        """The cost of all its requests."""
        costs = [cost for _, cost in self.requests.values()]
        return Cost(*map(sum, zip(*costs, strict=True)))


class Needs(NamedTuple):
    """What a number of games a day takes at the peak."""

    requests: float
    moves: float
    waiting: float
    worker_cores: float
    waiting_workers: float
    waiting_bytes: float
    store_bytes: float
    shards_by_cpu: float
    shards_by_memory: float
    shards_by_network: float
    store_network: float
    client_network: float
    lobby_reads: float
    open_games: float

    @property
    def workers(self) -> int:
        """The number of workers."""
        return math.ceil(max(self.worker_cores, self.waiting_workers))

    @property
    def shards(self) -> int:
        """The number of shards."""
        return math.ceil(max(self.shards_by_cpu, self.shards_by_memory, self.shards_by_network))

    @property
    def first(self) -> str:
        """The part of which most is needed, in its own units."""
        parts = {
            "CPU of workers": self.worker_cores,
            "clients that wait": self.waiting_workers,
            "CPU of the store": self.shards_by_cpu,
            "memory of the store": self.shards_by_memory,
            "network of the store": self.shards_by_network,
        }
        return max(parts, key=parts.__getitem__)


def assumptions(kept: Mapping[str, Any], **chosen: float) -> Assumptions:
    """The assumptions, of which some are chosen."""
    played = {name: kept["traffic"][name] for name in ("moves", "seats")}
    return Assumptions(**(played | chosen))


def game(kept: Mapping[str, Any], given: Assumptions) -> Game:
    """What a game costs. Each move wakes the clients of the other seats, which read it."""
    numbers = {
        "createPlayer": given.new_players,
        "createGame": 1,
        "joinGame": given.seats - 1,
        "playMove": given.moves,
        "listEvents": given.moves * (given.seats - 1),
        "listGames": given.lobby_reads,
    }
    cpu = {each["name"]: each["cpu_ms"] for each in kept["http"]["scenarios"]}
    found = {}
    for kind, number in numbers.items():
        costs = kept["traffic"]["requests"][kind]
        cost = Cost(
            cpu[SCENARIOS[kind]],
            costs["store_cpu_ms"],
            costs["reads"],
            costs["store_in"] + costs["store_out"],
            costs["client_in"] + costs["client_out"],
        )
        found[kind] = (number, cost.times(number))
    return Game(found)


def needs(kept: Mapping[str, Any], given: Assumptions, games: float) -> Needs:
    """What a number of games a day takes."""
    each, settings, traffic = game(kept, given), Settings(), kept["traffic"]
    cost, rate = each.cost, games / DAY * given.peak
    in_play = rate * given.moves * given.move_seconds
    waiting = in_play * given.seats
    # Each game was measured with players of its own, which are kept for another time than games.
    player = traffic["player"]
    half, end = (traffic[each] - traffic["seats"] * player for each in ("half", "end"))
    store_bytes = in_play * half + games * (
        given.kept_days * end
        + given.unfinished * settings.open_game_days * half
        + given.new_players * settings.player_days * player
    )
    return Needs(
        requests=rate * each.number,
        moves=rate * given.moves,
        waiting=waiting,
        worker_cores=rate * cost.worker_ms / 1000 / given.busy,
        waiting_workers=waiting / (settings.waiters * given.busy),
        waiting_bytes=waiting * kept["waiting"]["kb_each"] * KB,
        store_bytes=store_bytes,
        shards_by_cpu=rate * cost.store_ms / 1000 / given.busy,
        shards_by_memory=store_bytes / (given.shard_gb * GB * given.busy),
        shards_by_network=rate * cost.store_bytes / (given.shard_mb_a_second * MB * given.busy),
        store_network=rate * cost.store_bytes,
        client_network=rate * cost.client_bytes,
        lobby_reads=rate * given.lobby_reads,
        open_games=rate * given.open_seconds,
    )


# --- The spread over shards -----------------------------------------------------------------


def shard(key: str, shards: int) -> int:
    """The shard of a key, when the slots are divided as `valkey-cli --cluster create` does."""
    return key_slot(key.encode()) * shards // REDIS_CLUSTER_HASH_SLOTS


def spread(games: int, shards: int) -> list[int]:
    """How many of these games each shard has, of those with fewest first."""
    rng = Random(1)
    keys = (game_key(f"{rng.getrandbits(128):032x}") for _ in range(games))
    found = Counter(shard(key, shards) for key in keys)
    return sorted(found[each] for each in range(shards))


def lobby_keys(shards: int) -> list[int]:
    """How many indexes of the open games each shard has, of those with most first."""
    commands = Page(lobby(status=OPEN), None, 20).first_commands
    found = Counter(shard(each.key, shards) for each in commands)
    return sorted(found.values(), reverse=True)


# --- For people -----------------------------------------------------------------------------


def text(kept: Mapping[str, Any], given: Assumptions | None = None, *games: float) -> str:
    """The model as Markdown."""
    given = given or assumptions(kept)
    steps = games or STEPS
    found = [needs(kept, given, each) for each in steps]
    workers, rest = kept["http"]["machine"], kept["traffic"]["machine"]
    machines = f"Measured on {workers}."
    if rest != workers:
        machines = f"The CPU time of workers was measured on {workers}; the rest on {rest}."
    parts = (
        machines,
        _assumptions(given),
        _game(kept, given),
        _needs(steps, found, [needs(kept, given._replace(kept_days=1), each) for each in steps]),
        _spread(steps, found, kept),
    )
    return "\n\n".join(parts)


def _assumptions(given: Assumptions) -> str:
    rows = [
        [f"`--{name.replace('_', '-')}`", f"{value:,.4g}", MEANINGS[name]]
        for name, value in given._asdict().items()
    ]
    lines = [["assumption", "value", "meaning"], ["---", "---:", "---"], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _game(kept: Mapping[str, Any], given: Assumptions) -> str:
    each = game(kept, given)
    rows = [_cost_row(kind, number, cost) for kind, (number, cost) in each.requests.items()]
    rows.append(_cost_row("**a game**", each.number, each.cost))
    head = ["requests of a game", "number", "worker CPU ms", "store CPU ms", "reads of the store"]
    head += ["kB with the store", "kB with clients"]
    traffic = kept["traffic"]
    return (
        f"{table(head, rows)}\n\nIn the store, with its players and index entries, a game takes "
        f"{traffic['half'] / KB:.1f} kB when half of it is played and {traffic['end'] / KB:.1f} kB "
        f"at its end; a player alone takes {traffic['player']} bytes. The CPU time of createPlayer "
        f"is taken to be that of listTurns. In a worker, a waiting client takes "
        f"{kept['waiting']['kb_each']:g} kB."
    )


def _cost_row(kind: str, number: float, cost: Cost) -> list[str]:
    return [
        kind,
        f"{number:,.0f}",
        f"{cost.worker_ms:,.1f}",
        f"{cost.store_ms:,.1f}",
        f"{cost.reads:,.0f}",
        f"{cost.store_bytes / KB:,.0f}",
        f"{cost.client_bytes / KB:,.0f}",
    ]


def _needs(steps: Sequence[float], found: Sequence[Needs], of_a_day: Sequence[Needs]) -> str:
    rows = [
        ["moves a second", *(_number(each.moves) for each in found)],
        ["requests a second", *(_number(each.requests) for each in found)],
        ["clients that wait", *(_number(each.waiting) for each in found)],
        ["cores for the CPU time of workers", *(_number(each.worker_cores) for each in found)],
        ["workers for the clients that wait", *(_number(each.waiting_workers) for each in found)],
        ["**workers**", *(f"**{each.workers:,}**" for each in found)],
        ["memory of waiting clients", *(_bytes(each.waiting_bytes) for each in found)],
        ["network to clients, a second", *(_bytes(each.client_network) for each in found)],
        ["network to the store, a second", *(_bytes(each.store_network) for each in found)],
        ["memory of the store", *(_bytes(each.store_bytes) for each in found)],
        ["shards for its CPU time", *(_number(each.shards_by_cpu) for each in found)],
        ["shards for its memory", *(_number(each.shards_by_memory) for each in found)],
        ["shards for its network", *(_number(each.shards_by_network) for each in found)],
        ["**shards**", *(f"**{each.shards:,}**" for each in found)],
        ["memory, with `FINISHED_GAME_DAYS=1`", *(_bytes(each.store_bytes) for each in of_a_day)],
        ["shards, with `FINISHED_GAME_DAYS=1`", *(f"{each.shards:,}" for each in of_a_day)],
        ["connections of a shard, at least", *(f"{2 * each.workers:,}" for each in found)],
        ["most needed", *(each.first for each in found)],
    ]
    return table(["at the peak", *(f"{each:,} games a day" for each in steps)], rows)


def _spread(steps: Sequence[float], found: Sequence[Needs], kept: Mapping[str, Any]) -> str:
    games, keys = spread(SPREAD, SHARDS), lobby_keys(SHARDS)
    mean = SPREAD / SHARDS
    cost = kept["traffic"]["requests"]["listGames"]["store_cpu_ms"] / 1000
    share = keys[0] / sum(keys)
    rows = [
        ["open games", *(_number(each.open_games) for each in found)],
        ["requests for the lobby a second", *(_number(each.lobby_reads) for each in found)],
        ["entries of the shard with most", *(_number(each.open_games * share) for each in found)],
        ["reads of its indexes a second", *(_number(each.lobby_reads * keys[0]) for each in found)],
        ["its busy cores, of one", *(_number(each.lobby_reads * cost * share) for each in found)],
    ]
    return (
        f"The keys of {SPREAD:,} games spread over {SHARDS} shards: the shard with most games has "
        f"{games[-1] / mean - 1:.0%} more than the mean, the one with fewest "
        f"{1 - games[0] / mean:.0%} less. The {sum(keys)} indexes of the open games are on "
        f"{len(keys)} of these shards; one of them has {keys[0]}. A request for the lobby takes no "
        "longer with more entries ([measured](performance.md#speed-and-memory)).\n\n"
        + table(["the lobby at the peak", *(f"{each:,} games a day" for each in steps)], rows)
    )


def _number(value: float) -> str:
    if value < 0.01:
        return "< 0.01"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _bytes(value: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", GB), ("MB", MB)):
        if value >= size:
            return f"{value / size:,.3g} {unit}"
    return f"{value / KB:,.3g} kB"


def main() -> None:
    """Compute and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.capacity",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--games", type=int, nargs="+", default=STEPS, help="games a day")
    for name, meaning in MEANINGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="N", help=meaning)
    chosen = vars(parser.parse_args())
    games = chosen.pop("games")
    kept = read()
    given = assumptions(
        kept, **{name: value for name, value in chosen.items() if value is not None}
    )
    print(text(kept, given, *games))


if __name__ == "__main__":
    main()
