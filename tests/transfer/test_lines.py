"""The format of export files: what is written is read again, and nothing else is taken for it."""

import gzip
import io
import json
from typing import Any

import pytest

from api.transfer import lines
from api.transfer.records import NEVER, Record, StoredKey

GAME = Record(
    [
        StoredKey("game:{a}", "hash", 1_900_000_000_000, [b"commit", b"\x00\xff", b"game", b"{}"]),
        StoredKey("game:{a}:items", "list", 1_900_000_000_000, [b"1", b""]),
    ]
)
PLAYER = Record([StoredKey("player:{b}", "hash", NEVER, [b"name", "Zoë".encode()])])
CREATION = Record([StoredKey("creation:{b}:a\n{key}", "string", 5, [b"{}"])])
RECORDS = [GAME, PLAYER, CREATION]


def written(*records: Record) -> bytes:
    file = io.BytesIO()
    writer = lines.Writer(file, "0.2.0", 1_700_000_000_000)
    for each in records:
        writer.write(each)
    writer.end()
    return file.getvalue()


def read(text: bytes) -> list[Record]:
    return [record for record, _ in lines.read(io.BytesIO(text))]


def why_not(text: bytes) -> str:
    with pytest.raises(lines.WrongExport) as refused:
        read(text)
    return str(refused.value)


def changed(text: bytes, number: int, **members: Any) -> bytes:
    """Return an export with other members in a line, by its number."""
    parts = text.splitlines(keepends=True)
    parts[number] = json.dumps(json.loads(parts[number]) | members).encode() + b"\n"
    return b"".join(parts)


def test_what_is_written_is_read_again() -> None:
    assert read(written(*RECORDS)) == RECORDS
    assert read(written()) == []


def test_every_line_is_json_and_says_what_it_is() -> None:
    kinds = [json.loads(line)["line"] for line in written(*RECORDS).splitlines()]
    assert kinds == ["header", "record", "record", "record", "end"]


def test_the_bytes_of_the_records_add_up_to_those_between_the_first_and_the_last_line() -> None:
    text = written(*RECORDS)
    first, *between, last = text.splitlines(keepends=True)
    assert sum(size for _, size in lines.read(io.BytesIO(text))) == sum(map(len, between))
    assert len(first) + sum(map(len, between)) + len(last) == len(text)


def test_a_file_that_is_cut_off_anywhere_is_refused() -> None:
    text = written(*RECORDS)
    # Without the end of its last line, it is complete all the same.
    assert read(text[:-1]) == RECORDS
    for length in range(len(text) - 1):
        assert why_not(text[:length])
    assert why_not(b"") == "is empty"
    whole_lines = b"".join(text.splitlines(keepends=True)[:3])
    assert why_not(whole_lines) == (
        "is incomplete: it ends after 2 records, without its last line. Export again"
    )
    assert why_not(whole_lines[:-5]) == ("is incomplete: it ends within line 3. Export again")


def test_a_file_of_a_later_format_is_refused_with_the_release_that_reads_it() -> None:
    assert why_not(changed(written(*RECORDS), 0, format=2, release="0.9.0", more=[])) == (
        "has format 2, written by release 0.9.0; this release reads format 1. Import it with that "
        "release"
    )


@pytest.mark.parametrize("text", [b"hello\n", b"{}\n", b"[]\n", b"x" * 10_000])
def test_another_file_is_no_export(text: bytes) -> None:
    assert why_not(text) == "is no export of Ludothèque: its first line is no header"


def test_a_compressed_file_is_refused_with_what_to_do() -> None:
    assert why_not(gzip.compress(written(*RECORDS))) == (
        "is compressed: unpack it first, with gunzip"
    )


def test_a_record_that_is_missing_repeated_or_changed_is_noticed() -> None:
    first, *records, last = written(*RECORDS).splitlines(keepends=True)
    damaged = "is damaged: its records do not fit the checksum at its end. Export again"
    for others in (records[1:], [*records, records[0]], records[::-1]):
        assert why_not(b"".join([first, *others, last])) == damaged
    assert why_not(written(GAME).replace(b'"1"', b'"2"').replace(b"MQ==", b"Mg==")) == damaged


def test_lines_after_the_end_are_refused() -> None:
    text = written(*RECORDS)
    assert why_not(text + text) == "has lines after its end: import one export at a time"


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [StoredKey("session:1", "string", NEVER, [b"x"])],
        [StoredKey("limit:{a}:x:1:1", "string", NEVER, [b"1"])],
        [StoredKey("index:{a}:open", "string", NEVER, [b"1"])],
        [StoredKey("game:{a}:items", "list", NEVER, [b"1"])],
        [*GAME.keys, StoredKey("game:{b}:items", "list", NEVER, [b"1"])],
        [*GAME.keys, GAME.keys[0]],
        [StoredKey("player:{a}", "hash", NEVER, [b"name"])],
        [StoredKey("player:{a}", "hash", NEVER, [])],
        [StoredKey("player:{a}", "zset", NEVER, [b"1", b"2"])],
        [StoredKey("ticket:{a}", "string", NEVER, [b"1", b"2"])],
        [StoredKey("ticket:{a}", "string", -5, [b"1"])],
    ],
)
def test_what_no_store_can_have_is_not_imported(keys: list[StoredKey]) -> None:
    assert why_not(written(Record(keys))) == ("is damaged: line 2 is no record. Export again")
