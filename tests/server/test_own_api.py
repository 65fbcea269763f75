"""The service's own application on the real server: what the probe's cannot show."""

import signal
import subprocess
import sys

import pytest

from tests.support.http_client import authorized
from tests.support.paths import ROOT
from tests.support.service import Service, Start, clean_environment


def create_player(service: Service) -> dict[str, str]:
    body = {"name": "Ada", "kind": "human"}
    answer = service.request("POST", "/v1/players", json=body)
    assert answer.status_code == 201, answer.text
    player: dict[str, str] = answer.json()
    return player


def own_id(service: Service, token: str) -> str:
    answer = service.request("GET", "/v1/me", headers=authorized(token))
    assert answer.status_code == 200, answer.text
    player_id: str = answer.json()["id"]
    return player_id


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_player_is_known_after_any_end_of_the_service(start: Start, end: signal.Signals) -> None:
    first = start(own=True)
    player = create_player(first)
    first.signal(end)
    first.process.wait()
    second = start(own=True)
    assert own_id(second, player["token"]) == player["id"]


def test_a_player_is_known_after_the_death_of_valkey(start: Start) -> None:
    service = start(own=True)
    player = create_player(service)
    service.kill_valkey()
    assert own_id(service, player["token"]) == player["id"]


def test_the_master_loads_nothing_that_gevent_has_to_patch() -> None:
    """Else a worker, which patches after the fork, runs code that still blocks it as a whole.

    redis.retry, for one, keeps the `sleep` that it has found when it was loaded.
    """
    code = (
        "import sys, api.server.gunicorn_config, api.server.run, api.server.worker\n"
        "print({'flask', 'redis', 'werkzeug', 'requests'} & set(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=clean_environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "set()\n"
