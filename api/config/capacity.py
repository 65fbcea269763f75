"""How much one worker can hold here, and how much of it one address may take.

Each connection takes a file descriptor, of which the system gives a process only so many. What is
asked for beyond them would never take effect: the worker would run out of them first, and whoever
made it would have locked out everybody else. It imports nothing of the service but its settings,
so that the master can load it.
"""

from __future__ import annotations

import contextlib
import resource
from typing import NamedTuple

from api.config.settings import Settings

MOST_CONNECTIONS = 10_000
"""Each of them may be a long poll, at some 25 kB."""

OWN_DESCRIPTORS = 64
"""What a worker has open besides: its log, what it listens on and hears news by, its counts."""


class Capacity(NamedTuple):
    """What a worker holds at most: connections and waiters, in all and for each address."""

    connections: int
    connections_per_address: int
    waiters: int
    waiters_per_address: int

    @classmethod
    def of(cls, settings: Settings, descriptors: int) -> Capacity:
        """What is asked for, as far as so many descriptors allow.

        One address has at most half, and all who wait leave room for those who do not.
        """
        left = max(descriptors - OWN_DESCRIPTORS, 4)
        # A connection is served over one to the store at most, so there are never more of those.
        connections = min(MOST_CONNECTIONS, max(left - settings.redis_connections, left // 2))
        half = connections // 2
        return cls(
            connections=connections,
            connections_per_address=min(settings.connections_per_address, half),
            waiters=min(settings.waiters, connections * 9 // 10),
            waiters_per_address=min(settings.waiters_per_address, half),
        )

    def falls_short_of(self, settings: Settings) -> list[str]:
        """What was asked for and cannot be had, as text."""
        names = ("connections_per_address", "waiters", "waiters_per_address")
        return [
            f"{name.upper()} is {getattr(self, name)}, not {getattr(settings, name)}"
            for name in names
            if getattr(self, name) < getattr(settings, name)
        ]


def needed(settings: Settings) -> int:
    """How many descriptors allow a worker all its connections."""
    return MOST_CONNECTIONS + settings.redis_connections + OWN_DESCRIPTORS


def available() -> int:
    """How many descriptors this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS * 10 if soft == resource.RLIM_INFINITY else soft


def allow(descriptors: int) -> None:
    """Let this process and its children have so many descriptors, or as many as it may allow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = descriptors if hard == resource.RLIM_INFINITY else min(descriptors, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        # Some systems allow less than they say.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
