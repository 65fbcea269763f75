"""The keeper: the process that keeps the embedded Valkey running, and ends it when it is time.

It is the parent of valkey-server and does nothing else: it starts it, starts it again if it
dies, and ends it in an orderly way once its own standard input closes. Every process of the
service holds the other end of that pipe, so the end comes when the service and all its workers
are gone, however they went. `api.embedded` starts this file as a script, in a session of its
own; it imports nothing but the standard library, so that it is small and starts at once.

On its standard output it says "ready", or in one line why there will be no server.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

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


class KeeperError(Exception):
    """There will be no server. The message is one line for the person who started the service."""


class Server:
    """One valkey-server on one directory, answering on one socket."""

    def __init__(self, binary: str, directory: Path, address: str, append_fsync: str) -> None:
        self.directory = directory
        self.address = address
        self.command = [
            binary,
            *("--port", "0"),
            *("--unixsocket", address),
            *("--unixsocketperm", "700"),
            *("--dir", str(directory)),
            *("--appendonly", "yes"),
            *("--appendfsync", append_fsync),
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
        try:
            self.process = subprocess.Popen(
                self.command,
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
            return _ask(self.address, b"PING").startswith(b"+PONG")
        except OSError:
            return False

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
            raise KeeperError(
                f"Valkey did not start: {server.last_words()} (see {server.directory / LOG})"
            )
    _say("ready")

    pause = 0.0
    started = time.monotonic()
    while not _abandoned(POLL_SECONDS):
        if server.running:
            continue
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


def _say(line: str) -> None:
    # Whoever listened may be gone already.
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
    return path.open("ab")


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
    binary, directory, address, append_fsync = arguments
    with _lock_file(Path(directory, KEEPER_LOCK)) as lock:
        try:
            # An earlier keeper whose service has gone ends by itself.
            fcntl.lockf(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write(b"%d\n" % os.getpid())
            lock.flush()
            keep(Server(binary, Path(directory), address, append_fsync))
        except KeeperError as error:
            _say(str(error))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
