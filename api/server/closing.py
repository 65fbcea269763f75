"""Ways to end a client's connection without losing a request or an answer."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

import gevent
from gevent import monkey

from api.server.request_reader import RequestReader

# Closing a connection with unread bytes resets it, and the client would not see the answer. So
# the worker reads on for a while, up to these bounds.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20

_system_socket: type[socket.socket] = monkey.get_original("socket", "socket")


def send_and_close(client: RequestReader, answer: bytes) -> None:
    """Send the last answer of a connection, then close it.

    Raises:
        OSError, gevent.Timeout: the client does not take the answer.
    """
    with gevent.Timeout(LINGER_SECONDS):
        client.sendall(answer)
    linger(client)


def linger(client: RequestReader) -> None:
    """Stop sending, and discard what still arrives until the client closes or a bound is hit."""
    with contextlib.suppress(OSError), gevent.Timeout(LINGER_SECONDS, False):
        client.shutdown(socket.SHUT_WR)
        unread = LINGER_BYTES
        while unread > 0 and (chunk := client.recv(65536)):
            unread -= len(chunk)


def stop_reading(reader: RequestReader) -> None:
    """Let a connection end, after the request whose bytes have begun to arrive.

    With such bytes it stays open: its body may still be on its way.
    """
    with contextlib.suppress(OSError), _system_view(reader) as client:
        if _is_silent(client):
            client.shutdown(socket.SHUT_RD)


def close_if_silent(reader: RequestReader) -> bool:
    """Close a connection unless bytes have arrived that are not read yet. Return whether it did."""
    with contextlib.suppress(OSError), _system_view(reader) as client:
        if not _is_silent(client):
            return False
        # In both directions: a request that arrives from now on must not be served.
        client.shutdown(socket.SHUT_RDWR)
    return True


def _is_silent(client: socket.socket) -> bool:
    """Tell whether no bytes have arrived that are not read yet."""
    try:
        return not client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True


@contextlib.contextmanager
def _system_view(reader: RequestReader) -> Iterator[socket.socket]:
    """Open the connection a second time as a socket without gevent and TLS.

    gevent's socket fails if it is shut down while another greenlet reads from it, and a TLS
    socket does not tell whether bytes have arrived.
    """
    with _system_socket(fileno=os.dup(reader.fileno())) as client:
        yield client
