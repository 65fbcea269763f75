"""The command `ludotheque`: serves the API, checks it, writes its document, or copies its store.

It parses the arguments and turns each error into one line and an exit code: 0 for success or an
orderly stop, 1 if the service cannot start or is not ready, or if not everything was copied, 2 for
wrong arguments or settings, 3 if the application does not load, 130 for an interrupt while starting
or copying.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from api.config.settings import Settings, SettingsError

CANNOT_START = NOT_COPIED = 1
WRONG_USAGE = 2
INTERRUPTED = 130

OWN_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""The address at which this machine reaches a service that listens on all addresses."""

CHECK_SECONDS = 5

STANDARD_OUTPUT = 1

OUTPUT = "the file to write (default: -, standard output)"
INPUT = "the file to read (default: -, standard input)"
OVERWRITE = "replace what is stored with another content"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (by default those of the process). Return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # The service's name must not fail to print on a terminal without its letters.
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
        if chosen.command in ("export", "import", "copy"):
            return _transfer(chosen)
        return _check() if chosen.command == "check" else _serve()
    except SettingsError as error:
        return _fail(str(error), WRONG_USAGE)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _discard_what_cannot_be_written()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ludotheque", description="A REST service that stores the state of card games."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "serve",
        help="serve the API",
        description="Serve the API, by default on http://127.0.0.1:8000. All settings are "
        "environment variables: HOST, PORT, REDIS_URL, DATA_DIR, … (see /guide/operating of the "
        "service).",
    )
    commands.add_parser(
        "check",
        help="check that the service is ready",
        description="Check that the service at HOST and PORT on this machine is ready. The exit "
        "code is 0 if it is, 1 if not.",
    )
    openapi = commands.add_parser(
        "openapi",
        help="write the API document",
        description="Write the OpenAPI document of the API, in YAML.",
    )
    openapi.add_argument(
        "--output", metavar="FILE", type=Path, help="the file to write (default: standard output)"
    )
    _add_transfers(commands)
    return parser


def _add_transfers(commands: Any) -> None:
    ours = "the store of the service (REDIS_URL, or the embedded one in DATA_DIR)"
    exports = commands.add_parser(
        "export",
        help="write all games and players to a file",
        description=f"Write everything in {ours} to a file that only you can read. The service "
        "may run meanwhile.",
    )
    exports.add_argument("file", metavar="FILE", nargs="?", default="-", help=OUTPUT)
    imports = commands.add_parser(
        "import",
        help="store what `export` has written",
        description=f"Store everything in a file of `ludotheque export` in {ours}. The service "
        "must not run meanwhile. An interrupted import continues when it is repeated.",
    )
    imports.add_argument("file", metavar="FILE", nargs="?", default="-", help=INPUT)
    copies = commands.add_parser(
        "copy",
        help="copy all games and players to another store",
        description="Copy everything in one store to another one. A service may use FROM "
        "meanwhile, none TO. Each is an address as in REDIS_URL, or the data directory of an "
        "embedded store. Repeated, it copies what has changed.",
    )
    copies.add_argument("source", metavar="FROM", help="the store to read")
    copies.add_argument("target", metavar="TO", help="the store to write to")
    for each in (imports, copies):
        each.add_argument("--overwrite", action="store_true", help=OVERWRITE)
    copies.add_argument(
        "--delete", action="store_true", help="remove from TO what FROM does not have"
    )


def _transfer(chosen: argparse.Namespace) -> int:
    # As Ctrl-C does, SIGTERM removes what is not complete.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from api.server import transfer  # noqa: PLC0415 (see `_serve`)
    from api.server.valkey import EmbeddedError  # noqa: PLC0415

    settings = Settings.from_environment()
    try:
        if chosen.command == "export":
            transfer.export_file(settings, chosen.file)
        elif chosen.command == "import":
            transfer.import_file(settings, chosen.file, overwrites=chosen.overwrite)
        else:
            transfer.copy(
                settings,
                chosen.source,
                chosen.target,
                overwrites=chosen.overwrite,
                deletes=chosen.delete,
            )
    except (transfer.TransferError, EmbeddedError) as error:
        return _fail(str(error), NOT_COPIED)
    return 0


def _serve() -> int:
    # Imported here, as the other commands need neither gunicorn nor gevent.
    from api.server.run import ServeError, serve  # noqa: PLC0415
    from api.server.valkey import EmbeddedError  # noqa: PLC0415

    try:
        serve(Settings.from_environment())
    except (ServeError, EmbeddedError) as error:
        return _fail(str(error), CANNOT_START)
    return 0


def _check() -> int:
    settings = Settings.from_environment()
    host = OWN_ADDRESSES.get(settings.host, settings.host)
    connection = HTTPConnection(host, settings.port, timeout=CHECK_SECONDS)
    try:
        with contextlib.closing(connection):
            connection.request("GET", "/readyz")
            status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return _fail(f"no answer at {host} port {settings.port}: {error}", CANNOT_START)
    return 0 if status == HTTPStatus.OK else _fail(f"not ready: {status}", CANNOT_START)


def _openapi(output: Path | None) -> int:
    from api import openapi_document  # noqa: PLC0415 (it loads the whole application)

    document = openapi_document()
    try:
        # By its descriptor: what a buffer could not write would fail again at the process's end.
        with open(
            STANDARD_OUTPUT if output is None else output, "wb", closefd=output is not None
        ) as file:
            file.write(document.encode())
    except OSError as error:
        return _fail(f"cannot write {output or 'the document'}: {error.strerror}", CANNOT_START)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"ludotheque: {message}", file=sys.stderr)
    return code


def _discard_what_cannot_be_written() -> None:
    """Write what is buffered, or send it to nowhere: the process would end with exit code 120.

    A service whose log is on a full disk stops in order all the same.
    """
    # None if the process was started without one.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
