"""The link to the store: commands about keys go out, many in one round trip, answers come back.

One pool of connections a worker, bounded, with short timeouts and one retry: a server that is
away must fail a request within a bounded time, not hang it. A retry is safe since whatever is
sent twice has the same outcome: a commit carries its own random id (see `api.store`).

What must not be lost can be made to wait for replicas. WAIT counts only what its own connection
wrote, so it is sent with the commands that it is about, on their connection.

This module knows no key of ours. How a cluster is spoken to is `api.cluster`.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from redis import RedisError, ResponseError
from redis.connection import ConnectionInterface, ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as RedisTimeoutError

RETRIES = 1
RETRY_PAUSE_SECONDS = 0.05

UNREACHABLE = (RedisConnectionError, RedisTimeoutError, OSError)


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


class Link(Protocol):
    """Asks the store. Any call may raise `redis.RedisError`."""

    publish: str
    """The command that tells the listeners of a channel that belongs to a key."""

    waits_for_replicas: bool
    """Whether what is `durable` is waited for."""

    def ask(self, commands: Sequence[Command], *, durable: bool = False) -> list[Any]:
        """The answers to some commands, in their order.

        `durable`: what they write must not be lost; `NotReplicated` if it may be.
        """

    def everywhere(self, *words: Any) -> list[Any]:
        """The answer of every server that has keys."""


class SingleLink:
    """The link to one server, or to whichever is the master of several."""

    publish = "PUBLISH"

    def __init__(self, pool: ConnectionPool, replicas: Replicas, timeout: float) -> None:
        self._pool = pool
        self._replicas = replicas
        self._timeout = timeout
        self.waits_for_replicas = replicas.number > 0

    def ask(self, commands: Sequence[Command], *, durable: bool = False) -> list[Any]:
        """See `Link`."""
        if durable and self.waits_for_replicas:
            answers = self._ask([*commands, self._replicas.command(commands[0].key)])
            confirm(answers.pop(), self._replicas)
            return answers
        return self._ask(commands)

    def everywhere(self, *words: Any) -> list[Any]:
        """See `Link`."""
        return self._ask([Command("", words)])

    def _ask(self, commands: Sequence[Command]) -> list[Any]:
        begin = time.monotonic()
        retries = RETRIES
        while True:
            try:
                return refuse_errors(exchange(self._pool, commands))
            except UNREACHABLE:
                # Whoever has waited for so long has waited long enough.
                if retries == 0 or time.monotonic() - begin >= self._timeout:
                    raise
            retries -= 1
            time.sleep(RETRY_PAUSE_SECONDS)


def exchange(pool: ConnectionPool, commands: Sequence[Command]) -> list[Any]:
    """The answers to some commands in one round trip, errors among them."""
    with borrowed(pool) as connection:
        send(connection, commands)
        return receive_known(connection, commands)


@contextlib.contextmanager
def borrowed(pool: ConnectionPool) -> Iterator[ConnectionInterface]:
    """A connection of a pool's; if anything goes wrong, it is closed.

    Else what is still to come on it would answer somebody else's question.
    """
    connection = pool.get_connection()
    try:
        yield connection
    except BaseException:
        connection.disconnect()
        raise
    finally:
        pool.release(connection)


def send(connection: ConnectionInterface, commands: Sequence[Command]) -> None:
    """Send some commands at once."""
    connection.send_packed_command(connection.pack_commands([each.words for each in commands]))


def receive_known(connection: ConnectionInterface, commands: Sequence[Command]) -> list[Any]:
    """One answer to each command that was sent, errors among them; scripts get known."""
    answers = [_receive(connection) for _ in commands]
    if any(isinstance(each, NoScriptError) for each in answers):
        # The server has restarted, or was a replica until now. All of it is sent again, as WAIT
        # has to come after what it waits for.
        again = [each.with_source() for each in commands]
        send(connection, again)
        answers = [_receive(connection) for _ in again]
    return answers


def _receive(connection: ConnectionInterface) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


def refuse_errors(answers: list[Any]) -> list[Any]:
    """Raise the first of the answers that is an error."""
    for each in answers:
        if isinstance(each, RedisError):
            raise each
    return answers


def confirm(have_it: int, replicas: Replicas) -> None:
    """Raise NotReplicated unless so many replicas have it as have to."""
    if have_it < replicas.number:
        raise NotReplicated(f"{have_it} of {replicas.number} replicas have it")
