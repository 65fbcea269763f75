"""The service on stores of several servers: a cluster, and a master that Sentinels watch."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.config.settings import Settings
from api.storage.connect import connect
from api.storage.store import Store
from tests.support.api_client import Client, new_player, play_by_turns, seat_two
from tests.support.event_stream import events
from tests.support.http_client import Response, until_answered
from tests.support.paths import PROGRAMS, ROOT
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
    (ada, bob), game_id = seat_two(service.url)
    heard: list[dict[str, Any]] = []

    def listen() -> None:
        path = f"/v1/games/{game_id}/events?wait=20"
        heard.append(bob.get(path))
        while heard[-1]["status"] == "playing":
            heard.append(bob.get(f"{path}&since={heard[-1]['cursor']}"))

    listener = threading.Thread(target=listen)
    listener.start()
    versions = play_by_turns([ada, bob])
    listener.join(30)
    items = [item for page in heard for item in page["items"]]
    assert [item["version"] for item in items] == list(range(1, versions[-1] + 1))
    assert len(heard) > len(versions) / 2, "whoever waits is told of moves as they come"
    record = ada.get(f"/v1/games/{game_id}/record")
    assert ada.post("/v1/analysis", record)["result"] == record["result"]
    assert [each["id"] for each in ada.get("/v1/me/games")["items"]] == [game_id]


def test_a_cluster_keeps_games_and_tells_those_who_wait(cluster: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        for _ in range(5):  # their keys are spread over the nodes
            check_a_whole_game_with_somebody_who_waits(service)


def test_players_are_matched_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    with (
        serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service,
        ThreadPoolExecutor(9) as threads,
    ):
        players = [new_player(service.url) for _ in range(9)]
        for number in range(5):  # the queues are spread over the nodes
            wish = {"ruleset": "parade", "seat_count": 3, "turn_seconds": 60 + number}

            def match(player: Client, wish: dict[str, Any] = wish) -> Any:
                return player.post("/v1/match", wish)["id"]

            ids = set(threads.map(match, players))
            assert len(ids) == 3
            assert [players[0].game(each)["status"] for each in ids] == ["playing"] * 3


def test_lists_are_merged_from_all_nodes_of_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        ada, bob = new_player(service.url), new_player(service.url)
        made = []
        for number in range(24):
            ruleset = ("parade", "contrast", "tea-time")[number % 3]
            made.append(ada.create(ruleset=ruleset)["id"])
            if number % 4 == 1:
                bob.join(made[-1])
            elif number % 4 == 2:
                ada.delete(f"/v1/games/{made[-1]}")
        for path in ("/v1/games?limit=5", "/v1/me/games?limit=5"):
            listed, page = [], ada.get(path)
            while True:
                listed += page["items"]
                if page["next"] is None:
                    break
                page = ada.get(f"{path}&cursor={page['next']}")
            ids = [each["id"] for each in listed if each["id"] in made]
            assert sorted(ids) == sorted(made)
            keys = [(each["created_at"], each["id"]) for each in listed]
            assert keys == sorted(keys, reverse=True)


def test_moves_in_games_of_all_nodes_of_a_cluster_are_played_together(
    cluster: Cluster, tmp_path: Path
) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        ada = new_player(service.url)
        games = [ada.create(2, house=["random"]) for _ in range(12)]
        moves = [
            {"game_id": each["id"], "turn": each["turn"], "move": each["legal_moves"][0]}
            for each in games
        ]
        first = ada.post("/v1/me/moves", {"moves": moves})
        assert {each["status"] for each in first["items"]} == {200}
        assert ada.post("/v1/me/moves", {"moves": moves}) == first


def test_a_key_of_a_cluster_that_holds_something_else_is_a_fault_of_its_own(
    cluster: Cluster, tmp_path: Path
) -> None:
    with serving(tmp_path, REDIS_URL=cluster.url, WAIT_REPLICAS="1") as service:
        (ada, _), good = seat_two(service.url)
        bad = ada.create()["id"]
        with cluster.client() as store:
            for key in (f"game:{{{bad}}}", damaged := "index:{lobby:contrast}:open"):
                store.delete(key)
                store.set(key, "x")
        listed = [each["id"] for each in ada.get("/v1/games?ruleset=parade")["items"]]
        assert good in listed
        assert bad not in listed
        for path in (f"/v1/games/{bad}", "/v1/games", "/v1/games?status=open"):
            assert ada.request("GET", path).code == "internal_error"
        new = ada.create()["id"]
        assert new in [each["id"] for each in ada.get("/v1/games?ruleset=parade")["items"]]
        with cluster.client() as store:
            store.delete(damaged)


def test_a_watched_master_keeps_games_and_tells_those_who_wait(
    watched: Watched, tmp_path: Path
) -> None:
    with serving(tmp_path, REDIS_URL=watched.url, WAIT_REPLICAS="2") as service:
        check_a_whole_game_with_somebody_who_waits(service)


def test_a_game_is_confirmed_only_as_it_was_read(watched: Watched, tmp_path: Path) -> None:
    """What was read from a master that is none any more may be lost on the one that confirms."""
    with serving(tmp_path, REDIS_URL=watched.url, WAIT_REPLICAS="1") as service:
        _, game_id = seat_two(service.url)
    link, _ = connect(Settings(redis_url=watched.url, wait_replicas=1))
    store = Store(link)
    found = store.read(None, game_id).stored
    assert found is not None
    assert store.confirm(found.game)
    assert not store.confirm(replace(found.game, commit="lost"))


def test_what_a_failover_loses_is_never_taken_for_what_replaces_it(tmp_path: Path) -> None:
    """The replica lags, the master dies: a version comes again with another content."""
    with (
        ended(Watched(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url) as service,
    ):
        (ada, bob), game_id = seat_two(service.url)
        path = f"/v1/games/{game_id}"
        stream = bob.open("GET", f"{path}/stream")
        told = events(stream)
        assert next(told).name == "snapshot"
        for each in store.servers:
            if each is not store.master:
                each.freeze()
        # What is written from now on reaches no replica.
        store.master.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
        players = [ada, bob]
        mover = _mover(players, game_id)
        game = players[mover].get(f"/v1/games/{game_id}")
        lost = {"turn": game["turn"], "move": game["legal_moves"][0]}
        players[mover].post(f"/v1/games/{game_id}/moves", lost)
        assert next(told).name == "update"
        seen = bob.request("GET", path)

        dead = store.master
        dead.kill()
        for each in store.servers:
            if each is not dead:
                each.thaw()
        other = {"turn": game["turn"], "move": game["legal_moves"][1]}
        answer = until_answered(lambda: players[mover].request("POST", f"{path}/moves", json=other))
        assert answer.status_code == 200
        assert answer.json()["game"]["version"] == seen.json()["version"]

        known = {"If-None-Match": seen.headers["ETag"]}
        assert bob.request("GET", path, headers=known).status_code == 200
        event = next(told)
        assert event.name == "snapshot"
        assert event.data["table"] == bob.get(f"/v1/games/{game_id}")["table"]
        stream.close()

        # Clients that come back with a cursor of the lost commit are told so, others continue.
        now = bob.get(path)
        for before, is_lost in ((seen.json()["cursor"], True), (game["cursor"], False)):
            page = bob.get(f"{path}/events?since={before}&wait=20")
            assert (page["reset"], page["cursor"]) == (is_lost, now["cursor"])
            assert [each["version"] for each in page["items"]] == (
                [] if is_lost else [*range(game["version"] + 1, now["version"] + 1)]
            )
            with bob.open("GET", f"{path}/stream?last_event_id={before}") as again:
                event = next(events(again))
                assert (event.name, event.id) == (
                    "snapshot" if is_lost else "update",
                    now["cursor"],
                )


def ask_all_at_once(service: Service, ada: Client, number: int) -> list[int]:
    """The statuses of so many reads at the same time."""

    def ask(_: int) -> int:
        return ada.request("GET", "/v1/me").status_code

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
        ada = new_player(service.url, checked=False)
        for each in store.servers:
            each.freeze()
        begin = time.monotonic()
        assert ask_all_at_once(service, ada, 24) == [503] * 24
        # Alone, each of them would have asked six nodes in vain, a second each.
        assert time.monotonic() - begin < 24
        for each in store.servers:
            each.thaw()
        assert until_answered(lambda: ada.request("GET", "/v1/me")).ok


def test_who_needs_connections_to_several_nodes_of_a_cluster_keeps_nobody_waiting_for_ever(
    cluster: Cluster, tmp_path: Path
) -> None:
    few = {"REDIS_CONNECTIONS": "2", "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, REDIS_URL=cluster.url, **few) as service:
        tables = [seat_two(service.url) for _ in range(6)]

        def read(number: int) -> int:
            (ada, _), game_id = tables[number % len(tables)]
            return ada.request("GET", f"/v1/games/{game_id}").status_code

        with ThreadPoolExecutor(24) as threads:
            assert list(threads.map(read, range(240))) == [200] * 240


def test_readiness_finds_the_masters_of_a_cluster_by_itself(tmp_path: Path) -> None:
    with (
        ended(Cluster(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url) as service,
    ):
        assert service.request("GET", "/readyz").ok
        dead = store.masters()[0]
        dead.kill()
        await_store(lambda: len(store.masters()) == 3, "its replica has taken over")
        assert until_answered(lambda: service.request("GET", "/readyz")).ok
        dead.start()
        await_store(lambda: store.role(dead) == "slave", "it has come back as a replica")
        # Nobody but probes has asked since.
        assert until_answered(lambda: service.request("GET", "/readyz")).ok


def use_store(use: str, url: str, *arguments: str) -> str:
    """Return what a use of the store's client prints: see the program."""
    done = subprocess.run(
        [sys.executable, PROGRAMS / "store_client.py", use, url, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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
            assert use_store("listen", url, place) == "given up\n", url


def test_who_hears_nothing_for_longer_than_a_request_may_take_still_listens(
    tmp_path: Path,
) -> None:
    with ended(Server(binary("valkey"), tmp_path, port := free_port())):
        heard = use_store("listen_in_silence", f"redis://127.0.0.1:{port}")
    assert heard == "news\nnews\nFalse\n", "its confirmation, and the message"


def test_a_fault_of_those_who_are_told_ends_no_subscription(tmp_path: Path) -> None:
    with ended(Server(binary("valkey"), tmp_path, port := free_port())):
        heard = use_store("listen_with_a_fault", f"redis://127.0.0.1:{port}")
    confirmed, said = ("news", True), ("news", False)
    assert heard == f"{[confirmed, confirmed, said]}\n"


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
        printed = use_store("ask_two_nodes", url, keys[frozen.port], keys[other.port])
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

        def register() -> Response:
            body = {"name": "Ada", "kind": "bot"}
            return service.request("POST", "/v1/players", json=body)

        def check_unavailable() -> None:
            assert register().code == "store_unavailable"
            # Whichever worker answers, also one that was asked about no key since.
            for _ in range(6):
                assert service.request("GET", "/readyz").code == "store_unavailable"

        check_unavailable()
        store.client().execute_command("CLUSTER ADDSLOTSRANGE", *every)
        assert until_answered(register).ok
        (ada, bob), game_id = seat_two(service.url)
        path = f"/v1/games/{game_id}"
        stream = bob.open("GET", f"{path}/stream")
        told = events(stream)
        assert next(told).name == "snapshot"
        store.client().execute_command("CLUSTER DELSLOTSRANGE", *every)
        check_unavailable()
        store.client().execute_command("CLUSTER ADDSLOTSRANGE", *every)
        assert until_answered(register).ok
        mover = (ada, bob)[_mover([ada, bob], game_id)]
        game = mover.get(f"/v1/games/{game_id}")
        body = {"turn": game["turn"], "move": game["legal_moves"][0]}
        version = mover.post(f"/v1/games/{game_id}/moves", body)["game"]["version"]
        event = next(told)
        assert (event.name, event.data["game"]["version"]) == ("update", version)
        stream.close()


def test_sentinels_that_stand_still_take_no_longer_together_than_a_master_does(
    tmp_path: Path,
) -> None:
    limits = {"REDIS_TIMEOUT_SECONDS": "3", "WEB_CONCURRENCY": "1"}
    with (
        ended(Watched(binary("valkey"), tmp_path / "store")) as store,
        serving(tmp_path / "service", REDIS_URL=store.url, **limits) as service,
    ):
        ada = new_player(service.url, checked=False)
        for each in (*store.sentinels, *store.servers):
            each.freeze()
        begin = time.monotonic()
        assert ask_all_at_once(service, ada, 8) == [503] * 8
        assert ask_all_at_once(service, ada, 8) == [503] * 8
        # One after the other, each with all of the time, they would have taken 9 s alone.
        assert time.monotonic() - begin < 9
        for each in (*store.sentinels, *store.servers):
            each.thaw()


def _mover(players: list[Client], game_id: str) -> int:
    (seat,) = players[0].get(f"/v1/games/{game_id}")["to_move"]
    assert isinstance(seat, int)
    return seat
