"""Sends the most costly values of the largest size in every field, parameter and header.

The fields, parameters and headers are read from the document, so a new one is tried without a
change here. Each place in a body gets texts, objects, lists and numbers that are slow to
normalise, match, split, merge or convert, as long as the body may be; each parameter and header
gets such texts. Heads and bodies are sent in many small pieces too. A request that takes more CPU
of its worker than its size allows (`tests.fuzz.cost`) is reported with the recipe of its value.

    python -m tests.fuzz.worst [--few]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from api.server.chunked_body import MAX_CHUNKS
from api.web.bodies import MAX_COMMAS, MAX_MEMBERS, MAX_OBJECTS
from api.web.headers import max_length
from api.web.schemas.fields import Name
from engine.registry import RULESETS
from tests.fuzz.cost import HEAD_RATIO, RATIO_PER_KIB, RATIO_PER_PIECE, Cost, Meter
from tests.fuzz.mutations import Raw, at, encode, replaced
from tests.support.api_client import Client, new_player, seated
from tests.support.document import METHODS, document, parameters, resolved
from tests.support.service import serving

KIB = 1024
PLAYER_BODY, BODY, LARGE_BODY = 4 * KIB, 64 * KIB, 256 * KIB
LINE = 3900
"""Bytes of a path and query: a request line may have 4 KiB."""
FIELD = 8000
"""Bytes of a header's value: a field may have 8 KiB."""
SPARE = 1000
"""Objects and commas that the rest of a body may have."""
FIELDS = 95
"""A head may have 100 fields. Together they are larger than a head may be."""

UNITS = (
    *("a", '"', "\\", " ", "~", "a=b;", "[", "1", "\n", "\u0301", "\u200d", "\ud800", "😀"),
    *("A/", "\t", "\u00a0", "'", ",", ";", "/", "%41", "=", "-", ".", "0", "9.", "{", "red-1,"),
    *('a="\\', 'a="b";', "é", "\x01", "\x7f", "\u202e", "\u1100\u1161\u11a8", "\u0f73", "👍🏽"),
)
"""Each is repeated to make a text."""
FEW_UNITS = 13
"""A short run takes the first ones."""

MARKS = ("\u0344", "\u0334")
"""Many of the first, then many of the second: the worst case of NFC, which sorts marks."""

HEADER_UNITS = (
    *("a", "a,", "a, ", " ", "\t", ",", " ,", ";", "; ", "=", '"', '",', '"\\', "\\", "'", "\xe9"),
    *("a=b;", 'a="b";', 'a="', 'a="\\', "a*0=b;", "a*0*=x'y'%41;", "q=", "a;q=0.1,", "a/b;q=1,"),
    *("*/*;q=0.1,", "text/html;a=b;", "W/", 'W/"a",', '"a",', "*", "1", "1,", "a-b,", "wait=1"),
    *("wait =", "Bearer ", ". ", "10.0.0.1,", "::1,", "[::1]:1,", "gzip,", "%41", "a.", "A"),
)

UNDOCUMENTED_HEADERS = {
    "/": ("Accept",),
    "/problems": ("Accept",),
    "/assets/docs.css": ("Accept-Encoding", "If-None-Match"),
    "/v1/games/{game_id}": (
        *("Accept", "Authorization", "Connection", "Content-Length", "Content-Type", "Cookie"),
        *("Expect", "Host", "Origin", "Range", "TE", "Transfer-Encoding", "Upgrade", "User-Agent"),
        *("X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID", "X-Unknown"),
    ),
}
"""Headers that the service or its libraries read, by the path to which the test sends them."""
OF_BODIES = ("Content-Encoding", "Content-Type")


@dataclass(frozen=True)
class Case:
    """A request, and how much of the worker's CPU it may take."""

    place: str
    recipe: str
    message: bytes
    bound: float
    is_admitted: bool = False
    """Whether the size is allowed, so that the service reads the value."""

    def __str__(self) -> str:
        return f"{self.place}: {self.recipe} ({len(self.message) / KIB:.0f} KiB)"


@dataclass(frozen=True)
class Drip:
    """A request in pieces of this size, after a first part."""

    name: str
    message: bytes
    sent_whole: int
    size: int


class Target(NamedTuple):
    """A service with a game in play, and one of its players."""

    meter: Meter
    player: Client
    game: str


# --- Values ------------------------------------------------------------------------------------


def repeated(unit: str, size: int) -> tuple[str, str]:
    """Return the recipe and the text of a repeated unit, with at most this many bytes in UTF-8."""
    number = max(size // len(unit.encode("utf-8", "surrogatepass")), 1)
    return f"{unit!a} * {number}", unit * number


def texts(size: int, few: bool) -> Iterator[tuple[str, Raw]]:
    """Yield JSON texts of at most this many bytes, with their recipes."""
    first, second = (repeated(mark, size // 2 - 1) for mark in MARKS)
    yield f"{first[0]} + {second[0]}", Raw(f'"{first[1]}{second[1]}"')
    half = Name.MAX_INPUT_LENGTH // 2
    longest_name = MARKS[0] * half + MARKS[1] * half
    yield f"{MARKS[0]!a} * {half} + {MARKS[1]!a} * {half}", Raw(f'"{longest_name}"')
    for unit in UNITS[:FEW_UNITS] if few else UNITS:
        written = json.dumps(unit, ensure_ascii=not unit.isprintable())[1:-1]
        number = (size - 2) // len(written.encode())
        yield f"{unit!a} * {number}", Raw(f'"{written * number}"')
    for unit in ("\\u0041", "\\ud83d\\ude00"):
        number = (size - 2) // len(unit)
        yield f"the escape {unit} * {number}", Raw(f'"{unit * number}"')


def listed(item: str, size: int) -> tuple[str, Raw]:
    """Return as many items as a body may have besides the rest of it."""
    number = (size - 1) // (len(item.encode()) + 1)
    number = min(number, (MAX_COMMAS - SPARE) // (item.count(",") + 1))
    if "{" in item:
        number = min(number, (MAX_OBJECTS - SPARE) // item.count("{"))
    return f"a list of {number} {item[:20]}", Raw(f"[{','.join([item] * number)}]")


def members(size: int, value: str = "0") -> str:
    """Return different members of an object, without its brackets."""
    number = size // (len(value) + 9)
    return ",".join(f'"{place:x}":{value}' for place in range(number))


def others(size: int) -> Iterator[tuple[str, Raw]]:
    """Yield other JSON values of at most this many bytes, with their recipes."""
    for item in ("{}", "0"):
        number = (size - 1) // (len(item) + 1)
        yield f"a list of {number} {item}", Raw(f"[{','.join([item] * number)}]")
    for item in ("0", "[]", "{}", '"a"', '"red-1"', "null", '{"type":"play","card":"red-1"}'):
        yield listed(item, size)
    yield listed('{"type":"move","seat":0,"move":{"type":"play","card":"red-1"}}', size)
    yield listed('{"type":"countdown_ran_out"}', size)
    yield listed('{"seat":0,"move":{"type":"play","card":"red-1"}}', size)
    yield listed('{"expire":true}', size)
    yield listed("9" * 4290, size)
    yield listed("1.7976931348623157e308", size)
    yield "a float of many digits", Raw("0." + "0" * (size - 3) + "1")
    yield "an integer of many digits", Raw("9" * size)
    yield "[ * 900", Raw("[" * 900 + "]" * 900)
    yield '{"a": * 900', Raw('{"a":' * 900 + "1" + "}" * 900)
    for value in ("0", '{"a":0}', "[0]"):
        yield f'members "0", "1", … with {value}', Raw("{" + members(size - 2, value) + "}")
    yield "one member many times", Raw("{" + ",".join(['"a":0'] * (size // 6 - 1)) + "}")
    yield "a member of a long name", Raw('{"' + "~/" * (size // 2 - 4) + '":0}')


# --- What a body may have ----------------------------------------------------------------------


def samples(schema: dict[str, Any]) -> list[Any]:
    """Values of a schema of the document, which together have every member and variant."""
    schema = resolved(schema)
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return schema["enum"][:1]
    if "anyOf" in schema:
        # What may be null.
        return samples(schema["anyOf"][0])
    if "oneOf" in schema:
        return [each for variant in schema["oneOf"] for each in samples(variant)]
    if schema.get("examples"):
        return list(schema["examples"][:1])
    types = schema.get("type", "object")
    match types if isinstance(types, str) else types[0]:
        case "array":
            return [[each] for each in samples(schema["items"])]
        case "object":
            return _objects({name: samples(each) for name, each in schema["properties"].items()})
        case "integer":
            return [schema.get("minimum", 0)]
        case "boolean":
            return [True]
    return ["x"]


def _objects(by_member: dict[str, list[Any]]) -> list[Any]:
    """An object of the first values, and one for each further value of a member."""
    first = {name: values[0] for name, values in by_member.items()}
    further = [{**first, name: value} for name, values in by_member.items() for value in values[1:]]
    return [first, *further]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value in a JSON value, itself included; of a list to the first item's."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def analyses() -> Iterator[Any]:
    """Bodies of analyses with a deal of each ruleset: the document has no schema of deals."""
    for ruleset in RULESETS.values():
        seats = ruleset.min_seats
        dealt = ruleset.deal(seats, ruleset.read_options(seats, {}), random.Random(1))
        body = {"ruleset": ruleset.id, "seat_count": seats, "moves": [], "trace": True}
        yield {**body, "deal": msgspec.to_builtins(dealt)}


def bodies(operation: dict[str, Any]) -> list[Any]:
    """Bodies of an operation that together have all that it may have."""
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    found = samples(schema)
    return [*found, *analyses()] if operation["operationId"] == "analyse" else found


def of_body(send: Callable[..., bytes], operation: dict[str, Any], few: bool) -> Iterator[Case]:
    """Every place of the bodies with every value; of `few`, texts for texts and so on alone."""
    name = operation["operationId"]
    largest = {"analyse": LARGE_BODY, "createPlayer": PLAYER_BODY}.get(name, BODY)
    tried: set[str] = set()
    for body in bodies(operation):
        for path in places(body):
            where = "/".join(("#", *map(str, path)))
            if where in tried:
                continue
            tried.add(where)
            rest = len(encode(replaced(body, path, Raw(""))).encode())
            for recipe, value in values_for(at(body, path), largest - rest, few):
                content = encode(replaced(body, path, value)).encode("utf-8", "surrogatepass")
                bound, is_small = bound_of(len(content)), len(content) <= largest
                yield Case(f"{name} {where}", recipe, send(content), bound, is_small)


def values_for(old: Any, size: int, few: bool) -> Iterator[tuple[str, Raw]]:
    """Values to put in the place of another one."""
    if isinstance(old, dict) and old:
        kept = encode(old)[1:-1]
        for value in ("0", '"a"'):
            more = members(size - len(kept) - 3, value)
            yield f'more members "0", "1", … with {value}', Raw("{" + kept + "," + more + "}")
        allowed = members((len(value) + 9) * (MAX_MEMBERS - len(old)), value)
        yield f"{MAX_MEMBERS} members", Raw("{" + kept + "," + allowed + "}")
    if isinstance(old, list) and old:
        yield listed(encode(old[0]), size)
        yield listed(encode(old[0]), min(size, 2000 * (len(encode(old[0])) + 1)))
    if isinstance(old, str) or not few:
        yield from texts(size, few)
    if not isinstance(old, str) or not few:
        yield from others(size)


def bound_of(body: int) -> float:
    """How many plain requests a request with so many bytes of body may cost."""
    return HEAD_RATIO + RATIO_PER_KIB * body / KIB


# --- What a head may have ----------------------------------------------------------------------


def head(method: str, target: str, *fields: tuple[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")


def of_parameter(
    send: Callable[..., bytes], place: str, target: Callable[[str], str]
) -> Iterator[Case]:
    """A parameter in a path or query, with texts as long as a request line lets them be."""
    for unit in (*UNITS, *MARKS, "+", "&a=", "1-", "0."):
        escaped = quote(unit.encode("utf-8", "surrogatepass"), safe="&=+")
        number = (LINE - len(target(""))) // len(escaped)
        yield Case(place, f"{escaped} * {number}", send(target(escaped * number)), HEAD_RATIO)


def of_header(send: Callable[..., bytes], place: str, name: str, few: bool) -> Iterator[Case]:
    """A header with texts of one field's length, of nearly a head's, and of many fields."""
    for number, unit in enumerate(HEADER_UNITS):
        recipe, value = repeated(unit, FIELD)
        allowed, longest = repeated(unit, max_length(name))
        # A Content-Length of so many digits is that of a body which is too large.
        is_admitted = name != "Content-Length"
        yield Case(place, allowed, send((name, longest)), HEAD_RATIO, is_admitted)
        for fields in (3,) if few else (1, 3, FIELDS) if number % 8 == 0 else (1, 3):
            told = recipe if fields == 1 else f"{recipe}, in {fields} fields"
            yield Case(place, told, send(*[(name, value)] * fields), HEAD_RATIO)


# --- All of it ---------------------------------------------------------------------------------


def cases(target: Target, few: bool) -> Iterator[Case]:
    """All cases, or few of them."""
    token = ("Authorization", f"Bearer {target.player.token}")
    known = defaultdict(lambda: "x", game_id=target.game, ruleset="parade", code="busy")

    def sender(method: str, path: str, *, body: bytes | None = None) -> Callable[..., bytes]:
        def send(*fields: tuple[str, str]) -> bytes:
            given = [("Host", "localhost"), ("Connection", "close"), token, *fields]
            names = {name for name, _ in fields}
            # A field that is tried takes the place of the usual one.
            usual = [each for each in given[:3] if each[0] not in names]
            content = () if body is None else (("Content-Length", str(len(body))),)
            if body is not None and "Content-Type" not in names:
                content = (*content, ("Content-Type", "application/json"))
            return head(method, path, *usual, *content, *fields) + (body or b"")

        return send

    tried: set[str] = set()

    def is_new(what: str) -> bool:
        """Whether to try this: a short run tries it on one operation, a long run on each."""
        if few and what in tried:
            return False
        tried.add(what)
        return True

    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if method not in METHODS - {"delete"}:
                continue  # they would end the game, and read nothing that others do not
            name, verb, real = operation["operationId"], method.upper(), path.format_map(known)
            body = operation.get("requestBody")
            if body is not None and is_new(str(body["content"]["application/json"]["schema"])):
                yield from of_body(
                    lambda content, v=verb, r=real: sender(v, r, body=content)(), operation, few
                )
            for each in parameters(path, operation):
                place = f"{name} {each['name']}"
                match each["in"]:
                    case "query":
                        start = f"{real}?{each['name']}="
                        yield from of_parameter(
                            lambda line: sender("GET", line)(),
                            place,
                            lambda text, s=start: s + text,
                        )
                    case "path" if is_new(each["name"]):
                        yield from of_parameter(
                            lambda line, v=verb: sender(v, line)(),
                            place,
                            lambda text, p=path, n=each["name"]: p.format_map(known | {n: text}),
                        )
                    case "header" if is_new(each["name"]):
                        content = None if body is None else b"{}"
                        send = sender(verb, real, body=content)
                        yield from of_header(send, place, each["name"], few)
    for path, names in UNDOCUMENTED_HEADERS.items():
        for name in filter(is_new, names):
            send = sender("GET", path.format_map(known))
            yield from of_header(send, f"GET {path} {name}", name, few)
    for name in OF_BODIES:
        send = sender("POST", "/v1/players", body=b"{}")
        yield from of_header(send, f"createPlayer {name}", name, few)
    for unit in HEADER_UNITS[:3]:
        value = repeated(unit, FIELD)[1]
        yield Case(
            "a large head",
            f"{FIELDS} fields of {FIELD} bytes of {unit!r}",
            sender("GET", "/")(*[("Accept", value)] * FIELDS),
            HEAD_RATIO,
        )
    yield from of_parameter(lambda line: sender("GET", line)(), "any path", lambda text: f"/{text}")
    yield from of_parameter(
        lambda line: sender("GET", line)(), "any query", lambda text: f"/v1/games?{text}"
    )


def drips() -> Iterator[Drip]:
    """Heads and bodies in small pieces."""
    line = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    fields = b"".join(b"X-%d: %b\r\n" % (number, b"a" * FIELD) for number in range(FIELDS))
    for kib in (1, 30, 300):
        whole = line + fields[: kib * KIB]
        yield Drip(f"a head after {kib} KiB", whole + b"b" * 1500 + b"\r\n\r\n", len(whole), 10)
    length = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % BODY
    post = line.replace(b"GET /livez", b"POST /v1/players") + length
    yield Drip("a body", post + b" " * BODY, len(post) + BODY - 3000, 10)


def tiny_chunks() -> Iterator[Case]:
    """A body in chunks of a byte each."""
    fields = (("Host", "localhost"), ("Connection", "close"), ("Content-Type", "application/json"))
    start = head("POST", "/v1/players", *fields, ("Transfer-Encoding", "chunked"))
    for chunk in (b"1\r\n \r\n", b"1;a=b\r\n \r\n"):
        number = BODY // len(chunk)
        yield Case("a body", f"{chunk!r} * {number}", start + chunk * number, bound_of(BODY))
    start = start.replace(b"/v1/players", b"/v1/analysis")
    for chunk in (b"1\r\n \r\n", b"1;%b\r\n \r\n" % (b"a" * 40)):
        message = start + chunk * (MAX_CHUNKS - 1) + b"0\r\n\r\n"
        recipe = f"{chunk!r} * {MAX_CHUNKS - 1}"
        yield Case("a body", recipe, message, bound_of(len(message)), is_admitted=True)


@dataclass
class Findings:
    """The costs of all cases, and a line for each case above its bound."""

    costs: list[tuple[Cost, str]]
    faults: list[str]

    def note(self, cost: Cost, what: str, bound: float) -> None:
        """Keep a cost. Too high a cost, or a fault of the server, is a finding."""
        self.costs.append((cost, what))
        # 501: a transfer coding that is not known.
        if cost.ratio > bound or (cost.answer.status >= 500 and cost.answer.status != 501):
            self.faults.append(f"{_line(cost, what)}, of {bound:.1f} allowed")

    def report(self, number: int = 20) -> str:
        """The most costly cases as lines."""
        worst = sorted(self.costs, key=lambda each: each[0].ratio, reverse=True)[:number]
        lines = [f"{len(self.costs)} cases, {len(self.faults)} cost too much"]
        lines += [_line(cost, what) for cost, what in worst]
        return "\n".join(lines)


def _line(cost: Cost, what: str) -> str:
    taken = f"{cost.ratio:8.1f} plain requests {cost.milliseconds:9.2f} ms"
    return f"{taken}  {cost.answer.status}  {what}"


def try_case(target: Target, case: Case, found: Findings) -> Cost:
    """Send a case and note what it costs."""
    cost = target.meter.cost(case.message, case.bound)
    found.note(cost, str(case), case.bound)
    if case.is_admitted and cost.answer.status in (413, 431):
        found.faults.append(f"{case}: {cost.answer.status}, so nothing looked at the value")
    return cost


def measure(target: Target, few: bool) -> Findings:
    """Try all cases, or few, on a service with one worker."""
    found = Findings([], [])
    for case in chain(cases(target, few), tiny_chunks()):
        try_case(target, case, found)
    for drip in drips():
        cost = target.meter.cost_of_pieces(drip.message, drip.sent_whole, drip.size)
        found.note(cost, f"{drip.name}, each piece of {drip.size} bytes", RATIO_PER_PIECE)
    return found


@contextmanager
def service_to_measure(directory: Path) -> Iterator[Target]:
    """A service with one worker and without limits, which trusts this machine as a proxy."""
    settings = {"WEB_CONCURRENCY": "1", "RATE_LIMITS": "off", "APPEND_FSYNC": "everysec"}
    trusted = {"TRUSTED_PROXIES": "127.0.0.0/8,10.0.0.0/8,::/0"}
    with serving(directory, **settings, **trusted) as service:
        players = [new_player(service.url), new_player(service.url)]
        game = seated(players, turn_seconds=604_800)["id"]
        plain = head("GET", f"/v1/games/{game}", ("Host", "localhost"), ("Connection", "close"))
        yield Target(Meter(service, plain), players[0], game)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", action="store_true", help="only values of the type of each field")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as directory,
        service_to_measure(Path(directory)) as target,
    ):
        found = measure(target, chosen.few)
    print(found.report())
    print("\n".join(found.faults))
    return 1 if found.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
