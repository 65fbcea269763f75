"""Limits how many connections one address has to this worker.

Without it, 10,500 slow requests from one address kept the clients of other addresses waiting for 9
seconds; with it, these were answered in 0.1 to 0.4 seconds.

Beyond the limit, a new connection takes the place of the address's connection that has waited
longest for a request; if none waits, the new connection is closed. When the worker has almost as
many connections as it can hold, a new one takes the place of the longest idle of all addresses; if
none is idle, the next one that is idle ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice

from api.observability import addresses
from api.observability.addresses import Proxies
from api.observability.logger import OnceAMinute, log
from api.server.closing import close_if_silent
from api.server.request_reader import RequestReader

# A new connection looks at so many idle ones, so that it costs the same however many there are.
MAX_CANDIDATES = 8


class AddressConnections:
    """An address's connections; the idle ones, the longest idle first.

    A connection that was closed to make room no longer counts, though it may still be served.
    """

    __slots__ = ("address", "idle", "open")

    def __init__(self, address: str) -> None:
        self.address = address
        self.open: set[Connection] = set()
        self.idle: dict[Connection, None] = {}


class Connection:
    """A connection that counts for its address until it is released."""

    __slots__ = ("own",)

    def __init__(self, own: AddressConnections) -> None:
        self.own = own


class ConnectionLimits:
    """The connections of every address. Trusted proxies may have any number, for their clients."""

    def __init__(self, per_address: int, in_total: int, proxies: Proxies) -> None:
        self._per_address = per_address
        self._in_total = in_total
        self._proxies = proxies
        self._open = 0
        self._idle: dict[Connection, RequestReader] = {}
        self._by_address: dict[str, AddressConnections] = {}
        self._warning = OnceAMinute()

    def admit(self, peer: str) -> Connection | None:
        """Count a new connection; return None if it may not be served.

        `peer` is the client's IP address, or "" for a client on a Unix socket.
        """
        if self._open >= self._in_total:
            self._close_longest_idle(self._idle)
        is_limited = not self._proxies.trust(peer)
        address = addresses.group(peer) if is_limited else peer
        own = self._by_address.setdefault(address, AddressConnections(address))
        is_full = is_limited and len(own.open) >= self._per_address
        if is_full and not self._close_longest_idle(own.idle):
            if self._warning.is_due(address):
                log.warning(
                    "%s has %d connections to this worker, the most that one address may have: "
                    "further connections are closed (logged once a minute)",
                    address,
                    self._per_address,
                )
            return None
        connection = Connection(own)
        own.open.add(connection)
        self._open += 1
        return connection

    def release(self, connection: Connection) -> None:
        """Count a connection no more."""
        own = connection.own
        self._forget(connection)
        # The address may have a new entry: its old one was empty once all were closed.
        if not own.open and self._by_address.get(own.address) is own:
            del self._by_address[own.address]

    @contextlib.contextmanager
    def idling(self, connection: Connection, reader: RequestReader) -> Iterator[None]:
        """Let a connection be closed to make room while the block runs."""
        connection.own.idle[connection] = None
        self._idle[connection] = reader
        if self._open > self._in_total:
            # None was idle when the last ones came. A full worker accepts none that would do this.
            self._close_longest_idle(self._idle)
        try:
            yield
        finally:
            connection.own.idle.pop(connection, None)
            self._idle.pop(connection, None)

    def idle_readers(self) -> list[RequestReader]:
        """Return the readers of all idle connections."""
        return list(self._idle.values())

    def _close_longest_idle(self, idle: Iterable[Connection]) -> bool:
        """Close one of these idle connections. Return whether there was one."""
        for connection in list(islice(idle, MAX_CANDIDATES)):
            if close_if_silent(self._idle[connection]):
                self._forget(connection)
                del connection.own.idle[connection], self._idle[connection]
                return True
        return False

    def _forget(self, connection: Connection) -> None:
        if connection in connection.own.open:
            connection.own.open.remove(connection)
            self._open -= 1
