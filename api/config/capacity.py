"""The number of connections that one worker can hold, and that one address may have of them.

Each connection takes a file descriptor, and the system limits those of a process. A higher setting
would never take effect: the worker would run out of descriptors first, and the client that used
them up would lock out all others. This module imports only the settings, so that the master can
load it.
"""

from __future__ import annotations

import contextlib
import resource
from typing import NamedTuple

from api.config.settings import Settings

MAX_CONNECTIONS = 12_000
"""Each takes some 27 kB while it is idle, less while its request waits."""

OWN_DESCRIPTORS = 64
"""For a worker's other files: log, listeners, metrics, its subscriptions to the store."""


class Capacity(NamedTuple):
    """The most connections and waiters that a worker holds, in all and for each address."""

    connections: int
    connections_per_address: int
    waiters: int
    waiters_per_address: int

    @property
    def connections_before_idle_close(self) -> int:
        """The number of connections from which on a new one takes the place of an idle one.

        It is higher than that of the waiters, so that requests find room beside them.
        """
        return self.connections * 19 // 20

    @classmethod
    def of(cls, settings: Settings, descriptors: int) -> Capacity:
        """Return the capacity that the settings demand, as far as so many descriptors allow.

        One address has at most half of the connections, and waiters leave one in ten for other
        requests.
        """
        left = max(descriptors - OWN_DESCRIPTORS, 4)
        # Each client's connection uses at most one connection to the store at a time.
        connections = min(MAX_CONNECTIONS, max(left - settings.redis_connections, left // 2))
        half = connections // 2
        return cls(
            connections=connections,
            connections_per_address=min(settings.connections_per_address, half),
            waiters=min(settings.waiters, connections * 9 // 10),
            waiters_per_address=min(settings.waiters_per_address, half),
        )

    def falls_short_of(self, settings: Settings) -> list[str]:
        """Return a phrase for each setting that is higher than what the worker can hold."""
        names = ("connections_per_address", "waiters", "waiters_per_address")
        return [
            f"{name.upper()} is {getattr(self, name)}, not {getattr(settings, name)}"
            for name in names
            if getattr(self, name) < getattr(settings, name)
        ]


def needed(settings: Settings) -> int:
    """Return the number of descriptors with which a worker can hold `MAX_CONNECTIONS`."""
    return MAX_CONNECTIONS + settings.redis_connections + OWN_DESCRIPTORS


def available() -> int:
    """Return the number of descriptors that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS * 10 if soft == resource.RLIM_INFINITY else soft


def allow(descriptors: int) -> None:
    """Raise the limit of this process and its children to so many descriptors, if permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = descriptors if hard == resource.RLIM_INFINITY else min(descriptors, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        # Some systems allow less than their hard limit.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
