"""Heads of requests have a bound, and cost about the same however they arrive.

The head of an answer is sent together with its body.
"""

import contextlib
import json
import math
import socket
import time
from collections.abc import Callable

import pytest
from gunicorn.http.errors import LimitRequestHeaders

from api.server import request_reader
from api.server.request_reader import END, MAX_HEAD_BYTES, RequestReader
from api.server.unread_bodies import DISCARD_SECONDS, DISCARDED_BYTES
from tests.support.raw_http import connect
from tests.support.service import Service

HEAD = b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 3000 + b"\r\n\r\n"


class Pieces:
    """A socket on which these pieces arrive, one each time that somebody reads."""

    def __init__(self, *pieces: bytes) -> None:
        self.left = list(pieces)

    def recv(self, size: int) -> bytes:
        return self.left.pop(0) if self.left else b""


class Sent:
    """A socket that takes so many bytes at once, and records what it is told to do."""

    def __init__(self, at_once: int = 1000) -> None:
        self.at_once = at_once
        self.seen: list[bytes | str] = []

    def send(self, data: bytes) -> int:
        self.seen.append(bytes(data[: self.at_once]))
        return min(len(data), self.at_once)

    def sendall(self, data: bytes) -> None:
        self.seen.append(bytes(data))

    def shutdown(self, how: int) -> None:
        self.seen.append("shutdown")

    def close(self) -> None:
        self.seen.append("close")


def answering(client: Sent) -> RequestReader:
    reader = RequestReader(client)
    reader.begin_head(30)
    reader.end_head()
    return reader


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def reader_of(*pieces: bytes) -> RequestReader:
    reader = RequestReader(Pieces(*pieces))
    reader.begin_head(30)
    return reader


def read_all(reader: RequestReader) -> None:
    while reader.recv(8192):
        pass


def portions(reader: RequestReader, end: bytes) -> list[bytes]:
    """What the parser is given until it has the head."""
    given: list[bytes] = []
    while end not in b"".join(given):
        given.append(reader.recv(8192))
        assert given[-1]
    return given


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that a reader makes, which nobody waits for."""
    pauses: list[float] = []
    monkeypatch.setattr(request_reader.gevent, "sleep", pauses.append)
    return pauses


def test_a_head_in_tiny_pieces_is_given_to_the_parser_in_few_portions() -> None:
    given = portions(reader_of(*in_pieces(HEAD, 3)), b"\r\n\r\n")
    assert b"".join(given) == HEAD
    assert len(given) <= math.log2(len(HEAD)) + len(END)
    # So each byte is looked at about twice.
    scanned = sum(sum(map(len, given[: count + 1])) for count in range(len(given)))
    assert scanned < 4 * len(HEAD)


@pytest.mark.parametrize("split", range(len(HEAD) - 8, len(HEAD)))
def test_the_end_of_a_head_is_seen_wherever_it_is_split(split: int) -> None:
    reader = reader_of(HEAD[:2000], HEAD[2000:split], HEAD[split:], b"body")
    assert b"".join(portions(reader, b"\r\n\r\n")) == HEAD
    reader.end_head()
    assert reader.recv(8192) == b"body"


def test_the_first_bytes_are_given_at_once_as_the_parser_may_hold_the_rest_of_the_head() -> None:
    # The parser has read all but the last three bytes of this head along with the one before.
    reader = reader_of(b"\n", b"\r", b"\n")
    assert [reader.recv(8192) for _ in range(3)] == [b"\n", b"\r", b"\n"]


def test_a_first_line_that_is_wrong_is_given_at_once() -> None:
    assert reader_of(b"hello\r\n").recv(8192) == b"hello\r\n"


def test_a_client_that_stops_in_the_middle_of_a_head_is_seen_to_stop() -> None:
    reader = reader_of(b"GET / HTTP/1.1\r\n", b"Host")
    assert reader.recv(8192) == b"GET / HTTP/1.1\r\n"
    assert reader.recv(8192) == b"Host"
    assert reader.recv(8192) == b""


@pytest.mark.parametrize("size", [10, 1000, 8192, MAX_HEAD_BYTES + 1])
def test_a_head_is_refused_as_soon_as_it_is_too_large(size: int) -> None:
    source = Pieces(*in_pieces(b"a" * 10 * MAX_HEAD_BYTES, size))
    reader = RequestReader(source)
    reader.begin_head(30)
    with pytest.raises(LimitRequestHeaders):
        read_all(reader)
    assert sum(map(len, source.left)) >= 9 * MAX_HEAD_BYTES - size


def test_the_body_does_not_count_and_the_next_head_counts_anew() -> None:
    head = HEAD[:-4] + b"b" * (MAX_HEAD_BYTES - len(HEAD)) + b"\r\n\r\n"
    assert len(head) == MAX_HEAD_BYTES
    for _ in range(2):
        reader = reader_of(head + b"c" * MAX_HEAD_BYTES)
        assert reader.recv(8192).startswith(head)
        reader.end_head()
    with pytest.raises(LimitRequestHeaders):
        reader_of(b"b" + head).recv(8192)


def test_pieces_that_are_as_large_as_may_be_are_read_without_long_pauses(
    no_pauses: list[float],
) -> None:
    reader = RequestReader(Pieces(*in_pieces(b"a" * 10 * 8192, 8192)))
    read_all(reader)
    assert no_pauses == [0.001] * 10


def test_the_smaller_the_pieces_the_longer_the_pauses_between_them(no_pauses: list[float]) -> None:
    reader = reader_of(*in_pieces(HEAD, 10))
    assert not no_pauses
    portions(reader, b"\r\n\r\n")
    assert no_pauses[:3] == [0.001, 0.002, 0.004]
    assert max(no_pauses) == no_pauses[-1] == 0.05
    no_pauses.clear()
    reader.end_head()
    reader.recv(8192)
    assert not no_pauses


# --- Over a connection ------------------------------------------------------------------------


def answer_to(service: Service, *pieces: bytes, pause: float = 0.0) -> tuple[int, bytes]:
    """The status and the body of the answer to what is sent in these pieces."""
    with connect(service.port) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # What is sent after an answer may meet a connection that is closed.
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def head_of(size: int) -> bytes:
    """A head of so many bytes, in fields each of which is small enough."""
    start, end = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", b"\r\n"
    left = size - len(start) - len(end)
    fields = b"".join(b"X-%02d: %s\r\n" % (number, b"a" * 990) for number in range(left // 1000))
    return start + fields + b"X: %s\r\n" % (b"a" * (left - len(fields) - 5)) + end


def test_a_head_of_32_kilobytes_is_read_and_a_larger_one_is_431(service: Service) -> None:
    assert len(head_of(MAX_HEAD_BYTES)) == MAX_HEAD_BYTES
    assert answer_to(service, head_of(MAX_HEAD_BYTES))[0] == 200
    status, body = answer_to(service, head_of(MAX_HEAD_BYTES + 1))
    assert status == 431
    assert json.loads(body)["code"] == "headers_too_large"


def test_a_head_that_never_ends_is_431_as_soon_as_it_is_too_large(service: Service) -> None:
    endless = head_of(MAX_HEAD_BYTES + 1000)[:-2]
    assert answer_to(service, *in_pieces(endless, 500), pause=0.001)[0] == 431


def test_a_head_in_drips_is_answered(service: Service) -> None:
    assert answer_to(service, *in_pieces(head_of(200), 10), pause=0.01)[0] == 200


def test_a_body_that_nobody_reads_is_drained_a_little_and_then_the_connection_ends(
    service: Service,
) -> None:
    def sent(length: int) -> bytes:
        head = b"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length
        return head + b"a" * length

    with connect(service.port) as connection:
        connection.sendall(sent(1000) + sent(DISCARDED_BYTES) + sent(1 << 20))
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    # All three are answered, the last one says that the connection closes, and then it does.
    assert received.count(b"HTTP/1.1 200 OK") == 3
    assert received.lower().count(b"connection: keep-alive") == 2
    assert received.lower().count(b"connection: close") == 1


def test_a_pipelined_request_is_answered_however_its_end_is_split(service: Service) -> None:
    request = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for held in range(1, len(END) + 1):
        first = request + last[: len(last) - held]
        status, body = answer_to(service, first, *in_pieces(last[-held:], 1), pause=0.02)
        assert status == 200
        assert body.count(b"HTTP/1.1 200 OK") == 1, held


def test_the_head_of_an_answer_is_sent_with_the_first_part_of_its_body() -> None:
    client = Sent()
    reader = answering(client)
    for part in (b"head", b"first", b"second"):
        reader.sendall(part)
    assert client.seen == [b"headfirst", b"second"]


def test_what_the_system_does_not_take_at_once_is_sent_too() -> None:
    client = Sent(at_once=6)
    reader = answering(client)
    for part in (b"head", b"first"):
        reader.sendall(part)
    assert client.seen == [b"headfi", b"rst"]


@pytest.mark.parametrize(
    ("end", "seen"),
    [
        (lambda reader: reader.flush(), []),
        (lambda reader: reader.begin_head(30), []),
        (lambda reader: reader.shutdown(socket.SHUT_WR), ["shutdown"]),
        (lambda reader: reader.close(), ["close"]),
    ],
)
def test_a_head_without_a_body_is_sent_when_the_answer_ends(
    end: Callable[[RequestReader], None], seen: list[str]
) -> None:
    client = Sent()
    reader = answering(client)
    reader.sendall(b"head")
    end(reader)
    assert client.seen == [b"head", *seen]


def test_the_head_of_an_answer_that_begins_later_is_sent_with_its_body_too() -> None:
    client = Sent()
    reader = answering(client)
    reader.flush()
    for part in (b"head", b"body"):
        reader.sendall(part)
    assert client.seen == [b"headbody"]


def test_each_answer_of_a_connection_waits_for_its_own_body() -> None:
    client = Sent()
    reader = RequestReader(client)
    for head in (b"1", b"2"):
        reader.begin_head(30)
        reader.end_head()
        reader.sendall(head)
        reader.sendall(b"body")
    assert client.seen == [b"1body", b"2body"]


def test_an_answer_without_a_body_is_not_kept_waiting_for_the_rest_of_the_request(
    service: Service,
) -> None:
    with connect(service.port) as client:
        began = time.monotonic()
        client.sendall(b"HEAD /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
        assert client.recv(8192).startswith(b"HTTP/1.1 200 ")
        assert time.monotonic() - began < DISCARD_SECONDS
