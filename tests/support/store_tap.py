"""A proxy in front of a store that counts round trips."""

import contextlib
import socket
import threading
from collections.abc import Iterator

WATCH = b"*1\r\n$4\r\nINFO\r\n"
"""What the service asks by itself, every ten seconds: no request takes it."""


class Tap:
    """Forwards connections to the port of a store, and counts round trips.

    All that a worker sends on a connection before the store answers is one round trip.
    """

    def __init__(self, port: int) -> None:
        self.trips = 0
        self._store = ("127.0.0.1", port)
        self._door = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._door.getsockname()[1]}"

    def close(self) -> None:
        # Closing alone does not wake a thread in `accept`.
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                worker, _ = self._door.accept()
                Line(self, worker, socket.create_connection(self._store))


class Line:
    """A worker's connection and the forwarding one to the store."""

    def __init__(self, tap: Tap, worker: socket.socket, store: socket.socket) -> None:
        self.tap = tap
        self.is_asked = False
        for side in (worker, store):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._ask, args=(worker, store), daemon=True).start()
        threading.Thread(target=self._answer, args=(store, worker), daemon=True).start()

    def _ask(self, worker: socket.socket, store: socket.socket) -> None:
        for data in _said(worker):
            if not self.is_asked and data != WATCH:
                self.is_asked = True
                self.tap.trips += 1
            store.sendall(data)
        store.close()

    def _answer(self, store: socket.socket, worker: socket.socket) -> None:
        for data in _said(store):
            self.is_asked = False
            worker.sendall(data)
        worker.close()


def _said(side: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        while data := side.recv(1 << 20):
            yield data
