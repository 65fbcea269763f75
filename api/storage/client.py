"""The store client: sends commands to the server that has their keys, many in one round trip.

A server that is down must fail a request within a bounded time, so timeouts are short and there is
one retry. The retry is safe, as a command that arrives twice has the same outcome as one: a commit,
for example, carries its own random id (see `api/storage/scripts/commit.lua`).

Changes that must not be lost can wait for replicas. WAIT counts only the writes of its own
connection, so it is sent with the commands that it is about, on their connection.

Coalesced batches use one connection without a pool and are packed by hiredis: a batch of two
commands takes 28 µs of worker time, with redis-py's `Pipeline` and connection pool 141 µs.

This module knows no keys. `api.storage.fair_client` limits the requests of each caller, and
`api.storage.cluster` has the client of a cluster.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, Protocol, TypeVar

from gevent.lock import BoundedSemaphore
from hiredis import pack_command
from redis import RedisError, ResponseError
from redis.connection import ConnectionInterface, ConnectionPool
from redis.exceptions import NoScriptError

from api.storage.coalescing import Batcher
from api.storage.errors import UNREACHABLE, NotReplicated, PoolExhausted, error_reply, raise_errors

RETRY_PAUSE_SECONDS = 0.05

Result = TypeVar("Result")


class Script(NamedTuple):
    """A Lua script, and the SHA-1 by which a server knows it once it has run it."""

    source: str
    sha: str

    @classmethod
    def load(cls, name: str) -> Script:
        """Load `api/storage/scripts/NAME.lua`; its head documents keys, arguments and reply."""
        file = files("api.storage") / "scripts" / f"{name}.lua"
        source = file.read_text(encoding="utf-8")
        return cls(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())

    def call(self, *keys: str, args: Sequence[Any] = ()) -> Command:
        """Return the command that calls the script. The keys must share a hash tag."""
        return Command(keys[0], ("EVALSHA", self.sha, len(keys), *keys, *args), self)


class Command(NamedTuple):
    """A command about a key, or about the server that has this key, like TIME."""

    key: str
    words: tuple[Any, ...]
    script: Script | None = None

    def with_source(self) -> Command:
        """Return the command for a server that does not have its script."""
        if self.script is None:
            return self
        return self._replace(words=("EVAL", self.script.source, *self.words[2:]))


class Deferred(NamedTuple):
    """Commands that wait for the next batch of their request, and the receiver of their replies.

    Errors are among the replies. The receiver may raise. If it `is_durable`, the whole batch is.
    """

    commands: Sequence[Command]
    receive: Callable[[Sequence[Any]], None]
    is_durable: bool = False


class Replicas(NamedTuple):
    """How many replicas must confirm a durable change, and within which time."""

    number: int
    timeout_ms: int


class StoreClient(Protocol):
    """Executes commands in the store. Any call may raise `redis.RedisError` or `Unreadable`.

    `Unreadable` is also the error of a command whose key holds data of another type.
    """

    publish: str
    """The command that publishes on a channel that is named like a key."""

    waits_for_replicas: bool
    """Whether durable changes wait for replicas."""

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        """Return the replies to some commands, in order.

        `durable`: raise `NotReplicated` unless enough replicas confirm the changes.
        `keep_errors`: the commands are independent of each other, so an error is not raised but is
        the reply to its command. Only an error of the whole store is raised.
        """

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        """Return the reply of each server that has keys, by its address for the log."""

    def servers(self) -> Sequence[StoreClient]:
        """Return a client of each server that has keys."""


def execute_with(
    client: StoreClient, commands: Sequence[Command], deferred: Sequence[Deferred]
) -> list[Any]:
    """Execute commands and deferred ones in one round trip; return the replies to the former.

    Errors are among the replies. The deferred commands receive theirs first.
    """
    added = [command for each in deferred for command in each.commands]
    is_durable = any(each.is_durable for each in deferred)
    replies = client.execute([*commands, *added], durable=is_durable, keep_errors=True)
    at = len(commands)
    for each in deferred:
        each.receive(replies[at : at + len(each.commands)])
        at += len(each.commands)
    return replies[: len(commands)]


class ServerClient:
    """A client of one server, or of the current master among several.

    Coalesced batches, of which one is in flight at a time, have a connection of their own.
    Commands that may take long, since they wait for replicas, use connections of `pool`; they wait
    for one if all are in use.
    """

    publish = "PUBLISH"

    def __init__(
        self,
        connection: ConnectionInterface,
        pool: ConnectionPool,
        replicas: Replicas,
        timeout: float,
    ) -> None:
        self._connection = connection
        self._pool = pool
        self._free = BoundedSemaphore(pool.max_connections)
        self._replicas = replicas
        self._timeout = timeout
        self._batcher = Batcher(self._execute_batch)
        self.waits_for_replicas = replicas.number > 0

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        """See `StoreClient`."""
        replies = self._execute(commands, durable=durable)
        return replies if keep_errors else raise_errors(replies)

    def _execute(self, commands: Sequence[Command], *, durable: bool) -> list[Any]:
        if not (durable and self.waits_for_replicas):
            return _with_scripts(self._batcher.submit, commands)
        # Not coalesced: other requests must not wait for these replicas.
        with_wait = [*commands, Command("", ("WAIT", *self._replicas))]
        replies = _with_scripts(self._execute_on_pool, with_wait)
        error = _replication_error(replies.pop(), self._replicas)
        # A command that failed anyway has written nothing.
        return [error if error and not isinstance(each, Exception) else each for each in replies]

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        """See `StoreClient`."""

        def ask(connection: ConnectionInterface) -> dict[str, Any]:
            replies = _exchange(connection, [pack_command(words)])
            return {_address(connection): each for each in raise_errors(replies)}

        return self._retry(lambda: self._use_pool(ask))

    def _execute_batch(self, packed: Sequence[bytes]) -> list[Any]:
        return self._retry(lambda: _exchange(self._connection, packed))

    def _execute_on_pool(self, packed: Sequence[bytes]) -> list[Any]:
        return self._retry(lambda: self._use_pool(lambda each: _exchange(each, packed)))

    def _retry(self, attempt: Callable[[], Result]) -> Result:
        """Attempt an exchange, and once more if the connection fails while there is time."""
        began = time.monotonic()
        try:
            return attempt()
        except UNREACHABLE:
            if time.monotonic() - began >= self._timeout:
                raise
        time.sleep(RETRY_PAUSE_SECONDS)
        return attempt()

    def _use_pool(self, use: Callable[[ConnectionInterface], Result]) -> Result:
        """Use a connection of the pool, as soon as one is free."""
        if not self._free.acquire(timeout=self._timeout):
            raise PoolExhausted("no connection to the store is free")
        try:
            connection = self._pool.get_connection()
            try:
                return use(connection)
            finally:
                self._pool.release(connection)
        finally:
            self._free.release()


def _address(connection: ConnectionInterface) -> str:
    """Return HOST:PORT, or the path of a Unix socket. Of a master, Sentinels have named it."""
    path = getattr(connection, "path", None)
    return path or f"{getattr(connection, 'host', '')}:{getattr(connection, 'port', '')}"


def _exchange(connection: ConnectionInterface, packed: Sequence[bytes]) -> list[Any]:
    """Send some packed commands and read their replies, errors of the server among them."""
    try:
        connection.connect()
        connection.send_packed_command([b"".join(packed)])
        return [_read_reply(connection) for _ in packed]
    except BaseException:
        # The replies that have not been read must not answer the next commands.
        connection.disconnect()
        raise


def _read_reply(connection: ConnectionInterface) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error_reply(error)


def _with_scripts(
    execute: Callable[[Sequence[bytes]], list[Any]], commands: Sequence[Command]
) -> list[Any]:
    """Execute commands on a server that may not have their scripts, as it may have restarted.

    A value that cannot be packed raises `TypeError` or `ValueError` before any other request shares
    its batch.
    """
    replies = execute(_pack(commands))
    if any(isinstance(each, NoScriptError) for each in replies):
        # All of them again, as WAIT has to come after the commands that it is about.
        return execute(_pack([each.with_source() for each in commands]))
    return replies


def _pack(commands: Sequence[Command]) -> list[bytes]:
    # Not by `Connection.pack_commands`, which also looks for commands that are never sent here.
    return [pack_command(each.words) for each in commands]


def _replication_error(reply: Any, replicas: Replicas) -> RedisError | None:
    """Return what a reply to WAIT says is wrong, None if enough replicas have confirmed."""
    if isinstance(reply, RedisError):
        return reply
    if reply < replicas.number:
        return NotReplicated(f"{reply} of {replicas.number} replicas have it")
    return None
