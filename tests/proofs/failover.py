"""Stores of several servers that lose a master, or move slots, during play.

With WAIT_REPLICAS=1 no acknowledged change is lost. Without it, lost changes are counted; but all
games stay consistent, an ETag never stands for two states of one version, and no client that
follows a game by long polls or by a stream keeps what was replaced. Masters are killed, or stopped
with their connections open, and come back as replicas.

    python -m tests.proofs.failover [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import contextlib
import functools
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import redis

from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.crowd import Crowd
from tests.proofs.faults import tell, tell_play
from tests.proofs.ledger import Table
from tests.proofs.machines import Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.certificates import Authority
from tests.support.ports import free_port
from tests.support.stores import Cluster, Server, Watched, await_store, binary, ended
from tests.support.waiting import wait_until

AWAY_SECONDS = 0.7
RENAMED = ("--rename-command", "SPUBLISH", "", "--rename-command", "SSUBSCRIBE", "")


# --- Masters that die ---------------------------------------------------------------------------


class Failing:
    """A store of several servers, one master of which fails and comes back as a replica."""

    def __init__(self, store: Cluster | Watched, rng: random.Random) -> None:
        self.store = store
        self._rng = rng
        self.slowest = 0.0

    @property
    def servers(self) -> list[Server]:
        """All servers with keys."""
        return self.store.servers

    def master(self) -> Server:
        """Return a master."""
        if isinstance(self.store, Watched):
            return self.store.master
        return self._rng.choice(self.store.masters())

    def replicas_of(self, master: Server) -> list[Server]:
        """Return the replicas of a master."""
        return [
            each
            for each in self.servers
            if each is not master
            and each.client().info("replication").get("master_port") == master.port
        ]

    def await_successor(self, failed: Server, replicas: list[Server]) -> None:
        """Wait until one of the replicas is a master."""
        begin = time.monotonic()
        if isinstance(self.store, Watched):
            watched = self.store
            await_store(lambda: watched.master is not failed, "there is a new master")
        await_store(
            lambda: any(each.client().info("replication")["role"] == "master" for each in replicas),
            "a replica has become master",
        )
        self.slowest = max(self.slowest, time.monotonic() - begin)

    def kill(self, crowd: Crowd) -> None:
        """Kill a master, and start it again when a replica has replaced it."""
        master = self.master()
        replicas = self.replicas_of(master)
        master.kill()
        self.await_successor(master, replicas)
        crowd.recovery()
        master.start()
        await_store(self.store.is_whole, "the old master is a replica")

    def stop(self, crowd: Crowd) -> None:
        """Stop a master for a while: its connections stay open, and it does not answer."""
        master = self.master()
        replicas = self.replicas_of(master)
        master.freeze()
        try:
            self.await_successor(master, replicas)
            crowd.recovery()
        finally:
            master.thaw()
        await_store(self.store.is_whole, "the old master is a replica")

    def kill_with_replicas_behind(self, crowd: Crowd) -> None:
        """Kill a master whose last acknowledged changes have reached no replica."""
        master = self.master()
        replicas = self.replicas_of(master)
        for each in replicas:
            each.freeze()
        try:
            master.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
            time.sleep(AWAY_SECONDS)
            master.kill()
        finally:
            for each in replicas:
                each.thaw()
        self.await_successor(master, replicas)
        crowd.recovery()
        master.start()
        await_store(self.store.is_whole, "the old master is a replica")


@contextlib.contextmanager
def stored(kind: str, server: str, *options: str) -> Iterator[Cluster | Watched]:
    """Run a store."""
    with tempfile.TemporaryDirectory(prefix="proof", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        made = (
            Watched(binary(server), place)
            if kind == "sentinel"
            else Cluster(binary(server), place, *options)
        )
        with ended(made) as store:
            yield store


def survived(kind: str, server: str, report: Report, effort: Effort) -> None:
    """Kill and stop masters in turn: no acknowledged change is lost."""
    with stored(kind, server) as store, machines(2, REDIS_URL=store.url, WAIT_REPLICAS="1") as on:
        failing = Failing(store, random.Random(1))
        crowd = Crowd(on.urls, may_replace=True)
        recoveries = _fail(crowd, effort, [failing.kill, failing.stop])
        report.tell("longest until there was a new master (s)", round(failing.slowest, 2))
        tell(report, on, crowd, "masters killed and stopped", recoveries)


def _fail(crowd: Crowd, effort: Effort, ways: list[Callable[[Crowd], None]]) -> list[float]:
    """Fail at least once in each way; return how long it took until play went on (s)."""
    recoveries = []
    with crowd:
        crowd.recovery()
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until or len(recoveries) < len(ways):
            ways[len(recoveries) % len(ways)](crowd)
            recoveries.append(crowd.recovery())
            time.sleep(1)
    return recoveries


def lossy(kind: str, server: str, report: Report, effort: Effort) -> None:
    """Kill masters with lagging replicas, without WAIT: count losses; no ETag is ambiguous."""
    with stored(kind, server) as store, machines(2, REDIS_URL=store.url) as on:
        failing = Failing(store, random.Random(2))
        crowd = Crowd(on.urls, may_lose=True)
        with Onlooker(on, crowd) as onlooker:
            recoveries = _fail(crowd, effort, [failing.kill_with_replicas_behind])
        tell(report, on, crowd, "masters killed while their replicas were behind", recoveries)
        onlooker.tell(report)


class Onlooker:
    """Reads games all the time, and remembers the content of each ETag."""

    def __init__(self, on: Machines, crowd: Crowd) -> None:
        self._tally = Tally()
        self._rng = random.Random(3)
        self._caller = new_player(on.urls, self._tally, self._rng)
        self._crowd = crowd
        self._known: dict[tuple[str, str], bytes] = {}
        self._ambiguous: list[str] = []
        self._failure = ""
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Onlooker:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._is_ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_ending.is_set():
            tables = list(self._crowd.tables)[-6:]
            for each in tables:
                answer = self._caller.ask("GET", each.path)
                if answer is not None and answer.status_code == 200:
                    known = self._known.setdefault(
                        (each.path, answer.headers["ETag"]), answer.content
                    )
                    if known != answer.content:
                        self._ambiguous.append(f"{each.path} {answer.headers['ETag']}")
            time.sleep(0.005)

    def tell(self, report: Report) -> None:
        """Ask again with each ETag after the end, and report the figures."""
        mistaken: list[str] = []
        versions: dict[tuple[str, int], set[str]] = {}
        for (path, tag), data in self._known.items():
            version = json.loads(data)["version"]
            versions.setdefault((path, version), set()).add(tag)
            answer = self._caller.persist("GET", path, headers={"If-None-Match": tag})
            if answer.status_code == 304:
                now = self._caller.persist("GET", path)
                if now.content != data:
                    mistaken.append(f"{path} {tag}")
        replaced = sum(len(tags) > 1 for tags in versions.values())
        report.at_least("ETags remembered and asked with again", len(self._known), 50)
        report.tell("versions seen with two contents", replaced)
        report.none("ETags that stood for two contents", len(self._ambiguous), self._ambiguous[:3])
        report.none("304 for what was another content", len(mistaken), mistaken[:3])


# --- Moving slots -------------------------------------------------------------------------------


def resharding(report: Report, effort: Effort) -> None:
    """Move slots of games in play from one master to another, again and again."""
    rng = random.Random(4)
    with stored("cluster", "redis") as store, machines(2, REDIS_URL=store.url) as on:
        assert isinstance(store, Cluster)
        recoveries: list[float] = []
        with Crowd(on.urls) as crowd:
            crowd.recovery()
            until = time.monotonic() + effort.seconds
            while time.monotonic() < until:
                table = rng.choice([each for each in crowd.tables if not each.is_finished])
                before = len(table.acknowledged)
                begun = time.monotonic()
                move_slot(store, f"game:{{{table.game_id}}}", rng, pause=rng.uniform(0, 0.2))
                wait_until(
                    lambda table=table, before=before: (
                        table.is_finished or len(table.acknowledged) > before
                    ),
                    "the game goes on",
                )
                recoveries.append(time.monotonic() - begun)
        report.at_least("(slots moved)", len(recoveries), effort.least(0.3))
        tell(report, on, crowd, "slots of games in play moved", recoveries)


def move_slot(store: Cluster, key: str, rng: random.Random, pause: float) -> None:
    """Move a key's slot to another master, key by key, as redis-cli does."""
    masters = store.masters()
    slot = masters[0].client().execute_command("CLUSTER KEYSLOT", key)
    ids = {each: _id(each) for each in masters}
    source = next(each for each in masters if _has_slot(each, ids[each], slot))
    target = rng.choice([each for each in masters if each is not source])
    there, here = target.client(), source.client()
    there.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", ids[source])
    here.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", ids[target])
    while keys := here.execute_command("CLUSTER GETKEYSINSLOT", slot, 1):
        here.execute_command("MIGRATE", "127.0.0.1", target.port, keys[0], 0, 5000)
        time.sleep(pause)  # a game's keys are on both for a moment
    for each in (target, source, *(m for m in masters if m not in (source, target))):
        each.client().execute_command("CLUSTER SETSLOT", slot, "NODE", ids[target])


def _id(server: Server) -> str:
    found = server.client().execute_command("CLUSTER MYID")
    return found.decode() if isinstance(found, bytes) else str(found)


def _has_slot(server: Server, own: str, slot: int) -> bool:
    return any(low <= slot <= high and master == own for low, high, master in _slots(server))


def _slots(server: Server) -> list[tuple[int, int, str]]:
    """Return the ranges of slots, and the ids of their masters."""
    with contextlib.closing(server.client()) as client:
        connection = client.connection_pool.get_connection()
        connection.send_command("CLUSTER", "SLOTS")
        answer = connection.read_response()
    return [(low, high, master[2].decode()) for low, high, master, *_ in answer]


# --- Clusters of old, and TLS -------------------------------------------------------------------


def without_sharded_channels(report: Report, effort: Effort) -> None:
    """Notify through a cluster without SPUBLISH and SSUBSCRIBE, as servers before version 7."""
    with stored("cluster", "redis", *RENAMED) as store, machines(2, REDIS_URL=store.url) as on:
        report.none("servers that know SPUBLISH", sum(map(_knows_spublish, store.servers)))
        with Crowd(on.urls) as crowd:
            crowd.recovery()
            wakes = wake_ups(on, effort.times(20, 200))
        tell_wakes(report, wakes)
        tell_play(report, on, crowd)


def _knows_spublish(server: Server) -> bool:
    with contextlib.suppress(redis.ResponseError):
        server.client().execute_command("SPUBLISH", "channel", "message")
        return True
    return False


def with_sharded_channels(report: Report, effort: Effort) -> None:
    """The same with sharded channels, to compare."""
    with stored("cluster", "redis") as store, machines(2, REDIS_URL=store.url) as on:
        tell_wakes(report, wake_ups(on, effort.times(20, 200)))


def tell_wakes(report: Report, wakes: list[float]) -> None:
    """Report how fast notifications wake polls: sooner than the regular recheck would."""
    report.tell("polls woken by a move", len(wakes))
    report.at_most("median from the move to the poll's answer (s)", statistics.median(wakes), 1.0)


def wake_ups(on: Machines, number: int) -> list[float]:
    """Return how long after a move a poll on another machine is answered (s)."""
    tally, rng = Tally(), random.Random(5)
    players = [new_player(on.urls, tally, rng) for _ in range(2)]
    times: list[float] = []
    while len(times) < number:
        body = {"ruleset": "parade", "seat_count": 2}
        game_id = players[0].persist("POST", "/v1/games", body).json()["id"]
        table = Table(game_id, players)
        players[1].persist("POST", f"{table.path}/seats", {})
        while (game := players[0].get(table.path))["status"] == "playing":
            times.append(_one_wake_up(table, game))
    return times


def _one_wake_up(table: Table, game: Any) -> float:
    came: list[float] = []
    listener = table.players[1].again()

    def listen() -> None:
        listener.get(f"{table.path}/events?since={game['cursor']}&wait=20", machine=1)
        came.append(time.monotonic())

    thread = threading.Thread(target=listen)
    thread.start()
    time.sleep(0.1)
    mover = table.players[game["to_move"][0]]
    own = mover.get(table.path, machine=0)
    sent = time.monotonic()
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    mover.persist("POST", f"{table.path}/moves", body, machine=0)
    thread.join()
    return came[0] - sent


def tls(report: Report, effort: Effort) -> None:
    """Use a store over TLS: games are played with its authority, and refused with another one."""
    with tempfile.TemporaryDirectory(prefix="proof", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        ours, other = Authority(place / "ours"), Authority(place / "other")
        certificate, key = ours.certify("127.0.0.1")
        port = free_port()
        options = [
            *("--tls-port", str(port), "--tls-auth-clients", "no"),
            *("--tls-cert-file", str(certificate), "--tls-key-file", str(key)),
            *("--tls-ca-cert-file", str(ours.certificate)),
        ]
        with ended(Server(binary("redis"), place / "store", free_port(), *options)) as store:
            _tls(report, effort, store, f"rediss://127.0.0.1:{port}/0", ours, other)


def _tls(
    report: Report, effort: Effort, store: Server, url: str, ours: Authority, other: Authority
) -> None:
    with machines(2, REDIS_URL=f"{url}?ssl_ca_certs={ours.certificate}") as on:
        with Crowd(on.urls) as crowd:
            time.sleep(effort.seconds)
        tell_play(report, on, crowd)
    for what, query in (("another authority", f"?ssl_ca_certs={other.certificate}"), ("none", "")):
        before = store.client().dbsize()
        with machines(1, REDIS_URL=url + query) as on:
            stranger = Caller(on.urls, Tally(), random.Random(6))
            answers = [
                stranger.ask("GET", "/readyz"),
                stranger.ask("POST", "/v1/players", {"name": "Eve", "kind": "bot"}),
            ]
        odd = [each for each in answers if each is None or each.status_code != 503]
        report.none(f"with {what}: answers that are no 503", len(odd), odd)
        report.none(f"with {what}: keys written", store.client().dbsize() - before)


SCENARIOS: dict[str, Scenario] = {
    **{
        f"{kind}-of-{server}": functools.partial(survived, kind, server)
        for kind in ("cluster", "sentinel")
        for server in ("valkey", "redis")
    },
    "cluster-without-wait": functools.partial(lossy, "cluster", "valkey"),
    "sentinel-without-wait": functools.partial(lossy, "sentinel", "redis"),
    "resharding": resharding,
    "without-sharded-channels": without_sharded_channels,
    "with-sharded-channels": with_sharded_channels,
    "tls": tls,
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
