"""All keys of a store.

SCAN returns every key that is there from its start to its end, as long as one server keeps the keys
all the time. So the servers and their slots are compared before and after: when a server was
restarted or replaced meanwhile, or slots have moved, keys may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from api.storage.client import Command, StoreClient

SCAN_COUNT = 1000
"""About how many keys a server returns at once."""

FIRST_SLOT_FIELD = 8
"""Where the slots of a node begin in its line of CLUSTER NODES."""


class StoreChanged(Exception):
    """Keys may be missing, as the servers or their slots have changed. The message says what."""


class Scan:
    """All keys of a store, from which batches are read."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def size(self) -> int:
        """Return the number of keys. Raises `redis.RedisError`."""
        return sum(self._client.execute_on_all("DBSIZE").values())

    def batches(self) -> Iterator[list[bytes]]:
        """Yield batches of keys. A key may come twice.

        Raises `redis.RedisError`, and at the end `StoreChanged`.
        """
        before = self._layout()
        for server in self._client.servers():
            cursor: bytes | int = 0
            while cursor != b"0":
                command = Command("", ("SCAN", cursor, "COUNT", SCAN_COUNT))
                ((cursor, keys),) = server.execute([command])
                yield keys
        if self._layout() != before:
            raise StoreChanged("its servers or their slots changed meanwhile")

    def _layout(self) -> dict[str, tuple[bytes, bytes]]:
        """Return the id of each server's process, and its slots, by its address."""
        info = self._client.execute_on_all("INFO")
        is_cluster = any(b"cluster_enabled:1" in each for each in info.values())
        nodes = self._client.execute_on_all("CLUSTER", "NODES") if is_cluster else {}
        return {
            address: (_run_id(text), _own_slots(nodes.get(address, b"")))
            for address, text in info.items()
        }


def _run_id(info: bytes) -> bytes:
    found = re.search(rb"^run_id:(\w+)", info, re.MULTILINE)
    return found[1] if found else b""


def _own_slots(nodes: bytes) -> bytes:
    """Return the slots of the server that wrote a reply to CLUSTER NODES."""
    for line in nodes.splitlines():
        fields = line.split()
        if b"myself" in fields[2].split(b","):
            slots = b" ".join(fields[FIRST_SLOT_FIELD:])
            if b"[" in slots:
                raise StoreChanged("slots are being moved between its nodes")
            return slots
    return b""
