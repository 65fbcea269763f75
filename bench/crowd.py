"""Clients that wait: polls that a service holds, each on a connection of its own.

They are a process of their own, which asks again whenever a poll's time is up.

    python -m bench.crowd PORT NUMBER < polls
"""

from __future__ import annotations

from gevent import monkey

if __name__ == "__main__":
    monkey.patch_all()

import contextlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gevent

from bench.games import player
from bench.running import Caller, Refused, Running, request, waiters
from tests.support.paths import ROOT

FOR_EACH_GAME = 4
WAIT_SECONDS = 25
OPENED_A_SECOND = 400
"""So that the polls of 10,000 clients, each of which asks again after 25 seconds, are spread."""

CHECKED_AFTER = 100

PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 120
SETTLING_SECONDS = 1

ADDRESSES = 4
"""From so many addresses the clients come."""


@contextlib.contextmanager
def waiting(running: Running, games: Sequence[str], number: int) -> Iterator[None]:
    """So many who wait for what happens in these games, from the beginning to the end."""
    if number == 0:
        yield
        return
    caller = Caller(running.port)
    # Half of the quota is for strangers, so they have a token.
    token = player(caller)
    polls = [_poll(caller, game_id, token) for game_id in games[: -(-number // FOR_EACH_GAME)]]
    command = [sys.executable, "-m", "bench.crowd", str(running.port), str(number)]
    crowd = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT)
    try:
        assert crowd.stdin is not None
        crowd.stdin.write(pickle.dumps(polls))
        crowd.stdin.close()
        _await(running, crowd, number)
        time.sleep(SETTLING_SECONDS)
        yield
        _await(running, crowd, number)
    finally:
        crowd.terminate()
        crowd.wait(30)


def _poll(caller: Caller, game_id: str, token: str) -> bytes:
    cursor = caller.ask("GET", f"/v1/games/{game_id}", token)["cursor"]
    path = f"/v1/games/{game_id}/events?since={cursor}&wait={WAIT_SECONDS}"
    return request("GET", path, token)


def _await(running: Running, crowd: subprocess.Popen[bytes], number: int) -> None:
    """Until they wait."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_held(running.port, number):
        if crowd.poll() is not None or time.monotonic() > until:
            raise Refused(f"{waiters(running.port)} of {number} clients wait.")
        time.sleep(PAUSE_SECONDS)
    if crowd.poll() is not None:
        raise Refused("Some who waited were not answered as expected.")


def is_held(port: int, number: int) -> bool:
    """Whether so many polls are held, but for some whose clients are about to ask again."""
    return waiters(port) >= number * 0.98


def address_of(at: int) -> str:
    """The address of a client that waits. A worker holds no more than a share for one of them."""
    return f"127.0.0.{2 + at % ADDRESSES}"


def open_gently(port: int, number: int, one: Callable[[int], gevent.Greenlet]) -> list[Any]:
    """Clients that wait, opened at an even pace, and no more while those before are not held."""
    greenlets = []
    already = waiters(port)
    for at in range(number):
        greenlets.append(one(at))
        # Do not catch up after a delay: that would be a burst, which repeats with each poll.
        gevent.sleep(1 / OPENED_A_SECOND)
        if at % CHECKED_AFTER == 0:
            while not is_held(port, already + at):
                gevent.sleep(PAUSE_SECONDS)
    return greenlets


def main() -> None:
    """Wait, until told to end."""
    port, number = int(sys.argv[1]), int(sys.argv[2])
    polls: list[bytes] = pickle.load(sys.stdin.buffer)

    def wait(at: int) -> None:
        caller, poll = Caller(port, address_of(at)), polls[at % len(polls)]
        while True:
            status, body = caller.send(poll)
            if status != 200:
                raise Refused(f"a poll: {status} {body.decode()[:300]}")

    greenlets = open_gently(port, number, lambda at: gevent.spawn(wait, at))
    # None of them ends but by failing.
    gevent.joinall(greenlets, count=1, raise_error=True)


if __name__ == "__main__":
    main()
