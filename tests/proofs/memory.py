"""Thousands of games created, played a little and expired: nothing of them is left.

Counted in a store of its own: its keys, the entries of its indexes, its memory; and the memory of
the workers. A part of the games and players expires at a time, by PEXPIRE in the store, as if
their time were up; indexes are left alone, as they live longer, and have to lose their entries by
what the service does with them.

    python -m tests.proofs.memory [--quick] [--json FILE]
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import redis

from tests.proofs.caller import Tally, new_player
from tests.proofs.faults import address, own_store
from tests.proofs.ledger import Table
from tests.proofs.machines import Machines, machines, workers
from tests.proofs.report import Effort, Report, Scenario, run

QUICK_GAMES, GAMES = 300, 10_000
BATCHES = 5
THREADS = 6
MOVES = 4
GROWTH_MB = 25.0
"""Of one worker over what it had after the first part, when all of its code was loaded."""


def expired_games(report: Report, effort: Effort) -> None:
    """Games in parts, each of which has expired before the next."""
    games = effort.times(QUICK_GAMES, GAMES)
    with own_store() as store, machines(1, REDIS_URL=address(store)) as running:
        client = store.client(decode_responses=True)
        tally = Tally()
        client.config_resetstat()
        at_start = client.info("memory")["used_memory"]
        resident: list[float] = []
        for batch in range(BATCHES):
            play_games(running, tally, games // BATCHES, batch)
            expire(client)
            resident.append(max(map(resident_mb, workers(running.services[0]))))
        kinds = Counter(kind_of(key) for key in client.scan_iter(count=1000))
        for_ever = [key for key in client.scan_iter(count=1000) if client.pttl(key) < 0]
        lingering = sum(client.zcard(key) for key in client.scan_iter("index:*"))
        report.at_least("games created, played and expired", games, QUICK_GAMES)
        report.at_least("requests", tally.requests, games * 5)
        report.none("keys of games left", kinds["game"])
        report.none("keys of players left", kinds["player"])
        report.none("keys of any other kind but indexes left", _others(kinds), kinds)
        report.none("keys that are kept for ever", len(for_ever), for_ever[:3])
        report.tell("indexes left (they expire later by themselves)", kinds["index"])
        report.tell("entries in them", lingering)
        grown = (client.info("memory")["used_memory"] - at_start) / 2**20
        report.tell("memory of the store, more than at first (MB)", round(grown, 2))
        report.tell("  without the indexes (MB)", round(_without_indexes(client, at_start), 2))
        report.tell("memory of a worker after the first part (MB)", round(resident[0], 1))
        report.tell("memory of a worker at the end (MB)", round(resident[-1], 1))
        growth = round(resident[-1] - resident[0], 1)
        report.at_most("growth of a worker (MB)", growth, GROWTH_MB)
        report.none("5xx", len(tally.errors) + tally.statuses[503], tally.errors[:2])


def _others(kinds: Counter[str]) -> int:
    return sum(number for kind, number in kinds.items() if kind not in ("game", "player", "index"))


def _without_indexes(client: redis.Redis, at_start: int) -> float:
    if keys := list(client.scan_iter("index:*")):
        client.delete(*keys)
    return (client.info("memory")["used_memory"] - at_start) / 2**20


def kind_of(key: str) -> str:
    """The first word of a key."""
    return key.partition(":")[0]


def resident_mb(pid: int) -> float:
    """The memory that a process has for itself."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return (int(fields["Private_Clean"]) + int(fields["Private_Dirty"])) / 1024


def play_games(running: Machines, tally: Tally, games: int, seed: int) -> None:
    """Create so many games, each between two new players, and play some moves in each."""
    numbers = iter(range(games))
    lock = threading.Lock()
    failures: list[BaseException] = []

    def each_number() -> Iterator[int]:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            yield number

    def play() -> None:
        try:
            for number in each_number():
                _play_one(running, tally, random.Random(f"{seed} {number}"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=play) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise failures[0]


def _play_one(running: Machines, tally: Tally, rng: random.Random) -> None:
    players = [new_player(running.urls, tally, rng) for _ in range(2)]
    ruleset = rng.choice(["parade", "tea-time", "contrast"])
    body = {"ruleset": ruleset, "seat_count": 2}
    key = {"Idempotency-Key": str(rng.getrandbits(64))}
    created = players[0].persist("POST", "/v1/games", body, headers=key)
    table = Table(created.body["id"], players)
    players[1].persist("POST", f"{table.path}/seats", {})
    players[0].get("/v1/me/turns")
    for _ in range(MOVES):
        seat = players[0].get(table.path)["to_move"][0]
        own = players[seat].get(table.path)
        move = {"turn": own["turn"], "move": rng.choice(own["legal_moves"])}
        players[seat].persist("POST", f"{table.path}/moves", move)
    players[0].get(f"{table.path}/events?since=0")
    players[0].persist("POST", f"{table.path}/stream-tickets")
    if rng.random() < 0.5:
        for each in players:  # so that it ends
            each.persist("DELETE", f"{table.path}/seats/me")
    for each in players:
        each.close()


def expire(client: redis.Redis) -> None:
    """The time of all that is kept is up, but for the indexes."""
    for key in list(client.scan_iter(count=1000)):
        if kind_of(key) != "index":
            assert client.pttl(key) > 0, f"{key} is kept for ever"
            client.pexpire(key, 1)
    time.sleep(0.1)
    for _ in client.scan_iter(count=1000):  # what is met and has expired is removed
        pass


SCENARIOS: dict[str, Scenario] = {"expired-games": expired_games}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
