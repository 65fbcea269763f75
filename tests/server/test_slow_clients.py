"""Clients that are slow, or do nothing at all, stop nobody else and are not waited for for ever."""

import contextlib
import random
import resource
import socket
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_client import Client, new_player, play_out
from tests.support.event_stream import events
from tests.support.http_client import HttpClient
from tests.support.raw_http import connect, is_closed
from tests.support.service import UNLIMITED, Service, serving
from tests.support.waiting import wait_until

# Far above what slows a request down on a busy machine, far below waiting for a slow client.
SLOWER = 20


@pytest.fixture
def one_worker(tmp_path: Path) -> Iterator[Service]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    settings = {"APPEND_FSYNC": "everysec", "WEB_CONCURRENCY": "1", **UNLIMITED}
    try:
        with serving(tmp_path, **settings) as running:
            yield running
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def median_seconds(client: Client, path: str, number: int = 30) -> float:
    """How long a request takes."""
    times = []
    with client.unchecked():
        for _ in range(number):
            begin = time.monotonic()
            assert client.request("GET", path).status_code == 200
            times.append(time.monotonic() - begin)
    return statistics.median(times)


SLOW_HEADER = b"GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Slow: "
SLOW_BODY = (
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
UNREAD = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100


@pytest.mark.slow
def test_a_thousand_slow_clients_stop_nobody_else(one_worker: Service) -> None:
    ada = new_player(one_worker.url)
    path = f"/v1/games/{ada.create(3)['id']}"
    alone = median_seconds(ada, path)
    with contextlib.ExitStack() as stack:

        def open_some(number: int, sent: bytes, room: int | None = None) -> list[socket.socket]:
            return [
                stack.enter_context(
                    contextlib.closing(connect(one_worker.port, sent, receive_buffer=room))
                )
                for _ in range(number)
            ]

        readers = open_some(100, UNREAD, 4096)
        bodies = open_some(500, SLOW_BODY)
        headers = open_some(500, SLOW_HEADER)
        among = median_seconds(ada, path)
        # They are all still there: nothing was answered by turning the slow ones away.
        assert not any(map(is_closed, headers + bodies))
        assert among < SLOWER * alone + 0.05
        # And what they did not send in time is not waited for.
        wait_until(lambda: all(map(is_closed, headers)), "slow headers end")
        wait_until(lambda: all(map(is_closed, bodies)), "slow bodies end")
        assert readers


@pytest.mark.slow
def test_who_does_not_read_its_answers_loses_the_connection(one_worker: Service) -> None:
    readers = [connect(one_worker.port, UNREAD, receive_buffer=4096) for _ in range(20)]
    wait_until(
        lambda: one_worker.output.count("did not read its answer") == len(readers),
        "all have been given up",
        patience=90,
    )
    for each in readers:
        each.settimeout(10)
        got = 0
        with contextlib.suppress(ConnectionError):
            while chunk := each.recv(1 << 20):
                got += len(chunk)
        assert got < len(Client(one_worker.url).request("GET", "/openapi.json").content) * 100
        each.close()
    assert "Traceback" not in one_worker.output


@pytest.mark.slow
def test_a_stream_that_is_not_read_gives_its_place_back(tmp_path: Path) -> None:
    with serving(
        tmp_path,
        APPEND_FSYNC="everysec",
        WEB_CONCURRENCY="1",
        WAITERS_PER_PLAYER="1",
    ) as running:
        players = [new_player(running.url) for _ in range(6)]
        ada, *others = players
        game_id = ada.create(6, ruleset="mit-list-und-tuecke")["id"]
        for each in others:
            each.join(game_id)
        path = f"/v1/games/{game_id}/stream"
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\n\r\n"

        def is_free() -> bool:
            with ada.open("GET", path) as response:
                return next(events(response)).name == "snapshot"

        unread = connect(running.port, request.encode(), receive_buffer=4096)
        wait_until(lambda: not is_free(), "it is open")
        # Each move sends the whole game: together, far more than the system keeps.
        play_out(players, game_id, random.Random(1))

        wait_until(is_free, "the place is free again", patience=90)
        assert running.await_lines("did not read its answer")
        unread.close()


def test_an_address_holds_so_many_connections_and_others_get_in(tmp_path: Path) -> None:
    with serving(
        tmp_path, APPEND_FSYNC="everysec", WEB_CONCURRENCY="1", CONNECTIONS_PER_ADDRESS="20"
    ) as running:
        held = [connect(running.port, SLOW_BODY) for _ in range(30)]
        wait_until(lambda: sum(map(is_closed, held)) == 10, "those beyond are closed")
        other = HttpClient(running.url, source_address="127.0.0.2")
        assert other.request("GET", "/livez").status_code == 200
        for each in held:
            each.close()
        wait_until(lambda: answers(running), "there is room again")


def answers(service: Service) -> bool:
    with contextlib.suppress(OSError):
        return Client(service.url).request("GET", "/livez").status_code == 200
    return False
