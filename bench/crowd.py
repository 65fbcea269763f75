"""Clients that wait: polls that a service holds, each on a connection of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from bench.games import player
from bench.running import Caller, Refused, Running, request

FOR_EACH_GAME = 4
WAIT_SECONDS = 25
"""So long a poll is held at most: what is measured beside a crowd has to be measured in less."""

PATIENCE_SECONDS = 15


@contextlib.contextmanager
def waiting(running: Running, games: Sequence[str], number: int) -> Iterator[None]:
    """So many who wait for what happens in these games; at the end all of them still do."""
    caller = Caller(running.port)
    token = player(caller) if number else ""
    polls = []
    for game_id in games[: -(-number // FOR_EACH_GAME)]:
        version = caller.ask("GET", f"/v1/games/{game_id}", token)["version"]
        path = f"/v1/games/{game_id}/events?since={version}&wait={WAIT_SECONDS}"
        polls.append(request("GET", path, token))
    callers = [Caller(running.port) for _ in range(number)]
    for at, each in enumerate(callers):
        each.socket.sendall(polls[at % len(polls)])
    until = time.monotonic() + PATIENCE_SECONDS
    while (held := running.waiters()) < number:
        if time.monotonic() > until:
            raise Refused(f"{held} of {number} clients wait.")
        time.sleep(0.1)
    yield
    if (held := running.waiters()) < number:
        raise Refused(f"{held} of {number} clients have waited to the end.")
    for each in callers:
        each.socket.close()
