"""The published configurations of nginx and Caddy, each in front of a real service."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import Client, new_player, seated
from tests.support.proxies import HOST, Proxy, caddy, nginx
from tests.support.service import UNLIMITED, Service, serving

pytestmark = pytest.mark.slow

Run = Callable[[Service, Path, dict[str, str]], AbstractContextManager[Proxy]]
PROXIES: dict[str, Run] = {"nginx": nginx, "caddy": caddy}
FASTER = {"nginx": {"keepalive_timeout 60s": "keepalive_timeout 2400ms"}}
FASTER["caddy"] = {"keepalive 60s": "keepalive 2400ms"}

JSON = ("-H", "Content-Type: application/json")
PLAYERS = 8
"""New players of one address in an hour."""


class Setup:
    """A service behind a proxy."""

    def __init__(self, service: Service, proxy: Proxy) -> None:
        self.service = service
        self.proxy = proxy

    def seated(self) -> tuple[list[Client], Any]:
        """Two players and their game, made without the proxy."""
        players = [new_player(self.service.url, checked=False) for _ in range(2)]
        return players, seated(players)

    def statuses(self, *arguments: str, times: int = 1) -> list[str]:
        """Create players; the statuses of the answers."""
        body = ("-d", '{"name": "Ada", "kind": "bot"}', "-o", "/dev/null", "-w", "%{http_code}")
        return [self.proxy.curl("/v1/players", *JSON, *body, *arguments) for _ in range(times)]


@pytest.fixture(scope="module", params=PROXIES)
def setup(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Setup]:
    directory = tmp_path_factory.mktemp(request.param)
    settings = {"TRUSTED_PROXIES": "127.0.0.1", "RATE_LIMITS": f"players={PLAYERS}/hour"}
    with (
        serving(tmp_path_factory.mktemp("service"), **settings) as service,
        PROXIES[request.param](service, directory, {}) as proxy,
    ):
        yield Setup(service, proxy)


def test_plain_http_is_sent_to_https(setup: Setup) -> None:
    url = f"http://{HOST}:{setup.proxy.http_port}/v1/rulesets?x=1"
    head = setup.proxy.curl(url, "--head")
    assert head.startswith("HTTP/1.1 308 ")
    (location,) = re.findall(r"^location: (.+)$", head, re.MULTILINE | re.IGNORECASE)
    assert re.fullmatch(rf"https://{re.escape(HOST)}(:\d+)?/v1/rulesets\?x=1", location)


def test_clients_speak_http_2_over_a_tls_of_today(setup: Setup) -> None:
    shown = ("-o", "/dev/null", "-w", "%{http_version}")
    assert setup.proxy.curl("/livez", "--http2", *shown) == "2"
    old = setup.proxy.curl_command("/livez", "--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0")
    assert subprocess.run(old, check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("path", ["/v1/rulesets", "/nowhere", "/v1/me"])
def test_the_headers_are_the_services_and_that_of_https_is_added(setup: Setup, path: str) -> None:
    head, _, body = setup.proxy.curl(path, "--include").replace("\r", "").partition("\n\n")
    fields = re.findall(r"^([\w-]+): (.*)$", head, re.MULTILINE)
    headers = {name.lower(): value for name, value in fields}
    assert headers["strict-transport-security"] == "max-age=31536000"
    own = setup.service.request("GET", path)
    for name in ("Content-Type", "Content-Security-Policy", "Access-Control-Allow-Origin"):
        assert headers.get(name.lower()) == own.headers.get(name)
    assert headers["x-request-id"]
    assert json.loads(body) == own.json()


def test_answers_are_compressed_and_known_ones_are_not_sent_again(setup: Setup) -> None:
    path = "/openapi.json"
    head = setup.proxy.curl(path, "-H", "Accept-Encoding: gzip", "-D", "-", "-o", "/dev/null")
    assert re.search(r"^content-encoding: gzip$", head, re.MULTILINE | re.IGNORECASE)
    (tag,) = re.findall(r"^etag: (.+)$", head, re.MULTILINE | re.IGNORECASE)
    again = setup.proxy.curl(
        path, "-H", f"If-None-Match: {tag}", "-w", "%{http_code}", "-o", "/dev/null"
    )
    assert again == "304"
    plain = setup.proxy.curl(path, "-D", "-", "-o", "/dev/null")
    assert "content-encoding" not in plain.lower()


def test_the_events_of_a_stream_pass_at_once(setup: Setup) -> None:
    players, game = setup.seated()
    mover, other = players[game["to_move"][0]], players[1 - game["to_move"][0]]
    path = f"/v1/games/{game['id']}/stream"
    given = ("-N", "-H", f"Authorization: Bearer {other.token}", "-H", "Accept-Encoding: gzip")
    command = setup.proxy.curl_command(path, *given)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stream:
        assert stream.stdout is not None
        lines = iter(stream.stdout.readline, "")
        assert any(line == "event: snapshot\n" for line in lines)
        begin = time.monotonic()
        mover.play_first(game["id"])
        assert any(line == "event: update\n" for line in lines)
        assert time.monotonic() - begin < 5
        stream.kill()


def test_a_long_poll_is_answered_as_soon_as_there_is_news(setup: Setup) -> None:
    players, game = setup.seated()
    mover, other = players[game["to_move"][0]], players[1 - game["to_move"][0]]
    path = f"/v1/games/{game['id']}/events?since={game['cursor']}&wait=20"
    given = ("-H", f"Authorization: Bearer {other.token}", "-w", "\n%{time_total}")
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(setup.proxy.curl, path, *given)
        time.sleep(1)
        assert not poll.done()
        mover.play_first(game["id"])
        answer, seconds = poll.result().rsplit("\n", 1)
    assert json.loads(answer)["items"]
    assert 1 <= float(seconds) < 15


def test_clients_are_told_apart_by_their_own_addresses(setup: Setup) -> None:
    one, other = ("--interface", "127.0.0.9"), ("--interface", "127.0.0.10")
    statuses = setup.statuses(*one, times=PLAYERS + 1)
    assert statuses == ["201"] * PLAYERS + ["429"]
    assert setup.statuses(*one, "-H", "X-Forwarded-For: 192.0.2.1") == ["429"]
    assert setup.statuses(*other) == ["201"]


def test_the_service_answers_bodies_that_are_too_long_itself(setup: Setup, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b" " * 300 * 1024)
    answer = json.loads(setup.proxy.curl("/v1/analysis", *JSON, "--data-binary", f"@{body}"))
    assert answer["code"] == "body_too_large"


def test_the_metrics_are_not_shown_to_the_world(setup: Setup) -> None:
    shown = ("-o", "/dev/null", "-w", "%{http_code}")
    assert setup.proxy.curl("/metrics", *shown) == "404"
    assert setup.service.request("GET", "/metrics").ok


@pytest.mark.parametrize("name", PROXIES)
def test_no_ticket_is_in_a_log_whether_the_service_answers_or_not(
    name: str, tmp_path: Path
) -> None:
    path = f"/v1/games/{'0' * 32}/stream?ticket={'T' * 43}"
    shown = ("-o", "/dev/null", "-w", "%{http_code}")
    with serving(tmp_path / "service") as service, PROXIES[name](service, tmp_path, {}) as proxy:
        assert proxy.curl(path, *shown) in ("401", "404")
        service.end()
        assert proxy.curl(path, *shown) == "502"
        text = proxy.logs
    assert "0" * 32 in text, "it is logged, or there would be nothing to find"
    assert "TTT" not in text


@pytest.mark.parametrize("name", PROXIES)
def test_no_request_fails_when_kept_connections_end(name: str, tmp_path: Path) -> None:
    """The proxy closes idle ones after 60 seconds, the service after 75: here after 2.4 and 5.

    With less between them, a proxy that gets no time on a busy machine closes too late.
    """
    settings = {"WEB_CONCURRENCY": "1", "KEEP_ALIVE_SECONDS": "5", **UNLIMITED}

    def ask(number: int) -> list[int]:
        connection, statuses = proxy.connection(), []
        for turn in range(4):
            # A proxy would send a GET again.
            body = '{"name": "Ada", "kind": "bot"}'
            connection.request("POST", "/v1/players", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
            time.sleep((2.4, 5.0)[turn % 2] + (7 * number + 3 * turn) % 25 / 1000 - 0.015)
        return statuses

    with (
        serving(tmp_path / "service", **settings) as service,
        PROXIES[name](service, tmp_path, FASTER[name]) as proxy,
        ThreadPoolExecutor(12) as threads,
    ):
        statuses = [status for each in threads.map(ask, range(12)) for status in each]
    assert statuses == [201] * 48


def test_connections_to_the_service_are_kept(setup: Setup) -> None:
    def connections() -> set[str]:
        """The proxy's ends of its connections to the service."""
        found = set()
        port = f"0100007F:{setup.service.port:04X}"
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            local, remote, state = line.split()[1:4]
            if remote == port and state == "01":
                found.add(local)
        return found

    setup.proxy.curl("/livez")
    kept = connections()
    assert kept
    for _ in range(5):
        setup.proxy.curl("/livez")
    assert kept & connections()
