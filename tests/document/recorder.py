"""Record requests to a real service, and its responses, as the document's examples.

A request that is sent with a name and a summary becomes an example of its operation: its body and
the response are kept unchanged.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from api.problems.catalogue import CATALOGUE
from tests.support.document import document, find_operation
from tests.support.event_stream import events, read_event
from tests.support.http_client import HttpClient, Response
from tests.support.raw_http import exchange

WIDTH = 100

PROBLEM = "application/problem+json"


class Shown(NamedTuple):
    """The name and the summary of an example."""

    name: str
    summary: str


class Recorder:
    """The examples, by operation, part (`request` or a status) and name."""

    def __init__(self) -> None:
        self.examples: dict[str, dict[str, dict[str, Any]]] = {}

    def keep(self, operation_id: str, part: str, shown: Shown, value: Any) -> None:
        """Keep an example. Its name must be new."""
        examples = self.examples.setdefault(operation_id, {}).setdefault(part, {})
        assert shown.name not in examples, f"{operation_id} {part} has two called {shown.name}"
        examples[shown.name] = {"summary": shown.summary, "value": value}

    def text(self) -> str:
        """Return all examples as JSON, in the document's order, small values on one line."""
        ordered = {
            operation["operationId"]: dict(sorted(self.examples[operation["operationId"]].items()))
            for methods in document()["paths"].values()
            for operation in methods.values()
            if isinstance(operation, dict) and operation["operationId"] in self.examples
        }
        return pretty(ordered) + "\n"


def pretty(value: Any, indent: int = 0) -> str:
    """Return JSON in which a value that fits on a line is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not value or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(name)}: {pretty(each, indent + 1)}" for name, each in value.items()
        ]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    parts = [inner + pretty(each, indent + 1) for each in value]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


class Caller(HttpClient):
    """A client of a service, with a token or without, that records examples."""

    def __init__(
        self, recorder: Recorder, url: str, token: str | None = None, id_: str = ""
    ) -> None:
        super().__init__(url, token, keep_alive=False)
        self.recorder = recorder
        self.id = id_

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        show: tuple[str, str] | None = None,
        fails: bool = False,
        **how: Any,
    ) -> Any:
        """Send a request and return the body of the response, which must be an error if `fails`."""
        if body is not None:
            how["json"] = body
        response = self.request(method, path, **how)
        assert fails == (not response.ok), f"{method} {path}: {response.text}"
        value = _body(response)
        if show is not None:
            self._keep(method, path, Shown(*show), body, str(response.status_code), value)
        return value

    def refused(self, code: str, method: str, path: str, body: Any = None, **how: Any) -> None:
        """Send a request that must fail with this problem, and record it."""
        summary = how.pop("summary", None)
        show = (how.pop("name", code), summary or _title(code))
        problem = self.send(method, path, body, show=show, fails=True, **how)
        assert problem["code"] == code, problem

    def refused_raw(self, code: str, head: str, body: bytes = b"") -> None:
        """Send a malformed request that must fail with this problem, and record it."""
        request_line, _, rest = head.partition("\r\n")
        method, path, _ = request_line.split()
        host, _, port = self.url.removeprefix("http://").partition(":")
        message = f"{request_line}\r\nHost: {host}\r\n{rest}\r\n\r\n".encode() + body
        answer = exchange(int(port), message, half_close=False)
        problem = json.loads(answer.body)
        assert problem["code"] == code, problem
        self._keep(method, path, Shown(code, _title(code)), None, str(answer.status), problem)

    def _keep(
        self, method: str, path: str, shown: Shown, body: Any, status: str, value: Any
    ) -> None:
        operation = find_operation(method, path.partition("?")[0])
        assert operation is not None, path
        if body is not None and status < "400":
            self.recorder.keep(operation["operationId"], "request", shown, body)
        self.recorder.keep(operation["operationId"], status, shown, value)

    def show_stream(self, path: str, summaries: dict[str, str], **how: Any) -> None:
        """Read a stream until all is shown, and record the first event of each name."""
        operation = find_operation("GET", path.partition("?")[0])
        assert operation is not None, path
        with self.open("GET", path, **how) as response:
            assert response.status_code == 200, response.text
            for event in events(response):
                if event.name in summaries:
                    shown = Shown(event.name, summaries.pop(event.name))
                    self.recorder.keep(operation["operationId"], "200", shown, event.data)
                if not summaries:
                    return
        raise AssertionError(f"{path} has no {', '.join(summaries)}")

    def unavailable(self, code: str, path: str) -> None:
        """Open a stream that must be unavailable with this problem, and record the problem."""
        response = self.request("GET", path)
        (event,) = filter(None, map(read_event, response.text.split("\n\n")))
        assert (event.name, event.data["code"]) == ("unavailable", code), response.text
        self._keep("GET", path, Shown(code, _title(code)), None, "200", event.data)

    # --- What the scenarios do again and again ----------------------------------------------

    def new_player(self, name: str, kind: str = "human", show: Any = None) -> Caller:
        """Create a player."""
        stranger = Caller(self.recorder, self.url)
        made = stranger.send("POST", "/v1/players", {"name": name, "kind": kind}, show=show)
        return Caller(self.recorder, self.url, made["token"], made["id"])

    def create(self, ruleset: str, seat_count: int, show: Any = None, **members: Any) -> Any:
        """Create a game."""
        body = {"ruleset": ruleset, "seat_count": seat_count, **members}
        return self.send("POST", "/v1/games", body, show=show)

    def game(self, game_id: str, show: Any = None) -> Any:
        """Return a game as the caller sees it."""
        return self.send("GET", f"/v1/games/{game_id}", show=show)

    def join(self, game_id: str, body: Any = None, show: Any = None) -> Any:
        """Take a seat."""
        return self.send("POST", f"/v1/games/{game_id}/seats", body, show=show)

    def play(self, game_id: str, move: Any, turn: int | None = None, show: Any = None) -> Any:
        """Play a move, in the current turn by default."""
        turn = self.game(game_id)["turn"] if turn is None else turn
        path = f"/v1/games/{game_id}/moves"
        return self.send("POST", path, {"turn": turn, "move": move}, show=show)


def _body(response: Response) -> Any:
    if response.headers.get("Content-Type") in ("application/json", PROBLEM):
        return response.json()
    return response.text


def _title(code: str) -> str:
    return f"{CATALOGUE[code].title}."
