"""Callers of several machines, and one tally of all responses that they get.

A caller belongs to one thread, and keeps a connection to each machine.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.support.http_client import BROKEN, HttpClient, Response

PATIENCE = 90.0
PAUSE = 0.1


class GaveUp(Exception):
    """The service did not answer in time."""


class Tally:
    """The responses of all callers, counted. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.statuses: Counter[int] = Counter()
        self.refusals: Counter[str] = Counter()
        self.broken = 0
        self.slowest = 0.0
        self.slowest_was = ""
        self.errors: list[str] = []
        """Responses of 5xx other than 503."""
        self.bare: list[str] = []
        """Responses of 503 without Retry-After or without a problem."""

    def answered(self, what: str, answer: Response, waited: float) -> None:
        """Count a response; `waited` is how long the service was asked to wait (s)."""
        with self._lock:
            self.statuses[answer.status_code] += 1
            seconds = answer.received - answer.sent - waited
            if seconds > self.slowest:
                self.slowest, self.slowest_was = seconds, what
            told = repr(answer)
            if answer.status_code >= 500 and answer.status_code != 503:
                self.errors.append(told)
            if answer.status_code == 503 and not _is_proper(answer):
                self.bare.append(told)
            if answer.status_code >= 400:
                self.refusals[answer.code if _is_problem(answer) else "no problem"] += 1

    def broke(self, what: str, seconds: float) -> None:
        """Count a connection that broke before the response."""
        with self._lock:
            self.broken += 1
            if seconds > self.slowest:
                self.slowest, self.slowest_was = seconds, f"{what} (broken)"

    @property
    def requests(self) -> int:
        """The number of responses."""
        return sum(self.statuses.values())


def _is_problem(answer: Response) -> bool:
    return answer.headers["Content-Type"] == "application/problem+json"


def _is_proper(answer: Response) -> bool:
    if not (_is_problem(answer) and answer.headers.get("Retry-After", "").isdigit()):
        return False
    return bool(
        answer.json()["status"] == 503 and answer.json()["code"] and answer.json()["detail"]
    )


class Caller:
    """A client of several machines, which sends each request to any of them."""

    def __init__(
        self,
        urls: Sequence[str],
        tally: Tally,
        rng: random.Random,
        token: str | None = None,
        id_: str = "",
        *,
        address: str = "",
    ) -> None:
        self.urls = urls
        self.tally = tally
        self.rng = rng
        self.token = token
        self.id = id_
        self.address = address
        """The address that its connections come from; any of this machine's if empty."""
        self._clients: dict[str, HttpClient] = {}

    def again(self) -> Caller:
        """Return the same player with connections of its own, for another thread."""
        rng = random.Random(self.rng.random())
        return Caller(self.urls, self.tally, rng, self.token, self.id, address=self.address)

    def close(self) -> None:
        """Close its connections."""
        for client in self._clients.values():
            client.close()

    def client(self, machine: int | None = None) -> HttpClient:
        """Return the client of a machine, of any of them by default."""
        url = self.rng.choice(self.urls) if machine is None else self.urls[machine % len(self.urls)]
        if url not in self._clients:
            self._clients[url] = HttpClient(
                url, self.token, source_address=self.address, timeout=PATIENCE
            )
        return self._clients[url]

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        machine: int | None = None,
        wait: float = 0,
        headers: dict[str, str] | None = None,
    ) -> Response | None:
        """Send a request. Return None if the connection broke before the response had come."""
        sent = time.monotonic()
        try:
            answer = self.client(machine).request(method, path, json=body, headers=headers)
        except BROKEN:
            self.tally.broke(f"{method} {path}", time.monotonic() - sent)
            return None
        self.tally.answered(f"{method} {path}", answer, wait)
        return answer

    def persist(self, method: str, path: str, body: Any = None, **how: Any) -> Response:
        """Send a request again until its status is below 500, as a patient client does."""
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.ask(method, path, body, **how)
            if answer is not None and answer.status_code < 500:
                return answer
            if time.monotonic() > until:
                raise GaveUp(f"{method} {path}: {answer}")
            time.sleep(PAUSE)

    def get(self, path: str, **how: Any) -> Any:
        """Return the JSON of something that must be there."""
        answer = self.persist("GET", path, **how)
        if answer.status_code != 200:
            raise LookupError(repr(answer))
        return answer.json()

    def stream(self, path: str, last: str | None = None) -> Response:
        """Open an event stream, on a connection of its own. May raise one of `BROKEN`."""
        headers = {} if last is None else {"Last-Event-ID": last}
        return self.client().open("GET", path, headers=headers)


def new_player(
    urls: Sequence[str], tally: Tally, rng: random.Random, *, address: str = ""
) -> Caller:
    """Return a new player who calls these machines."""
    stranger = Caller(urls, tally, rng)
    player = stranger.persist("POST", "/v1/players", {"name": "Prover", "kind": "bot"}).json()
    return Caller(urls, tally, rng, player["token"], player["id"], address=address)
