"""How long connections live without a request, and which are closed to make room."""

import contextlib
import socket
import time
from collections.abc import Iterator

import gevent
import pytest
from gevent.event import Event

from api.observability.addresses import Proxies
from api.server import connection_limits
from api.server.connection_limits import ConnectionLimits
from api.server.request_reader import HEAD_SECONDS
from tests.support.raw_http import connect
from tests.support.service import Service, Start

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def service(start: Start) -> Service:
    return start(WEB_CONCURRENCY=1, KEEP_ALIVE_SECONDS=1)


def seconds_until_closed(connection: socket.socket) -> float:
    begin = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            begin = time.monotonic()
    return time.monotonic() - begin


@pytest.mark.parametrize("sent", [b"", LIVEZ], ids=["new", "used"])
def test_an_idle_connection_is_closed_after_keep_alive_seconds(
    service: Service, sent: bytes
) -> None:
    with connect(service.port, sent) as connection:
        assert 0.8 < seconds_until_closed(connection) < HEAD_SECONDS


def test_a_head_may_take_longer_than_a_connection_may_be_idle(service: Service) -> None:
    with connect(service.port, LIVEZ[:10]) as connection:
        time.sleep(1.5)
        connection.sendall(LIVEZ[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_head_that_does_not_end_is_given_up_however_long_connections_may_be_idle(
    start: Start,
) -> None:
    with connect(start(WEB_CONCURRENCY=1).port, LIVEZ[:-2]) as connection:
        assert HEAD_SECONDS - 1 < seconds_until_closed(connection) < 2 * HEAD_SECONDS


def test_by_default_a_connection_outlives_the_idle_connections_of_a_proxy(start: Start) -> None:
    with connect(start(WEB_CONCURRENCY=1).port) as connection:
        for pause in (0.0, HEAD_SECONDS + 1):
            time.sleep(pause)
            connection.sendall(LIVEZ)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


class Connections:
    """Connections that wait for a request, as the limits see them."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.closed: list[str] = []
        self._end = Event()

    def open(self, peer: str, name: str) -> None:
        gevent.spawn(self._serve, peer, name)
        gevent.sleep(0)

    def _serve(self, peer: str, name: str) -> None:
        connection = self.limits.admit(peer)
        assert connection is not None
        with self.limits.idling(connection, name):  # type: ignore[arg-type]
            self._end.wait()
        self.limits.release(connection)

    def close(self, name: str) -> bool:
        self.closed.append(name)
        return True

    def end(self) -> None:
        self._end.set()
        gevent.sleep(0)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connections]:
    opened = Connections(ConnectionLimits(2, 4, Proxies()))
    monkeypatch.setattr(connection_limits, "close_if_silent", opened.close)
    yield opened
    opened.end()


def test_an_address_with_its_most_connections_loses_its_longest_idle_one(
    connections: Connections,
) -> None:
    for peer, name in (("10.0.0.2", "other"), *[("10.0.0.1", str(number)) for number in range(3)]):
        connections.open(peer, name)
    assert connections.closed == ["0"]


def test_a_worker_that_is_almost_full_closes_the_longest_idle_connection_of_all(
    connections: Connections,
) -> None:
    for number in range(6):
        connections.open(f"10.0.0.{number}", str(number))
    assert connections.closed == ["0", "1"]


def test_connections_that_have_ended_leave_room_for_others(connections: Connections) -> None:
    for _ in range(3):
        for number in range(4):
            connections.open(f"10.0.0.{number}", str(number))
        connections.end()
        connections._end.clear()
    assert not connections.closed
