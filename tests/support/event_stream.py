"""Server-Sent Events: read in the background, or one after the other."""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.support.api_client import Client
from tests.support.http_client import BROKEN, Response
from tests.support.waiting import wait_until


class Event(NamedTuple):
    """An event of a stream."""

    name: str
    id: str
    data: Any


def read_event(text: str) -> Event | None:
    """Return the event in a block of lines; None if it is a comment or a setting."""
    fields = dict(re.findall(r"^(event|id|data): (.*)$", text, re.MULTILINE))
    if not fields:
        return None
    return Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))


def events(response: Response) -> Iterator[Event]:
    """Yield the events of an open stream as they come."""
    block: list[str] = []
    for line in response.lines():
        if line:
            block.append(line)
        elif event := read_event("\n".join(block)):
            yield event
            block.clear()
        else:
            block.clear()


class Unavailable(NamedTuple):
    """Why a stream is not available, and after how many milliseconds to open it again."""

    problem: Any
    retry_ms: int


def unavailable(client: Client, path: str, **how: Any) -> Unavailable:
    """Open a stream that must be unavailable."""
    response = client.request("GET", path, **how)
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "text/event-stream"
    first, *rest = response.text.split("\n\n")
    (event,) = filter(None, map(read_event, rest))
    assert (event.name, event.id) == ("unavailable", "")
    return Unavailable(event.data, int(first.removeprefix("retry: ")))


class Stream:
    """An open stream, read in a thread, and the events that have come.

    Without a game, it is the stream of all games of the player.
    """

    def __init__(
        self,
        client: Client,
        game_id: str | None,
        last_id: str | None = None,
        ticket: str | None = None,
        query: str = "",
    ) -> None:
        path = "/v1/me/stream" if game_id is None else f"/v1/games/{game_id}/stream"
        path = f"{path}?{query}"
        token = client.token
        if ticket is not None:
            token, path = None, f"{path}&ticket={ticket}"
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last_id}
        self.response = Client(client.url, token).open("GET", path, headers=headers)
        assert self.response.status_code == 200, self.response.text
        self.events: list[Event] = []
        self.text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(*BROKEN):  # interrupted by the test
            for chunk in self.response.chunks():
                self.text += chunk.decode()
                *whole, _ = self.text.split("\n\n")
                self.events = [event for each in whole if (event := read_event(each))]

    def until(self, condition: Callable[["Stream"], Any]) -> "Stream":
        wait_until(lambda: condition(self), "it came", 10)
        return self

    def has(self, name: str) -> bool:
        return any(event.name == name for event in self.events)

    @property
    def is_closed(self) -> bool:
        return not self._thread.is_alive()

    def close(self) -> list[Event]:
        self.response.interrupt()
        self._thread.join(10)
        self.response.close()
        return self.events

    @property
    def items(self) -> list[Any]:
        return [
            item for event in self.events if event.name == "update" for item in event.data["items"]
        ]
