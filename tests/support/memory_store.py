"""The store in memory: replies to the commands of `Store` and `Indexes` without a server.

`MemoryClient` replaces the client of Redis. It knows the commands and the scripts that the service
sends; each script is written again in a few lines of Python. `MemoryNodes` replaces the connections
that receive published messages. `tests/unit/test_memory_store.py` runs the same cases with them and
with a real server: a change to a script changes its twin here.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gevent
from gevent.queue import Queue
from redis import RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.storage import games, indexes, matches, players
from api.storage.client import Command
from api.storage.errors import error_reply, raise_errors

WRONG_TYPE = ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value")

EPOCH_MS = 1_700_000_000_000
"""The store's time when the test begins."""


class Hash(dict[bytes, bytes]):
    """A hash, by field."""


class SortedSet(dict[bytes, float]):
    """The score of each member."""


def to_bytes(word: Any) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


class MemoryClient:
    """Answers commands as a server would (see `api.storage.client.StoreClient`).

    `now` returns the seconds since the test began. Each call takes `latency` seconds, and then
    raises `failure` unless that is None. While the store `is_mute`, published messages are lost.
    """

    publish = "PUBLISH"
    waits_for_replicas = False

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.offset_ms = 0
        self.latency = 0.0
        self.failure: Exception | None = None
        # Errors of the servers that have these keys.
        self.failures: dict[str, RedisError] = {}
        self.values: dict[bytes, Any] = {}
        self.ends: dict[bytes, float] = {}
        self.listeners: defaultdict[bytes, list[MemoryConnection]] = defaultdict(list)
        self.is_mute = False

    @property
    def time_ms(self) -> int:
        return EPOCH_MS + self.offset_ms + round(self._now() * 1000)

    def execute(
        self,
        commands: Sequence[Command],
        *,
        durable: bool = False,
        keep_errors: bool = False,
    ) -> list[Any]:
        gevent.sleep(self.latency)
        if self.failure is not None:
            raise self.failure
        replies = [self._reply(each) for each in commands]
        return replies if keep_errors else raise_errors(replies)

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        return {"memory": b""}

    def _reply(self, command: Command) -> Any:
        if command.key in self.failures:
            return self.failures[command.key]
        try:
            if command.script is not None:
                _, _, number, *rest = map(to_bytes, command.words)
                keys, args = rest[: int(number)], rest[int(number) :]
                return SCRIPTS[command.script](self, keys, args)
            name, *words = map(to_bytes, command.words)
            if name == b"PUBLISH":
                return self.tell(*words)
            return getattr(self, name.decode().lower())(*words)
        except ResponseError as error:
            return error_reply(error)

    # --- Values ------------------------------------------------------------------------

    def value(self, key: bytes, kind: type, *, make: bool = False) -> Any:
        if self.ends.get(key, math.inf) <= self.time_ms:
            self.delete(key)
        found = self.values.get(key)
        if found is None:
            found = kind()
            if make:
                self.values[key] = found
        if not isinstance(found, kind):
            raise WRONG_TYPE
        return found

    def unlink(self, key: bytes) -> None:
        self.delete(key)

    def delete(self, key: bytes | str) -> None:
        self.values.pop(to_bytes(key), None)
        self.ends.pop(to_bytes(key), None)

    def exists(self, key: bytes) -> bool:
        return self.ends.get(key, math.inf) > self.time_ms and bool(self.values.get(key))

    def pexpire(self, key: bytes, milliseconds: float) -> None:
        if key in self.values:
            self.ends[key] = self.time_ms + float(milliseconds)

    def pttl(self, key: bytes) -> float:
        return self.ends[key] - self.time_ms if key in self.ends else -1

    def set(self, key: bytes, value: bytes, px: bytes = b"", milliseconds: bytes = b"") -> None:
        self.values[key] = value
        self.pexpire(key, float(milliseconds))

    def get(self, key: bytes) -> bytes | None:
        found: bytes = self.value(key, bytes)
        return found or None

    # --- Hashes, lists -----------------------------------------------------------------

    def hget(self, key: bytes, field: bytes) -> bytes | None:
        return self.value(key, Hash).get(field)

    def hmget(self, key: bytes, *fields: bytes) -> list[bytes | None]:
        found = self.value(key, Hash)
        return [found.get(field) for field in fields]

    def hgetall(self, key: bytes) -> list[bytes]:
        return [each for pair in self.value(key, Hash).items() for each in pair]

    def hset(self, key: bytes, *pairs: bytes) -> None:
        self.value(key, Hash, make=True).update(zip(pairs[::2], pairs[1::2], strict=True))

    def lrange(self, key: bytes, first: bytes, last: bytes) -> list[bytes]:
        found: list[bytes] = self.value(key, list)
        return found[int(first) : int(last) + 1 or None]

    # --- Sorted sets -------------------------------------------------------------------

    def zcard(self, key: bytes) -> int:
        return len(self.value(key, SortedSet))

    def zrange(self, key: bytes, first: bytes, last: bytes, *words: bytes) -> list[bytes]:
        """Members by rank or score; with their scores, member and score in turn."""
        members = sorted(self.value(key, SortedSet).items(), key=lambda each: (each[1], each[0]))
        if b"REV" in words:
            members.reverse()
        if b"BYSCORE" in words:
            low, high = sorted((float(first), float(last)))
            members = [each for each in members if low <= each[1] <= high]
            offset, count = map(int, words[words.index(b"LIMIT") + 1 :][:2])
            members = members[offset : offset + count]
        else:
            members = members[int(first) :][: int(last) + 1 or None]
        if b"WITHSCORES" not in words:
            return [member for member, _ in members]
        return [each for member, score in members for each in (member, b"%.17g" % score)]

    def zadd(self, key: bytes, score: float, member: bytes, *, greater: bool = False) -> None:
        found = self.value(key, SortedSet, make=True)
        found[member] = max(score, found.get(member, -math.inf)) if greater else score

    def zrem(self, key: bytes, members: Iterable[bytes]) -> None:
        for member in members:
            self.value(key, SortedSet).pop(member, None)

    # --- Time, messages ----------------------------------------------------------------

    def time(self) -> list[bytes]:
        seconds, rest = divmod(self.time_ms, 1000)
        return [b"%d" % seconds, b"%d" % (rest * 1000)]

    def tell(self, channel: bytes, message: bytes) -> None:
        """Publish a message."""
        for connection in () if self.is_mute else self.listeners[channel]:
            connection.answers.put([b"message", channel, message])


# --- The scripts of api/storage/scripts ----------------------------------------------------


def commit(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> int:
    _, version, commit_id, own_id, ttl, length, ends, *rest = args
    game, items, played = keys
    stored = store.hmget(game, b"version", b"commit")
    if stored[1] == own_id:
        store.pexpire(game, float(ttl))
        return 1
    if (stored[0] or b"", stored[1] or b"") != (version, commit_id):
        return 0
    has = len(store.value(items, list))
    store.value(played, Hash)
    groups = []
    while rest:
        number = int(rest[0])
        groups.append(rest[1 : 1 + number])
        rest = rest[1 + number :]
    fields, new_items, new_played = groups
    if has != int(length):
        return -1
    if ends:
        store.hset(game, b"commit", commit_id)
        for key in keys:
            store.delete(key)
    store.hset(game, b"commit", own_id, *fields)
    if new_items:
        store.value(items, list, make=True).extend(new_items)
    if new_played:
        store.hset(played, *new_played)
    for key in keys:
        store.pexpire(key, float(ttl))
    store.tell(game, fields[1])
    return 1


def confirm_commit(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> int:
    return int(store.hget(keys[0], b"commit") == args[0])


def convert(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> int:
    game, items, _ = keys
    version, commit_id, length, field_count, *rest = args
    fields, (_, *new_items) = rest[: int(field_count)], rest[int(field_count) :]
    if store.hmget(game, b"version", b"commit") != [version, commit_id]:
        return 0
    if len(store.value(items, list)) not in (int(length), len(new_items)):
        return 0
    ttl = store.pttl(game)
    store.hset(game, b"commit", commit_id)
    for key in keys:
        store.delete(key)
    store.hset(game, *fields)
    store.value(items, list, make=bool(new_items)).extend(new_items)
    if ttl > 0:
        for key in keys:
            store.pexpire(key, ttl)
    return 1


def add_player(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    name, kind, token, ttl = args
    store.hset(keys[0], b"name", name, b"kind", kind, b"token", token)
    store.pexpire(keys[0], float(ttl))


def offer_token(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> bytes | None:
    token, nonce, next_token, at = args
    if store.hget(keys[0], b"token") != token:
        return None
    if (offered := store.hget(keys[0], b"nonce")) is not None:
        return offered
    store.hset(keys[0], b"nonce", nonce, b"next_token", next_token, b"next_token_at", at)
    return nonce


def promote_token(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> int:
    if store.hget(keys[0], b"next_token") != args[0]:
        return 0
    store.hset(keys[0], b"token", args[0])
    for field in (b"nonce", b"next_token", b"next_token_at"):
        del store.value(keys[0], Hash)[field]
    store.tell(keys[0], b"")
    return 1


def remember_creation(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> bytes:
    if (known := store.get(keys[0])) is not None:
        return known
    store.set(keys[0], args[0], b"PX", args[1])
    return args[0]


def renew_player(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    if store.exists(keys[0]):
        store.hset(keys[0], b"kept_at", args[0])
        store.pexpire(keys[0], max(store.pttl(keys[0]), float(args[1])))


def see_player(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    if store.exists(keys[0]):
        store.hset(keys[0], b"seen_at", args[0])
        store.pexpire(keys[0], max(store.pttl(keys[0]), float(args[1])))


def add_entry(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    game_id, created_at, now, ttl, most, largest = args
    entries, ends = keys
    store.zadd(entries, float(created_at), game_id)
    store.zadd(ends, float(now) + float(ttl), game_id, greater=True)
    by_end = sorted(store.value(ends, SortedSet).items(), key=lambda each: each[1])
    over = [member for member, end in by_end if end < float(now)][: int(most)]
    for key in keys:
        store.zrem(key, over)
    last = max(store.value(ends, SortedSet).values())
    surplus = min(store.zcard(entries) - int(largest), int(most))
    oldest = store.zrange(entries, b"0", b"%d" % (surplus - 1)) if surplus > 0 else []
    for key in keys:
        store.zrem(key, oldest)
    for key in keys:
        store.pexpire(key, last - float(now))


def add_ended_entry(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    game_id, now, ttl, most = args
    store.zadd(keys[0], float(now), game_id)
    by_end = sorted(store.value(keys[0], SortedSet).items(), key=lambda each: each[1])
    over = [member for member, end in by_end if end <= float(now) - float(ttl)]
    store.zrem(keys[0], over[: int(most)])
    store.pexpire(keys[0], max(store.pttl(keys[0]), float(ttl)))


def assign_seat(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> bytes | None:
    player, new_id = args[0].decode(), args[1].decode()
    seat_count, lapse, patience, largest, ttl = (int(args[at]) for at in (2, 4, 5, 6, 7))
    known, now = json.loads(args[3]), store.time_ms
    listed: list[Any] = []
    needless: list[Any] = []
    offered: dict[str, Any] = {}
    for game in json.loads(store.get(keys[0]) or b"[]"):
        truth = known.get(game["id"])
        if truth == "closed" or (truth == "missing" and now - game["at"] > patience):
            continue
        open_ = truth if isinstance(truth, dict) else {"seated": [], "left": []}
        gone = {*open_["left"], *([player] if open_.get("is_refused") else [])}
        game["seats"] = {
            each: at for each, at in game["seats"].items() if now - at < lapse and each not in gone
        }
        listed.append(game)
        taken = {*game["seats"], *open_["seated"]}
        if not game["seats"] and (open_.get("is_refused") or len(taken) >= seat_count):
            needless.append(game)
        if not open_.get("is_refused"):
            if player in taken:
                offered.setdefault("own", game)
            elif len(taken) < seat_count:
                reserved = "expected" if game["seats"] else "abandoned"
                offered.setdefault("open" if isinstance(truth, dict) else reserved, game)
    order = ("own", "open", "expected", "abandoned")
    chosen = next((offered[each] for each in order if each in offered), None)
    if chosen is None:
        chosen = {"id": new_id, "seats": {}}
        listed.append(chosen)
        if len(listed) > largest:
            if not needless:
                return None
            listed.remove(needless[0])
    chosen["at"] = chosen["seats"][player] = now
    store.set(keys[0], json.dumps(listed).encode(), b"PX", b"%d" % ttl)
    return str(chosen["id"]).encode()


def release_seat(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    player, game_id = map(bytes.decode, args)
    listed = json.loads(store.get(keys[0]) or b"[]")
    for game in listed:
        if game["id"] == game_id and game["seats"].pop(player, None) is not None:
            store.values[keys[0]] = json.dumps(listed).encode()


def remove_entries(store: MemoryClient, keys: list[bytes], args: list[bytes]) -> None:
    for key in keys:
        store.zrem(key, args)


SCRIPTS: dict[Any, Callable[[MemoryClient, list[bytes], list[bytes]], Any]] = {
    games.COMMIT: commit,
    games.CONFIRM_COMMIT: confirm_commit,
    games.CONVERT: convert,
    players.ADD_PLAYER: add_player,
    players.OFFER_TOKEN: offer_token,
    players.PROMOTE_TOKEN: promote_token,
    players.REMEMBER_CREATION: remember_creation,
    players.RENEW_PLAYER: renew_player,
    players.SEE_PLAYER: see_player,
    indexes.ADD_ENTRY: add_entry,
    indexes.ADD_ENDED_ENTRY: add_ended_entry,
    indexes.REMOVE_ENTRIES: remove_entries,
    matches.ASSIGN_SEAT: assign_seat,
    matches.RELEASE_SEAT: release_seat,
}


# --- Published messages ------------------------------------------------------------------


class MemoryConnection:
    """A connection that receives published messages like one of redis-py."""

    def __init__(self, client: MemoryClient) -> None:
        self._client = client
        self.answers: Queue = Queue()
        self.is_open = True

    def pack_commands(self, commands: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return list(commands)

    def send_packed_command(self, commands: list[tuple[str, ...]]) -> None:
        for name, *channels in commands:
            if name == "PING":
                self.answers.put([b"pong", b""])
            for channel in map(str.encode, channels):
                listeners = self._client.listeners[channel]
                if name == "SUBSCRIBE":
                    listeners.append(self)
                elif self in listeners:
                    listeners.remove(self)
                self.answers.put([name.lower().encode(), channel, 1])

    def read_response(self) -> Any:
        answer = self.answers.get()
        if answer is None:
            raise RedisConnectionError("the connection was lost")
        return answer

    def disconnect(self, *args: Any) -> None:
        if self.is_open:
            self.is_open = False
            for listeners in self._client.listeners.values():
                if self in listeners:
                    listeners.remove(self)
            self.answers.put(None)


class MemoryNodes:
    """Opens connections to the one server (see `api.storage.pubsub.ChannelNodes`).

    None can be opened while `failure` is set.
    """

    def __init__(self, client: MemoryClient) -> None:
        self._client = client
        self.failure: Exception | None = None
        self.connections: list[MemoryConnection] = []

    def connect(self, node: str) -> MemoryConnection:
        if self.failure is not None:
            raise self.failure
        self.connections.append(MemoryConnection(self._client))
        return self.connections[-1]

    def cut(self) -> None:
        """Lose every connection."""
        for connection in self.connections:
            connection.disconnect()

    def node_of(self, channel: str) -> str:
        return ""

    def refresh(self) -> None:
        pass

    def commands(self, name: str, channels: Sequence[str]) -> list[tuple[str, ...]]:
        return [(name, *channels)] if channels else []

    def fall_back(self, error: ResponseError) -> bool:
        return False
