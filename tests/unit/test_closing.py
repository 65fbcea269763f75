"""How connections end when a worker stops, with sockets in place of clients."""

import socket
from collections.abc import Iterator

import pytest

from api.server.closing import stop_reading
from api.server.request_reader import RequestReader


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    client, accepted = socket.socketpair()
    with client, accepted:
        accepted.settimeout(5)
        yield client, accepted


def test_a_connection_without_a_request_ends(
    connection: tuple[socket.socket, socket.socket],
) -> None:
    _, accepted = connection
    stop_reading(RequestReader(accepted))
    assert accepted.recv(10) == b""


def test_a_request_that_has_begun_to_arrive_is_read_to_its_end(
    connection: tuple[socket.socket, socket.socket],
) -> None:
    client, accepted = connection
    client.sendall(b"the head")
    stop_reading(RequestReader(accepted))
    assert accepted.recv(10) == b"the head"
    client.sendall(b"the body")
    assert accepted.recv(10) == b"the body"
