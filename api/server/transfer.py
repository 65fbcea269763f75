"""`ludotheque export`, `import` and `copy`: the stores, the files, and what is reported.

A store is an address as in REDIS_URL, or the data directory of an embedded one. What is reported
goes to standard error, since an export may go to standard output.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import gevent
from redis import RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.config.settings import REDIS_URL, Settings, SettingsError
from api.server.valkey import DirectoryInUse, EmbeddedValkey
from api.storage.client import Command, StoreClient
from api.storage.connect import connect, store_name
from api.storage.errors import NotReplicated, is_full, raise_errors
from api.storage.findings import findings, unreachable
from api.storage.games import read_time
from api.storage.health import StoreHealth
from api.transfer import lines, transfers
from api.transfer.counts import OUTCOMES, REFUSED, Counts
from api.transfer.private_file import private_file
from api.transfer.progress import Progress
from api.transfer.scan import StoreChanged

STANDARD = "-"
"""Standard input or output, in place of a file's name."""

STANDARD_OUTPUT = 1

MIN_TIMEOUT_SECONDS = 10.0
"""How long to wait for a reply at least, once the store has answered: a batch takes its time."""

OF_EVERY_STORE = ("replica", "version")
"""The findings with which a store cannot even be read: it may lag, or lack a command."""


class TransferError(Exception):
    """A transfer has failed, or not everything was copied. The message is for the operator."""


class Store:
    """A store that is open for a transfer: a `StoreClient` whose errors name the store.

    Any call may raise `TransferError`, but no `redis.RedisError`.
    """

    def __init__(self, client: StoreClient, name: str) -> None:
        self._client = client
        self.name = name
        self.publish = client.publish
        self.waits_for_replicas = client.waits_for_replicas

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        """See `StoreClient`."""
        with self._errors():
            replies = self._client.execute(commands, durable=durable, keep_errors=True)
            for each in replies:
                if isinstance(each, RedisError):
                    raise each
        return replies if keep_errors else raise_errors(replies)

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        """See `StoreClient`."""
        with self._errors():
            return self._client.execute_on_all(*words)

    def servers(self) -> Sequence[StoreClient]:
        """See `StoreClient`."""
        with self._errors():
            return [Store(each, self.name) for each in self._client.servers()]

    def check(self, *, is_cluster: bool, is_target: bool, wait_replicas: int) -> None:
        """Check that all of the store can be read, and that a target keeps what is written.

        `is_cluster` is whether the store's address is that of a cluster.
        """
        states = self.execute_on_all("INFO", "cluster").values()
        if not is_cluster and any(b"cluster_enabled:1" in each for each in states):
            # It has only a part of the games.
            raise TransferError(
                f"{self.name} is a node of a cluster: write its address as "
                "redis+cluster://HOST:PORT"
            )
        conditions = StoreHealth(self).conditions()
        for topic, finding in findings(conditions, wait_replicas).items():
            if topic.name in OF_EVERY_STORE or (
                is_target and (finding.level == logging.ERROR or topic.name == "replicas")
            ):
                raise TransferError(finding.sentence)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except RedisError as error:
            raise TransferError(_sentence(self.name, error)) from None


def export_file(settings: Settings, file: str) -> None:
    """Write all that is stored to a file, `STANDARD` for standard output.

    Raises `TransferError`, `EmbeddedError` and `SettingsError`, as the other functions do.
    """
    if file == STANDARD:
        _check_redirected(sys.stdout, "output")
    with _transfer() as progress, _opened(None, settings, is_target=False) as source:
        with _written(file) as stream:
            (now,) = source.execute([Command("", ("TIME",))])
            writer = lines.Writer(stream, version("ludotheque"), read_time(now))
            counts = transfers.export_to(writer, source, progress)
        progress.end()
        _report(counts, f"Exported from {source.name} to {_shown(file, 'output')}")


def import_file(settings: Settings, file: str, *, overwrites: bool) -> None:
    """Store what a file has. Raises as `export_file`."""
    if file == STANDARD:
        _check_redirected(sys.stdin, "input")
    name = _shown(file, "input")
    with _transfer() as progress, _read(file, name) as stream:
        if stream.seekable():
            # A file that is not complete is refused before anything is stored.
            progress.total = sum(length for _, length in lines.read(stream))
            stream.seek(0)
        with _opened(None, settings, is_target=True) as target:
            records = lines.read(stream)
            counts = transfers.import_from(records, target, progress, overwrites=overwrites)
            progress.end()
            _report(counts, f"Imported from {name} into {target.name}")


def copy(settings: Settings, from_: str, to: str, *, overwrites: bool, deletes: bool) -> None:
    """Copy all that is stored to another store. Raises as `export_file`."""
    if _is_same(from_, to):
        raise SettingsError("FROM and TO are the same store: name another one")
    with (
        _transfer() as progress,
        _opened(from_, settings, is_target=False) as source,
        _opened(to, settings, is_target=True) as target,
    ):
        counts = transfers.copy(source, target, progress, overwrites=overwrites)
        if deletes:
            if not counts.total(*OUTCOMES):
                raise TransferError(
                    f"{source.name} holds no records, so --delete would remove all of "
                    f"{target.name}: check FROM"
                )
            transfers.remove_surplus(source, target, counts, progress)
        progress.end()
        _report(counts, f"Copied from {source.name} to {target.name}")


def _is_same(from_: str, to: str) -> bool:
    if "://" in from_ or "://" in to:
        return from_ == to
    return Path(from_).resolve() == Path(to).resolve()


@contextlib.contextmanager
def _opened(place: str | None, settings: Settings, *, is_target: bool) -> Iterator[Store]:
    """Open a store: by its address, by its data directory, or that of the settings (None)."""
    variable = "REDIS_URL" if place is None else "TO" if is_target else "FROM"
    with contextlib.ExitStack() as stack:
        if place is None and settings.redis_url is not None:
            url, name = settings.redis_url, store_name(settings.redis_url)
        elif place is not None and "://" in place:
            try:
                url = REDIS_URL.parse(place)
            except ValueError as error:
                raise SettingsError(f"{variable} {error}, or the path of a directory") from None
            name = store_name(url)
        else:
            directory = settings.data_dir if place is None else Path(place)
            url = stack.enter_context(_embedded(directory, settings, is_target=is_target))
            name = f"the embedded store in {directory}"
        settings = dataclasses.replace(settings, redis_url=url)
        patient = max(settings.redis_timeout_seconds, MIN_TIMEOUT_SECONDS)
        try:
            first = Store(connect(settings)[0], name)
            settings = dataclasses.replace(settings, redis_timeout_seconds=patient)
            store = Store(connect(settings)[0], name)
        except (TypeError, ValueError):
            # The message could quote a password.
            raise SettingsError(f"{variable} has an option that cannot be used") from None
        first.check(
            is_cluster="+cluster:" in url,
            is_target=is_target,
            wait_replicas=settings.wait_replicas,
        )
        yield store


@contextlib.contextmanager
def _embedded(directory: Path, settings: Settings, *, is_target: bool) -> Iterator[str]:
    """Run the embedded store of a data directory, unless a service runs it; return its address."""
    valkey = EmbeddedValkey(directory, settings.append_fsync)
    if not is_target and not (directory / "valkey").is_dir():
        raise TransferError(
            f"{directory} has no store: there is no directory `valkey` in it. Name the DATA_DIR of "
            "a service, or set REDIS_URL"
        )
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(valkey)
        except DirectoryInUse:
            # Writing behind the back of a service that plays these games could undo its moves.
            if is_target:
                raise
        yield valkey.url


@contextlib.contextmanager
def _transfer() -> Iterator[Progress]:
    """Show the progress of a transfer, and turn its errors into `TransferError`."""
    progress = Progress(sys.stderr)
    try:
        with _interruptible():
            yield progress
    except StoreChanged as error:
        raise TransferError(
            f"records may be missing, since {error}: run the command again"
        ) from None
    finally:
        progress.end()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise `KeyboardInterrupt` in this block.

    The nodes of a cluster are asked in greenlets, where an interrupt could crash the process: it
    waits for them.
    """
    hub, own = gevent.get_hub(), gevent.getcurrent()

    def interrupt(number: int, frame: object) -> None:
        if gevent.getcurrent() is own:
            raise KeyboardInterrupt
        hub.loop.run_callback_threadsafe(own.throw, KeyboardInterrupt)

    handlers = {each: signal.signal(each, interrupt) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)


@contextlib.contextmanager
def _written(file: str) -> Iterator[BinaryIO]:
    try:
        if file != STANDARD:
            with private_file(Path(file)) as stream:
                yield stream
        else:
            # By its descriptor: what a buffer could not write would fail again at the end.
            with open(STANDARD_OUTPUT, "wb", closefd=False) as stream:
                yield stream
    except OSError as error:
        name = _shown(file, "output")
        raise TransferError(f"cannot write {name}: {error.strerror or error}") from None


@contextlib.contextmanager
def _read(file: str, name: str) -> Iterator[BinaryIO]:
    try:
        with contextlib.ExitStack() as stack:
            stream: BinaryIO = sys.stdin.buffer
            if file != STANDARD:
                stream = stack.enter_context(Path(file).open("rb"))
            yield stream
    except lines.WrongExport as error:
        raise TransferError(f"{name} {error}") from None
    except OSError as error:
        raise TransferError(f"cannot read {name}: {error.strerror or error}") from None


def _check_redirected(stream: TextIO | None, name: str) -> None:
    # None if the process was started without one: its descriptor may be another file's by now.
    if stream is None or stream.isatty():
        what = "closed" if stream is None else "a terminal"
        raise TransferError(f"standard {name} is {what}: name a FILE, or redirect the {name}")


def _shown(file: str, stream: str) -> str:
    return f"standard {stream}" if file == STANDARD else file


def _report(counts: Counts, done: str) -> None:
    """Write what became of the records. Raises `TransferError` if not all were copied."""
    _write(counts.table())
    if counts.foreign:
        _write(f"Left out: {_count(counts.foreign, 'key')} of other applications.")
    if counts.unlisted:
        named = ", ".join(counts.unlisted_ids)
        more = ", …" if counts.unlisted > len(counts.unlisted_ids) else ""
        _write(
            f"In no list: {_count(counts.unlisted, 'game')} that this release cannot read, copied "
            f"unchanged: {named}{more}"
        )
    _write(f"{done}.")
    if counts.unreadable:
        raise TransferError(
            f"left out: {_count(counts.unreadable, 'record')} of a type that the service does not "
            "use"
        )
    if refused := counts.total(REFUSED):
        raise TransferError(
            f"not replaced: {_count(refused, 'record')} stored already with another content. "
            "--overwrite replaces what is stored"
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _write(text: str) -> None:
    if sys.stderr is not None:
        print(text, file=sys.stderr)


def _sentence(name: str, error: RedisError) -> str:
    """Return what is wrong with a store. It quotes no reply, which could quote data."""
    if isinstance(error, NotReplicated):
        return f"{name}: {error}: WAIT_REPLICAS asks for more than follow its master in time"
    if isinstance(error, NoPermissionError):
        return f"{name} does not let its user run a command: permit all commands and keys"
    if is_full(error):
        return f"{name} refuses changes: its memory or its disk is full"
    if isinstance(error, (RedisConnectionError, RedisTimeoutError)):
        (finding,) = unreachable(name, error).values()
        return finding.sentence
    return f"{name} refuses a command: {str(error).split(' ', 1)[0]}"
