"""Behind Debian's nginx: with its defaults, and with kept connections and gzip as operators set."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.api_client import Client, new_player, seated
from tests.support.http_client import HttpClient
from tests.support.nginx import nginx
from tests.support.service import UNLIMITED, Start

pytestmark = pytest.mark.slow

KEEP = "proxy_http_version 1.1; proxy_set_header Connection '';"
GZIP = "gzip on; gzip_proxied any; gzip_types application/json;"


def test_no_request_fails_when_kept_connections_end(start: Start, tmp_path: Path) -> None:
    # nginx closes idle connections after 60 seconds, the service after 75: here a 75th of both.
    service = start(own=True, WEB_CONCURRENCY=1, KEEP_ALIVE_SECONDS=1, **UNLIMITED)
    upstream = "keepalive 25; keepalive_timeout 800ms;"

    def ask(number: int) -> list[int]:
        client, player = HttpClient(url, keep_alive=False), {"name": "Ada", "kind": "bot"}
        statuses = []
        for turn in range(20):
            # nginx would send a GET again.
            statuses.append(client.request("POST", "/v1/players", json=player).status_code)
            # Within some milliseconds of the end of either.
            time.sleep((0.8, 1.0)[turn % 2] + (7 * number + 3 * turn) % 25 / 1000 - 0.015)
        return statuses

    with (
        nginx(service, tmp_path, upstream, location=KEEP) as url,
        ThreadPoolExecutor(25) as threads,
    ):
        statuses = [status for each in threads.map(ask, range(25)) for status in each]
    assert statuses == [201] * 500


@pytest.mark.parametrize("location", ["", KEEP], ids=["defaults", "kept"])
def test_moves_and_conditions_pass_a_proxy_that_compresses(
    start: Start, tmp_path: Path, location: str
) -> None:
    service = start(own=True, WEB_CONCURRENCY=1)
    with nginx(service, tmp_path, server=GZIP, location=location) as url:
        players = [new_player(url, checked=False) for _ in range(2)]
        game = seated(players)
        path = f"/v1/games/{game['id']}"
        mover = players[game["to_move"][0]]
        seen = mover.request("GET", path, headers={"Accept-Encoding": "gzip"})
        assert seen.headers["Content-Encoding"] == "gzip"
        tag = seen.headers["ETag"]
        known = mover.request("GET", path, headers={"If-None-Match": tag})
        assert known.status_code == 304
        own = mover.game(game["id"])
        body = {"turn": own["turn"], "move": own["legal_moves"][0]}
        headers = {"If-Match": tag}
        mover.post(f"{path}/moves", body, headers=headers)
        mover.refused("precondition_failed", "DELETE", f"{path}/seats/me", headers=headers)
        chunks = iter([b'{"name": "Ada", ', b'"kind": "bot"}'])
        json_type = {"Content-Type": "application/json"}
        Client(url, checked=False).post("/v1/players", status=201, data=chunks, headers=json_type)


@pytest.mark.parametrize("location", ["", KEEP], ids=["defaults", "kept"])
def test_events_pass_a_proxy_at_once(start: Start, tmp_path: Path, location: str) -> None:
    service = start(own=True, WEB_CONCURRENCY=1)
    with nginx(service, tmp_path, server=GZIP, location=location) as url:
        players = [new_player(url, checked=False) for _ in range(2)]
        game = seated(players)
        mover, other = players[game["to_move"][0]], players[1 - game["to_move"][0]]
        path = f"/v1/games/{game['id']}/stream"
        with other.open("GET", path, headers={"Accept-Encoding": "gzip"}) as stream:
            lines = stream.lines()
            assert any(line == "event: snapshot" for line in lines)
            begin = time.monotonic()
            mover.play_first(game["id"])
            assert any(line == "event: update" for line in lines)
            assert time.monotonic() - begin < 5
