"""The limit on the connections of one address, with sockets in place of clients."""

import logging
import socket
from collections.abc import Iterator
from ipaddress import ip_network

import gevent
import pytest
from gevent.event import Event

from api.observability.addresses import Proxies
from api.server.connection_limits import MAX_CANDIDATES, ConnectionLimits
from api.server.request_reader import RequestReader

PEER = "192.0.2.1"


class Connection:
    """A connection that waits for a request, or is busy with one, until it is told to end."""

    def __init__(self, limits: ConnectionLimits, peer: str = PEER, *, is_busy: bool = False):
        self.client, self._accepted = socket.socketpair()
        self.is_admitted = False
        self._limits = limits
        self._peer = peer
        self._is_idle, self._end = Event(), Event()
        if not is_busy:
            self._is_idle.set()
        self._greenlet = gevent.spawn(self._serve)
        gevent.sleep(0)

    def _serve(self) -> None:
        connection = self._limits.admit(self._peer)
        self.is_admitted = connection is not None
        if connection is None:
            return
        self._is_idle.wait()
        with self._limits.idling(connection, RequestReader(self._accepted)):
            self._end.wait()
        self._limits.release(connection)

    @property
    def is_closed(self) -> bool:
        try:
            return self.client.recv(1, socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False

    def answer(self) -> None:
        """End the request of a connection that is busy."""
        self._is_idle.set()
        gevent.sleep(0.001)

    def end(self) -> None:
        self._end.set()
        self._is_idle.set()
        self._greenlet.join(5)
        self.client.close()
        self._accepted.close()


@pytest.fixture
def connect() -> Iterator[type[Connection]]:
    opened: list[Connection] = []

    class Opened(Connection):
        def __init__(self, limits: ConnectionLimits, peer: str = PEER, *, is_busy: bool = False):
            super().__init__(limits, peer, is_busy=is_busy)
            opened.append(self)

    yield Opened
    for connection in opened:
        connection.end()


def limits_of(per_address: int, *proxies: str) -> ConnectionLimits:
    return ConnectionLimits(per_address, 1000, Proxies([ip_network(each) for each in proxies]))


def test_an_address_has_so_many_busy_connections_and_others_have_theirs(
    connect: type[Connection],
) -> None:
    limits = limits_of(2)
    assert [connect(limits, is_busy=True).is_admitted for _ in range(3)] == [True, True, False]
    assert connect(limits, "192.0.2.2", is_busy=True).is_admitted


def test_a_network_of_the_new_kind_and_the_local_clients_count_as_one_address_each(
    connect: type[Connection],
) -> None:
    limits = limits_of(1)
    assert connect(limits, "2001:db8::1", is_busy=True).is_admitted
    assert not connect(limits, "2001:db8:0:1::2", is_busy=True).is_admitted
    assert connect(limits, "", is_busy=True).is_admitted
    assert not connect(limits, "", is_busy=True).is_admitted


def test_a_connection_that_has_ended_makes_room(connect: type[Connection]) -> None:
    limits = limits_of(1)
    first = connect(limits, is_busy=True)
    first.end()
    assert connect(limits, is_busy=True).is_admitted
    assert not connect(limits, is_busy=True).is_admitted


def test_the_longest_idle_connection_makes_room_for_a_new_one(connect: type[Connection]) -> None:
    limits = limits_of(3)
    busy, longest, other = connect(limits, is_busy=True), connect(limits), connect(limits)
    assert connect(limits, is_busy=True).is_admitted
    assert [each.is_closed for each in (busy, longest, other)] == [False, True, False]
    assert connect(limits, is_busy=True).is_admitted
    assert other.is_closed
    assert not connect(limits, is_busy=True).is_admitted


def test_a_connection_whose_request_has_arrived_is_not_closed(connect: type[Connection]) -> None:
    limits = limits_of(2)
    first, second = connect(limits), connect(limits)
    first.client.sendall(b"G")
    assert connect(limits, is_busy=True).is_admitted
    assert [first.is_closed, second.is_closed] == [False, True]
    assert not connect(limits, is_busy=True).is_admitted


def test_a_new_connection_looks_at_a_few_idle_ones_only(connect: type[Connection]) -> None:
    limits = limits_of(MAX_CANDIDATES + 1)
    waiting = [connect(limits) for _ in range(MAX_CANDIDATES + 1)]
    for connection in waiting[:-1]:
        connection.client.sendall(b"G")
    assert not connect(limits).is_admitted
    assert not waiting[-1].is_closed


def test_a_connection_that_was_closed_to_make_room_ends_without_taking_another_ones_place(
    connect: type[Connection],
) -> None:
    limits = limits_of(1)
    idle, busy = connect(limits), connect(limits, is_busy=True)
    assert (idle.is_closed, busy.is_admitted) == (True, True)
    idle.end()
    assert not connect(limits, is_busy=True).is_admitted
    busy.end()
    assert connect(limits, is_busy=True).is_admitted


def test_a_connection_that_was_closed_to_make_room_counts_no_more(
    connect: type[Connection],
) -> None:
    limits = limits_of(2)
    _idle, busy = connect(limits), connect(limits, is_busy=True)
    assert connect(limits, is_busy=True).is_admitted
    busy.end()
    assert connect(limits, is_busy=True).is_admitted
    assert not connect(limits, is_busy=True).is_admitted


def test_after_many_came_at_once_those_that_become_idle_make_room_for_others(
    connect: type[Connection],
) -> None:
    limits = ConnectionLimits(1000, 2, Proxies())
    crowd = [connect(limits, is_busy=True) for _ in range(4)]
    for each in crowd:
        each.answer()
    assert [each.is_closed for each in crowd] == [True, True, False, False]


def test_a_trusted_proxy_may_have_any_number(connect: type[Connection]) -> None:
    limits = limits_of(1, "192.0.2.0/24")
    proxies = [connect(limits, is_busy=True), connect(limits), connect(limits)]
    assert all(each.is_admitted and not each.is_closed for each in proxies)


def test_the_idle_connections_of_all_addresses_are_known(connect: type[Connection]) -> None:
    limits = limits_of(2, "198.51.100.1")
    assert limits.idle_readers() == []
    idle = [connect(limits), connect(limits, "192.0.2.2"), connect(limits, "198.51.100.1")]
    connect(limits, is_busy=True)
    assert len(limits.idle_readers()) == 3
    idle[0].end()
    assert len(limits.idle_readers()) == 2


def test_nothing_is_kept_of_addresses_that_have_gone(connect: type[Connection]) -> None:
    limits = limits_of(2)
    for number in range(5):
        connect(limits, f"192.0.2.{number}").end()
    assert limits._by_address == {}


def test_the_operator_is_told_of_an_address_at_its_limit_once_a_minute(
    connect: type[Connection], caplog: pytest.LogCaptureFixture
) -> None:
    limits = limits_of(1)
    with caplog.at_level(logging.WARNING, "ludotheque"):
        for _ in range(4):
            connect(limits, is_busy=True)
    (message,) = caplog.messages
    assert message.startswith(f"{PEER} has 1 connections to this worker")
