"""The condition of the store's servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from api.concurrency.single_flight import SingleFlight
from api.storage.client import StoreClient

REFUSING_MAXMEMORY = "1"
"""The `maxmemory` that the supervisor of the embedded server sets while the disk is full."""

KEEPS_EVERYTHING = "noeviction"
"""The `maxmemory-policy` of a server that never drops keys."""


class Refusal(NamedTuple):
    """Why a server refuses changes: `memory`, `disk` or `snapshot`, and a sentence."""

    cause: str
    detail: str


class Condition(NamedTuple):
    """The condition of a server, as its INFO tells it.

    Attributes:
        address: HOST:PORT, or the path of its socket.
        product: "Valkey" or "Redis".
        version: Its version as text.
        eviction_policy: Which keys it drops when its memory is full; None if it does not say.
        is_master: Whether it takes changes.
        refusal: Why it refuses changes; None if it accepts them.
        logs_changes: Whether it writes changes to an append-only file.
        max_memory: Its limit in bytes, 0 for none.
        used_memory: What counts for that limit, in bytes.
        replicas: The number of replicas that follow it.
    """

    address: str
    product: str
    version: str
    eviction_policy: str | None
    is_master: bool
    refusal: Refusal | None
    logs_changes: bool
    max_memory: int
    used_memory: int
    replicas: int

    @property
    def may_drop_games(self) -> bool:
        """Whether it drops keys when its memory is full."""
        return self.eviction_policy not in (None, KEEPS_EVERYTHING)

    @property
    def disk_is_watched(self) -> bool:
        """Whether it refuses changes as its supervisor, which logs that, told it to."""
        return str(self.max_memory) == REFUSING_MAXMEMORY


class StoreHealth:
    """Asks the servers for their condition, once for all concurrent callers."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._flights = SingleFlight[list[Condition]]()

    def conditions(self) -> list[Condition]:
        """Return the condition of each server that has keys. Raises `redis.RedisError`."""
        return self._flights.run_fresh("INFO", self._ask_servers)

    def is_full(self) -> bool:
        """Return whether a server refuses changes because its memory or its disk is full."""
        return any(each.refusal is not None for each in self.conditions())

    def _ask_servers(self) -> list[Condition]:
        replies = self._client.execute_on_all("INFO")
        return [
            read_condition(address, reply.decode(errors="replace"))
            for address, reply in replies.items()
        ]


def read_condition(address: str, text: str) -> Condition:
    """Return the condition that a server's reply to INFO tells."""
    info = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    valkey = info.get("valkey_version")
    used = _integer(info, "used_memory") - _integer(info, "mem_not_counted_for_evict")
    return Condition(
        address=address,
        product="Redis" if valkey is None else "Valkey",
        version=valkey or info.get("redis_version", ""),
        eviction_policy=info.get("maxmemory_policy"),
        is_master=info.get("role") == "master",
        refusal=_refusal(info, used),
        logs_changes=info.get("aof_enabled") == "1",
        max_memory=_integer(info, "maxmemory"),
        used_memory=used,
        replicas=_integer(info, "connected_slaves"),
    )


def _integer(info: Mapping[str, str], name: str) -> int:
    """Return a number of INFO, 0 for one that is missing or no number."""
    found = re.match(r"[0-9]+", info.get(name, ""))
    return int(found[0]) if found else 0


def _refusal(info: Mapping[str, str], used: int) -> Refusal | None:
    if info.get("maxmemory") == REFUSING_MAXMEMORY:
        detail = "The store refuses changes: the disk of DATA_DIR is full. Free some space there."
        return Refusal("disk", detail)
    limit = _integer(info, "maxmemory")
    if 0 < limit < used:
        return Refusal(
            "memory",
            f"The store refuses changes: its memory is full ({used} bytes of {limit}). Raise its "
            "maxmemory.",
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return Refusal(
            "disk",
            "The store refuses changes: it cannot write to its disk (aof_last_write_status).",
        )
    if info.get("rdb_last_bgsave_status", "ok") != "ok":
        return Refusal(
            "snapshot",
            "The store may refuse changes: its last snapshot failed (rdb_last_bgsave_status).",
        )
    return None
