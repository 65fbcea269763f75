"""Server-Sent Events, read in the background."""

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import requests

from tests.support.api_client import Client
from tests.support.waiting import wait_until


class Event(NamedTuple):
    name: str
    id: str
    data: Any


class Stream:
    """An open stream, and what has come."""

    def __init__(
        self, client: Client, game_id: str, last_id: str | None = None, ticket: str | None = None
    ) -> None:
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        path = f"/v1/games/{game_id}/stream"
        if ticket is not None:
            client, path = Client(client.url), f"{path}?ticket={ticket}"
        caller = Client(client.url, client.token)
        caller.session.headers["Accept"] = "text/event-stream"
        self.response = caller.request("GET", path, headers=headers, stream=True)
        assert self.response.status_code == 200, self.response.text
        self.events: list[Event] = []
        self.text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for chunk in self.response.iter_content(None, decode_unicode=False):
                self.text += chunk.decode()
                *whole, self.rest = self.text.split("\n\n")
                self.events = [event for each in whole if (event := read_event(each))]
        except (requests.RequestException, AttributeError):
            pass  # we closed it

    def until(self, condition: Callable[["Stream"], Any]) -> "Stream":
        wait_until(lambda: condition(self), "it came", 10)
        return self

    def has(self, name: str) -> bool:
        return any(event.name == name for event in self.events)

    @property
    def is_closed(self) -> bool:
        return not self._thread.is_alive()

    def close(self) -> list[Event]:
        # Not by closing it: that waits for whoever reads.
        with contextlib.suppress(OSError, AttributeError):
            self.response.raw._fp.fp.raw._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        return self.events

    @property
    def items(self) -> list[Any]:
        return [
            item for event in self.events if event.name == "update" for item in event.data["items"]
        ]


def read_event(text: str) -> Event | None:
    fields = dict(re.findall(r"^(event|id|data): (.*)$", text, re.MULTILINE))
    return Event(fields["event"], fields["id"], json.loads(fields["data"])) if fields else None
