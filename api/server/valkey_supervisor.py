"""The supervisor: the parent process of the embedded valkey-server.

It starts the server, restarts it if it dies, and stops it in an orderly way when its own standard
input closes. All processes of the service hold the other end of that pipe, so this happens when
the service and all its workers have ended, even if they were killed. `api.server.valkey` starts
this file as a script in a session of its own. It imports only the standard library, so that it is
small and starts at once.

For 7 MB of memory, the separate process restarts a killed server within 0.1 seconds (gunicorn's
master looks once a second), stops the server of a killed service as soon as its workers have
finished (after 0.6 seconds if there are no requests), and checks the disk 20 times a second.

The supervisor writes "ready" to its standard output, or one line that says why there will be no
server. After "ready" it writes a line for the log when the disk is nearly full, full, and has room
again, and when the server has ended and answers again. The line of an end begins with its cause and
a tab.

With `appendfsync always`, Valkey exits at a failed write, and games could not even be read. So the
supervisor makes Valkey refuse changes while the disk still has a little room: `maxmemory 1` refuses
every command that adds data, and `appendfsync everysec` keeps Valkey alive if another write (the
deletion of an expired key) fails. While changes are accepted, `appendfsync` always has its
configured value: it is weakened after changes are refused, and restored before they are accepted.
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
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

# Its name is that of earlier releases, so that one that still runs is noticed.
SUPERVISOR_LOCK = "keeper.lock"
SERVER_LOCK = "valkey.lock"
LOG = "valkey.log"

POLL_SECONDS = 0.05
REPLY_SECONDS = 5.0
# An orderly stop flushes the append-only file, which can take a while on a slow disk.
STOP_SECONDS = 60.0
# The workers of a service that was killed finish their requests first.
PREDECESSOR_SECONDS = 60.0
# The longest pause between two starts of a server that dies at once.
MAX_PAUSE_SECONDS = 5.0
LOG_BYTES = 1 << 20

MIB = 1 << 20
# The disk is full when less than LOW_BYTES are free, until ENOUGH_BYTES are free again.
LOW_BYTES = 2 * MIB
ENOUGH_BYTES = 4 * MIB
# It is nearly full when less than SCARCE_BYTES are free, until twice as many are.
SCARCE_BYTES = 64 * MIB
# Reserved for the append-only file, as another program can fill a disk faster than the supervisor
# polls. Workers write a few MB a second at most, so this lasts for several polls.
RESERVED_BYTES = 2 * MIB
FALLOC_FL_KEEP_SIZE = 1
STAT_BLOCK_BYTES = 512
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ASSUMED_FULL_SECONDS = 10.0
# By this value (bytes), `api.storage.health` knows that the disk is full.
REFUSING_MAXMEMORY = "1"


class SupervisorError(Exception):
    """There will be no server. The message is one line for the operator."""


class Disk:
    """The file system of Valkey's files, with a reserve for its append-only file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._reserved_file: Path | None = None
        self._assumed_full_until = 0.0

    def assume_full(self) -> None:
        """Report the disk as full for a while: a write failed, and `is_full` did not see why."""
        self._assumed_full_until = time.monotonic() + ASSUMED_FULL_SECONDS

    def is_full(self, *, was_full: bool) -> bool:
        """Return whether changes must be refused. A disk that was full needs more room."""
        if time.monotonic() < self._assumed_full_until:
            return True
        free = self._free_bytes()
        if free is not None and free < (ENOUGH_BYTES if was_full else LOW_BYTES):
            return True
        return not self._reserve()

    def is_nearly_full(self, *, was_nearly_full: bool) -> bool:
        """Return whether the operator should make room soon."""
        free = self._free_bytes()
        return free is not None and free < SCARCE_BYTES * (2 if was_nearly_full else 1)

    def _free_bytes(self) -> int | None:
        """Return the free bytes for this account, None if the file system does not report them."""
        try:
            status = os.statvfs(self._directory)
        except OSError:
            return None
        return status.f_bavail * status.f_frsize if status.f_blocks else None

    def _reserve(self) -> bool:
        """Reserve room behind the end of the append-only file. Return False if there is none.

        Disk quotas and limits of a file's size are noticed here too. A file system that cannot
        reserve room counts as one that has room.
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
    """One valkey-server with its data directory and its Unix socket."""

    def __init__(self, binary: str, directory: Path, address: str, append_fsync: str) -> None:
        self.directory = directory
        self.address = address
        self.append_fsync = append_fsync
        self.disk = Disk(directory)
        self.refuses_changes = False
        self.disk_is_nearly_full = False
        # Whether Valkey has confirmed all settings that go with `refuses_changes`.
        self.is_configured = True
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
        """Wait until no other server uses the directory, and stop one that lost its supervisor.

        The lock belongs to the open file, which the server inherits. So it is held as long as the
        server lives, even if every other process of its service has ended.
        """

        def shut_down() -> None:
            # Repeated, since the server may not have listened yet the first time.
            with contextlib.suppress(OSError):
                _ask(self.address, b"SHUTDOWN")

        too_late = f"an earlier Valkey still runs on {self.directory} and does not stop"
        _acquire(self.lock, fcntl.flock, STOP_SECONDS, too_late, shut_down)

    def start(self) -> None:
        """Start the process, without waiting. Raises SupervisorError if that fails."""
        _trim(self.directory / LOG)
        self.refuses_changes = self.disk.is_full(was_full=self.refuses_changes)
        self.is_configured = True
        settings = self._settings(refusing=self.refuses_changes)
        options = [word for name, value in settings for word in (f"--{name}", value)]
        try:
            self.process = subprocess.Popen(
                [*self.command, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Keep a terminal's Ctrl-C away: it reaches every process of the session.
                start_new_session=True,
                pass_fds=(self.lock.fileno(),),
            )
        except OSError as error:
            raise SupervisorError(f"cannot run {self.command[0]}: {error.strerror}") from None

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.process is not None and self.process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether the server answers. While it loads its file, it accepts connections only."""
        try:
            # After a failed write, a server refuses even a PING, but answers reads.
            return _ask(self.address, b"PING").startswith((b"+PONG", b"-MISCONF"))
        except OSError:
            return False

    def check_disk(self) -> None:
        """Refuse changes if the disk is full, accept them if it has room again.

        If Valkey does not confirm all of the settings, the next call tries again.
        """
        is_full = self.disk.is_full(was_full=self.refuses_changes)
        if is_full == self.refuses_changes and self.is_configured:
            return
        self.is_configured = False
        with contextlib.suppress(OSError):
            for name, value in self._settings(refusing=is_full):
                # Wait for each answer: the changes before the refusal are on the disk by then, as
                # Valkey writes its file before it answers.
                command = f"CONFIG SET {name} {value}".encode()
                if not _ask(self.address, command).startswith(b"+OK"):
                    return
            self.refuses_changes = is_full
            self.is_configured = True

    def disk_message(self) -> str:
        """Return a sentence for the service's log: the disk is full, or has room again."""
        if self.refuses_changes:
            return (
                f"The disk of {self.directory} is full: games can be read, and all changes are "
                f"refused until {ENOUGH_BYTES // MIB} MiB can be written"
            )
        return f"The disk of {self.directory} has room again: changes are accepted"

    def scarcity_message(self) -> str | None:
        """Return a sentence if the disk has become nearly full, or is so no more."""
        if self.refuses_changes:
            # `disk_message` says more.
            return None
        before = self.disk_is_nearly_full
        self.disk_is_nearly_full = self.disk.is_nearly_full(was_nearly_full=before)
        if self.disk_is_nearly_full == before:
            return None
        if before:
            return f"The disk of {self.directory} has {2 * SCARCE_BYTES // MIB} MiB free again"
        return (
            f"The disk of {self.directory} has less than {SCARCE_BYTES // MIB} MiB free: make "
            f"room, since all changes are refused when {LOW_BYTES // MIB} MiB are left"
        )

    def end_message(self) -> str:
        """Return the cause of the server's end, a tab, and a sentence for the service's log."""
        assert self.process is not None
        code = self.process.returncode
        if code < 0:
            hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
            return (
                f"killed\tThe embedded Valkey was killed by {signal_name(-code)}{hint}: it is "
                "started again"
            )
        return (
            f"exited\tThe embedded Valkey ended with exit code {code}, and is started again. Its "
            f"last message: {self.last_log_message()} (see {self.directory / LOG})"
        )

    def _settings(self, *, refusing: bool) -> list[tuple[str, str]]:
        """Return the settings with which Valkey refuses or accepts changes, in order."""
        if refusing:
            return [("maxmemory", REFUSING_MAXMEMORY), ("appendfsync", "everysec")]
        return [("appendfsync", self.append_fsync), ("maxmemory", "0")]

    @property
    def failed_to_write(self) -> bool:
        """Whether the server exited by itself, as it does when it cannot write its file."""
        return self.process is not None and self.process.returncode in (1, -signal.SIGXFSZ)

    def stop(self) -> None:
        """Stop the server in an orderly way: it flushes its file to the disk first."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_log_message(self) -> str:
        """Return the last message of the server's log, which tells why it ended."""
        with contextlib.suppress(OSError):
            lines = (self.directory / LOG).read_text(errors="replace").splitlines()
            # "12345:M 27 Nov 2026 23:07:05.000 # Fatal error loading the DB": the date is noise.
            if lines:
                return lines[-1].split(" ", 5)[-1].lstrip("#*.- ")
        return "its log is empty"


def supervise(server: Server) -> None:
    """Run `server` until standard input closes. Raises SupervisorError if it does not start."""
    server.take_over()
    server.start()
    while not server.is_ready:
        if _is_abandoned(POLL_SECONDS):
            server.stop()
            return
        if not server.is_running:
            raise SupervisorError(_why_not_started(server))
    _report("ready")

    pause = 0.0
    started = time.monotonic()
    has_reported = is_away = False
    while not _is_abandoned(POLL_SECONDS):
        if (message := server.scarcity_message()) is not None:
            _report(message)
        if server.refuses_changes != has_reported:
            has_reported = server.refuses_changes
            _report(server.disk_message())
        if server.is_running:
            if is_away and server.is_ready:
                is_away = False
                _report("The embedded Valkey answers again")
            server.check_disk()
            continue
        if server.process is not None:
            _report(server.end_message())
            is_away = True
            if server.failed_to_write:
                server.disk.assume_full()
            server.process = None
        pause = min(2 * pause + 0.1, MAX_PAUSE_SECONDS)
        if time.monotonic() - started > 2 * MAX_PAUSE_SECONDS:
            pause = 0.0
        if _is_abandoned(pause):
            break
        with contextlib.suppress(SupervisorError):
            server.start()
        started = time.monotonic()
    server.stop()


def _is_abandoned(seconds: float) -> bool:
    """Wait for at most so long. Return whether all processes of the service have ended."""
    readable, _, _ = select.select([0], [], [], seconds)
    return bool(readable) and os.read(0, 1) == b""


def _why_not_started(server: Server) -> str:
    if server.refuses_changes:
        return (
            f"Valkey did not start, as the disk of {server.directory} is full: free at least "
            f"{ENOUGH_BYTES // MIB} MiB there, or set DATA_DIR to another disk"
        )
    return f"Valkey did not start: {server.last_log_message()} (see {server.directory / LOG})"


def _report(line: str) -> None:
    # The service may have ended, or not have read for so long that the pipe is full.
    with contextlib.suppress(OSError):
        os.write(1, line.encode(errors="replace") + b"\n")


def _ask(address: str, command: bytes) -> bytes:
    """Return the first bytes of Valkey's answer, none if it closes the connection instead."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(REPLY_SECONDS)
        connection.connect(address)
        connection.sendall(command + b"\r\n")
        return connection.recv(1024)


def _lock_file(path: Path) -> IO[bytes]:
    try:
        return path.open("ab")
    except OSError as error:
        raise SupervisorError(f"cannot write to {path}: {error.strerror}") from None


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def note_pid(lock: IO[Any]) -> None:
    """Write this process's id into its lock file for the operator, unless the disk is full."""
    with contextlib.suppress(OSError):
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), b"%d\n" % os.getpid())


def _append_only_file(directory: Path) -> Path | None:
    """Return the file that Valkey appends to, the one with the highest number, if any."""
    files = (directory / "appendonlydir").glob("appendonly.aof.*.incr.aof")
    return max(files, key=lambda file: (len(file.name), file.name), default=None)


def _allocate_behind(file: Path, size: int) -> None:
    """Allocate room behind the end of a file without making it longer. Raises OSError."""
    allocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if allocate is None:
        return
    allocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    with file.open("ab") as opened:
        if allocate(opened.fileno(), FALLOC_FL_KEEP_SIZE, size, RESERVED_BYTES) != 0:
            raise OSError(ctypes.get_errno(), "cannot reserve room")


def _acquire(
    file: IO[bytes],
    lock: Callable[[IO[bytes], int], Any],
    seconds: float,
    too_late: str,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Wait for a lock, calling `meanwhile` until it is free.

    Raises:
        SupervisorError: not free in time (with the message `too_late`), or the service has ended.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except (BlockingIOError, PermissionError):
            meanwhile()
        if time.monotonic() > deadline:
            raise SupervisorError(too_late)
        if _is_abandoned(POLL_SECONDS):
            raise SupervisorError("the service has ended")


def _trim(log: Path) -> None:
    """Remove the log if it has grown large: Valkey does not rotate it."""
    with contextlib.suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.unlink()


def main(arguments: list[str]) -> int:
    """Run as `valkey_supervisor.py BINARY DIRECTORY SOCKET APPEND_FSYNC`, with a pipe as input."""
    # Only the end of the pipe ends the supervisor: a signal to the whole service (from a terminal
    # that closes, or a service manager) must not stop the store before the workers. The handler is
    # not SIG_IGN, which the server would inherit.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda _number, _frame: None)
    os.umask(0o077)
    # Do not wait for a service that has ended or is busy, and does not read.
    os.set_blocking(1, False)
    binary, directory, address, append_fsync = arguments
    try:
        with _lock_file(Path(directory, SUPERVISOR_LOCK)) as lock:
            # The supervisor of a service that was killed ends with that service's workers.
            too_late = f"processes of an earlier ludotheque serve still use {directory}"
            _acquire(lock, fcntl.lockf, PREDECESSOR_SECONDS, too_late)
            note_pid(lock)
            supervise(Server(binary, Path(directory), address, append_fsync))
    except SupervisorError as error:
        _report(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
