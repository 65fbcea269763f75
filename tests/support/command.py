"""The command `ludotheque`, run to its end: in a process of its own, or in that of the test."""

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

from api.server import cli
from tests.support.paths import ROOT
from tests.support.service import clean_environment

COMMAND = (sys.executable, "-P", "-m", "api.server.cli")


def command_environment(**settings: str | Path) -> dict[str, str]:
    given = {name: str(value) for name, value in settings.items()}
    return clean_environment() | {"PYTHONPATH": str(ROOT)} | given


def ludotheque(*arguments: str | Path, code: int = 0, **settings: str | Path) -> str:
    """Run the command in this process; return what it writes to standard error.

    Its exit code must be `code`.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with (
            mock.patch.dict(os.environ, command_environment(**settings), clear=True),
            contextlib.redirect_stderr(io.StringIO()) as errors,
        ):
            ended = cli.main([*map(str, arguments)])
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert ended == code, errors.getvalue()
    return errors.getvalue()


def ludotheque_process(
    *arguments: str | Path, given: bytes = b"", code: int = 0, **settings: str | Path
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process with `given` as its input. Its exit code must be `code`."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=given,
        env=command_environment(**settings),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr.decode()
    return done
