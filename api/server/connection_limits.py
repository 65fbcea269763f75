"""Limits how many connections one address has to this worker.

Without it, 10,500 slow requests from one address kept the clients of other addresses waiting for 9
seconds; with it, these were answered in 0.1 to 0.4 seconds.

Beyond the limit, a new connection takes the place of the address's connection that has waited
longest for a request; if none waits, the new connection is closed. When the worker has almost as
many connections as it can hold, a new one takes the place of the longest idle of all addresses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice

import gevent

from api.observability import addresses
from api.observability.addresses import Proxies
from api.observability.logger import OnceAMinute, log
from api.server.closing import close_if_silent
from api.server.request_reader import RequestReader

# A new connection looks at so many idle ones, so that it costs the same however many there are.
MAX_CANDIDATES = 8


class AddressConnections:
    """The greenlets that serve an address's connections; the idle ones, the longest idle first.

    A connection that was closed to make room no longer counts, though its greenlet may still run.
    """

    __slots__ = ("greenlets", "idle")

    def __init__(self) -> None:
        self.greenlets: set[gevent.Greenlet] = set()
        self.idle: dict[gevent.Greenlet, None] = {}


class ConnectionLimits:
    """The connections of every address. Trusted proxies may have any number, for their clients."""

    def __init__(self, per_address: int, in_total: int, proxies: Proxies) -> None:
        self._per_address = per_address
        self._in_total = in_total
        self._proxies = proxies
        self._open = 0
        self._idle: dict[gevent.Greenlet, tuple[AddressConnections, RequestReader]] = {}
        self._by_address: dict[str, AddressConnections] = {}
        self._warning = OnceAMinute()

    @contextlib.contextmanager
    def admit(self, peer: str) -> Iterator[AddressConnections | None]:
        """Count the connection that the current greenlet serves while the block runs.

        Yields the connections of its address, or None if it may not be served. `peer` is the
        client's IP address, or "" for a client on a Unix socket.
        """
        if self._open >= self._in_total:
            self._close_longest_idle(self._idle)
        is_limited = not self._proxies.trust(peer)
        address = addresses.group(peer) if is_limited else peer
        own = self._by_address.setdefault(address, AddressConnections())
        is_full = is_limited and len(own.greenlets) >= self._per_address
        if is_full and not self._close_longest_idle(own.idle):
            if self._warning.is_due(address):
                log.warning(
                    "%s has %d connections to this worker, the most that one address may have: "
                    "further connections are closed (logged once a minute)",
                    address,
                    self._per_address,
                )
            yield None
            return
        greenlet = gevent.getcurrent()
        own.greenlets.add(greenlet)
        self._open += 1
        try:
            yield own
        finally:
            self._open -= 1
            own.greenlets.discard(greenlet)
            # The address may have a new entry: its old one was empty once all were closed.
            if not own.greenlets and self._by_address.get(address) is own:
                del self._by_address[address]

    @contextlib.contextmanager
    def idling(self, own: AddressConnections, reader: RequestReader) -> Iterator[None]:
        """Let the current greenlet's connection be closed to make room while the block runs."""
        greenlet = gevent.getcurrent()
        own.idle[greenlet] = None
        self._idle[greenlet] = (own, reader)
        try:
            yield
        finally:
            own.idle.pop(greenlet, None)
            self._idle.pop(greenlet, None)

    def idle_readers(self) -> list[RequestReader]:
        """Return the readers of all idle connections."""
        return [reader for _, reader in self._idle.values()]

    def _close_longest_idle(self, idle: Iterable[gevent.Greenlet]) -> bool:
        """Close one of these idle connections. Return whether there was one."""
        for greenlet in list(islice(idle, MAX_CANDIDATES)):
            own, reader = self._idle[greenlet]
            if close_if_silent(reader):
                own.greenlets.discard(greenlet)
                del own.idle[greenlet], self._idle[greenlet]
                return True
        return False
