"""Where a request comes from, as far as the network tells.

What a proxy says of whom it speaks for is believed if the proxy is one of those that were named;
what anybody else says of it is not. It imports nothing of the service, so that the worker can
load it early.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOCAL = "local"
"""Who is connected by other means than the Internet protocol."""

HOST_BITS = 72
"""Of an IPv6 address. Providers hand out networks of /56 (some of /48) to one household, where
each may choose among 256 networks of /64: so all of a /56 counts as one caller.
"""

LONGEST_ADDRESS = 64
"""In characters. Of an IPv6 address in brackets with zone and port it takes about as many."""

MOST_PROXIES = 32
"""How many addresses of X-Forwarded-For are read. The last ones come first."""

_WITH_PORT = re.compile(r"\[([0-9a-fA-F:.]+)\](?::[0-9]+)?|([0-9.]+):[0-9]+")


class Proxies:
    """The proxies whose word is taken."""

    def __init__(self, networks: Sequence[Network] = ()) -> None:
        self._networks = tuple(networks)

    def trust(self, peer: str) -> bool:
        """Whether this is the address of one of them."""
        address = _read(peer)
        return address is not None and self._has(address)

    def caller(self, peer: str, forwarded_for: str | None) -> str:
        """Who is calling, given who is connected and what was said in X-Forwarded-For.

        Each proxy adds to the end whom it heard, so it is read from there on, as long as those
        who said it are trusted.

        >>> from ipaddress import ip_network
        >>> Proxies([ip_network("10.0.0.0/8")]).caller("10.1.1.1", "6.6.6.6, 192.0.2.1, 10.2.2.2")
        '192.0.2.1'
        >>> Proxies().caller("10.1.1.1", "192.0.2.1")
        '10.1.1.1'
        """
        if not self._networks or not forwarded_for:
            return group(peer)
        nearest = _read(peer)
        heard = forwarded_for.rsplit(",", MOST_PROXIES)
        while nearest is not None and heard and self._has(nearest):
            farther = _read(heard.pop())
            if farther is None:
                break
            nearest = farther
        return LOCAL if nearest is None else _group(nearest)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def group(address: str) -> str:
    """Who counts as one caller: an IPv4 address, an IPv6 network.

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
    """An address as proxies write it, perhaps with a port."""
    text = text.strip()
    return _read_short(text) if len(text) <= LONGEST_ADDRESS else None


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
