"""The condition of the store's servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from api.concurrency.single_flight import SingleFlight
from api.storage.client import StoreClient

REFUSING_MAXMEMORY = "1"
"""The `maxmemory` that the supervisor of the embedded server sets while the disk is full."""


class Condition(NamedTuple):
    """The condition of a server.

    Which keys it evicts when its memory is full, whether it is a master, and why it refuses
    changes: a sentence for the operator, or None if it accepts them.
    """

    eviction_policy: str | None
    is_master: bool
    refusal: str | None


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
        conditions = []
        for reply in self._client.execute_on_all("INFO"):
            lines = reply.decode().splitlines()
            info = dict(line.split(":", 1) for line in lines if ":" in line)
            is_master = info.get("role") == "master"
            conditions.append(Condition(info.get("maxmemory_policy"), is_master, _refusal(info)))
        return conditions


def _refusal(info: Mapping[str, str]) -> str | None:
    """Return why a server refuses changes, as a sentence for the operator."""
    if info.get("maxmemory") == REFUSING_MAXMEMORY:
        return "The store refuses changes: the disk of DATA_DIR is full. Free some space there."
    limit = int(info.get("maxmemory", 0))
    used = int(info.get("used_memory", 0)) - int(info.get("mem_not_counted_for_evict", 0))
    if 0 < limit < used:
        return (
            f"The store refuses changes: its memory is full ({used} bytes of {limit}). Raise its "
            "maxmemory."
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return "The store refuses changes: it cannot write to its disk (aof_last_write_status)."
    if info.get("rdb_last_bgsave_status", "ok") != "ok":
        return "The store may refuse changes: its last snapshot failed (rdb_last_bgsave_status)."
    return None
