"""The link to the store: commands about keys go out, many in one round trip, answers come back.

One pool of connections a worker, bounded, with short timeouts and one retry: a server that is
away must fail a request within a bounded time, not hang it. A retry is safe since whatever is
sent twice has the same outcome: a commit carries its own random id (see `api.storage.games`).

What must not be lost can be made to wait for replicas. WAIT counts only what its own connection
wrote, so it is sent with the commands that it is about, on their connection.

This module knows no key of ours. How a cluster is spoken to is `api.storage.cluster`.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty
from typing import Any, NamedTuple, Protocol, cast

from gevent.queue import LifoQueue
from hiredis import pack_command
from redis import RedisError, ResponseError
from redis.connection import BlockingConnectionPool, Connection, ConnectionInterface, ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, OutOfMemoryError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.observability.context import caller_address
from api.storage.coalescing import SharedTrips, Shares

RETRY_PAUSE_SECONDS = 0.05

UNREACHABLE = (RedisConnectionError, RedisTimeoutError, OSError)


class Unreadable(Exception):
    """What is kept under a key is not what was written there: a fault of this one key's data.

    The store is well, so it is no `RedisError`: to ask again is of no use.
    """


class NotReplicated(RedisError):
    """It was written, but fewer replicas than demanded have said that they have it too."""


class Script(NamedTuple):
    """A script, and the name that the server knows it by once it has seen it."""

    source: str
    sha: str

    @classmethod
    def of(cls, source: str) -> Script:
        """The script with this source."""
        return cls(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())

    def on(self, *keys: str, args: Sequence[Any] = ()) -> Command:
        """A call of it on some keys, which belong together."""
        return Command(keys[0], ("EVALSHA", self.sha, len(keys), *keys, *args), self)


class Command(NamedTuple):
    """A command about a key; or about the server that has this key, like TIME."""

    key: str
    words: tuple[Any, ...]
    script: Script | None = None

    def with_source(self) -> Command:
        """As it is sent to a server that does not know its script."""
        if self.script is None:
            return self
        return self._replace(words=("EVAL", self.script.source, *self.words[2:]))


class Replicas(NamedTuple):
    """How many replicas have to have what must not be lost, and for how long that may take."""

    number: int
    timeout_ms: int

    def command(self, key: str) -> Command:
        """Waits for them."""
        return Command(key, ("WAIT", self.number, self.timeout_ms))


class StoreClient(Protocol):
    """Asks the store. Any call may raise `redis.RedisError`, or `Unreadable` of a key."""

    publish: str
    """The command that tells the listeners of a channel that belongs to a key."""

    waits_for_replicas: bool
    """Whether what is `durable` is waited for."""

    def ask(
        self, commands: Sequence[Command], *, durable: bool = False, apart: bool = False
    ) -> list[Any]:
        """The answers to some commands, in their order.

        `durable`: what they write must not be lost; `NotReplicated` if it may be.
        `apart`: they have nothing to do with each other, so that `Unreadable` is not raised but
        is the answer about its key, and the others are what they are.
        """

    def everywhere(self, *words: Any) -> list[Any]:
        """The answer of every server that has keys."""


class PoolExhausted(RedisConnectionError):
    """All connections to a server were in use for too long. It says nothing of the server."""


class Connections(BlockingConnectionPool):
    """Connections to a server, the last used first; who finds none free waits for one.

    Unlike redis-py's own, it does not ask the socket before each use whether it is still one:
    that takes a third of the time of a round trip, and whatever was sent in vain is sent again.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(queue_class=LifoQueue, **options)  # type: ignore[no-untyped-call]

    def get_connection(self, *args: Any, **options: Any) -> Connection:
        """A connection. Raises `NoneIsFree` if there is none in time."""
        try:
            connection: Connection | None = self.pool.get(timeout=self.timeout)
        except Empty:
            raise PoolExhausted("no connection is free") from None
        if connection is None:
            connection = cast("Connection", self.make_connection())  # type: ignore[no-untyped-call]
        try:
            connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def release(self, connection: ConnectionInterface) -> None:
        """Take a connection back."""
        own = cast("Connection", connection)
        if self.owns_connection(own) and not own.should_reconnect():
            self.pool.put_nowait(own)
        else:
            super().release(own)  # type: ignore[no-untyped-call]


class FairClient:
    """A link to one server of which every caller has a share.

    Who asks for much keeps nobody else waiting.
    """

    AT_ONCE = 16
    """So many questions of one address are under way at once."""

    def __init__(self, client: ServerClient) -> None:
        self._link = client
        self._shares = Shares(self.AT_ONCE)
        self._failed_at = -math.inf
        self._failure: Exception = PoolExhausted()
        self.publish = client.publish
        self.waits_for_replicas = client.waits_for_replicas

    def ask(
        self, commands: Sequence[Command], *, durable: bool = False, apart: bool = False
    ) -> list[Any]:
        """See `Link`."""
        return self._in_turn(lambda: self._link.ask(commands, durable=durable, apart=apart))

    def answers(self, commands: Sequence[Command], *, durable: bool = False) -> list[Any]:
        """The answers, errors of the server among them."""
        return self._in_turn(lambda: self._link.answers(commands, durable=durable))

    def everywhere(self, *words: Any) -> list[Any]:
        """See `Link`."""
        return self._in_turn(lambda: self._link.everywhere(*words))

    def _in_turn(self, ask: Callable[[], list[Any]]) -> list[Any]:
        room = self._shares.of(caller_address())
        came = time.monotonic()
        with room:
            if self._failed_at > came:
                # Who has waited for so long has waited long enough for a store that is away.
                raise type(self._failure)(*self._failure.args)
            try:
                return ask()
            except UNREACHABLE as error:
                # Without its traceback, which would keep alive what the request was about.
                self._failed_at, self._failure = time.monotonic(), type(error)(*error.args)
                raise


class ServerClient:
    """The link to one server, or to whichever is the master of several.

    `shared` has the connections for trips that are shared, `pool` those for the others, which
    may take all of theirs for long.
    """

    publish = "PUBLISH"

    def __init__(
        self, shared: ConnectionPool, pool: ConnectionPool, replicas: Replicas, timeout: float
    ) -> None:
        self._pool = pool
        self._replicas = replicas
        self._timeout = timeout
        self._trips = SharedTrips[Command, Any](partial(self._go, shared))
        self.waits_for_replicas = replicas.number > 0

    def ask(
        self, commands: Sequence[Command], *, durable: bool = False, apart: bool = False
    ) -> list[Any]:
        """See `Link`."""
        return refuse_errors(self.answers(commands, durable=durable), apart=apart)

    def answers(self, commands: Sequence[Command], *, durable: bool = False) -> list[Any]:
        """The answers, errors of the server among them."""
        if not (durable and self.waits_for_replicas):
            return with_scripts(self._trips.ask, commands)
        # Nobody else is to wait for them.
        waited_for = [*commands, self._replicas.command(commands[0].key)]
        answers = with_scripts(partial(self._go, self._pool), waited_for)
        why = unconfirmed(answers.pop(), self._replicas)
        # Of an answer that is an error already, nothing was written.
        return [why if why and not isinstance(each, Exception) else each for each in answers]

    def everywhere(self, *words: Any) -> list[Any]:
        """See `Link`."""
        return refuse_errors(self._go(self._pool, [Command("", words)]))

    def _go(self, pool: ConnectionPool, commands: Sequence[Command]) -> list[Any]:
        """The answers, errors of the server among them."""
        begin = time.monotonic()
        try:
            return exchange(pool, commands)
        except UNREACHABLE:
            # Whoever has waited for so long has waited long enough.
            if time.monotonic() - begin >= self._timeout:
                raise
        time.sleep(RETRY_PAUSE_SECONDS)
        return exchange(pool, commands, anew=True)


def exchange(pool: ConnectionPool, commands: Sequence[Command], *, anew: bool = False) -> list[Any]:
    """The answers to some commands in one round trip, errors among them.

    `anew`: on a new connection, since an old one may have ended without our knowing.
    """
    connection = pool.get_connection()
    try:
        if anew:
            connection.disconnect()
            connection.connect()
        send(connection, commands)
        return [receive(connection) for _ in commands]
    except BaseException:
        # Else what is still to come on it would answer somebody else's question.
        connection.disconnect()
        raise
    finally:
        pool.release(connection)


def send(connection: ConnectionInterface, commands: Sequence[Command]) -> None:
    """Send some commands at once."""
    # redis-py would look at each word first, whether it is one of those that we never send.
    packed = b"".join([pack_command(each.words) for each in commands])
    connection.send_packed_command([packed])


def receive(connection: ConnectionInterface) -> Any:
    """The next answer on a connection, perhaps an error of the server's."""
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


def with_scripts(
    ask: Callable[[Sequence[Command]], list[Any]], commands: Sequence[Command]
) -> list[Any]:
    """The answers of a server that may have to be told the scripts first, as it has restarted."""
    answers = ask(commands)
    if any(isinstance(each, NoScriptError) for each in answers):
        # All of it, as WAIT has to come after what it waits for.
        return ask([each.with_source() for each in commands])
    return answers


def refuse_errors(answers: list[Any], *, apart: bool = False) -> list[Any]:
    """Raise the first of the answers that is an error; not `Unreadable` if they are `apart`."""
    for at, each in enumerate(answers):
        if not isinstance(each, RedisError):
            continue
        if not is_about_data(each):
            raise each
        answers[at] = Unreadable()
        answers[at].__cause__ = each
        if not apart:
            raise answers[at]
    return answers


def readable(answer: Any) -> Any:
    """One of the answers to what was asked `apart`. Raises `Unreadable` if it is that."""
    if isinstance(answer, Unreadable):
        raise answer
    return answer


def is_about_data(error: Exception) -> bool:
    """Whether a command was refused for what is under its key, which nobody but us writes."""
    # In a script's words it comes first as well, or after what older servers say of the script.
    return isinstance(error, ResponseError) and "WRONGTYPE " in str(error)


def is_full(error: Exception) -> bool:
    """Whether a server refused a change because its memory or its disk is full."""
    # MISCONF is what a server answers that could not write its file.
    return isinstance(error, OutOfMemoryError) or (
        isinstance(error, ResponseError) and "MISCONF " in str(error)
    )


def unconfirmed(answer: Any, replicas: Replicas) -> RedisError | None:
    """Why it is not sure that so many replicas have it as have to."""
    if isinstance(answer, RedisError):
        return answer
    if answer < replicas.number:
        return NotReplicated(f"{answer} of {replicas.number} replicas have it")
    return None
