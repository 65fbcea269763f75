"""Check what a program says of the game that it played, against the service."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.clients.toolbox import MINUTE
from tests.support.service import Service
from tests.support.waiting import wait_until

GAMES = [("parade", 3), ("tea-time", 2), ("contrast", 3), ("mit-list-und-tuecke", 4)]

ALWAYS_PLAYED = {
    "parade": {"play", "discard"},
    "tea-time": {"pick"},
    "contrast": {"choose"},  # to count is for who is quick
    "mit-list-und-tuecke": {"play", "take"},  # a round may end before two colours are kept
}


def assert_played_to_the_end(said: str, service: Service, ruleset: str, seat_count: int) -> None:
    told = json.loads(said.splitlines()[-1])
    assert told["status"] == "finished"
    result = told["result"]
    assert len(result["scores"]) == seat_count
    assert told["events"]["game_finished"] == 1
    assert told["events"]["seat_taken"] == seat_count

    types = {
        each["type"] for each in json.loads(service.get(f"/v1/rulesets/{ruleset}"))["move_types"]
    }
    assert ALWAYS_PLAYED[ruleset] <= told["moves"].keys() <= types


def finish_without_store(playing: "subprocess.Popen[str]", service: Service) -> str:
    """Return the output of a program whose service loses its store twice while it plays."""
    assert playing.stdout is not None
    try:
        first = playing.stdout.readline()
        assert first == "playing\n", first + playing.stdout.read()
        service.kill_valkey()
        with standing_still(service):
            time.sleep(1)
        assert playing.poll() is None, "it was over before the store was away"
        said, _ = playing.communicate(timeout=5 * MINUTE)
    finally:
        playing.kill()
    assert playing.returncode == 0, said
    assert json.loads(said.splitlines()[-1])["repeated"] > 0
    return said


@contextmanager
def standing_still(service: Service) -> Iterator[None]:
    """Stop the store for a while; the service has noticed when this yields."""
    pid = service.store.pid
    assert pid
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: ready(service) == 503, "the service misses its store")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def ready(service: Service) -> int:
    return service.request("GET", "/readyz").status_code
