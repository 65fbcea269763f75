"""One address never takes all of a worker: neither its connections nor the files it may open."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from pathlib import Path

import pytest

from api.config import capacity
from api.config.capacity import Capacity
from api.config.settings import Settings
from tests.support import raw_http
from tests.support.api_client import new_player
from tests.support.paths import ROOT
from tests.support.raw_http import is_closed
from tests.support.service import SERVE, Service, Start, clean_environment, service_environment
from tests.support.waiting import wait_until

SLOW_BODY = (
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"

Connect = Callable[..., socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect to a service from an address of this machine, and send something."""
    with contextlib.ExitStack() as stack:

        def open_one(service: Service, sent: bytes, address: str = "127.0.0.1") -> socket.socket:
            return stack.enter_context(raw_http.connect(service.port, sent, source=address))

        yield open_one


def status(connection: socket.socket) -> int:
    """The status of an answer, which is read to its end unless it is a stream."""
    connection.settimeout(10)
    response = HTTPResponse(connection)
    response.begin()
    if response.getheader("Content-Type") != "text/event-stream":
        response.read()
    return response.status


# --- How much there is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("descriptors", "expected"),
    [
        (20_000, Capacity(12_000, 4000, 10_000, 2000)),
        (1024, Capacity(896, 448, 806, 448)),
        # Connections to the store are no more than those that are served.
        (100, Capacity(18, 9, 16, 9)),
        (1, Capacity(2, 1, 1, 1)),
    ],
)
def test_what_a_worker_holds_fits_into_what_it_may_open(
    descriptors: int, expected: Capacity
) -> None:
    assert Capacity.of(Settings(), descriptors) == expected


@pytest.mark.parametrize("descriptors", [1, 50, 64, 100, 129, 256, 1000, 1024, 4096, 13_000])
@pytest.mark.parametrize("store", [1, 64, 10_000])
def test_whatever_is_asked_for_one_address_has_at_most_half(descriptors: int, store: int) -> None:
    greedy = Settings(
        redis_connections=store,
        connections_per_address=12_000,
        waiters=10_800,
        waiters_per_address=10_800,
    )
    room = Capacity.of(greedy, descriptors)
    assert 1 <= room.connections_per_address <= room.connections / 2
    assert room.waiters_per_address <= room.connections / 2
    assert room.waiters < room.connections
    if descriptors > 128:
        others = min(store, room.connections)
        assert room.connections + others + capacity.OWN_DESCRIPTORS <= descriptors


def test_what_falls_short_is_named() -> None:
    settings = Settings(connections_per_address=7000)
    assert Capacity.of(Settings(), 20_000).falls_short_of(Settings()) == []
    assert Capacity.of(settings, 20_000).falls_short_of(settings) == [
        "CONNECTIONS_PER_ADDRESS is 6000, not 7000"
    ]


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be() -> None:
    code = "import api.server.gunicorn_config; from api.config import capacity; "
    code += "print(capacity.available())"

    def allowed(limits: str) -> int:
        done = subprocess.run(
            ["sh", "-c", f'{limits}; exec "$@"', "sh", sys.executable, "-P", "-c", code],
            env=clean_environment() | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert allowed("ulimit -Sn 300; ulimit -Hn 700") == 700
    assert allowed("ulimit -Sn 300; ulimit -Hn 15000") == capacity.needed(Settings())
    assert allowed("ulimit -n 14000") == 14_000


# --- A real service -----------------------------------------------------------------------------


@pytest.fixture
def few_files(tmp_path: Path) -> Iterator[Service]:
    """A service whose processes may open 300 files at most, so a worker holds 172 connections."""
    environment = service_environment(
        tmp_path / "data", WEB_CONCURRENCY="1", APPEND_FSYNC="everysec"
    )
    service = Service(["sh", "-c", 'ulimit -n 300; exec "$@"', "sh", *SERVE], environment, tmp_path)
    try:
        yield service.await_ready()
    finally:
        service.end()
        service.store.end()


def test_one_address_cannot_use_up_the_files_of_a_worker(
    few_files: Service, connect: Connect
) -> None:
    held = [connect(few_files, SLOW_BODY) for _ in range(250)]
    wait_until(lambda: sum(map(is_closed, held)) == 250 - 86, "all beyond half are closed")
    assert status(connect(few_files, LIVEZ, "127.0.0.2")) == 200
    assert "Too many open files" not in few_files.output
    assert len(few_files.await_lines("CONNECTIONS_PER_ADDRESS is 86, not 4000")) == 1


def test_two_addresses_can_wait_in_all_of_a_worker_and_it_still_has_files(
    few_files: Service, connect: Connect
) -> None:
    game = new_player(few_files.url, checked=False, keep_alive=False).create()
    stream = b"GET /v1/games/%b/stream HTTP/1.1\r\nHost: x\r\n\r\n" % game["id"].encode()
    held = [connect(few_files, stream, f"127.0.0.{n % 2 + 2}") for n in range(200)]
    statuses = {status(each) for each in held[:100]}
    # Strangers have half of the quota.
    assert statuses <= {200, 429}
    for each in held:
        each.close()
    wait_until(lambda: status(connect(few_files, LIVEZ)) == 200, "there is room again")
    assert "Too many open files" not in few_files.output


def test_connections_that_are_idle_make_room_for_new_ones(start: Start, connect: Connect) -> None:
    service = start(own=True, WEB_CONCURRENCY="1", CONNECTIONS_PER_ADDRESS="5")
    busy = [connect(service, SLOW_BODY) for _ in range(3)]
    first, second = (connect(service, LIVEZ) for _ in range(2))
    assert status(first) == status(second) == 200
    # The longest idle one goes, and nothing that is being asked.
    third = connect(service, LIVEZ)
    assert status(third) == 200
    wait_until(lambda: is_closed(first), "the first is closed")
    second.settimeout(10)
    second.sendall(LIVEZ)
    assert status(second) == 200
    assert not any(map(is_closed, busy))
    # Not even one that has sent nothing at all keeps others out.
    silent = [connect(service, b"") for _ in range(3)]
    wait_until(lambda: is_closed(silent[0]), "the first is closed")
    assert status(connect(service, LIVEZ)) == 200
    assert "connections to this worker" not in service.output
    assert "rror" not in service.output


def test_who_makes_room_again_and_again_holds_no_more_than_it_may(
    start: Start, connect: Connect
) -> None:
    service = start(own=True, WEB_CONCURRENCY="1", CONNECTIONS_PER_ADDRESS="1")
    for number in range(60):
        connection = connect(service, LIVEZ)
        assert status(connection) == 200
        if number % 3 == 0:
            connection.close()
    held = [connect(service, SLOW_BODY) for _ in range(10)]
    wait_until(lambda: sum(map(is_closed, held)) == 9, "all but one are closed")
    assert "rror" not in service.output


def test_refused_connections_are_told_of_once(start: Start, connect: Connect) -> None:
    service = start(own=True, WEB_CONCURRENCY="1", CONNECTIONS_PER_ADDRESS="5")
    held = [connect(service, SLOW_BODY) for _ in range(12)]
    wait_until(lambda: sum(map(is_closed, held)) == 7, "those beyond are closed")
    more = [connect(service, SLOW_BODY, "127.0.0.3") for _ in range(7)]
    wait_until(lambda: sum(map(is_closed, more)) == 2, "those beyond are closed")
    told = service.await_lines("connections to this worker", number=2)
    assert len(told) == 2
    assert "127.0.0.1 has 5 connections" in told[0]
    assert "127.0.0.3 has 5 connections" in told[1]
