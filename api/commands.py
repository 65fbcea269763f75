"""The console command `ludotheque`: serves, or writes the API document.

It reads the arguments, turns what can go wrong into one line and an exit code, and leaves the
work to `api.server` and the application. Exit codes: 0 done or stopped in order, 1 cannot
start, 2 wrong arguments or settings, 3 the application does not load, 130 interrupted while
starting.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from api.settings import Settings, SettingsError

CANNOT_START = 1
WRONG_USAGE = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (by default the process's own); returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without the letters of our name must not be a reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return WRONG_USAGE
    try:
        if chosen.command == "openapi":
            return _openapi(chosen.output)
        return _serve()
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ludotheque", description="Card games over HTTP.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "serve",
        help="serve the API",
        description="Serve the API, by default on http://127.0.0.1:8000. All settings are "
        "environment variables: HOST, PORT, REDIS_URL, DATA_DIR, … (see the README).",
    )
    openapi = commands.add_parser(
        "openapi",
        help="write the API document",
        description="Write the OpenAPI document of the API, in YAML.",
    )
    openapi.add_argument(
        "--output", metavar="FILE", type=Path, help="where to; by default standard output"
    )
    return parser


def _serve() -> int:
    # Imported here since the API document needs neither gunicorn nor gevent.
    from api.server import ServeError, serve  # noqa: PLC0415

    try:
        serve(Settings.from_environment())
    except SettingsError as error:
        return _fail(str(error), WRONG_USAGE)
    except ServeError as error:
        return _fail(str(error), CANNOT_START)
    return 0


def _openapi(output: Path | None) -> int:
    from api import openapi_document  # noqa: PLC0415 (it makes the whole application)

    document = openapi_document()
    if output is None:
        sys.stdout.buffer.write(document.encode())
        return 0
    try:
        output.write_text(document, encoding="utf-8")
    except OSError as error:
        return _fail(f"cannot write {output}: {error.strerror}", CANNOT_START)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"ludotheque: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
