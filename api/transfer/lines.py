"""The format of an export: JSON Lines.

The first line is a `Header`, each further one a `Record`, the last one a `Trailer` with the number
of records and a checksum of all lines before it. Without it the file is incomplete. Values are
bytes, written in base64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from api.observability.redaction import LoggableError
from api.transfer.records import Record, is_valid

FORMAT = 1
"""The version of this format. A change that this release could not read raises it."""

GZIP = b"\x1f\x8b"
"""How a file begins that gzip has written."""

MAX_HEADER_BYTES = 4096
MAX_LINE_BYTES = 1 << 26
"""Much longer than the line of any game. It bounds the memory that another file takes."""


class Header(Struct, tag_field="line", tag="header"):
    """The format, the release that wrote the file, and when (ms since 1970, the store's clock)."""

    format: int
    release: str
    exported_at: int


class Trailer(Struct, tag_field="line", tag="end"):
    """The number of records, and the SHA-256 of all lines before this one."""

    records: int
    sha256: str


class WrongExport(LoggableError):
    """A file that cannot be imported. The message is a phrase after its name."""


class _AnyHeader(Struct, tag_field="line", tag="header"):
    format: int
    release: str = "an unknown release"


_encode = msgspec.json.Encoder().encode
_header_decoder = msgspec.json.Decoder(_AnyHeader)
_line_decoder: msgspec.json.Decoder[Record | Trailer] = msgspec.json.Decoder(Record | Trailer)


class Writer:
    """Writes an export to a file. Any call may raise `OSError`."""

    def __init__(self, file: BinaryIO, release: str, now: int) -> None:
        self._file = file
        self._sum = hashlib.sha256()
        self._records = 0
        self._write(Header(FORMAT, release, now))

    def write(self, record: Record) -> None:
        """Write a record."""
        self._records += 1
        self._write(record)

    def end(self) -> None:
        """Write the last line, without which the export is incomplete."""
        self._write(Trailer(self._records, self._sum.hexdigest()))
        self._file.flush()

    def _write(self, line: Any) -> None:
        text = _encode(line) + b"\n"
        self._sum.update(text)
        self._file.write(text)


def read(file: BinaryIO) -> Iterator[tuple[Record, int]]:
    """Yield the records of an export, each with the number of its bytes.

    Raises `OSError` and `WrongExport`; only after the last record is it known whether the export is
    complete.
    """
    checksum = hashlib.sha256()
    first = file.readline(MAX_HEADER_BYTES)
    if not first:
        raise WrongExport("is empty")
    _check_header(first)
    checksum.update(first)
    number = 0
    while text := file.readline(MAX_LINE_BYTES):
        line = _decode(text, number + 2)
        if isinstance(line, Trailer):
            if line.records != number or line.sha256 != checksum.hexdigest():
                raise WrongExport(
                    "is damaged: its records do not fit the checksum at its end. Export again"
                )
            if file.read(1):
                raise WrongExport("has lines after its end: import one export at a time")
            return
        checksum.update(text)
        number += 1
        yield line, len(text)
    raise WrongExport(
        f"is incomplete: it ends after {number} records, without its last line. Export again"
    )


def _check_header(text: bytes) -> None:
    if text.startswith(GZIP):
        raise WrongExport("is compressed: unpack it first, with gunzip")
    try:
        header = _header_decoder.decode(text)
    except msgspec.MsgspecError:
        raise WrongExport("is no export of Ludothèque: its first line is no header") from None
    if header.format != FORMAT:
        raise WrongExport(
            f"has format {header.format}, written by release {header.release}; this release reads "
            f"format {FORMAT}. Import it with that release"
        )


def _decode(text: bytes, number: int) -> Record | Trailer:
    try:
        line = _line_decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # A last line without its end was cut off.
        if not text.endswith(b"\n"):
            raise WrongExport(
                f"is incomplete: it ends within line {number}. Export again"
            ) from None
        raise WrongExport(f"is damaged: line {number} cannot be read. Export again") from None
    if isinstance(line, Record) and not is_valid(line):
        raise WrongExport(f"is damaged: line {number} is no record. Export again")
    return line
