"""Thousands of games created, played and expired: no key and no memory is left of them.

The service runs with the default retention on a store of its own. Between parts of the games, the
store's clock, which the service uses too, is moved forward (see `tests.proofs.clock`), at last
beyond all retention. Each time the store must hold exactly the games that have not expired. At
last it must be empty and as small as before the first game, and a worker as small as after the
first part. A worker counts requests by its own clock, so the limits are per minute here.

    python -m tests.proofs.memory [--quick] [--json FILE]
"""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import redis

from api.config.rate_policies import POLICIES
from api.live.hub import LINGER_SECONDS, RECHECK_SECONDS
from api.storage.indexes import lobby
from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.clock import DAY_SECONDS, Clock
from tests.proofs.faults import address, own_store
from tests.proofs.machines import Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.http_client import Response
from tests.support.processes import private_bytes
from tests.support.waiting import wait_until

QUICK_GAMES, GAMES = 300, 10_000
PARTS = 5
THREADS = 6
MOVES = 4
RULESETS = ("parade", "tea-time", "contrast", "mit-list-und-tuecke")

ONE_IN = 50
"""One game in this many is played to its end; as often, a token is guessed and a poll times out."""

LIMITS = ",".join(f"{each.name}=1000000000/minute" for each in POLICIES)

CATALOGUE = {"game", "player", "creation", "ticket", "index", "limit"}
"""All kinds of keys."""

DAYS_BETWEEN = 16
"""Longer than the retention of an unfinished or cancelled game, and half that of a finished one."""

DAYS_AT_LAST = 100
"""Longer than any retention."""

EMPTY_WITHIN = 120.0
"""The store removes expired keys by itself, some at a time."""

STORE_MB = 0.5
"""The store may be larger by this than before the first game, for connections and scripts. Fifty
bytes left by each game would be too much."""

QUICK_WORKER_MB, WORKER_MB = 4.0, 2.0
"""A worker may be larger by this than after the first part; more after a short part, as bounded
caches still fill."""


def expired_games(report: Report, effort: Effort) -> None:
    """Play games in parts, and move the clock forward between them."""
    games = effort.times(QUICK_GAMES, GAMES)
    tally, parts, memory = Tally(), [], []
    with _service() as (clock, running, client):
        watch = Watch(client)
        stranger = Caller(running.urls, tally, random.Random(0))
        for number in range(PARTS):
            parts.append(Part(running, tally, number))
            parts[-1].play(games // PARTS)
            watch.look_at_what_is_kept(parts, stranger)
            clock.move_on(DAYS_BETWEEN, client)
            if number == 0:
                memory.append(_resting(running))
        clock.move_on(DAYS_AT_LAST, client)
        emptied = watch.until_empty()
        stranger.close()
        memory.append(_resting(running))
        lost = running.lost_workers()
        report.at_least("games created, played and expired", watch.games, games)
        report.at_least("requests", tally.requests, games * 10)
        report.none("5xx", len(tally.errors) + tally.statuses[503], tally.errors[:2])
        watch.tell(report, emptied)
        _tell_workers(report, memory, effort.times(QUICK_WORKER_MB, WORKER_MB))
        report.none("workers that died", len(lost), lost[:3])
        days = _days_ahead(running, tally)
        report.at_least("days that the service takes to have gone by", days, clock.days)


@contextlib.contextmanager
def _service() -> Iterator[tuple[Clock, Machines, redis.Redis]]:
    """A service on a store with a clock that can be moved."""
    with tempfile.TemporaryDirectory(prefix="proof") as directory:
        clock = Clock(Path(directory))
        with (
            own_store(environment=clock.environment) as store,
            machines(1, REDIS_URL=address(store), RATE_LIMITS=LIMITS) as running,
            store.client(decode_responses=True) as client,
        ):
            yield clock, running, client


def _days_ahead(running: Machines, tally: Tally) -> float:
    """Return how far the service's time is ahead of the system's (days)."""
    with Company(running.urls, tally, random.Random(0)) as company:
        game = company.open_one()
        answer = company.look_at(game)
    there = datetime.fromisoformat(answer.headers["Server-Time"]).timestamp()
    return round((there - time.time()) / DAY_SECONDS, 2)


# --- What is looked at ---------------------------------------------------------------------------


class Watch:
    """Checks which games the store still holds, and which it should not hold."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._at_first = memory_mb(client)
        self._most_mb = 0.0
        self._most_keys = 0
        self._kinds: set[str] = set()
        self._for_ever: list[str] = []
        self._gone_early: set[str] = set()
        self._kept_beyond: set[str] = set()
        self._listed_beyond: set[str] = set()
        self.games = 0

    def look_at_what_is_kept(self, parts: list[Part], stranger: Caller) -> None:
        """Check that the store keeps the last part, and the finished games of the part before.

        The lobby shows none of the others, and neither has an index that got an entry since they
        expired. An index that got none may still have theirs, until somebody reads it.
        """
        now = parts[-1].games
        new = {each.id for each in now}
        alive = new | {each.id for part in parts[-2:-1] for each in part.games if each.is_finished}
        keys = list(self._client.scan_iter(count=1000))
        kept = {key.split("{")[1].rstrip("}") for key in keys if _is_game(key)}
        self._gone_early |= alive - kept
        self._kept_beyond |= kept - alive
        self._listed_beyond |= {id_ for ids in self._indexed() if ids & new for id_ in ids - alive}
        self._listed_beyond |= set(_listed(stranger)) - alive
        self._listed_beyond |= {id_ for ids in self._indexed() for id_ in ids - alive}
        self._for_ever += [key for key in keys if self._client.pttl(key) == -1]
        self._kinds |= {key.partition(":")[0] for key in keys}
        self._most_keys = max(self._most_keys, len(keys))
        self._most_mb = max(self._most_mb, memory_mb(self._client))
        self.games += len(now)

    def _indexed(self) -> Iterator[set[str]]:
        """Yield the ids of the games in each index of the lobby."""
        for entry in lobby():
            yield set(self._client.zrange(f"index:{{{entry.owner}}}:{entry.status}", 0, -1))

    def until_empty(self) -> float:
        """Return how long it takes until the store is empty (s), at most the time allowed."""
        begin = time.monotonic()
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self._client.dbsize() == 0, "all has expired", EMPTY_WITHIN)
        return time.monotonic() - begin

    def tell(self, report: Report, emptied: float) -> None:
        """Report the figures."""
        left = sorted(self._client.scan_iter(count=1000))
        missing, unknown = CATALOGUE - self._kinds, self._kinds - CATALOGUE
        report.none("kinds of keys that were never there", len(missing), missing)
        report.none("kinds of keys that nobody thought of", len(unknown), unknown)
        report.none("keys that are kept for ever", len(self._for_ever), self._for_ever[:3])
        report.none("games gone before their time", len(self._gone_early), self._gone_early)
        report.none("games kept beyond it", len(self._kept_beyond), self._kept_beyond)
        report.none("games in the lobby beyond it", len(self._listed_beyond), self._listed_beyond)
        report.tell("keys in the store, at most", self._most_keys)
        report.none("keys in the store at last", len(left), left[:10])
        report.at_most("until it had removed them (s)", round(emptied, 1), EMPTY_WITHIN)
        at_last = memory_mb(self._client)
        report.tell("memory of the store before the first game (MB)", round(self._at_first, 2))
        report.tell("memory of the store, at most (MB)", round(self._most_mb, 2))
        report.tell("memory of the store at last (MB)", round(at_last, 2))
        report.at_most("growth of the store (MB)", round(at_last - self._at_first, 2), STORE_MB)


def _listed(stranger: Caller) -> Iterator[str]:
    """Yield the ids of all games in the lobby."""
    query = "limit=100"
    while query:
        page = stranger.get(f"/v1/games?{query}")
        yield from (game["id"] for game in page["items"])
        query = page["next"] and f"limit=100&cursor={page['next']}"


def _is_game(key: str) -> bool:
    return key.startswith("game:") and key.endswith("}")


def memory_mb(client: redis.Redis) -> float:
    """Return the memory of the store without its statistics of commands (some 0.7 MB)."""
    client.config_resetstat()
    return float(client.info("memory")["used_memory"]) / 2**20


def _resting(running: Machines) -> dict[int, float]:
    """Return the memory of each worker when nothing waits any more (MB)."""
    time.sleep(LINGER_SECONDS + RECHECK_SECONDS + 1)
    return {pid: private_bytes(pid) / 2**20 for pid in running.services[0].worker_pids}


def _tell_workers(report: Report, memory: list[dict[int, float]], most: float) -> None:
    first, last = memory
    growth = max(last[pid] - first.get(pid, 0.0) for pid in last)
    report.tell("memory of a worker after the first part (MB)", round(max(first.values()), 1))
    report.tell("memory of a worker at last (MB)", round(max(last.values()), 1))
    report.at_most("growth of a worker (MB)", round(growth, 1), most)


# --- What is played ------------------------------------------------------------------------------


class Made(NamedTuple):
    """A game, and whether it was played to its end: then it is kept longest."""

    id: str
    is_finished: bool


class Part:
    """Some of the games, played by several threads."""

    def __init__(self, running: Machines, tally: Tally, number: int) -> None:
        self.games: list[Made] = []
        self._running = running
        self._tally = tally
        self._number = number

    def play(self, games: int) -> None:
        """Create and play this many games."""
        numbers = iter(range(games))
        lock = threading.Lock()
        failures: list[BaseException] = []

        def next_number() -> int | None:
            with lock:
                return next(numbers, None)

        def play() -> None:
            try:
                while (number := next_number()) is not None:
                    self._play_one(number, random.Random(f"{self._number} {number}"))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=play) for _ in range(THREADS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        if failures:
            raise failures[0]

    def _play_one(self, number: int, rng: random.Random) -> None:
        """Play a game of new players, to the end or in part."""
        with Company(self._running.urls, self._tally, rng) as company:
            if number % ONE_IN == 0:
                self.games.append(company.play_to_the_end())
                company.do_what_is_seldom()
            elif number % ONE_IN == 1:
                self.games.append(company.open_one())
            else:
                self.games += company.play_some_moves()


class Company:
    """Players of one game, who send no request after it."""

    def __init__(self, urls: list[str], tally: Tally, rng: random.Random) -> None:
        self._urls, self._tally, self._rng = urls, tally, rng
        self._players: list[Caller] = []
        self._host = self._new()

    def _new(self) -> Caller:
        self._players.append(new_player(self._urls, self._tally, self._rng))
        return self._players[-1]

    def __enter__(self) -> Company:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._players:
            each.close()

    def open_one(self) -> Made:
        """Create a game that nobody joins."""
        return Made(self._create("parade", 2)["id"], is_finished=False)

    def look_at(self, made: Made) -> Response:
        """Read a game as its host."""
        return self._host.persist("GET", f"/v1/games/{made.id}")

    def play_to_the_end(self) -> Made:
        """Play a game against the house to its end."""
        game = self._create("parade", 2, house=["random"])
        path = f"/v1/games/{game['id']}"
        while game["status"] == "playing":
            move = {"turn": game["turn"], "move": self._rng.choice(game["legal_moves"])}
            game = _created(self._host.persist("POST", f"{path}/moves", move))["game"]
        return Made(game["id"], is_finished=True)

    def do_what_is_seldom(self) -> None:
        """Guess a token, take a new token, and let a poll time out."""
        wrong = Caller(self._urls, self._tally, self._rng, f"{self._host.id}.{'a' * 43}")
        assert wrong.persist("GET", "/v1/me").status_code == 401
        wrong.close()
        _created(self._host.persist("POST", "/v1/me/token"))
        cursor = self._host.get("/v1/me/turns")["cursor"]
        self._host.get(f"/v1/me/turns?wait=1&since={cursor}", wait=1)

    def play_some_moves(self) -> list[Made]:
        """Play some moves of a game with a stream; then all players leave it, or none."""
        ruleset = self._rng.choice(RULESETS)
        visibility = self._rng.choice(["public", "private"])
        game = self._create(ruleset, self._seats(ruleset), visibility=visibility)
        path = f"/v1/games/{game['id']}"
        invite = {"invite": game["invite"]} if game["invite"] else {}
        for _ in range(1, game["seat_count"]):
            _created(self._new().persist("POST", f"{path}/seats", invite))
        with self._stream(path) as stream:
            lines = stream.lines()
            _read_until(lines, "event: snapshot")
            for _ in range(MOVES):
                self._move(path)
            _read_until(lines, "event: update")
        self._host.get(f"{path}/events")
        # A game that all players left is cancelled, and kept for a day.
        made = Made(game["id"], is_finished=False)
        if self._rng.random() < 0.5:
            return [made]
        for each in self._players:
            each.persist("DELETE", f"{path}/seats/me")
        again = _created(self._host.persist("POST", f"{path}/rematch"))
        return [made, Made(again["id"], is_finished=False)]

    def _seats(self, ruleset: str) -> int:
        return 4 if ruleset == "mit-list-und-tuecke" else 2

    def _create(self, ruleset: str, seat_count: int, **members: Any) -> Any:
        body = {"ruleset": ruleset, "seat_count": seat_count, **members}
        key = {"Idempotency-Key": str(self._rng.getrandbits(64))}
        return _created(self._host.persist("POST", "/v1/games", body, headers=key))

    @contextlib.contextmanager
    def _stream(self, path: str) -> Iterator[Response]:
        ticket = _created(self._host.persist("POST", f"{path}/stream-tickets"))["ticket"]
        stranger = Caller(self._urls, self._tally, self._rng)
        with stranger.stream(f"{path}/stream?ticket={ticket}") as response:
            assert response.status_code == 200
            yield response

    def _move(self, path: str) -> None:
        seat = self._host.get(path)["to_move"][0]
        own = self._players[seat].get(path)
        move = {"turn": own["turn"], "move": self._rng.choice(own["legal_moves"])}
        self._players[seat].persist("POST", f"{path}/moves", move)


def _created(answer: Response) -> Any:
    if answer.status_code not in (200, 201):
        raise LookupError(f"{answer.status_code} {answer.content[:300]!r}")
    return answer.json()


def _read_until(lines: Iterator[str], wanted: str) -> None:
    for line in lines:
        if line.startswith(wanted):
            return
    raise LookupError(f"the stream has ended without {wanted!r}")


SCENARIOS: dict[str, Scenario] = {"expired-games": expired_games}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
