"""The console command `ludotheque`: serves, asks whether it does, or writes the API document.

It reads the arguments, turns what can go wrong into one line and an exit code, and leaves the work
to `api.server.run` and the application. Exit codes: 0 done, ready, or stopped in order, 1 cannot
start or not ready, 2 wrong arguments or settings, 3 the application does not load, 130 interrupted
while starting.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from api.config.settings import Settings, SettingsError

CANNOT_START = 1
WRONG_USAGE = 2
INTERRUPTED = 130

OWN_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where a service that listens on all addresses is reached from its own machine."""

CHECK_SECONDS = 5


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
        return _check() if chosen.command == "check" else _serve()
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
    commands.add_parser(
        "check",
        help="ask whether the service is ready",
        description="Ask the service that runs on this machine, at HOST and PORT, whether it is "
        "ready: exit code 0 if it is, 1 if not.",
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
    from api.server.run import ServeError, serve  # noqa: PLC0415

    try:
        serve(Settings.from_environment())
    except SettingsError as error:
        return _fail(str(error), WRONG_USAGE)
    except ServeError as error:
        return _fail(str(error), CANNOT_START)
    return 0


def _check() -> int:
    try:
        settings = Settings.from_environment()
    except SettingsError as error:
        return _fail(str(error), WRONG_USAGE)
    host = OWN_ADDRESSES.get(settings.host, settings.host)
    connection = HTTPConnection(host, settings.port, timeout=CHECK_SECONDS)
    try:
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return _fail(f"no answer at {host} port {settings.port}: {error}", CANNOT_START)
    finally:
        connection.close()
    return 0 if status == HTTPStatus.OK else _fail(f"not ready: {status}", CANNOT_START)


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
