"""The probes, and a stop as a load balancer sees it: first not ready, then no more connections."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.support.api_client import seat_two
from tests.support.http_client import BROKEN, Response, authorized
from tests.support.paths import ROOT
from tests.support.service import Service, Start, clean_environment
from tests.support.waiting import wait_until


def wait_for_news(service: Service, game_id: str, answers: list[Response]) -> None:
    cursor = service.request("GET", f"/v1/games/{game_id}").json()["cursor"]
    path = f"/v1/games/{game_id}/events?since={cursor}&wait=25"
    answers.append(service.request("GET", path))


def test_a_stop_is_seen_by_readiness_first_and_meanwhile_everything_is_served(
    start: Start,
) -> None:
    service = start(own=True, STOP_DELAY_SECONDS=4, WEB_CONCURRENCY=2)
    players, game_id = seat_two(service.url)
    answers: list[Response] = []
    poll = threading.Thread(target=wait_for_news, args=(service, game_id, answers))
    poll.start()
    wait_until(lambda: service.waiters() == 1, "it waits")
    assert service.request("GET", "/readyz").status_code == 200

    service.signal(signal.SIGTERM)
    # Both workers, whichever answers: ten times in a row.
    wait_until(
        lambda: {service.request("GET", "/readyz").status_code for _ in range(10)} == {503},
        "no worker is ready",
    )
    refused = service.request("GET", "/readyz")
    assert refused.json()["code"] == "stopping"
    assert "Retry-After" in refused.headers
    assert service.request("GET", "/livez").status_code == 200
    assert not answers
    # A player who has not heard of it plays on, as does one with news to wait for.
    headers = [authorized(player.token) for player in players]
    mover = next(
        each
        for each in headers
        if service.request("GET", f"/v1/games/{game_id}", headers=each).json()["legal_moves"]
    )
    game = service.request("GET", f"/v1/games/{game_id}", headers=mover).json()
    body = {"turn": game["turn"], "move": game["legal_moves"][0]}
    played = service.request("POST", f"/v1/games/{game_id}/moves", json=body, headers=mover)
    assert played.status_code == 200
    poll.join()
    versions = [answer.json()["items"][0]["version"] for answer in (answers[0], played)]
    assert versions[0] == versions[1]

    late = threading.Thread(target=wait_for_news, args=(service, game_id, answers))
    late.start()
    assert service.exit_code() == 0
    late.join()
    # It was answered, not cut off, though it would have waited for far longer.
    assert (answers[1].status_code, answers[1].json()["items"]) == (200, [])
    assert "cut off" not in service.output
    assert "SIGKILL" not in service.output


@pytest.mark.parametrize("delay", [0, 1])
def test_a_request_that_never_ends_does_not_keep_the_service(start: Start, delay: int) -> None:
    service = start(STOP_DELAY_SECONDS=delay, GRACE_SECONDS=1)
    request = threading.Thread(target=endless, args=(service,))
    request.start()
    service.workers()
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    request.join()
    assert "cut off" in service.output
    # The worker ended by itself: the master had to kill nobody.
    assert "SIGKILL" not in service.output


def endless(service: Service) -> None:
    with pytest.raises(BROKEN):
        service.get("/slow", seconds=3600)


def test_a_second_ctrl_c_does_not_wait_for_load_balancers(start: Start) -> None:
    service = start(STOP_DELAY_SECONDS=600)
    service.press_ctrl_c()
    wait_until(lambda: "Handling signal: int" in service.output, "the first was heard")
    service.press_ctrl_c()
    assert service.exit_code() == 0


def test_without_a_delay_waits_are_answered_at_once(start: Start) -> None:
    service = start(own=True)
    _, game_id = seat_two(service.url)
    answers: list[Response] = []
    poll = threading.Thread(target=wait_for_news, args=(service, game_id, answers))
    poll.start()
    wait_until(lambda: service.waiters() == 1, "it waits")
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    poll.join()
    assert answers[0].json()["items"] == []
    # So that the client sends its next request over another connection, to another instance.
    assert answers[0].headers["Connection"] == "close"


def test_liveness_asks_nothing_of_the_store(start: Start) -> None:
    service = start(own=True)
    valkey = wait_until(lambda: service.store.pid, "the store runs")
    with service.store.client() as store:
        before = store.info("commandstats")
        for _ in range(5):
            assert service.request("GET", "/livez").json() == {"status": "alive", "detail": None}
        after = store.info("commandstats")
    changed = {
        name
        for name in after
        if name not in before or before[name]["calls"] != after[name]["calls"]
    }
    assert changed <= {"cmdstat_info"}
    os.kill(valkey, signal.SIGSTOP)
    try:
        assert service.request("GET", "/livez").status_code == 200
        refused = service.request("GET", "/readyz")
        assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
    finally:
        os.kill(valkey, signal.SIGCONT)
    wait_until(lambda: service.request("GET", "/readyz").status_code == 200, "it is ready again")


def check(**settings: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-P", "-m", "api.server.cli", "check"],
        env=clean_environment() | {"PYTHONPATH": str(ROOT)} | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_check_tells_whether_the_service_is_ready(start: Start) -> None:
    service = start(own=True, HOST="0.0.0.0")
    port = str(service.port)
    assert check(PORT=port, HOST="0.0.0.0").returncode == 0
    with service.store.client() as store:
        store.config_set("maxmemory-policy", "allkeys-lru")
    told = check(PORT=port)
    assert (told.returncode, told.stderr) == (1, "ludotheque: not ready: 503\n")
    service.signal(signal.SIGTERM)
    service.exit_code()
    told = check(PORT=port)
    assert told.returncode == 1
    assert told.stderr.startswith(f"ludotheque: no answer at 127.0.0.1 port {port}: ")
    assert check(PORT="eighty").returncode == 2
