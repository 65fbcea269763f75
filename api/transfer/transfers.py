"""Copying all records of a store to another one, to a file, or from a file.

A service may use the source meanwhile. Each game is copied as it is after some commit, and no
commit that was acknowledged before the start is missing. Games are copied first, and what they
refer to afterwards: so the players of a game that was created meanwhile are copied too.

A record that the target has with the same content is left alone, so an interrupted transfer
continues when it is repeated. Another content is replaced only if the caller says so; but whatever
is in a target that was empty at the start has come from the transfer itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from redis import RedisError

from api.model.game import Game
from api.model.retention import DAY_MS
from api.storage.client import Command, StoreClient
from api.storage.codec import decode_game
from api.storage.errors import Unreadable, readable
from api.storage.games import read_time
from api.storage.indexes import list_commands, unlist_commands
from api.transfer import lines
from api.transfer.counts import CHANGED, EXPIRED, EXPORTED, NEW, REFUSED, REMOVED, SAME, Counts
from api.transfer.progress import Progress
from api.transfer.records import (
    GAMES,
    NEVER,
    Record,
    UnknownType,
    game_id_of,
    is_foreign,
    keys_of,
    kind_of,
    read_command,
    read_record,
    same_content,
    write_command,
)
from api.transfer.scan import Scan

BATCH = 200
"""How many records are read or written at once. A game has some thousand bytes."""

BATCH_BYTES = 4 << 20
"""How many bytes of a file are written at once, about."""

LONG_MS = 36_500 * DAY_MS
"""The time to live of the index entries of a game that does not expire."""


def export_to(writer: lines.Writer, source: StoreClient, progress: Progress) -> Counts:
    """Write all records of a store to a file.

    Raises `redis.RedisError`, `OSError` and `StoreChanged`.
    """
    counts = Counts()
    for keys in _record_keys(source, counts, progress):
        for record in _read(source, keys, counts):
            counts.add(record.kind, EXPORTED)
            writer.write(record)
        progress.advance(0, len(keys))
    writer.end()
    return counts


def import_from(
    records: Iterator[tuple[Record, int]],
    target: StoreClient,
    progress: Progress,
    *,
    overwrites: bool,
) -> Counts:
    """Write the records of a file, as `lines.read` yields them, into a store.

    Raises `redis.RedisError`, and what reading the file raises.
    """
    writer = _Target(target, Counts(), overwrites=overwrites)
    batch: list[Record] = []
    size = 0
    try:
        for record, length in records:
            batch.append(record)
            size += length
            if len(batch) == BATCH or size >= BATCH_BYTES:
                writer.put(batch)
                progress.advance(size, len(batch))
                batch, size = [], 0
    except lines.WrongExport:
        # Of the only backup that there is, keep all that can be read.
        writer.put(batch)
        raise
    writer.put(batch)
    return writer.counts


def copy(
    source: StoreClient, target: StoreClient, progress: Progress, *, overwrites: bool
) -> Counts:
    """Copy all records of a store into another one.

    Raises `redis.RedisError` and `StoreChanged`.
    """
    writer = _Target(target, Counts(), overwrites=overwrites)
    for keys in _record_keys(source, writer.counts, progress):
        different = _different(source, target, keys)
        writer.counts.add(GAMES, SAME, len(keys) - len(different))
        writer.put(_read(source, different, writer.counts))
        progress.advance(0, len(keys))
    return writer.counts


def remove_surplus(
    source: StoreClient, target: StoreClient, counts: Counts, progress: Progress
) -> None:
    """Remove the records of the target that the source does not have.

    Raises `redis.RedisError` and `StoreChanged`.
    """
    for keys in _record_keys(target, Counts(), progress):
        exist = source.execute([Command(each, ("EXISTS", each)) for each in keys])
        surplus = [key for key, exists in zip(keys, exist, strict=True) if not exists]
        records = _read(target, surplus, counts)
        target.execute([Command(key, ("UNLINK", *keys_of(key))) for key in surplus], durable=True)
        listed = [game for record in records if (game := _decode(record)) is not None]
        _change_lists(target, [each for game in listed for each in unlist_commands(game, None)])
        for record in records:
            counts.add(record.kind, REMOVED)


class _Write(NamedTuple):
    """A record to write, its game, and the game that it replaces, as far as they are readable."""

    record: Record
    outcome: str
    game: Game | None
    before: Game | None


class _Target:
    """Writes records into a store, and counts what becomes of them."""

    def __init__(self, client: StoreClient, counts: Counts, *, overwrites: bool) -> None:
        self._client = client
        self._overwrites = overwrites or Scan(client).size() == 0
        self.counts = counts

    def put(self, records: Sequence[Record]) -> None:
        """Write some records, unless the store has them. Raises `redis.RedisError`."""
        if not records:
            return
        # A record may come twice, as a key does in a scan: the last one is the newest.
        records = [*{each.main.name: each for each in records}.values()]
        now, writes = self._compare(records)
        # As the service does: an entry is there before its game, and goes after it.
        _change_lists(
            self._client,
            [
                command
                for each in writes
                if each.game is not None
                for command in list_commands(each.game, now, _ttl_ms(each.record, now))
            ],
        )
        is_new = not self._overwrites
        replies = self._client.execute(
            [write_command(each.record, is_new=is_new) for each in writes], durable=True
        )
        for each, is_written in zip(writes, replies, strict=True):
            self.counts.add(each.record.kind, each.outcome if is_written else REFUSED)
        _change_lists(
            self._client,
            [
                command
                for each in writes
                if each.before is not None
                for command in unlist_commands(each.before, each.game)
            ],
        )

    def _compare(self, records: Sequence[Record]) -> tuple[int, list[_Write]]:
        """Return the time, and what is to be written of some records. Count the others."""
        time, *replies = self._client.execute(
            [Command(records[0].main.name, ("TIME",)), *map(_compare_command, records)],
            keep_errors=True,
        )
        now = read_time(readable(time))
        writes = []
        for record, reply in zip(records, replies, strict=True):
            if record.main.expires_at != NEVER and record.main.expires_at <= now:
                self.counts.add(record.kind, EXPIRED)
                continue
            outcome = _outcome(record, reply)
            if outcome == CHANGED and not self._overwrites:
                outcome = REFUSED
            if outcome in (SAME, REFUSED):
                self.counts.add(record.kind, outcome)
                continue
            game = _decode(record)
            if record.kind == GAMES and game is None:
                self.counts.add_unlisted(game_id_of(record.main.name))
            writes.append(_Write(record, outcome, game, _stored_game(record, reply)))
        return now, writes


def _record_keys(client: StoreClient, counts: Counts, progress: Progress) -> Iterator[list[str]]:
    """Yield the main keys of all records in batches: first those of games, then the others."""
    scan = Scan(client)
    progress.total += 2 * scan.size()
    for of_games in (True, False):
        for keys in scan.batches():
            found = []
            for key in keys:
                kind = kind_of(key)
                if kind is not None and (kind == GAMES) == of_games:
                    found.append(key.decode())
                elif of_games and is_foreign(key):
                    counts.foreign += 1
            for at in range(0, len(found), BATCH):
                yield found[at : at + BATCH]
            progress.advance(len(keys))


def _read(client: StoreClient, keys: Sequence[str], counts: Counts) -> list[Record]:
    """Return the records with these main keys, but for those that have expired meanwhile."""
    records = []
    replies = client.execute([read_command(each) for each in keys])
    for key, reply in zip(keys, replies, strict=True):
        try:
            record = read_record(key, reply)
        except UnknownType:
            counts.unreadable += 1
        else:
            if record is not None:
                records.append(record)
    return records


def _different(source: StoreClient, target: StoreClient, keys: list[str]) -> list[str]:
    """Return those of some keys that are not the same game in both stores, by its last commit."""
    if not keys or kind_of(keys[0].encode()) != GAMES:
        return keys
    commands = [Command(each, ("HGET", each, "commit")) for each in keys]
    own = target.execute(commands, keep_errors=True)
    if not any(own):
        return keys
    others = source.execute(commands, keep_errors=True)
    return [
        key
        for key, one, other in zip(keys, own, others, strict=True)
        if not isinstance(one, bytes) or one != other
    ]


def _compare_command(record: Record) -> Command:
    """Return the command whose reply tells whether the store has the content of a record."""
    key = record.main.name
    if b"commit" in record.fields:
        return Command(key, ("HMGET", key, "commit", "game"))
    return read_command(key)


def _outcome(record: Record, reply: Any) -> str:
    """Return what the store has of a record: nothing (`NEW`), the same, or something else."""
    if isinstance(reply, RedisError):
        raise reply
    if isinstance(reply, Unreadable):
        return CHANGED
    commit = record.fields.get(b"commit")
    if commit is not None:
        stored, document = reply
        if stored is None and document is None:
            return NEW
        return SAME if stored == commit else CHANGED
    try:
        found = read_record(record.main.name, reply)
    except UnknownType:
        return CHANGED
    if found is None:
        return NEW
    return SAME if same_content(found, record) else CHANGED


def _stored_game(record: Record, reply: Any) -> Game | None:
    """Return the game that a record replaces, from the reply to `_compare_command`."""
    if b"commit" not in record.fields or isinstance(reply, Unreadable) or reply[1] is None:
        return None
    return _decode_document(record.main.name, reply[1])


def _decode(record: Record) -> Game | None:
    """Return the game of a record, None if it has none that can be read."""
    document = record.fields.get(b"game")
    if record.kind != GAMES or document is None:
        return None
    return _decode_document(record.main.name, document)


def _decode_document(key: str, document: bytes) -> Game | None:
    try:
        return decode_game(game_id_of(key), document)
    except Unreadable:
        return None


def _ttl_ms(record: Record, now: int) -> int:
    expires_at = record.main.expires_at
    return LONG_MS if expires_at == NEVER else expires_at - now


def _change_lists(client: StoreClient, commands: Sequence[Command]) -> None:
    """Change some indexes. A damaged index is no error, since it is only a hint."""
    for reply in client.execute(commands, keep_errors=True) if commands else ():
        if isinstance(reply, RedisError):
            raise reply
