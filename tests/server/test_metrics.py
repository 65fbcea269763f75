"""The metrics: right whichever worker is asked, through the death of workers, and bounded."""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.config.settings import Settings
from api.observability import metrics, multiprocess
from api.storage.connect import connect
from api.storage.indexes import Indexes
from api.storage.store import Store
from api.web.metrics_page import MAX_AGE_SECONDS
from api.web.wiring import make_retention
from tests.support import raw_http
from tests.support.api_client import Client, new_player, seat_two
from tests.support.event_stream import events
from tests.support.http_client import BROKEN, HttpClient, Response, authorized
from tests.support.processes import is_alive
from tests.support.raw_http import exchange
from tests.support.service import Service, Start, serving
from tests.support.waiting import PATIENCE, wait_until

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]

GET_GAME = {"method": "GET", "route": "/v1/games/{game_id}"}
TOKEN = "a-token-of-the-host"


def scrape(service: Service, *, now: bool = False) -> Samples:
    """What the service tells; unless `now`, not what a worker has kept from before."""
    if not now:
        time.sleep(MAX_AGE_SECONDS)
    answer = service.request("GET", "/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(answer.text)


def own_samples() -> Samples:
    """What this process has counted."""
    return read(metrics.exposition(None, None).decode())


def read(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    """A sample's value; 0 if there is none yet."""
    return samples.get((f"ludotheque_{name}", tuple(sorted(labels.items()))), 0)


def own_directory(service: Service) -> Path:
    """Where the workers of this service keep their counts."""
    for line in Path(f"/proc/{min(service.worker_pids)}/maps").read_text().splitlines():
        if f"/{multiprocess.PREFIX}" in line:
            return Path(line[line.index("/") :]).parent
    raise AssertionError("no file of counts is mapped")


def play_on(service: Service, players: list[Client], game_id: str) -> tuple[Any, Any]:
    """The next seat's first legal move: the request for it, and its answer."""
    for player in players:
        headers = authorized(player.token)
        game = service.request("GET", f"/v1/games/{game_id}", headers=headers).json()
        if game["legal_moves"]:
            body = {"turn": game["turn"], "move": game["legal_moves"][0]}
            path = f"/v1/games/{game_id}/moves"
            answer = service.request("POST", path, json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            return (path, body, headers), answer.json()
    raise AssertionError("nobody can move")


@pytest.fixture
def service(start: Start) -> Service:
    return start(own=True, WEB_CONCURRENCY=2)


def test_whichever_worker_is_asked_tells_of_all(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=3)
    wait_until(lambda: value(scrape(service), "workers") == 3, "all workers count")
    _, game_id = seat_two(service.url)
    for _ in range(30):
        assert service.request("GET", f"/v1/games/{game_id}").status_code == 200
    own_counts = {
        value(samples, "requests_total", **GET_GAME, status="200")
        for samples in (scrape(service), *(scrape(service, now=True) for _ in range(14)))
    }
    assert own_counts == {30}
    samples = scrape(service)
    assert value(samples, "request_duration_seconds_count", **GET_GAME) == 30
    assert value(samples, "request_duration_seconds_bucket", **GET_GAME, le="+Inf") == 30


def test_moves_and_games_are_counted_once_by_ruleset_and_by_whom(service: Service) -> None:
    players, game_id = seat_two(service.url)
    (path, body, headers), _ = play_on(service, players, game_id)
    for _ in range(3):
        again = service.request("POST", path, json=body, headers=headers)
        assert again.status_code == 200
    assert (
        service.request("POST", path, json=body | {"turn": 99}, headers=headers).status_code == 409
    )
    samples = scrape(service)
    assert value(samples, "moves_total", ruleset="parade", by="player") == 1
    assert value(samples, "games_total", ruleset="parade", event="created") == 1
    assert value(samples, "games_total", ruleset="parade", event="started") == 1
    assert value(samples, "lobby_games", status="playing") == 1

    while play_on(service, players, game_id)[1]["game"]["status"] == "playing":
        pass
    record = service.request("GET", f"/v1/games/{game_id}/record").json()
    samples = scrape(service)
    assert value(samples, "moves_total", ruleset="parade", by="player") == len(record["moves"])
    assert value(samples, "games_total", ruleset="parade", event="finished") == 1
    assert value(samples, "games_total", ruleset="parade", event="cancelled") == 0
    assert value(samples, "lobby_games", status="playing") == 0


def test_moves_of_the_house_and_cancelled_games_are_counted_as_such(service: Service) -> None:
    player = new_player(service.url)
    game = player.create(2, "tea-time", house=["random"])
    play_on(service, [player], game["id"])
    player.delete(f"/v1/games/{game['id']}/seats/me")
    record = player.get(f"/v1/games/{game['id']}/record")
    by = [move["by"] for move in record["moves"]]
    samples = scrape(service)
    assert value(samples, "moves_total", ruleset="tea-time", by="player") == by.count("player") == 1
    assert value(samples, "moves_total", ruleset="tea-time", by="house") == by.count("house") > 0
    assert value(samples, "games_total", ruleset="tea-time", event="cancelled") == 1


@pytest.mark.slow
def test_a_dead_worker_keeps_its_counts_but_waits_no_more(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=2)
    wait_until(lambda: value(scrape(service), "workers") == 2, "both workers count")
    _, game_id = seat_two(service.url)
    for _ in range(20):
        service.request("GET", f"/v1/games/{game_id}")
    files = set(own_directory(service).glob("*.db"))
    for _ in range(2):
        polls = [threading.Thread(target=poll, args=(service, game_id)) for _ in range(6)]
        for thread in polls:
            thread.start()
        wait_until(lambda: value(scrape(service), "waiters") == 6, "all wait")
        before = value(scrape(service), "requests_total", **GET_GAME, status="200")
        for pid in service.worker_pids:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: not is_alive(pid), "it is dead")
        for thread in polls:
            thread.join()

        def all_are_new() -> Samples | None:
            samples = persistent_scrape(service)
            present = value(samples, "workers"), value(samples, "waiters")
            return samples if present == (2, 0) else None

        samples = wait_until(all_are_new, "the dead are replaced, and wait no more")
        assert value(samples, "requests_total", **GET_GAME, status="200") == before
    assert set(own_directory(service).glob("*.db")) == files


def poll(service: Service, game_id: str) -> None:
    with contextlib.suppress(*BROKEN):
        cursor = service.request("GET", f"/v1/games/{game_id}").json()["cursor"]
        service.request("GET", f"/v1/games/{game_id}/events?wait=25&since={cursor}")


def persistent_scrape(service: Service) -> Samples:
    while True:
        with contextlib.suppress(*BROKEN):
            return scrape(service)
        time.sleep(0.05)


def test_those_who_wait_are_measured_apart(service: Service) -> None:
    _, game_id = seat_two(service.url)
    route = "/v1/games/{game_id}/events"
    cursor = service.request("GET", f"/v1/games/{game_id}").json()["cursor"]
    service.request("GET", f"/v1/games/{game_id}/events?since={cursor}&wait=1")
    service.request("GET", f"/v1/games/{game_id}/events?since={cursor}")
    service.request("GET", f"/v1/games/{game_id}/events?wait=1")
    samples = scrape(service)
    assert value(samples, "wait_duration_seconds_count", route=route) == 1
    assert value(samples, "wait_duration_seconds_sum", route=route) >= 0.9
    assert value(samples, "request_duration_seconds_count", method="GET", route=route) == 2
    assert value(samples, "requests_total", method="GET", route=route, status="200") == 3


def test_strangers_cannot_make_up_labels_or_put_secrets_there(service: Service) -> None:
    for number in range(50):
        service.request("GET", f"/nowhere/{number}")
        service.request("GET", f"/v1/games/{number}")
        service.request(f"BREW{number}", "/v1/games")
    samples = scrape(service)
    assert value(samples, "requests_total", method="GET", route="unmatched", status="404") == 50
    assert value(samples, "requests_total", **GET_GAME, status="404") == 50
    assert value(samples, "requests_total", method="other", route="unmatched", status="405") == 50
    assert len([name for name, _ in samples if name == "ludotheque_requests_total"]) <= 5


def test_what_cannot_be_read_as_a_request_is_counted_by_its_status(start: Start) -> None:
    """Not what the application was asked, which counts it itself."""
    service = start(own=True, WEB_CONCURRENCY=1)
    sent = {
        400: b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        414: b"GET /%b HTTP/1.1\r\n\r\n" % (b"x" * 5000),
        431: b"GET / HTTP/1.1\r\nX: %b\r\n\r\n" % (b"x" * 20_000),
        501: b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: other\r\n\r\n",
        415: b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
    }
    for status, request in sent.items():
        assert exchange(service.port, request, half_close=False).status == status
    samples = scrape(service)

    def counted(status: int) -> float:
        labels = {"method": "other", "route": "unmatched", "status": str(status)}
        return value(samples, "requests_total", **labels)

    assert [counted(status) for status in (400, 414, 431, 501, 500, 415)] == [1, 1, 1, 1, 0, 0]
    counts = [n for (name, _), n in samples.items() if name == "ludotheque_requests_total"]
    assert sum(counts) == len(sent)


def test_failures_of_the_store_that_are_overcome_are_counted_too(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=1)
    ada = service.request("POST", "/v1/players", json={"name": "Ada", "kind": "bot"}).json()
    with service.store.client() as store:
        store.config_set("maxmemory", 1)

    def failed() -> float:
        return value(scrape(service), "store_errors_total", kind="full")

    # That she was heard of cannot be noted.
    me = service.request("GET", "/v1/me", headers=authorized(ada["token"]))
    assert (me.status_code, failed()) == (200, 1)
    # Nor that somebody guesses.
    assert service.request("GET", f"/v1/games/{'0' * 32}").status_code == 404
    assert failed() == 2


def test_a_message_that_the_store_does_not_pass_on_is_counted() -> None:
    before = value(own_samples(), "store_errors_total", kind="connection")
    link, _ = connect(Settings(redis_url="redis://127.0.0.1:1", redis_timeout_seconds=0.2))
    store = Store(link)
    indexes = Indexes(link, store, make_retention(Settings()))
    assert indexes.after_commits((), [store.announcement(["0" * 32])]) == []
    assert value(own_samples(), "store_errors_total", kind="connection") == before + 1


def test_what_is_too_much_is_counted_by_limit(start: Start) -> None:
    service = start(own=True, RATE_LIMITS="games=1/hour,failures=3/hour")
    (ada, *_), _ = seat_two(service.url)
    headers = authorized(ada.token)
    body = {"ruleset": "parade", "seat_count": 2}
    statuses = [
        service.request("POST", "/v1/games", json=body, headers=headers).status_code
        for _ in range(3)
    ]
    assert statuses == [429] * 3
    samples = scrape(service)
    assert value(samples, "rate_limited_total", limit="games") == 3
    assert value(samples, "rate_limited_total", limit="failures") == 0
    for _ in range(4):
        service.request("GET", f"/v1/games/{'0' * 32}")
    assert value(scrape(service), "rate_limited_total", limit="failures") == 1


def test_refused_waits_are_counted_by_quota(start: Start) -> None:
    service = start(
        own=True,
        WEB_CONCURRENCY=1,
        WAITERS=4,
        WAITERS_PER_PLAYER=1,
        WAITERS_PER_ADDRESS=3,
        TRUSTED_PROXIES="127.0.0.1",
    )
    players, game_id = seat_two(service.url)
    tokens = [each.token for each in players]
    path = f"/v1/games/{game_id}"
    held: list[Response] = []
    opened, refused_now = "snapshot", "unavailable"

    def open_stream(token: str | None, address: str) -> str:
        headers = {"X-Forwarded-For": address} | ({} if token is None else authorized(token))
        held.append(HttpClient(service.url).open("GET", f"{path}/stream", headers=headers))
        return next(events(held[-1])).name

    def refused() -> dict[str, float]:
        kinds = ("player", "strangers", "address", "worker")
        samples = scrape(service)
        return {kind: value(samples, "waits_refused_total", quota=kind) for kind in kinds}

    try:
        assert [open_stream(tokens[0], "192.0.2.1") for _ in range(2)] == [opened, refused_now]
        assert refused() == {"player": 1, "strangers": 0, "address": 0, "worker": 0}
        assert [open_stream(None, "192.0.2.1") for _ in range(2)] == [opened, opened]
        assert open_stream(None, "192.0.2.2") == refused_now
        assert refused() == {"player": 1, "strangers": 1, "address": 0, "worker": 0}
        assert open_stream(tokens[1], "192.0.2.1") == refused_now
        assert refused() == {"player": 1, "strangers": 1, "address": 1, "worker": 0}
        assert open_stream(tokens[1], "192.0.2.2") == opened
        cursor = service.request("GET", path).json()["cursor"]
        polled = service.request("GET", f"{path}/events?since={cursor}&wait=20")
        assert polled.headers["Retry-After"]
        assert refused() == {"player": 1, "strangers": 1, "address": 1, "worker": 1}
    finally:
        for each in held:
            each.close()


def test_connections_that_are_too_many_are_counted_by_all_workers(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=2, CONNECTIONS_PER_ADDRESS=5)
    wait_until(lambda: value(scrape(service), "workers") == 2, "both workers count")
    _, game_id = seat_two(service.url)
    request = f"GET /v1/games/{game_id}/stream HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    opened: list[socket.socket] = []
    with contextlib.ExitStack() as stack:

        def open_one_more() -> int:
            """One more stream from another address; how many go on."""
            opened.append(stack.enter_context(raw_http.connect(service.port, source="127.0.0.2")))
            with contextlib.suppress(ConnectionError):
                opened[-1].sendall(request)
            return sum(map(is_held, opened))

        wait_until(lambda: open_one_more() == 10, "both workers hold five")
        assert {open_one_more() for _ in range(10)} == {10}
        wait_until(lambda: refused_connections(service) == len(opened) - 10, "all are counted")


def refused_connections(service: Service) -> float:
    return value(scrape(service), "connections_refused_total")


def is_held(connection: socket.socket) -> bool:
    """Whether a stream has begun on it and goes on."""
    connection.settimeout(PATIENCE)
    try:
        return connection.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
    except ConnectionError:
        return False


def test_conflicts_are_counted(service: Service) -> None:
    """Many at once join one game: of those that were decided on the same state, one is first."""
    host = service.request("POST", "/v1/players", json={"name": "Eve", "kind": "bot"}).json()
    body = {"ruleset": "parade", "seat_count": 6}

    def join(path: str, headers: dict[str, str], barrier: threading.Barrier) -> None:
        client = HttpClient(service.url)
        client.connect()
        barrier.wait()
        client.request("POST", path, json={}, headers=headers)

    def compete() -> bool:
        game = service.request("POST", "/v1/games", json=body, headers=authorized(host["token"]))
        path = f"/v1/games/{game.json()['id']}/seats"
        names = ({"name": f"P{number}", "kind": "bot"} for number in range(5))
        tokens = [
            service.request("POST", "/v1/players", json=name).json()["token"] for name in names
        ]
        barrier = threading.Barrier(len(tokens))
        joins = [
            threading.Thread(target=join, args=(path, authorized(token), barrier))
            for token in tokens
        ]
        for thread in joins:
            thread.start()
        for thread in joins:
            thread.join()
        return value(scrape(service), "commit_conflicts_total") > 0

    wait_until(compete, "two were in each other's way")


def test_a_store_that_is_away_is_counted_and_hides_nothing_else(start: Start) -> None:
    service = start(own=True, REDIS_URL="redis://127.0.0.1:1/0")
    assert service.request("GET", "/readyz").status_code == 503
    samples = scrape(service)
    assert value(samples, "store_errors_total", kind="connection") >= 1
    assert value(samples, "requests_total", method="GET", route="/readyz", status="503") == 1
    assert not any(name == "ludotheque_lobby_games" for name, _ in samples)


def test_the_directory_of_the_counts_is_private_and_goes_with_the_service(
    service: Service,
) -> None:
    directory = own_directory(service)
    assert directory.stat().st_mode & 0o077 == 0
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    assert not directory.exists()


def test_the_counts_of_a_killed_service_are_removed_by_the_next_one(start: Start) -> None:
    first = start(own=True)
    orphaned = own_directory(first)
    living = start(own=True, DATA_DIR=first.store.directory.parent.with_name("other"))
    kept = own_directory(living)
    followers = first.worker_pids
    first.signal(signal.SIGKILL)
    first.process.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in followers), "its workers follow")
    long_ago = time.time() - 2 * multiprocess.NEW_SECONDS
    for directory in (orphaned, kept):
        os.utime(directory, (long_ago, long_ago))
    second = start(own=True)
    assert not orphaned.exists()
    assert kept.exists()
    assert value(scrape(second), "requests_total", method="GET", route="/v1/me", status="200") == 0


def test_metrics_can_be_switched_off(start: Start) -> None:
    service = start(own=True, METRICS="off")
    answer = service.request("GET", "/metrics")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert service.request("GET", "/v1/rulesets").status_code == 200


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("Bearer no-token-of-the-host", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer é", 401),
        (f"Bearer {TOKEN}", 200),
    ],
)
def test_metrics_can_ask_for_a_token(guarded: Service, header: str | None, status: int) -> None:
    headers = {} if header is None else {"Authorization": header.encode()}
    answer = guarded.request("GET", "/metrics", headers=headers)
    assert answer.status_code == status
    assert (status == 401) == ("WWW-Authenticate" in answer.headers)
    assert TOKEN not in answer.text


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = {"METRICS_TOKEN": TOKEN, "WEB_CONCURRENCY": "1"}
    with serving(tmp_path_factory.mktemp("service"), **settings) as running:
        yield running
