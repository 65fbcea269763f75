"""The addresses of callers.

X-Forwarded-For is trusted from configured proxies only. This module imports nothing of the
service, so that the worker can load it before the application.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOCAL = "local"
"""The address of callers that are not connected by the Internet protocol."""

HOST_BITS = 72
"""The bits of an IPv6 address that do not distinguish callers.

Providers assign a network of /56 (some of /48) to one household, which may use 256 networks of /64:
so all addresses of a /56 count as one caller.
"""

MAX_ADDRESS_LENGTH = 64
"""In characters: about the length of an IPv6 address in brackets with zone and port."""

MAX_PROXIES = 32
"""The most addresses of X-Forwarded-For that are read, beginning with the last."""

_WITH_PORT = re.compile(r"\[([0-9a-fA-F:.]+)\](?::[0-9]+)?|([0-9.]+):[0-9]+")


class Proxies:
    """The trusted proxies."""

    def __init__(self, networks: Sequence[Network] = ()) -> None:
        self._networks = tuple(networks)

    def trust(self, peer: str) -> bool:
        """Tell whether an address belongs to a trusted proxy."""
        address = _read(peer)
        return address is not None and self._has(address)

    def caller(self, peer: str, forwarded_for: str | None) -> str:
        """Return the caller's address, from the connection's peer and X-Forwarded-For.

        Each proxy appends the address of its client, so the list is read from its end, while the
        proxy that appended an address is trusted.

        >>> from ipaddress import ip_network
        >>> Proxies([ip_network("10.0.0.0/8")]).caller("10.1.1.1", "6.6.6.6, 192.0.2.1, 10.2.2.2")
        '192.0.2.1'
        >>> Proxies().caller("10.1.1.1", "192.0.2.1")
        '10.1.1.1'
        """
        if not self._networks or not forwarded_for:
            return group(peer)
        nearest = _read(peer)
        clients = forwarded_for.rsplit(",", MAX_PROXIES)
        while nearest is not None and clients and self._has(nearest):
            farther = _read(clients.pop())
            if farther is None:
                break
            nearest = farther
        return LOCAL if nearest is None else _group(nearest)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def group(address: str) -> str:
    """Return what counts as one caller: an IPv4 address, or an IPv6 network.

    >>> group("2001:db8:0:1::2") == group("2001:db8:0:ff:ffff::3") != group("2001:db8:0:100::2")
    True
    >>> group("2001:db8:0:123::4")
    '2001:db8:0:100::/56'
    >>> group("::ffff:192.0.2.1")
    '192.0.2.1'
    """
    read = _read(address)
    return LOCAL if read is None else _group(read)


@lru_cache(maxsize=4096)
def _group(address: Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Address(int(address) >> HOST_BITS << HOST_BITS)) + f"/{128 - HOST_BITS}"


def _read(text: str) -> Address | None:
    """Read an address as proxies write it, with or without a port."""
    text = text.strip()
    return _read_short(text) if len(text) <= MAX_ADDRESS_LENGTH else None


@lru_cache(maxsize=4096)
def _read_short(text: str) -> Address | None:
    if match := _WITH_PORT.fullmatch(text):
        text = match[1] or match[2]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
