"""Games that earlier releases stored.

The files in `tests/api/stored` are the keys that four commits wrote into their store, by services
that ran: three early ones, and `8bd2c63`, the last of 0.1. All of these games call themselves
format 1. In `8bd2c63` the present turns were moved to the year 2280, so that their time never runs
out.
"""

import gzip
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import redis

from tests.support.memory_store import Hash, MemoryClient, SortedSet, to_bytes
from tests.support.paths import ROOT

FILES = ROOT / "tests" / "api" / "stored"
STORED = {
    **{path.stem: json.loads(path.read_bytes()) for path in FILES.glob("*.json")},
    **{
        path.name.removesuffix(".json.gz"): json.loads(gzip.decompress(path.read_bytes()))
        for path in FILES.glob("*.json.gz")
    },
}
"""By commit: its players and games by name, and all keys."""

LAST = STORED["8bd2c63"]

Keys = dict[str, Any]
"""The values of keys, each under its type: hash, list, sorted_set or string."""


class EarlierGame(NamedTuple):
    """A game as an earlier release stored it."""

    commit: str
    name: str

    @property
    def id(self) -> str:
        found: str = STORED[self.commit]["games"][self.name]
        return found

    @property
    def fields(self) -> dict[str, str]:
        found: dict[str, str] = STORED[self.commit]["keys"][f"game:{{{self.id}}}"]["hash"]
        return found

    @property
    def document(self) -> Any:
        return json.loads(self.fields["game"])

    @property
    def items(self) -> list[Any]:
        stored = STORED[self.commit]["keys"].get(f"game:{{{self.id}}}:items", {"list": []})
        return [json.loads(each) for each in stored["list"]]


def earlier_games() -> Iterator[EarlierGame]:
    for commit, stored in sorted(STORED.items()):
        for name in stored["games"]:
            yield EarlierGame(commit, name)


def with_illegal_move(keys: Keys, game_id: str) -> Keys:
    """Return the keys with a move in this game's history that the rules forbid."""
    name = f"game:{{{game_id}}}:items"
    items = [json.loads(each) for each in keys[name]["list"]]
    first = next(each for each in items if each["move"] is not None)
    first["move"]["card"] = "red-11"
    return {**keys, name: {"list": [json.dumps(each) for each in items]}}


def load(store: redis.Redis, keys: Keys) -> None:
    """Write keys into a store."""
    for key, value in keys.items():
        if "hash" in value:
            store.hset(key, mapping=value["hash"])
        elif "list" in value:
            store.rpush(key, *value["list"])
        elif "string" in value:
            store.set(key, value["string"])
        else:
            store.zadd(key, value["sorted_set"])


def load_in_memory(client: MemoryClient, keys: Keys) -> None:
    """Write keys into a store in memory."""
    for key, value in keys.items():
        ((kind, members),) = value.items()
        client.values[to_bytes(key)] = {
            "hash": lambda of: Hash({to_bytes(a): to_bytes(b) for a, b in of.items()}),
            "list": lambda of: list(map(to_bytes, of)),
            "string": to_bytes,
            "sorted_set": lambda of: SortedSet({to_bytes(a): b for a, b in of.items()}),
        }[kind](members)
