"""Records: what is stored under one key, or under the keys of one game.

A record is read and written by one script each, so a copy of a game is always one of its committed
states. Values are copied as they are stored; nothing is decoded.

| kind | keys |
| --- | --- |
| `games` | `game:{ID}`, `game:{ID}:items`, `game:{ID}:played` |
| `players` | `player:{ID}` |
| `idempotency records` | `creation:{ID}:KEY` |
| `tickets` | `ticket:{HASH}` |
| `queues` | `match:{WISH}` |

Two kinds of keys are no records. Indexes (`index:{OWNER}:…`) are derived from the games: a game is
listed again when it is written, so that the lists fit the games even if the source changes
meanwhile. Counters of rate limits (`limit:{KEY}:…`) are not copied: their windows are a day long at
most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from api.storage.client import Command, Script
from api.storage.errors import readable
from api.storage.keys import game_key, items_key, played_key

GAMES = "games"

_KINDS = {
    "game": GAMES,
    "player": "players",
    "creation": "idempotency records",
    "ticket": "tickets",
    "match": "queues",
}
"""The kind of each record, by the first word of its main key."""

KINDS = (*_KINDS.values(),)

READ = Script.load("read_record")
WRITE = Script.load("write_record")

NEVER = -1
"""The expiry of a key that does not expire."""

_KEY = re.compile(r"([a-z]+):\{[^{}]+\}(.*)", re.DOTALL)
_NO_RECORD = re.compile(rb"game:\{[^{}]+\}:(items|played)|(index|limit):\{.*", re.DOTALL)


class StoredKey(Struct):
    """A key with its content.

    Attributes:
        name: The key.
        type: `hash`, `list` or `string`.
        expires_at: When it expires, in ms since 1970, or `NEVER`.
        values: The fields and values of a hash in turn, the elements of a list, or one string.
    """

    name: str
    type: str
    expires_at: int
    values: list[bytes]


class Record(Struct, tag_field="line", tag="record"):
    """A record with those of its keys that exist, the main one first."""

    keys: list[StoredKey]

    @property
    def main(self) -> StoredKey:
        """The key that the record is found by."""
        return self.keys[0]

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        return _KINDS[self.main.name.partition(":")[0]]

    @property
    def fields(self) -> dict[bytes, bytes]:
        """The fields of the main key, if it is a hash."""
        if self.main.type != "hash":
            return {}
        return dict(zip(self.main.values[::2], self.main.values[1::2], strict=True))


class UnknownType(Exception):
    """A key holds data of a type that the service does not use."""


def kind_of(key: bytes) -> str | None:
    """Return the kind of the record that has this main key, None if there is none.

    >>> kind_of(b"game:{60303ae2}")
    'games'
    >>> kind_of(b"game:{60303ae2}:items")
    """
    try:
        found = _KEY.fullmatch(key.decode())
    except UnicodeDecodeError:
        return None
    if found is None:
        return None
    word, rest = found.groups()
    is_main = rest.startswith(":") if word == "creation" else not rest
    return _KINDS.get(word) if is_main else None


def is_foreign(key: bytes) -> bool:
    """Return whether a key is none of the service's.

    >>> is_foreign(b"session:1"), is_foreign(b"limit:{127.0.0.1}:requests:60:60")
    (True, False)
    """
    return kind_of(key) is None and _NO_RECORD.fullmatch(key) is None


def keys_of(main: str) -> tuple[str, ...]:
    """Return all keys that the record with this main key may have, the main one first."""
    if not main.startswith("game:"):
        return (main,)
    game_id = game_id_of(main)
    return game_key(game_id), items_key(game_id), played_key(game_id)


def game_id_of(main: str) -> str:
    """Return the id of the game with this main key."""
    return main.removeprefix("game:{").removesuffix("}")


def read_command(main: str) -> Command:
    """Return the command that reads a record; `read_record` decodes its reply."""
    return READ.call(*keys_of(main))


def read_record(main: str, reply: Any) -> Record | None:
    """Return the record in a reply, None if it has expired.

    Raises `redis.RedisError` or `UnknownType`.
    """
    keys = []
    for name, found in zip(keys_of(main), readable(reply), strict=True):
        if found:
            type_, expires_at, *values = found
            if type_ not in (b"hash", b"list", b"string"):
                raise UnknownType
            keys.append(StoredKey(name, type_.decode(), expires_at, values))
    return Record(keys) if keys and keys[0].name == main else None


def write_command(record: Record, *, is_new: bool) -> Command:
    """Return the command that writes a record; if it `is_new`, only if the store has none.

    Its reply is whether the record was written.
    """
    found = {each.name: each for each in record.keys}
    names = keys_of(record.main.name)
    args: list[Any] = ["new" if is_new else ""]
    for name in names:
        key = found.get(name) or StoredKey(name, "", NEVER, [])
        args += [key.type, key.expires_at, len(key.values), *key.values]
    return WRITE.call(*names, args=args)


def is_valid(record: Record) -> bool:
    """Return whether a record that was read from a file can have been written by `read_record`."""
    if not record.keys or kind_of(record.main.name.encode()) is None:
        return False
    names = [each.name for each in record.keys]
    return (
        len(set(names)) == len(names)
        and set(names) <= {*keys_of(names[0])}
        and all(map(_is_valid_key, record.keys))
    )


def _is_valid_key(key: StoredKey) -> bool:
    number = len(key.values)
    return {"hash": number > 0 and number % 2 == 0, "list": number > 0, "string": number == 1}.get(
        key.type, False
    ) and key.expires_at >= NEVER


def same_content(one: Record, other: Record) -> bool:
    """Return whether two records have the same keys and values, whenever they expire."""
    return _content(one) == _content(other)


def _content(record: Record) -> dict[str, tuple[str, Sequence[bytes] | dict[bytes, bytes]]]:
    return {
        each.name: (
            each.type,
            # The order of a hash's fields depends on the server.
            dict(zip(each.values[::2], each.values[1::2], strict=True))
            if each.type == "hash"
            else each.values,
        )
        for each in record.keys
    }
