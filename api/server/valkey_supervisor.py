"""The keeper: the process that keeps the embedded Valkey running, and ends it when it is time.

It is the parent of valkey-server and does nothing else: it starts it, starts it again if it
dies, and ends it in an orderly way once its own standard input closes. Every process of the
service holds the other end of that pipe, so the end comes when the service and all its workers
are gone, however they went. `api.server.valkey` starts this file as a script, in a session of its
own; it imports nothing but the standard library, so that it is small and starts at once.

On its standard output it says "ready", or in one line why there will be no server. After "ready"
it writes a line there when the disk is full and when it has room again.

With `appendfsync always`, Valkey exits at a failed write, and games could not even be read. So
the keeper makes it refuse changes while the disk still has a little room: `maxmemory 1` refuses
every command that adds data, and `appendfsync everysec` keeps Valkey alive should the rest (an
expired key that is deleted) fail to be written. While changes are accepted, `appendfsync` is
always the configured one: it is weakened after changes are refused, and restored before.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

KEEPER_LOCK = "keeper.lock"
SERVER_LOCK = "valkey.lock"
LOG = "valkey.log"

POLL_SECONDS = 0.05
REPLY_SECONDS = 5.0
# An orderly stop flushes the append-only file, which can take a while on a slow disk.
STOP_SECONDS = 60.0
# A server that dies as soon as it starts is not started more often than this.
LONGEST_PAUSE_SECONDS = 5.0
LOG_BYTES = 1 << 20

MIB = 1 << 20
# The disk is full when less than LOW_BYTES are free, until ENOUGH_BYTES are free again.
LOW_BYTES = 2 * MIB
ENOUGH_BYTES = 4 * MIB
# Reserved for the append-only file, as another program can fill a disk faster than the keeper
# polls. Workers write a few MB a second at most, so this lasts for several polls.
RESERVED_BYTES = 2 * MIB
FALLOC_FL_KEEP_SIZE = 1
STAT_BLOCK_BYTES = 512
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DISTRUST_SECONDS = 10.0
REFUSING_MAXMEMORY = "1"


class KeeperError(Exception):
    """There will be no server. The message is one line for the person who started the service."""


class Disk:
    """The file system of Valkey's files, with a reserve for its append-only file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._reserved_file: Path | None = None
        self._distrusted_until = 0.0

    def distrust(self) -> None:
        """Count the disk as full for a while: a write failed for a reason that is not seen here."""
        self._distrusted_until = time.monotonic() + DISTRUST_SECONDS

    def is_full(self, *, was_full: bool) -> bool:
        """Return whether changes must be refused, which takes more room to end than to begin."""
        if time.monotonic() < self._distrusted_until:
            return True
        free = self._free_bytes()
        if free is not None and free < (ENOUGH_BYTES if was_full else LOW_BYTES):
            return True
        return not self._reserve()

    def _free_bytes(self) -> int | None:
        """Return what this account may still write, None if the file system does not say."""
        try:
            status = os.statvfs(self._directory)
        except OSError:
            return None
        return status.f_bavail * status.f_frsize if status.f_blocks else None

    def _reserve(self) -> bool:
        """Reserve room behind the end of the append-only file; return False if there is none.

        Quotas and limits of a file's size show here too. A file system that cannot reserve
        anything counts as one with room.
        """
        try:
            file = _append_only_file(self._directory)
            if file is None:
                return True
            status = file.stat()
            left = status.st_blocks * STAT_BLOCK_BYTES - status.st_size
            if file == self._reserved_file and left > RESERVED_BYTES // 2:
                return True
            _allocate_behind(file, status.st_size)
        except OSError as error:
            return error.errno not in NO_ROOM
        self._reserved_file = file
        return True


class Server:
    """One valkey-server on one directory, answering on one socket."""

    def __init__(self, binary: str, directory: Path, address: str, append_fsync: str) -> None:
        self.directory = directory
        self.address = address
        self.append_fsync = append_fsync
        self.disk = Disk(directory)
        self.refuses_changes = False
        self.is_settled = True
        """Whether Valkey has all settings that go with `refuses_changes`."""
        self.command = [
            binary,
            *("--port", "0"),
            *("--unixsocket", address),
            *("--unixsocketperm", "700"),
            *("--dir", str(directory)),
            *("--appendonly", "yes"),
            *("--save", ""),
            *("--maxmemory-policy", "noeviction"),
            *("--daemonize", "no"),
            *("--logfile", LOG),
        ]
        self.lock = _lock_file(directory / SERVER_LOCK)
        self.process: subprocess.Popen[bytes] | None = None

    def take_over(self) -> None:
        """Wait until no other server has the directory, ending one that lost its keeper.

        The lock belongs to the open file, which the server inherits: as long as the server
        lives, whatever became of those who started it, nobody else can get the lock.
        """
        deadline = time.monotonic() + STOP_SECONDS
        while not _try_flock(self.lock):
            if time.monotonic() > deadline:
                raise KeeperError(
                    f"an earlier Valkey still runs on {self.directory} and does not stop"
                )
            # Again and again, since it may not have been listening yet the first time.
            with contextlib.suppress(OSError):
                _ask(self.address, b"SHUTDOWN")
            time.sleep(POLL_SECONDS)

    def start(self) -> None:
        """Start it, without waiting. Raises KeeperError if it cannot be run at all."""
        _trim(self.directory / LOG)
        self.refuses_changes = self.disk.is_full(was_full=self.refuses_changes)
        self.is_settled = True
        settings = self._settings(refusing=self.refuses_changes)
        options = [word for name, value in settings for word in (f"--{name}", value)]
        try:
            self.process = subprocess.Popen(
                [*self.command, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # A terminal's Ctrl-C goes to everything in its session.
                start_new_session=True,
                pass_fds=(self.lock.fileno(),),
            )
        except OSError as error:
            raise KeeperError(f"cannot run {self.command[0]}: {error.strerror}") from None

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.poll() is None

    @property
    def ready(self) -> bool:
        """Whether it answers: while it loads its file it accepts connections, but refuses work."""
        try:
            # A server that could not write refuses even a PING, but answers reads.
            return _ask(self.address, b"PING").startswith((b"+PONG", b"-MISCONF"))
        except OSError:
            return False

    def heed_disk(self) -> None:
        """Refuse changes if the disk is full, accept them if it has room again.

        If Valkey does not answer, or not to all of it, the next call tries again.
        """
        is_full = self.disk.is_full(was_full=self.refuses_changes)
        if is_full == self.refuses_changes and self.is_settled:
            return
        self.is_settled = False
        with contextlib.suppress(OSError):
            for name, value in self._settings(refusing=is_full):
                # Each is answered before the next is sent: changes that came before the refusal
                # are on the disk by then, as Valkey writes its file before it answers.
                command = f"CONFIG SET {name} {value}".encode()
                if not _ask(self.address, command).startswith(b"+OK"):
                    return
            self.refuses_changes = is_full
            self.is_settled = True

    def disk_news(self) -> str:
        """Return whether the disk is full, as a sentence for the service's log."""
        if self.refuses_changes:
            return (
                f"The disk of {self.directory} is full: games can be read, and all changes are "
                f"refused until {ENOUGH_BYTES // MIB} MiB can be written"
            )
        return f"The disk of {self.directory} has room again: changes are accepted"

    def _settings(self, *, refusing: bool) -> list[tuple[str, str]]:
        """Return what makes Valkey refuse changes or accept them, in the order to set it."""
        if refusing:
            return [("maxmemory", REFUSING_MAXMEMORY), ("appendfsync", "everysec")]
        return [("appendfsync", self.append_fsync), ("maxmemory", "0")]

    @property
    def failed_to_write(self) -> bool:
        """Whether it ended by itself, as it does when it cannot write its append-only file."""
        return self.process is not None and self.process.returncode in (1, -signal.SIGXFSZ)

    def stop(self) -> None:
        """End it as SHUTDOWN does: what was written is on the disk before it goes."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_words(self) -> str:
        """Why it ended, as far as its log tells."""
        with contextlib.suppress(OSError):
            lines = (self.directory / LOG).read_text(errors="replace").splitlines()
            # "12345:M 27 Nov 2026 23:07:05.000 # Fatal error loading the DB": the date is noise.
            if lines:
                return lines[-1].split(" ", 5)[-1].lstrip("#*.- ")
        return "it says nothing"


def keep(server: Server) -> None:
    """Run `server` until standard input closes. Raises KeeperError if it never gets ready."""
    server.take_over()
    server.start()
    while not server.ready:
        if _abandoned(POLL_SECONDS):
            server.stop()
            return
        if not server.running:
            raise KeeperError(_why_not_started(server))
    _say("ready")

    pause = 0.0
    started = time.monotonic()
    has_told = False
    while not _abandoned(POLL_SECONDS):
        if server.refuses_changes != has_told:
            has_told = server.refuses_changes
            _say(server.disk_news())
        if server.running:
            server.heed_disk()
            continue
        if server.failed_to_write:
            server.disk.distrust()
        pause = min(2 * pause + 0.1, LONGEST_PAUSE_SECONDS)
        if time.monotonic() - started > 2 * LONGEST_PAUSE_SECONDS:
            pause = 0.0
        if _abandoned(pause):
            break
        with contextlib.suppress(KeeperError):
            server.start()
        started = time.monotonic()
    server.stop()


def _abandoned(seconds: float) -> bool:
    """Wait for so long at most; whether nobody of the service is left at the pipe's other end."""
    readable, _, _ = select.select([0], [], [], seconds)
    return bool(readable) and os.read(0, 1) == b""


def _why_not_started(server: Server) -> str:
    if server.refuses_changes:
        return (
            f"Valkey did not start, as the disk of {server.directory} is full: free at least "
            f"{ENOUGH_BYTES // MIB} MiB there, or set DATA_DIR to another disk"
        )
    return f"Valkey did not start: {server.last_words()} (see {server.directory / LOG})"


def _say(line: str) -> None:
    # The service may have ended, or not have read for long.
    with contextlib.suppress(OSError):
        os.write(1, line.encode(errors="replace") + b"\n")


def _ask(address: str, command: bytes) -> bytes:
    """The first bytes of Valkey's answer; none if it closes the connection instead."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(REPLY_SECONDS)
        connection.connect(address)
        connection.sendall(command + b"\r\n")
        return connection.recv(1024)


def _lock_file(path: Path) -> IO[bytes]:
    try:
        return path.open("ab")
    except OSError as error:
        raise KeeperError(f"cannot write to {path}: {error.strerror}") from None


def note_pid(lock: IO[Any]) -> None:
    """Write this process's id into its lock file, for the operator; on a full disk, nothing."""
    with contextlib.suppress(OSError):
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), b"%d\n" % os.getpid())


def _append_only_file(directory: Path) -> Path | None:
    """Return the file that Valkey appends to (the one with the highest number), if any."""
    files = (directory / "appendonlydir").glob("appendonly.aof.*.incr.aof")
    return max(files, key=lambda file: (len(file.name), file.name), default=None)


def _allocate_behind(file: Path, size: int) -> None:
    """Allocate room behind the end of a file, which stays as long as it is. Raises OSError."""
    allocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if allocate is None:
        return
    allocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    with file.open("ab") as opened:
        if allocate(opened.fileno(), FALLOC_FL_KEEP_SIZE, size, RESERVED_BYTES) != 0:
            raise OSError(ctypes.get_errno(), "cannot reserve room")


def _try_flock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _trim(log: Path) -> None:
    """A log that has grown large is begun anew: nobody else looks after it."""
    with contextlib.suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.unlink()


def main(arguments: list[str]) -> int:
    """Run as `keeper.py BINARY DIRECTORY SOCKET APPEND_FSYNC`, standard input being the pipe."""
    # Only the end of the pipe ends the keeper: what is told to stop with the service as a whole
    # (a terminal that closes, a service manager) must not lose its store before its workers.
    # Not SIG_IGN, which the server would inherit.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda _number, _frame: None)
    os.umask(0o077)
    # A service that has ended, or is busy, does not read: the keeper must not wait for it.
    os.set_blocking(1, False)
    binary, directory, address, append_fsync = arguments
    try:
        with _lock_file(Path(directory, KEEPER_LOCK)) as lock:
            # An earlier keeper whose service has gone ends by itself.
            fcntl.lockf(lock, fcntl.LOCK_EX)
            note_pid(lock)
            keep(Server(binary, Path(directory), address, append_fsync))
    except KeeperError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
