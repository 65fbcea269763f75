"""No level of the log tells a secret that a client sent, wherever in a request it was.

Words and real secrets (a token, a ticket, an invite) are put into every part of requests, right
and malformed, and then all that the service wrote is searched for them. An `X-Request-ID` is
logged, since clients choose it for that; one that has the form of a token or a ticket is replaced.
"""

from __future__ import annotations

import base64
import contextlib
import io
import logging
import signal
import socket
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from flask import Response

from api.config.settings import Settings
from api.server.log_format import JsonFormatter, TextFormatter
from api.web.app import create_app
from tests.support.api_client import Client, new_player
from tests.support.http_client import BROKEN, HttpClient
from tests.support.ports import free_port
from tests.support.raw_http import connect, exchange
from tests.support.service import Service, Start
from tests.support.waiting import wait_until

LEVELS = [
    *("debug", "info"),
    # What these write is a part of what the others do.
    *(pytest.param(level, marks=pytest.mark.slow) for level in ("warning", "error", "critical")),
]
FORMS = ["text", "json"]

WORD = "xyzzy-plugh-plover"
"""Longer than what is shown of a path that is not found: 15 characters, fewer than any secret."""

PERCENT = "".join(f"%{ord(each):02x}" for each in WORD)
ESCAPED = "".join(f"\\u{ord(each):04x}" for each in WORD)
BASIC = base64.b64encode(f"user:{WORD}".encode()).decode()
HOST_TOKEN = f"{WORD}-of-the-host"

HEADERS = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Connection"),
    *("Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Forwarded"),
    *("Host", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match"),
    *("Last-Event-ID", "Origin", "Prefer", "Range", "Referer", "TE", "Trailer"),
    *("Transfer-Encoding", "Upgrade", "User-Agent", "X-Forwarded-For", "X-Forwarded-Proto"),
)


class Known(NamedTuple):
    """A game of a player, and the secrets that the service has given to it."""

    game: str
    body: dict[str, Any]
    """A legal move, as playMove takes it."""
    token: str
    ticket: str
    invite: str

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in the log."""
        return WORD, PERCENT, ESCAPED, BASIC, self.token.partition(".")[2], self.ticket, self.invite


def learn(url: str) -> Known:
    ada = new_player(url)
    game = ada.create(2, visibility="private", house=["random"])
    ticket = ada.post(f"/v1/games/{game['id']}/stream-tickets", status=201)["ticket"]
    body = {"turn": game["turn"], "move": game["legal_moves"][0]}
    return Known(game["id"], body, str(ada.token), ticket, game["invite"])


def message(method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> bytes:
    fields = {"Host": "localhost", **dict(headers)}
    if body:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


def in_paths(known: Known, secret: str) -> Iterator[bytes]:
    game = f"/v1/games/{known.game}"
    for target in (
        *(f"/{secret}", f"//{secret}", f"/v1/{secret}", f"/v1/games/{secret}", f"{game}/{secret}"),
        *(f"/v1/games/{secret}/moves", f"/v1/rulesets/{secret}", f"/problems/{secret}"),
        *(f"/assets/{secret}", f"/livez;{secret}", f"/livez#{secret}", f"http://{secret}/livez"),
        *(f"/v1/games/{secret * 50}", f"/{secret * 2000}", f"/%00{secret}%ff", f"/é{secret}"),
        *(f"/v1/games?cursor={secret}", f"/v1/games?{secret}", f"/v1/games?{secret}={secret}"),
        *(
            f"/v1/games?ruleset={secret}",
            f"/v1/games?limit={secret}",
            f"/v1/me/turns?since={secret}",
        ),
        *(f"{game}/events?since={secret}", f"{game}/stream?ticket={secret}", f"{game}?{secret}"),
    ):
        yield message("GET", target)


def in_headers(known: Known, secret: str) -> Iterator[bytes]:
    game = f"/v1/games/{known.game}"
    for name in HEADERS:
        yield message("GET", game, (name, secret))
    for value in (f"Bearer {secret}", f"Basic {BASIC}", f"Bearer {secret} {secret}"):
        yield message("GET", game, ("Authorization", value))
    yield message("GET", "/metrics", ("Authorization", f"Bearer {secret}"))
    yield message("GET", "/livez", (f"X-{secret}", "1"), ("X-Long", secret * 2000))


def in_bodies(known: Known, secret: str) -> Iterator[bytes]:
    game = f"/v1/games/{known.game}"
    given = ("Authorization", f"Bearer {known.token}")
    for target, body in (
        ("/v1/players", f'{{"name": "{secret}", "kind": "bot"}}'),
        ("/v1/players", f'{{"name": "{secret}", "kind": "{secret}", "{secret}": "{secret}"}}'),
        ("/v1/games", f'{{"ruleset": "{secret}", "seat_count": 2, "options": {{"{secret}": 1}}}}'),
        ("/v1/games", f'{{"ruleset": "parade", "seat_count": 2, "house": ["{secret}"]}}'),
        (
            "/v1/games",
            f'{{"ruleset": "parade", "seat_count": 2, "reserved_seats": [{{"{secret}": 1}}]}}',
        ),
        (f"{game}/seats", f'{{"invite": "{secret}"}}'),
        (f"{game}/moves", f'{{"turn": "{secret}", "move": {{"type": "{secret}"}}}}'),
        (f"{game}/moves/check", f'{{"turn": 1, "move": {{"type": "play", "card": "{secret}"}}}}'),
        (
            "/v1/analysis",
            f'{{"ruleset": "parade", "seat_count": 2, "moves": [], "deal": {{"{secret}": 1}}}}',
        ),
        ("/v1/players", f'{{"{secret}'),
        ("/v1/players", f'"{secret}"'),
        ("/v1/players", f"{secret}"),
    ):
        whole = message("POST", target, given, body=body.encode())
        yield whole
        yield whole[:-3]  # cut short
        chunk = f"{len(body):x}\r\n{body}\r\n0\r\n{secret}: {secret}\r\n\r\n"
        coding = ("Transfer-Encoding", "chunked")
        yield message("POST", target, given, coding) + chunk.encode()
        yield message("POST", target, given, coding) + f"{secret}\r\n{body}".encode()


def malformed(secret: str) -> Iterator[bytes]:
    for text in (
        *(
            f"{secret}\r\n\r\n",
            f"{secret}",
            f"GET {secret} HTTP/1.1\r\n\r\n",
            f"\r\n{secret}\r\n\r\n",
        ),
        *(f"GET / HTTP/9.9 {secret}\r\n\r\n", f"GET /{secret} HTTP/9.9\r\n\r\n"),
        *(f"{secret} / HTTP/1.1\r\n\r\n", f"{secret.upper()} / HTTP/1.1\r\nHost: x\r\n\r\n"),
        f"{secret.upper()} /v1/games HTTP/1.1\r\nHost: x\r\n\r\n",
        *(f"GET / HTTP/1.1\r\n{secret}\r\n\r\n", f"GET / HTTP/1.1\r\nBad {secret}: 1\r\n\r\n"),
        *(
            f"GET / HTTP/1.1\r\nX: {secret}\x00\r\n\r\n",
            f"GET / HTTP/1.1\r\nX: 1\r\n {secret}\r\n\r\n",
        ),
        *(f"GET /{secret} HTTP/1.1\r\nX: {secret}", f"GET /{secret}\n\n", f"GET /{secret}"),
        f"GET / HTTP/1.1\r\nX_{secret}: 1\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: {secret}\r\nHost: {secret}\r\n\r\n",
        f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{secret}",
        "GET / HTTP/1.1\r\n" + f"X: {secret}\r\n" * 200 + "\r\n",
    ):
        yield text.encode("latin-1", "replace")


def is_ready(url: str) -> bool:
    with contextlib.suppress(*BROKEN):
        return HttpClient(url, keep_alive=False).request("GET", "/readyz").ok
    return False


def go_away_in_the_middle(port: int, sent: bytes) -> None:
    """Send this and reset the connection."""
    with connect(port, sent) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def fail_inside(service: Service, url: str, known: Known) -> None:
    """Have a request answered with 500, as what the store holds cannot be read."""
    with service.store.client() as store:
        store.hset(f"game:{{{known.game}}}", "state", f'["{WORD}"')
    caller = Client(url, known.token, checked=False)
    path = f"/v1/games/{known.game}"
    for method, target in (("GET", path), ("POST", f"{path}/moves")):
        answer = caller.request(method, target, json=known.body, headers={"Cookie": WORD})
        assert answer.status_code == 500


def lines_with(output: str, secrets: tuple[str, ...]) -> list[str]:
    """The lines that have a secret in them, as it is or percent-encoded, in any case."""
    shown = {line: line + unquote(line) for line in output.splitlines()}
    return [
        line
        for line, text in shown.items()
        if any(secret.lower() in text.lower() for secret in secrets)
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", LEVELS)
def test_no_secret_of_a_request_is_in_the_log(start: Start, level: str, form: str) -> None:
    port = free_port()  # in JSON, the port is announced at the level info only
    url = f"http://127.0.0.1:{port}"
    settings = {"RATE_LIMITS": "off", "METRICS_TOKEN": HOST_TOKEN, "WEB_CONCURRENCY": "1"}
    service = start(own=True, ready=False, PORT=port, LOG_LEVEL=level, LOG_FORMAT=form, **settings)
    wait_until(lambda: is_ready(url), "it serves")
    known = learn(url)
    for secret in (WORD, PERCENT, known.token, known.ticket, known.invite):
        for sent in (*in_paths(known, secret), *in_headers(known, secret)):
            exchange(port, sent)
    for secret in (WORD, ESCAPED):
        for sent in (*in_bodies(known, secret), *malformed(secret)):
            exchange(port, sent)
    for secret in (known.token, known.ticket, f"Root={known.ticket}/1"):
        exchange(port, message("GET", "/v1/rulesets", ("X-Request-ID", secret)))
    for part in (
        f"GET /{WORD}",
        f"POST /v1/players?{WORD} HTTP/1.1\r\nContent-Length: 9\r\n\r\n{WORD}",
    ):
        go_away_in_the_middle(port, part.encode())
    fail_inside(service, url, known)
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0

    assert lines_with(service.output, known.secrets) == []
    # The levels are what they are called, or else there would be nothing to find.
    told = [line for line in service.lines if "a request failed" in line]
    assert len(told) == (0 if level == "critical" else 2)
    assert ("Refused what" in service.output) == (level in ("debug", "info"))
    assert ("Ignored premature client disconnection" in service.output) == (level == "debug")


@pytest.fixture(params=[TextFormatter(), JsonFormatter()], ids=FORMS)
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What is logged in this process, by whatever logger."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(request.param)
    root = logging.getLogger()
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)


def test_an_exception_among_the_arguments_of_a_message_is_told_by_its_kind(
    written: io.StringIO,
) -> None:
    log = logging.getLogger("gunicorn.error.here")
    log.warning("Ignored: %s", ValueError(WORD))
    log.warning(ValueError(WORD))
    log.warning("%(number)d of %(number)d", {"number": 7})
    assert "Ignored: ValueError" in written.getvalue()
    assert "7 of 7" in written.getvalue()
    assert WORD not in written.getvalue()


def test_what_fails_after_the_view_is_logged_once_without_path_or_message(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(redis_url="redis://127.0.0.1:1", redis_timeout_seconds=0.2))
    process, failures = app.process_response, [RuntimeError(WORD)]

    def fail_once(response: Response) -> Response:
        if failures:
            raise failures.pop()
        return process(response)

    monkeypatch.setattr(app, "process_response", fail_once)
    answer = app.test_client().get(f"/livez?{WORD}")
    assert (answer.status_code, answer.json["code"]) == (500, "internal_error")
    assert written.getvalue().count("a request failed") == 1
    assert "builtins.RuntimeError" in written.getvalue()
    assert WORD not in written.getvalue()
