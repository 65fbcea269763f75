"""A crowd of requests from one address, each of them allowed, keeps nobody else from playing."""

from __future__ import annotations

from tests.support.api_client import new_player
from tests.support.raw_http import connect
from tests.support.service import Start

CROWD = 100
GAMES = 30
SCARCE = {"REDIS_CONNECTIONS": 4, "REDIS_TIMEOUT_SECONDS": 0.5}
LONG = [f"https://pictures.example/{number}".ljust(200, "x") for number in range(74)]


def test_a_crowd_that_asks_for_much_gets_no_move_of_others_refused(start: Start) -> None:
    service = start(own=True, WEB_CONCURRENCY=1, TRUSTED_PROXIES="127.0.0.1", **SCARCE)
    crowd, other = (
        new_player(service.url, checked=False, headers={"X-Forwarded-For": address})
        for address in ("192.0.2.1", "192.0.2.2")
    )
    for _ in range(GAMES):
        crowd.create(6, "contrast", house=["random"] * 5, options={"pictures": LONG})
    game = other.create(2, house=["random"])
    request = (
        "GET /v1/me/turns HTTP/1.1\r\nHost: crowd\r\nX-Forwarded-For: 192.0.2.1\r\n"
        f"Authorization: Bearer {crowd.token}\r\n\r\n"
    ).encode()
    connections = [connect(service.port) for _ in range(CROWD)]
    try:
        for each in connections:
            each.sendall(request * 3)
        for _ in range(5):
            game = other.play(game["id"], game["turn"], game["legal_moves"][0])["game"]
        # Not because the crowd was refused.
        for each in connections:
            each.settimeout(60)
            assert each.recv(12) == b"HTTP/1.1 200"
    finally:
        for each in connections:
            each.close()
