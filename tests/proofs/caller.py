"""Callers of several machines, and one tally of all answers that they get.

A caller speaks just enough HTTP and is one thread's. It keeps a connection to each machine, as
clients do, and opens a new one before the service would close it for its silence.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATIENCE = 90.0
PAUSE = 0.1
IDLE = 3.0


class GaveUp(Exception):
    """The service did not come back."""


class Answer(NamedTuple):
    """An answer, and when its request was sent and it had come (monotonic)."""

    status: int
    headers: dict[str, str]
    data: bytes
    sent: float
    came: float

    @property
    def body(self) -> Any:
        """Its JSON."""
        return json.loads(self.data)

    @property
    def code(self) -> str:
        """The problem's, empty if it is none."""
        return str(self.body.get("code", "")) if self.status >= 400 else ""


class Tally:
    """What all callers were answered. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.statuses: Counter[int] = Counter()
        self.refusals: Counter[str] = Counter()
        self.broken = 0
        self.slowest = 0.0
        self.slowest_was = ""
        self.errors: list[str] = []
        """5xx that are no 503."""
        self.bare: list[str] = []
        """503 without Retry-After, or that are no problem."""

    def answered(self, what: str, answer: Answer, waited: float) -> None:
        """Note an answer; `waited` is for how long it was asked to wait."""
        with self._lock:
            self.statuses[answer.status] += 1
            seconds = answer.came - answer.sent - waited
            if seconds > self.slowest:
                self.slowest, self.slowest_was = seconds, what
            told = f"{what}: {answer.status} {answer.headers} {answer.data[:300]!r}"
            if answer.status >= 500 and answer.status != 503:
                self.errors.append(told)
            if answer.status == 503 and not _is_proper(answer):
                self.bare.append(told)
            if answer.status >= 400:
                self.refusals[answer.code if _is_problem(answer) else "no problem"] += 1

    def broke(self, what: str, seconds: float) -> None:
        """Note a connection that broke before the answer."""
        with self._lock:
            self.broken += 1
            if seconds > self.slowest:
                self.slowest, self.slowest_was = seconds, f"{what} (broken)"

    @property
    def requests(self) -> int:
        """All that were answered."""
        return sum(self.statuses.values())


def _is_problem(answer: Answer) -> bool:
    return answer.headers.get("content-type") == "application/problem+json"


def _is_proper(answer: Answer) -> bool:
    if not (_is_problem(answer) and answer.headers.get("retry-after", "").isdigit()):
        return False
    return bool(answer.body["status"] == 503 and answer.body["code"] and answer.body["detail"])


class Caller:
    """Calls any of some machines."""

    def __init__(
        self,
        urls: Sequence[str],
        tally: Tally,
        rng: random.Random,
        token: str | None = None,
        id_: str = "",
    ) -> None:
        self.urls = urls
        self.tally = tally
        self.rng = rng
        self.token = token
        self.id = id_
        self.address = ""
        """Where it calls from; any of this machine's if empty."""
        self._connections: dict[str, tuple[HTTPConnection, float]] = {}

    def again(self) -> Caller:
        """The same player on connections of its own, for another thread."""
        same = Caller(self.urls, self.tally, random.Random(self.rng.random()), self.token, self.id)
        same.address = self.address
        return same

    def close(self) -> None:
        """Close its connections."""
        for connection, _ in self._connections.values():
            connection.close()
        self._connections.clear()

    def connect(self, machine: int | None = None) -> tuple[str, HTTPConnection]:
        """A connection to one of the machines, open if it can be."""
        url = self.rng.choice(self.urls) if machine is None else self.urls[machine % len(self.urls)]
        connection, used = self._connections.get(url, (None, 0.0))
        if connection is None or time.monotonic() - used > IDLE:
            if connection is not None:
                connection.close()
            address = urlsplit(url)
            source = (self.address, 0) if self.address else None
            connection = HTTPConnection(str(address.hostname), address.port, PATIENCE, source)
            connection.connect()
            self._connections[url] = connection, time.monotonic()
        return url, connection

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        machine: int | None = None,
        wait: float = 0,
        headers: dict[str, str] | None = None,
    ) -> Answer | None:
        """The answer; None if the connection broke before it came."""
        data = None if body is None else json.dumps(body).encode()
        sent = time.monotonic()
        try:
            url, connection = self.connect(machine)
        except OSError:
            self.tally.broke(f"{method} {path}", time.monotonic() - sent)
            return None
        sent = time.monotonic()
        try:
            connection.request(method, path, data, self._headers(data) | (headers or {}))
            response = connection.getresponse()
            content = response.read()
        except (OSError, HTTPException):
            del self._connections[url]
            connection.close()
            self.tally.broke(f"{method} {path}", time.monotonic() - sent)
            return None
        came = time.monotonic()
        if response.will_close:
            del self._connections[url]
        else:
            self._connections[url] = connection, came
        told = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, told, content, sent, came)
        self.tally.answered(f"{method} {path}", answer, wait)
        return answer

    def _headers(self, data: bytes | None) -> dict[str, str]:
        headers = {} if data is None else {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    def persist(self, method: str, path: str, body: Any = None, **how: Any) -> Answer:
        """Ask until it is answered by anything but 503, as a client does that tries again."""
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.ask(method, path, body, **how)
            if answer is not None and answer.status < 500:
                return answer
            if time.monotonic() > until:
                raise GaveUp(f"{method} {path}: {answer}")
            time.sleep(PAUSE)

    def get(self, path: str, **how: Any) -> Any:
        """The JSON of what must be there."""
        answer = self.persist("GET", path, **how)
        if answer.status != 200:
            raise LookupError(f"{path}: {answer.status} {answer.data[:300]!r}")
        return answer.body

    def stream(self, path: str, last: int | None = None) -> tuple[HTTPConnection, HTTPResponse]:
        """A stream of Server-Sent Events, on a connection of its own. May raise."""
        address = urlsplit(self.rng.choice(self.urls))
        connection = HTTPConnection(str(address.hostname), address.port, timeout=PATIENCE)
        headers = self._headers(None) | ({} if last is None else {"Last-Event-ID": str(last)})
        try:
            connection.request("GET", path, headers=headers)
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise


def new_player(urls: Sequence[str], tally: Tally, rng: random.Random) -> Caller:
    """A player who calls these machines."""
    stranger = Caller(urls, tally, rng)
    answer = stranger.persist("POST", "/v1/players", {"name": "Prover", "kind": "bot"})
    return Caller(urls, tally, rng, answer.body["token"], answer.body["id"])
