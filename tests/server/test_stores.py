"""The service on stores of several servers: a cluster, and a master that Sentinels watch."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from msgspec.structs import replace

from api.config.settings import Settings
from api.storage.connect import connect
from api.storage.games import Store
from tests.support.callers import Person, play_to_the_end, sit_down
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.service import Service, serving
from tests.support.stores import (
    SERVERS,
    SLOTS,
    Cluster,
    Server,
    Watched,
    await_store,
    binary,
    ended,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=SERVERS)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with ended(Cluster(binary(request.param), tmp_path_factory.mktemp("cluster"))) as store:
        yield store


@pytest.fixture(scope="module", params=SERVERS)
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with ended(Watched(binary(request.param), tmp_path_factory.mktemp("watched"))) as store:
        yield store


def check_a_whole_game_with_somebody_who_waits(service: Service) -> None:
    ada, bob, game_id = sit_down(service)
    heard: list[dict[str, Any]] = []

    def listen() -> None:
        version = 0
        while not heard or heard[-1]["status"] == "playing":
            path = f"/v1/games/{game_id}/events?since={version}&wait=20"
            heard.append(bob.call("GET", path))
            version = heard[-1]["version"]

    listener = threading.Thread(target=listen)
    listener.start()
    versions = play_to_the_end(game_id, ada, bob)
    listener.join(30)
    items = [item for page in heard for item in page["items"]]
    assert [item["version"] for item in items] == list(range(1, versions[-1] + 1))
    assert len(heard) > len(versions) / 2, "whoever waits is told of moves as they come"
    record = ada.call("GET", f"/v1/games/{game_id}/record")
    assert ada.call("POST", "/v1/analysis", json=record)["result"] == record["result"]
    assert [each["id"] for each in ada.call("GET", "/v1/me/games")["items"]] == [game_id]


def test_a_cluster_keeps_games_and_tells_those_who_wait(cluster: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        for _ in range(5):  # their keys are spread over the nodes
            check_a_whole_game_with_somebody_who_waits(service)


def test_a_key_of_a_cluster_that_holds_something_else_is_a_fault_of_its_own(
    cluster: Cluster, tmp_path: Path
) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        ada, _, good = sit_down(service)
        body = {"ruleset": "parade", "seat_count": 2}
        bad = ada.call("POST", "/v1/games", json=body)["id"]
        with cluster.client() as store:
            for key in (f"game:{{{bad}}}", "index:{lobby}:open"):
                store.delete(key)
                store.set(key, "x")
        listed = [each["id"] for each in ada.call("GET", "/v1/games")["items"]]
        assert good in listed
        assert bad not in listed
        for path in (f"/v1/games/{bad}", "/v1/games?status=open"):
            answer = requests.get(service.url + path, headers=ada.headers, timeout=60)
            assert answer.json()["code"] == "internal_error"
        new = ada.call("POST", "/v1/games", json=body)["id"]
        assert new in [each["id"] for each in ada.call("GET", "/v1/games")["items"]]
        with cluster.client() as store:
            store.delete("index:{lobby}:open")


def test_a_watched_master_keeps_games_and_tells_those_who_wait(
    watched: Watched, tmp_path: Path
) -> None:
    with serving(tmp_path, REDIS_URL=watched.url, WAIT_REPLICAS="2") as service:
        check_a_whole_game_with_somebody_who_waits(service)


def test_a_game_is_confirmed_only_as_it_was_read(watched: Watched, tmp_path: Path) -> None:
    """What was read from a master that is none any more may be lost on the one that confirms."""
    with serving(tmp_path, REDIS_URL=watched.url, WAIT_REPLICAS="1") as service:
        _, _, game_id = sit_down(service)
    link, _ = connect(Settings(redis_url=watched.url, wait_replicas=1))
    store = Store(link)
    found = store.read(None, game_id).found
    assert found is not None
    assert store.confirm(found.game)
    assert not store.confirm(replace(found.game, commit="lost"))


def until_answered(act: Callable[[], requests.Response], patience: float = 30) -> requests.Response:
    """The first answer that is no 503: what a client that tries again gets."""
    deadline = time.monotonic() + patience
    while (answer := act()).status_code == 503:
        assert time.monotonic() < deadline, answer.text
        assert answer.headers["Retry-After"]
        time.sleep(0.1)
    return answer


def test_what_a_failover_loses_is_never_taken_for_what_replaces_it(tmp_path: Path) -> None:
    """The replica lags, the master dies: a version comes again with another content."""
    with (
        ended(Watched(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url) as service,
    ):
        ada, bob, game_id = sit_down(service)
        path = f"{service.url}/v1/games/{game_id}"
        stream = requests.get(path + "/stream", headers=bob.headers, stream=True, timeout=60)
        told = _events(stream)
        assert next(told)[0] == "snapshot"
        for each in store.servers:
            if each is not store.master:
                each.freeze()
        # What is written from now on reaches no replica.
        store.master.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
        players = (ada, bob)
        mover = _mover(players, game_id)
        game = players[mover].call("GET", f"/v1/games/{game_id}")
        lost = {"turn": game["turn"], "move": game["legal_moves"][0]}
        players[mover].call("POST", f"/v1/games/{game_id}/moves", json=lost)
        assert next(told)[0] == "update"
        seen = requests.get(path, headers=bob.headers, timeout=10)

        dead = store.master
        dead.kill()
        for each in store.servers:
            if each is not dead:
                each.thaw()
        other = {"turn": game["turn"], "move": game["legal_moves"][1]}
        answer = until_answered(
            lambda: requests.post(
                path + "/moves", headers=players[mover].headers, json=other, timeout=30
            )
        )
        assert answer.status_code == 200
        assert answer.json()["game"]["version"] == seen.json()["version"]

        known = bob.headers | {"If-None-Match": seen.headers["ETag"]}
        assert requests.get(path, headers=known, timeout=10).status_code == 200
        kind, data = next(told)
        assert kind == "snapshot"
        assert data["table"] == bob.call("GET", f"/v1/games/{game_id}")["table"]
        stream.close()


def ask_all_at_once(service: Service, ada: Person, number: int) -> list[int]:
    """The statuses of so many reads at the same time."""

    def ask(_: int) -> int:
        answer = requests.get(f"{service.url}/v1/me", headers=ada.headers, timeout=120)
        return answer.status_code

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(ask, range(number)))


def test_a_cluster_that_stands_still_is_waited_for_once_and_by_all_together(
    tmp_path: Path,
) -> None:
    limits = {"REDIS_TIMEOUT_SECONDS": "1", "WEB_CONCURRENCY": "1"}
    with (
        ended(Cluster(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url, **limits) as service,
    ):
        ada = Person(service, "Ada")
        for each in store.servers:
            each.freeze()
        begin = time.monotonic()
        assert ask_all_at_once(service, ada, 24) == [503] * 24
        # Alone, each of them would have asked six nodes in vain, a second each.
        assert time.monotonic() - begin < 24
        for each in store.servers:
            each.thaw()
        answer = until_answered(
            lambda: requests.get(f"{service.url}/v1/me", headers=ada.headers, timeout=30)
        )
        assert answer.ok


def test_who_needs_connections_to_several_nodes_of_a_cluster_keeps_nobody_waiting_for_ever(
    cluster: Cluster, tmp_path: Path
) -> None:
    few = {"REDIS_CONNECTIONS": "2", "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, REDIS_URL=cluster.url, **few) as service:
        tables = [sit_down(service) for _ in range(6)]

        def read(number: int) -> int:
            ada, _, game_id = tables[number % len(tables)]
            path = f"{service.url}/v1/games/{game_id}"
            return requests.get(path, headers=ada.headers, timeout=60).status_code

        with ThreadPoolExecutor(24) as threads:
            assert list(threads.map(read, range(240))) == [200] * 240


def test_readiness_finds_the_masters_of_a_cluster_by_itself(tmp_path: Path) -> None:
    with (
        ended(Cluster(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url) as service,
    ):
        ready = f"{service.url}/readyz"
        assert requests.get(ready, timeout=30).ok
        dead = store.masters()[0]
        dead.kill()
        await_store(lambda: len(store.masters()) == 3, "its replica has taken over")
        assert until_answered(lambda: requests.get(ready, timeout=30)).ok
        dead.start()
        await_store(lambda: store.role(dead) == "slave", "it has come back as a replica")
        # Nobody but probes has asked since.
        assert until_answered(lambda: requests.get(ready, timeout=30)).ok


PROGRAM = """
from gevent import monkey

monkey.patch_all()
import sys
import time

import gevent
from redis import Redis, exceptions

from api.storage.connect import connect
from api.storage.client import Command
from api.config.settings import Settings
from api.storage.pubsub import Line, Subscriptions

TIMEOUT = 2
settings = Settings(redis_url=sys.argv[1], redis_timeout_seconds=TIMEOUT, redis_connections=2)
link, places = connect(settings)
"""


def ask_program(lines: str, *arguments: str) -> str:
    """What a program prints that does this with the link to a store and its places."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + lines, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LISTENING = """
try:
    Line(places, sys.argv[2], print, print).hear()
except exceptions.TimeoutError:
    print("given up")
"""


def test_a_server_that_stands_still_is_not_listened_to_for_ever(tmp_path: Path) -> None:
    with ended(Watched(binary("valkey"), tmp_path)) as store:
        for each in store.sentinels:
            each.client().sentinel_set(store.NAME, "down-after-milliseconds", 60000)
        master = store.master
        master.freeze()
        here = f"127.0.0.1:{master.port}"
        for url, place in (
            (store.url, ""),
            (f"redis://{here}", ""),
            (f"redis+cluster://{here}", here),
        ):
            assert ask_program(LISTENING, url, place) == "given up\n", url


HEARING = """
line = Line(places, "", lambda channel, _: print(channel, flush=True), print)
line.want("news")
hearing = gevent.spawn(line.hear)
store = Redis.from_url(sys.argv[1])
while not store.pubsub_numsub("news")[0][1]:
    gevent.sleep(0.01)
gevent.sleep(TIMEOUT + 1)
store.publish("news", "")
gevent.sleep(0.5)
print(hearing.ready())
"""


def test_who_hears_nothing_for_longer_than_a_request_may_take_still_listens(
    tmp_path: Path,
) -> None:
    with ended(Server(binary("valkey"), tmp_path, port := free_port())):
        heard = ask_program(HEARING, f"redis://127.0.0.1:{port}")
    assert heard == "news\nnews\nFalse\n", "its confirmation, and the message"


FAILING = """
def fail(channels):
    raise ValueError("a fault of somebody else's")

def wait_for(number):
    while len(heard) < number:
        gevent.sleep(0.01)

heard = []
subscriptions = Subscriptions(places, lambda *what: heard.append(what), fail)
subscriptions.want("news")
gevent.spawn(subscriptions.run)
store = Redis.from_url(sys.argv[1])
wait_for(1)
store.client_kill_filter(_type="pubsub")
wait_for(2)
store.publish("news", "")
wait_for(3)
print(heard)
"""


def test_a_fault_of_those_who_are_told_ends_no_subscription(tmp_path: Path) -> None:
    with ended(Server(binary("valkey"), tmp_path, port := free_port())):
        heard = ask_program(FAILING, f"redis://127.0.0.1:{port}")
    confirmed, said = ("news", True), ("news", False)
    assert heard == f"{[confirmed, confirmed, said]}\n"


ASKING_BOTH = """
there, here = (Command(key, ("GET", key)) for key in sys.argv[2:])
asking = [gevent.spawn(link.ask, [there, here]) for _ in range(40)]
gevent.sleep(0.1)
begin = time.monotonic()
print([link.ask([here]) for _ in range(3)], time.monotonic() - begin < TIMEOUT / 2)
gevent.joinall(asking)
print({type(each.exception).__name__ for each in asking})
"""


def test_a_node_that_stands_still_keeps_nobody_waiting_who_needs_the_others(
    tmp_path: Path,
) -> None:
    with ended(Cluster(binary("valkey"), tmp_path)) as store:
        frozen, other, _ = sorted(store.masters(), key=lambda each: str(each.port))
        with store.client() as client:
            keys = {client.get_node_from_key(str(key)).port: str(key) for key in range(100)}
        for each in store.servers:
            each.client().config_set("cluster-node-timeout", 60000)
        frozen.freeze()
        url = f"redis+cluster://127.0.0.1:{other.port}"
        printed = ask_program(ASKING_BOTH, url, keys[frozen.port], keys[other.port])
    assert printed == "[[None], [None], [None]] True\n{'TimeoutError'}\n"


def test_a_cluster_without_slots_is_unavailable_and_forgets_nobody_who_waits(
    tmp_path: Path,
) -> None:
    port = free_port(for_cluster=True)
    url = f"redis+cluster://127.0.0.1:{port}"
    options = ("--cluster-enabled", "yes", "--cluster-config-file", str(tmp_path / "nodes.conf"))
    with (
        ended(Server(binary("valkey"), tmp_path / "store", port, *options)) as store,
        serving(tmp_path / "service", REDIS_URL=url, REDIS_TIMEOUT_SECONDS="0.5") as service,
    ):
        every = (0, SLOTS - 1)

        def register() -> requests.Response:
            body = {"name": "Ada", "kind": "bot"}
            return requests.post(f"{service.url}/v1/players", json=body, timeout=30)

        def check_unavailable() -> None:
            assert register().json()["code"] == "store_unavailable"
            # Whichever worker answers, also one that was asked about no key since.
            for _ in range(6):
                ready = requests.get(f"{service.url}/readyz", timeout=30)
                assert ready.json()["code"] == "store_unavailable"

        check_unavailable()
        store.client().execute_command("CLUSTER ADDSLOTSRANGE", *every)
        assert until_answered(register).ok
        ada, bob, game_id = sit_down(service)
        path = f"{service.url}/v1/games/{game_id}"
        stream = requests.get(path + "/stream", headers=bob.headers, stream=True, timeout=60)
        told = _events(stream)
        assert next(told)[0] == "snapshot"
        store.client().execute_command("CLUSTER DELSLOTSRANGE", *every)
        check_unavailable()
        store.client().execute_command("CLUSTER ADDSLOTSRANGE", *every)
        assert until_answered(register).ok
        mover = (ada, bob)[_mover((ada, bob), game_id)]
        game = mover.call("GET", f"/v1/games/{game_id}")
        body = {"turn": game["turn"], "move": game["legal_moves"][0]}
        version = mover.call("POST", f"/v1/games/{game_id}/moves", json=body)["game"]["version"]
        kind, data = next(told)
        assert (kind, data["game"]["version"]) == ("update", version)
        stream.close()


def test_sentinels_that_stand_still_take_no_longer_together_than_a_master_does(
    tmp_path: Path,
) -> None:
    limits = {"REDIS_TIMEOUT_SECONDS": "3", "WEB_CONCURRENCY": "1"}
    with (
        ended(Watched(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url, **limits) as service,
    ):
        ada = Person(service, "Ada")
        for each in (*store.sentinels, *store.servers):
            each.freeze()
        begin = time.monotonic()
        assert ask_all_at_once(service, ada, 8) == [503] * 8
        assert ask_all_at_once(service, ada, 8) == [503] * 8
        # One after the other, each with all of the time, they would have taken 9 s alone.
        assert time.monotonic() - begin < 9
        for each in (*store.sentinels, *store.servers):
            each.thaw()


def _mover(players: tuple[Person, ...], game_id: str) -> int:
    (seat,) = players[0].call("GET", f"/v1/games/{game_id}")["to_move"]
    assert isinstance(seat, int)
    return seat


def _events(stream: requests.Response) -> Iterator[tuple[str, Any]]:
    kind = ""
    for line in stream.iter_lines(chunk_size=1):
        name, _, value = line.decode().partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, requests.models.complexjson.loads(value)
