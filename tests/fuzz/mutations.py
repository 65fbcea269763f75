"""Mutations of a valid request: of its JSON, bytes, query, headers, path and method.

The generator that is passed in makes all choices, so the same seed makes the same mutation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.fuzz.world import Attacked, Request

Spoil = Callable[[Request, random.Random], None]


@dataclass(frozen=True)
class Raw:
    """Text to put into JSON unchanged, valid or not."""

    text: str


NUMBERS: list[Any] = [
    *(0, -1, 1, 2, 7, 10**6, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**300),
    *(1.5, -0.0, 1.0, 1e300, Raw("1e999"), Raw("-1e999"), Raw("1E+2"), Raw("01"), Raw("9" * 5000)),
    *(Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("+1"), Raw("0x10"), Raw(".5"), Raw("1.")),
]
TEXTS: list[Any] = [
    *("", " ", "x", "\x00", "a\x00b", "\n", "red-7", "RED-7", "null", "1", "true", "../..", "%00"),
    *(
        "x" * 41,
        "x" * 5000,
        "\u202e",
        "\u200b",
        "é",
        "e\u0301",
        "😀",
        "\ufeff",
        "\uffff",
        "__proto__",
    ),
    *(Raw(r'"\ud800"'), Raw(r'"\udc00\ud800"'), Raw(r'"\u0000"'), Raw(r'"\x"'), Raw("'x'")),
    *(Raw('"\t"'), Raw('"'), "' OR 1=1 --", "{{7*7}}", "${jndi:ldap://x}", "0" * 32, "f" * 64),
]
OTHERS: list[Any] = [
    *(None, True, False, [], {}, [[]], [None], {"": None}, {"type": "play"}, {"type": ["play"]}),
    *([0] * 50, ["red-7"] * 300, {str(n): n for n in range(300)}, Raw("undefined"), Raw("")),
    *(Raw("[" * 60 + "]" * 60), Raw('{"a":' * 60 + "1" + "}" * 60), Raw("[1,]"), Raw("{,}")),
]
JUNK = [*NUMBERS, *TEXTS, *OTHERS]

BODIES = [
    *(
        b"",
        b" ",
        b"\x00",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"null",
        b"true",
        b"0",
        b'""',
        b"[]",
        b"{}",
    ),
    *(b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b"{}{}"),
    *(b"[" * 100_000, b'{"a":' * 20_000, b"[" * 5_000 + b"]" * 5_000, b"9" * 10_000, b"-", b"nul"),
    *(b'{"a": 1, "a": 2}', b"{'a': 1}", b'{"a": 1} // x', b"a=1&b=2", b"<a/>", b"--x\r\n\r\n--x--"),
    *(b" " * 70_000, b'"' + b"x" * 70_000 + b'"', b'"' + b"x" * 300_000 + b'"', bytes(range(256))),
]

METHODS = [
    *("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY"),
    *("get", "Post", "PROPFIND", "X" * 30, "G-T"),
]
RAW_METHODS = [*METHODS, "", " ", "G T", "GÉT", "\x00", "GET\x00", "X" * 300, "*", "{}"]

STEPS = [
    *("", ".", "..", "%2e%2e", "%00", "%ff", "%2F", "%", "%zz", "%u0041", "~", "*", ";", "a;b=c"),
    *("x" * 100, "x" * 3000, "0" * 32, "F" * 32, "é", "%F0%9F%98%80", "me", "seats", "moves", "+"),
    *("'", '"', "<", "\\", "|", "{game_id}", "null", "-1", "1e9", "%0d%0aX:1", "@", ":", "."),
]
RAW_STEPS = [*STEPS, " ", "\x00", "\x7f", "\u00ff", "\t", "#a", "\x01" * 3]
TARGETS = [
    *("*", "", "//", "///v1", "http://x/livez", "http://[::1", "x", "?", "/?", "/#", "/v1/games?"),
    *("/%", "/" + "a/" * 4000, "/" * 3000, "/v1/../livez", "/livez/", "/livez;x", "/LIVEZ", "/v1"),
    *("http://", "://", "/v1/games/" + "9" * 9000, "\x00", "/\xff", "/%c0%af", "/a b"),
]

QUERY_VALUES = [
    *(
        "",
        "0",
        "-1",
        "1",
        "1.0",
        "1e3",
        "٣",
        "１",
        "x",
        "true",
        "TRUE",
        "false",
        "null",
        "[]",
        "NaN",
    ),
    *("9" * 16, "9" * 17, "9" * 5000, "%00", "%ff", "%", "%zz", "+1", " 1", "1,2", "\u202e", "0x1"),
    *("playing", "open", "gone", "parade", "1-" + "0" * 32, "0.", "1.AAAA", "x" * 3000, "&", "="),
]
QUERY_NAMES = ["since", "limit", "status", "cursor", "previews", "ticket", "ruleset", "seat", "a[]"]

AUTHORIZATIONS = [
    *("", "Bearer", "Bearer ", "bearer x", "Basic Og==", "Bearer " + "0" * 32 + "." + "A" * 43),
    *("Bearer \x01", "Bearer é", "Bearer " + "x" * 5000, "Token x", "Bearer a b", "Bearer ..", "."),
    *(", ,", 'Digest username="x"', "Bearer " + "0" * 32 + ".", "Bearer null", "Negotiate " * 20),
]
CONTENT_TYPES = [
    *("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application"),
    *("multipart/form-data; boundary=x", "application/json; charset=utf-16", "application/json;;="),
    *("application/problem+json", "application/json, text/plain", "APPLICATION/JSON", "*/*", "/"),
    *("application/json; charset=\xff", "application/vnd.api+json", "application/json\t", '"'),
]
HEADERS = [
    *(("If-Match", value) for value in ("", "*", '"', 'W/""', "x" * 3000, '"a", "b"', "\xff", ",")),
    *(("If-None-Match", value) for value in ("", '"', 'W/"', "x" * 3000, "\xff", ",,,", "'a'")),
    *(("If-Modified-Since", value) for value in ("x", "Thu, 01 Jan 1970 00:00:00 GMT")),
    *(("Prefer", value) for value in ("wait", "wait=", "wait=-1", "wait=x", "wait=0;", ";=,\xff")),
    *(("Last-Event-ID", value) for value in ("", "-1", "x", "9" * 40, "1.5", "\xff", "\u00b2")),
    *(("Idempotency-Key", value) for value in ("", " ", "x" * 100, "x" * 101, "\xe9", "\t")),
    *(
        ("Accept-Language", value)
        for value in ("fr", "*", "x;q=y", "en;q=2", ",,", "\xff", "a" * 900)
    ),
    *(("X-Request-ID", value) for value in ("", "x" * 3000, "a b", "\xff", 'a"b', "${x}")),
    *(("Accept", value) for value in ("text/html", "*/*;q=0", "x", "application/xml", "\xff")),
    *(("Accept-Encoding", value) for value in ("identity;q=0", "gzip, br", "x", "*;q=0")),
    *(("Range", value) for value in ("bytes=0-0", "bytes=9-1", "x", "bytes=-" + "9" * 99)),
    *(("Cookie", value) for value in ("a=b", "=", ";" * 99, "\xff", "session=" + "x" * 2000)),
    *(("Origin", value) for value in ("null", "https://cards.example", "", "\xff", "x" * 2000)),
    *(("Access-Control-Request-Method", value) for value in ("GET", "", "\xff")),
    *(("X-Forwarded-For", "::1, x"), ("X-Forwarded-Proto", "gopher"), ("Forwarded", "for=\xff;")),
    *(("X-HTTP-Method-Override", "DELETE"), ("X-Forwarded-Host", "a\\b"), ("Host", "a b")),
    *(("Content-Encoding", "gzip"), ("Date", "x"), ("Max-Forwards", "x"), ("Via", "\xff" * 99)),
]
# Client libraries refuse to send these.
RAW_HEADERS = [
    *HEADERS,
    *(("Host", value) for value in ("", "x" * 300, "a:b:c", "\x00", "[", "a/b", "evil, other")),
    *(("Content-Length", value) for value in ("", "-1", "x", "1.0", "+1", "9" * 30, "0x1", "1, 1")),
    *(("Transfer-Encoding", value) for value in ("chunked", "x", "gzip", "chunked, chunked", "")),
    *(("Transfer-Encoding", "identity"), ("TE", "trailers"), ("Trailer", "Authorization")),
    *(("Expect", value) for value in ("100-continue", "x", "", "200-ok")),
    *(("Connection", value) for value in ("upgrade", "x", "keep-alive, close", "\x00")),
    *(("Upgrade", "websocket"), ("Upgrade", "h2c"), ("HTTP2-Settings", "x"), ("", "x"), (" ", "")),
    *(
        ("Bad Name", "x"),
        ("Bad\x00", "x"),
        ("Bad(", "x"),
        ("É", "x"),
        ("X", "a\r\n b"),
        ("X", "\x00"),
    ),
    *(
        ("X", "a\nY: b"),
        ("X", "a\rb"),
        ("X", "y" * 9000),
        ("X" * 9000, "y"),
        ("X_Y", "z"),
        (":a", "b"),
    ),
]


# --- JSON --------------------------------------------------------------------------------------


def encode(value: Any) -> str:
    """Return a value as JSON, with `Raw` text unchanged."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{encode(name)}:{encode(each)}" for name, each in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(encode, value)) + "]"
    return json.dumps(value)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value in a JSON value, itself included."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from places(each, (*path, index))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    for step in path:
        value = value[step]
    return value


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return the value with another one at a path. The rest is shared."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def without(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the value without the part at a path."""
    if not path:
        return {}
    *above, last = path
    kept = at(value, tuple(above))
    kept = (
        {name: each for name, each in kept.items() if name != last}
        if isinstance(kept, dict)
        else [each for index, each in enumerate(kept) if index != last]
    )
    return replaced(value, tuple(above), kept)


def somewhere(value: Any, rng: random.Random) -> tuple[Any, ...]:
    """Return a random path in a value, as often near the top as deep down."""
    path: tuple[Any, ...] = ()
    while rng.random() < 0.75:
        here = at(value, path)
        if isinstance(here, dict) and here:
            path = (*path, rng.choice(list(here)))
        elif isinstance(here, list) and here:
            path = (*path, rng.randrange(len(here)))
        else:
            break
    return path


def replace_a_value(request: Request, rng: random.Random) -> None:
    request.body = replaced(request.body, somewhere(request.body, rng), rng.choice(JUNK))


def remove_a_value(request: Request, rng: random.Random) -> None:
    request.body = without(request.body, somewhere(request.body, rng))


def swap_two_values(request: Request, rng: random.Random) -> None:
    one, other = (somewhere(request.body, rng) for _ in range(2))
    request.body = replaced(request.body, one, at(request.body, other))


def add_a_member(request: Request, rng: random.Random) -> None:
    path = somewhere(request.body, rng)
    here = at(request.body, path)
    if isinstance(here, dict):
        name = rng.choice([*here, "", "a~/b", "\x00", "__class__", "type", Raw(r'"\ud800"')])
        pairs = [*here.items(), (name, rng.choice(JUNK))]
        # An existing name then occurs twice.
        text = ",".join(f"{encode(key)}:{encode(value)}" for key, value in pairs)
        request.body = replaced(request.body, path, Raw("{" + text + "}"))
    elif isinstance(here, list):
        request.body = replaced(request.body, path, [*here, rng.choice(JUNK)])


def nest_a_value(request: Request, rng: random.Random) -> None:
    path = somewhere(request.body, rng)
    depth = rng.choice([1, 2, 50, 900, 5000])
    inner = encode(at(request.body, path))
    new = rng.choice(
        [Raw("[" * depth + inner + "]" * depth), Raw('{"a":' * depth + inner + "}" * depth)]
    )
    request.body = replaced(request.body, path, new)


def spoil_the_text(request: Request, rng: random.Random) -> None:
    """Cut a text, or change some of its bytes."""
    text = bytearray(encode(request.body).encode("utf-8", "surrogatepass"))
    if rng.random() < 0.3:
        request.body = bytes(text[: rng.randrange(len(text) + 1)])
        return
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(text) + 1)
        text[place : place + rng.randrange(2)] = rng.choice(
            [b"\x00", b"\xff", b'"', b",", b"}", b"\\"]
        )
    request.body = bytes(text)


def replace_the_body(request: Request, rng: random.Random) -> None:
    request.body = rng.choice(BODIES)


# --- The rest ----------------------------------------------------------------------------------


def spoil_the_query(request: Request, rng: random.Random) -> None:
    match rng.randrange(3):
        case 0 if request.query:
            place = rng.randrange(len(request.query))
            name = request.query[place][0]
            # A valid wait would delay the run.
            values = [
                each for each in QUERY_VALUES if name != "wait" or not each.strip("+ ").isdigit()
            ]
            request.query[place] = name, rng.choice(values)
        case 1:
            request.query.append((rng.choice(QUERY_NAMES), rng.choice(QUERY_VALUES)))
        case _ if request.query:
            request.query.append(rng.choice(request.query))
        case _:
            request.query.append((rng.choice(["", "wait", "a", "x" * 3000]), rng.choice(["", "x"])))


def spoil_a_header(
    request: Request, rng: random.Random, headers: list[tuple[str, str]] = HEADERS
) -> None:
    name, value = rng.choice(headers)
    if rng.random() < 0.7:
        request.headers = [each for each in request.headers if each[0] != name]
    request.headers.append((name, value))


def spoil_the_token(request: Request, rng: random.Random) -> None:
    request.headers = [each for each in request.headers if each[0] != "Authorization"]
    request.headers.append(("Authorization", rng.choice(AUTHORIZATIONS)))


def spoil_the_content_type(request: Request, rng: random.Random) -> None:
    request.headers.append(("Content-Type", rng.choice(CONTENT_TYPES)))


def spoil_the_path(request: Request, rng: random.Random, steps: list[str] = STEPS) -> None:
    if rng.random() < 0.15:
        request.path = rng.choice(
            TARGETS[4:] if steps is RAW_STEPS else ["/v1/../x", "/x", "/v1//games"]
        )
        return
    parts = request.path.split("/")
    place = rng.randrange(1, len(parts))
    if rng.random() < 0.6:
        parts[place] = rng.choice(steps)
    else:
        parts.insert(place, rng.choice(steps))
    request.path = "/".join(parts)


def spoil_the_method(request: Request, rng: random.Random) -> None:
    request.method = rng.choice(METHODS)


OF_A_BODY: list[Spoil] = [
    *[replace_a_value] * 6,
    *[add_a_member] * 2,
    *[swap_two_values] * 3,
    *(remove_a_value, nest_a_value, spoil_the_text, replace_the_body),
    spoil_the_content_type,
]
OF_ANY: list[Spoil] = [
    *(spoil_the_query, spoil_a_header, spoil_the_token, spoil_the_path, spoil_the_method),
]


def spoil(request: Request, rng: random.Random) -> None:
    """Mutate a request in one or a few ways that a client library can still send."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        structured = request.body is not None and not isinstance(request.body, bytes)
        if structured and rng.random() < 0.75:
            rng.choice(OF_A_BODY)(request, rng)
        else:
            rng.choice(OF_ANY)(request, rng)


def hopeless(attacked: Attacked, rng: random.Random) -> Request:
    """Return a legal move of the player to move, with one value of a wrong type."""
    body = rng.choice(attacked.moves)
    path = rng.choice(list(places(body)))
    wrong = [each for each in JUNK if not isinstance(each, type(at(body, path)))]
    player = rng.choice(attacked.players)
    return Request(
        "POST",
        f"/v1/games/{attacked.id}/moves{rng.choice(['', '', '/check'])}",
        headers=[("Authorization", f"Bearer {player.token}")],
        body=replaced(body, path, rng.choice(wrong)),
        hopeless=True,
    )


# --- The bytes ---------------------------------------------------------------------------------


def target(request: Request) -> str:
    """Return the path and query of a request, escaped where necessary."""
    query = "&".join(f"{name}={value}" for name, value in request.query)
    return quote(request.path, safe="/%:;@+*'~!$&()=,") + (
        "?" + quote(query, safe="%&=+,;/:@[]") if query else ""
    )


def content(request: Request) -> bytes | None:
    """Return the body of a request."""
    if request.body is None or isinstance(request.body, bytes):
        return request.body
    return encode(request.body).encode("utf-8", "surrogatepass")


def raw_bytes(request: Request, rng: random.Random) -> bytes:
    """Return the bytes of a request, mutated in ways that no client library would send."""
    body = content(request) or b""
    method, path, version = request.method, target(request), "HTTP/1.1"
    headers = [("Host", "localhost"), ("Connection", "close"), *request.headers]
    if body and not any(name == "Content-Type" for name, _ in headers):
        headers.append(("Content-Type", "application/json"))
    length = str(len(body))
    match rng.randrange(10):
        case 0:
            method = rng.choice(RAW_METHODS)
        case 1:
            path = rng.choice(TARGETS)
        case 2:
            parts = path.split("/")
            parts[rng.randrange(len(parts))] = rng.choice(RAW_STEPS)
            path = "/".join(parts)
        case 3:
            version = rng.choice(
                ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9", "", "XTTP/1.1", "HTTP/1.1 x"]
            )
        case 4 | 5 | 6:
            headers.append(rng.choice(RAW_HEADERS))
        case 7 if body:
            length = rng.choice(
                ["", "0", "1", str(len(body) + 5), "9" * 12, "-3", "x", f"+{length}"]
            )
        case 8 if body:
            return _chunked(method, path, headers, body, rng)
        case 9:
            headers.extend(("X-Header", "x" * 10) for _ in range(rng.choice([2, 90, 150])))
    if body or rng.random() < 0.1:
        headers.append(("Content-Length", length))
    message = _head(f"{method} {path} {version}", headers) + body
    if rng.random() < 0.1:
        message = message[: rng.randrange(len(message) + 1)]
    elif rng.random() < 0.1:
        place = rng.randrange(len(message))
        message = (
            message[:place] + rng.choice([b"\x00", b"\xff", b"\r", b"\n", b" "]) + message[place:]
        )
    return message


def _chunked(
    method: str, path: str, headers: list[tuple[str, str]], body: bytes, rng: random.Random
) -> bytes:
    head = _head(f"{method} {path} HTTP/1.1", [*headers, ("Transfer-Encoding", "chunked")])
    size = rng.choice(
        [f"{len(body):x}", "0", "-1", "x", "f" * 20, "", f"{len(body) + 4:x}", "5;a=b"]
    )
    return head + size.encode() + b"\r\n" + body + rng.choice([b"\r\n0\r\n\r\n", b"", b"\r\n0\r\n"])


def _head(line: str, headers: list[tuple[str, str]]) -> bytes:
    text = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{line}\r\n{text}\r\n".encode("utf-8", "surrogatepass")
