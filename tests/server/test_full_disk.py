"""A full disk under the embedded Valkey: reads go on, changes are refused, nothing is lost.

The disk is a small tmpfs that the test mounts and fills with a file, which takes a few
milliseconds: faster than anything can watch it.
"""

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from api.server import valkey_supervisor
from api.server.valkey import EmbeddedValkey
from tests.support.api_client import Client, new_player, seated
from tests.support.http_client import Response
from tests.support.paths import PROGRAMS
from tests.support.ports import free_port
from tests.support.service import UNLIMITED, Service, Start, fresh_metrics
from tests.support.stores import Server, binary
from tests.support.waiting import wait_until

DISK_MIB = 48
REFUSED = "is full: games can be read, and all changes are refused until 4 MiB can be written"
ACCEPTED = "has room again: changes are accepted"


class SmallDisk:
    """A mounted tmpfs."""

    def __init__(self, path: Path, mebibytes: int) -> None:
        self.path = path
        path.mkdir()
        size = f"size={mebibytes}m"
        mount = ["mount", "-t", "tmpfs", "-o", size, "ludotheque-test", str(path)]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
            if os.environ.get("CI"):
                pytest.fail("a tmpfs cannot be mounted")
            pytest.skip("a tmpfs cannot be mounted")
        self._filler = path / "filler"

    def fill(self) -> None:
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while file.write(bytes(1 << 16)):
                pass
        assert os.statvfs(self.path).f_bavail == 0

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path / "disk", DISK_MIB) as small:
        yield small


@contextlib.contextmanager
def mounted(path: Path, mebibytes: int) -> Iterator[SmallDisk]:
    disk = SmallDisk(path, mebibytes)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.fixture
def serve(start: Start, disk: SmallDisk) -> Callable[..., Service]:
    """Starts the service with its data on the small disk."""

    def start_service(**settings: Any) -> Service:
        given = {"DATA_DIR": disk.path / "data", "WEB_CONCURRENCY": 2, **UNLIMITED, **settings}
        return start(own=True, **given)

    return start_service


class Table:
    """Two players who play one game after the other as fast as they can, in a thread.

    What was acknowledged is kept; moves that are refused with 503 are sent again.
    """

    def __init__(self, url: str, seed: int) -> None:
        self.players = [new_player(url), new_player(url)]
        for player in self.players:
            player.checked = False
        self.game_id = ""
        self.acknowledged: list[tuple[Client, str, list[Any]]] = []
        self._rng = random.Random(seed)
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)

    def __enter__(self) -> "Table":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._is_ending.set()
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _play(self) -> None:
        while not self._is_ending.is_set():
            try:
                self._move()
            except AssertionError:
                time.sleep(0.05)

    def _move(self) -> None:
        if not self.game_id:
            self.game_id = seated(self.players)["id"]
        game = self.players[0].game(self.game_id)
        if game["status"] != "playing":
            self.game_id = ""
            return
        player = self.players[game["to_move"][0]]
        own = player.game(self.game_id)
        move = {"turn": own["turn"], "move": self._rng.choice(own["legal_moves"])}
        played = player.play(self.game_id, **move)
        self.acknowledged.append((player, self.game_id, played["items"]))

    def answers(self, method: str) -> list[Response]:
        everything = [answer for player in self.players for answer in list(player.log)]
        return [answer for answer in everything if answer.method == method]

    @property
    def refusals(self) -> list[Any]:
        answers = self.answers("POST")
        return [each.json() for each in answers if each.status_code not in (200, 201)]

    def check(self, url: str) -> None:
        """All that was acknowledged is there, as it was acknowledged."""
        assert self.acknowledged
        told: dict[tuple[str | None, str], dict[int, Any]] = {}
        for player, game_id, items in self.acknowledged:
            if (player.id, game_id) not in told:
                player.url = url
                page = player.get(f"/v1/games/{game_id}/events?limit=500")
                told[player.id, game_id] = {each["version"]: each for each in page["items"]}
            for item in items:
                assert told[player.id, game_id].get(item["version"]) == item


class Queries:
    """Reads a game, the lobby and what happened, all the time, in a thread."""

    def __init__(self, player: Client, game_id: str) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self._player = player
        self._paths = [f"/v1/games/{game_id}", "/v1/games", f"/v1/games/{game_id}/events"]
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Queries":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._is_ending.set()
        self._thread.join(30)

    def _read(self) -> None:
        while not self._is_ending.is_set():
            for path in self._paths:
                answer = self._player.request("GET", path)
                self.answers[path, answer.status_code] += 1

    def check(self) -> None:
        """Each was read often, and none was ever refused."""
        assert {status for _, status in self.answers} == {200}, self.answers
        assert len(self.answers) == len(self._paths)
        assert min(self.answers.values()) > 10


def warnings(service: Service, text: str) -> list[str]:
    return [line for line in service.lines if text in line]


def store_full(service: Service) -> bool:
    return "ludotheque_store_full 1.0" in fresh_metrics(service).splitlines()


def persist(act: Callable[[], Any], patience: float) -> Any:
    """What `act` returns as soon as no change is refused any more."""

    def attempt() -> list[Any]:
        with contextlib.suppress(AssertionError):
            return [act()]
        return []

    return wait_until(attempt, "changes are accepted", patience)[0]


@pytest.mark.parametrize(
    "append_fsync", ["always", pytest.param("everysec", marks=pytest.mark.slow)]
)
def test_on_a_full_disk_reads_go_on_and_changes_are_refused_until_there_is_room(
    serve: Callable[..., Service], disk: SmallDisk, append_fsync: str
) -> None:
    service = serve(APPEND_FSYNC=append_fsync)
    ada, bob = new_player(service.url), new_player(service.url)
    game = seated([ada, bob])
    reading = new_player(service.url)
    reading.checked = False
    tables = [Table(service.url, seed) for seed in range(3)]
    with contextlib.ExitStack() as playing:
        for table in tables:
            playing.enter_context(table)
        with Queries(reading, game["id"]) as reader:
            wait_until(lambda: all(len(each.acknowledged) > 20 for each in tables), "they play")
            disk.fill()
            wait_until(lambda: all(len(each.refusals) > 5 for each in tables), "it is full")

            # Every change is refused, and told why.
            mover = [ada, bob][ada.game(game["id"])["to_move"][0]]
            own = mover.game(game["id"])
            move = {"turn": own["turn"], "move": own["legal_moves"][0]}
            path = f"/v1/games/{game['id']}"
            for method, where, body in (
                ("POST", f"{path}/moves", move),
                ("POST", f"{path}/stream-tickets", None),
                ("DELETE", f"{path}/seats/me", None),
                ("POST", "/v1/games", {"ruleset": "parade", "seat_count": 2}),
                ("POST", "/v1/players", {"name": "Eve", "kind": "bot"}),
                ("POST", "/v1/me/token", None),
            ):
                refused = mover.refused("store_full", method, where, body)
                assert refused["status"] == 503
                assert (
                    "reads are answered, changes are refused until the operator"
                    in refused["detail"]
                )
                assert mover.log[-1].headers["Retry-After"]
            ready = ada.get("/readyz")
            assert ready["status"] == "ready"
            assert "the disk of DATA_DIR is full" in ready["detail"]
            assert store_full(service)
            assert len(service.await_lines(REFUSED)) == 1

            disk.make_room()
            persist(lambda: mover.play(game["id"], **move), patience=5)
            assert ada.get("/readyz")["detail"] is None
            assert not store_full(service)
            service.await_lines(ACCEPTED)
            played = [len(each.acknowledged) for each in tables]
            wait_until(
                lambda: all(
                    len(each.acknowledged) > before + 5
                    for each, before in zip(tables, played, strict=True)
                ),
                "all go on",
            )
    reader.check()
    for table in tables:
        assert {(each["status"], each["code"]) for each in table.refusals} == {(503, "store_full")}
        assert {each.status_code for each in table.answers("GET")} == {200}
        table.check(service.url)
    assert len(warnings(service, REFUSED)) == len(warnings(service, ACCEPTED)) == 1
    assert not warnings(service, "the store failed")
    with service.store.client() as store:
        assert store.config_get("appendfsync") == {"appendfsync": append_fsync}


@pytest.mark.parametrize(
    ("append_fsync", "end"),
    [
        ("always", signal.SIGTERM),
        pytest.param("everysec", signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_on_a_full_disk_a_killed_valkey_and_a_new_service_have_all_that_was_acknowledged(
    serve: Callable[..., Service], disk: SmallDisk, append_fsync: str, end: signal.Signals
) -> None:
    service = serve(APPEND_FSYNC=append_fsync)
    with Table(service.url, 1) as table:
        wait_until(lambda: len(table.acknowledged) > 20, "they play")
        disk.fill()
        wait_until(lambda: len(table.refusals) > 2, "it is full")

    def check() -> None:
        service.await_lines(REFUSED)
        table.check(service.url)
        reader = table.players[0]
        assert "the disk of DATA_DIR is full" in reader.get("/readyz")["detail"]
        reader.refused("store_full", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2})

    service.kill_valkey()
    check()
    service.signal(end)
    service.process.wait(30)
    assert "Traceback" not in service.output
    service = serve(APPEND_FSYNC=append_fsync)
    check()
    disk.make_room()
    persist(table.players[0].create, patience=5)
    table.check(service.url)


def test_a_service_without_data_does_not_start_on_a_full_disk_and_says_why(
    start: Start, disk: SmallDisk
) -> None:
    disk.fill()
    service = start(DATA_DIR=disk.path / "data", ready=False)
    assert service.exit_code() == 1
    directory = disk.path / "data" / "valkey"
    assert service.output == (
        f"ludotheque: Valkey did not start, as the disk of {directory} is full: free at least "
        "4 MiB there, or set DATA_DIR to another disk\n"
    )
    disk.make_room()
    assert start(DATA_DIR=disk.path / "data").get("/increment", key="games") == "1"


def test_on_a_disk_of_two_megabytes_it_serves_what_can_be_read_and_says_so(
    start: Start, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk", 2) as disk:
        service = start(own=True, DATA_DIR=disk.path / "data")
        (line,) = service.await_lines("is full")
        assert line.endswith(f"[WARNING] The disk of {disk.path}/data/valkey {REFUSED}")
        ready = service.request("GET", "/readyz")
        assert (ready.status_code, "is full" in ready.text) == (200, True)
        body = {"name": "Ada", "kind": "bot"}
        assert service.request("POST", "/v1/players", json=body).code == "store_full"
        service.signal(signal.SIGTERM)
        assert service.exit_code() == 0
        assert "Traceback" not in service.output


def test_a_disk_that_is_nearly_full_is_told_at_the_start(
    serve: Callable[..., Service], disk: SmallDisk
) -> None:
    service = serve()
    nearly_full = (
        f"[WARNING] The disk of {disk.path}/data/valkey has less than 64 MiB free: make room, "
        "since all changes are refused when 2 MiB are left"
    )
    service.await_lines(nearly_full)
    remount = ["mount", "-o", "remount,size=256m", str(disk.path)]
    subprocess.run(remount, check=True)
    service.await_lines("has 128 MiB free again")
    assert len(warnings(service, nearly_full)) == 1


def test_a_valkey_that_ends_at_a_failed_write_is_started_again_to_be_read(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file system reserves nothing, and another program is faster than the supervisor."""
    program = PROGRAMS / "blind_supervisor.py"
    monkeypatch.setattr(valkey_supervisor, "__file__", str(program))
    with EmbeddedValkey(disk.path / "data", "always") as valkey:
        store = redis.Redis.from_url(valkey.url, retry=None)
        first = store.info("server")["process_id"]
        disk.fill()
        acknowledged = 0
        with contextlib.suppress(redis.ConnectionError):
            while acknowledged < 10_000:
                store.set(f"key:{acknowledged}", "x" * 1000)
                acknowledged += 1

        def restarted() -> bool:
            with contextlib.suppress(redis.RedisError):
                return bool(store.info("server")["process_id"] != first)
            return False

        wait_until(restarted, "another one answers")
        assert store.dbsize() == acknowledged
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            store.set("key", "value")
        told: list[str] = []

        def is_told(part: str) -> bool:
            told.extend(valkey.messages())
            return any(part in line for line in told)

        wait_until(lambda: is_told(REFUSED), "it is told")
        (end,) = (line for line in told if "ended with exit code 1" in line)
        assert "AOF write error" in end
        disk.make_room()
        wait_until(lambda: is_told(ACCEPTED), "it is told")
        assert store.set("key", "value")
        assert store.config_get("appendfsync") == {"appendfsync": "always"}
        assert store.dbsize() == acknowledged + 1


def test_an_external_server_that_cannot_write_is_full_too(start: Start, disk: SmallDisk) -> None:
    options = ("--appendonly", "yes", "--appendfsync", "everysec")
    store = Server(binary("valkey"), disk.path, free_port(), *options)
    try:
        service = start(own=True, REDIS_URL=f"redis://127.0.0.1:{store.port}", **UNLIMITED)
        ada, bob = new_player(service.url), new_player(service.url)
        game = seated([ada, bob])
        # An entry of no game, which the next list would remove.
        store.client().zadd("index:{lobby:parade}:playing", {"0" * 32: 1})
        disk.fill()
        ada.checked = False

        body = {"ruleset": "parade", "seat_count": 2}
        # What Valkey writes once a second is acknowledged until it notices.
        refused = wait_until(
            lambda: (
                not (answer := ada.request("POST", "/v1/games", json=body)).ok
                and (answer.status_code, answer.json()["code"])
            ),
            "a change is refused",
        )
        assert refused == (503, "store_full")
        assert ada.game(game["id"])["id"] == game["id"]
        (listed,) = ada.get("/v1/games?status=playing")["items"]
        assert listed["id"] == game["id"]
        assert "cannot write to its disk" in ada.get("/readyz")["detail"]
        assert store_full(service)
        service.await_lines("the store refuses changes")
        disk.make_room()
        persist(ada.create, patience=5)
        assert ada.get("/readyz")["detail"] is None
    finally:
        store.end()


def test_room_for_the_next_changes_is_reserved_behind_the_append_only_file(
    disk: SmallDisk,
) -> None:
    file = disk.path / "appendonlydir" / "appendonly.aof.10.incr.aof"
    file.parent.mkdir()
    file.with_name("appendonly.aof.9.incr.aof").write_bytes(b"older")
    file.write_bytes(b"changes")
    watched = valkey_supervisor.Disk(disk.path)
    assert not watched.is_full(was_full=False)
    assert file.read_bytes() == b"changes"
    disk.fill()
    assert watched.is_full(was_full=False)
    with file.open("ab", buffering=0) as opened:
        assert (
            opened.write(bytes(valkey_supervisor.RESERVED_BYTES))
            == valkey_supervisor.RESERVED_BYTES
        )


def test_a_disk_that_was_full_needs_more_room_than_one_that_gets_full(disk: SmallDisk) -> None:
    watched = valkey_supervisor.Disk(disk.path)
    disk.fill()
    os.truncate(disk.path / "filler", (DISK_MIB << 20) - 3 * valkey_supervisor.MIB)
    assert not watched.is_full(was_full=False)
    assert watched.is_full(was_full=True)
    os.truncate(disk.path / "filler", (DISK_MIB << 20) - 5 * valkey_supervisor.MIB)
    assert not watched.is_full(was_full=True)


def test_a_change_of_settings_that_valkey_answered_in_part_is_completed_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = valkey_supervisor.Server("valkey-server", tmp_path, "valkey.sock", "always")
    is_full = [True]
    monkeypatch.setattr(server.disk, "is_full", lambda *, was_full: is_full[0])
    sent: list[str] = []
    answers = [b"+OK\r\n", b"", b"+OK\r\n", b"+OK\r\n"]

    def ask(address: str, command: bytes) -> bytes:
        sent.append(command.decode().removeprefix("CONFIG SET "))
        return answers.pop(0)

    monkeypatch.setattr(valkey_supervisor, "_ask", ask)
    server.check_disk()
    assert sent == ["maxmemory 1", "appendfsync everysec"]
    # There is room again before the refusal was complete.
    is_full[0] = False
    server.check_disk()
    assert sent[2:] == ["appendfsync always", "maxmemory 0"]
    server.check_disk()
    assert len(sent) == 4
