"""Tokens: shown once, kept as hashes, changed without locking anybody out."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers
from tests.support.service import Service


def caller(client: Client, token: str | None) -> Client:
    return Client(client.url, token, client.id)


def test_a_token_has_256_random_bits_and_is_shown_once(new_players: NewPlayers) -> None:
    ada, bob = new_players(2)
    assert ada.token is not None
    player_id, _, secret = ada.token.partition(".")
    assert player_id == ada.id
    assert len(secret) == 43
    assert ada.token != bob.token
    assert "token" not in ada.get("/v1/me")


def test_the_old_token_works_until_the_new_one_is_used(ada: Client) -> None:
    assert ada.token is not None
    new = caller(ada, ada.post("/v1/me/token")["token"])
    assert ada.get("/v1/me")["id"] == ada.id
    assert new.get("/v1/me")["id"] == ada.id
    ada.refused("invalid_token", "GET", "/v1/me")
    assert new.get("/v1/me")["id"] == ada.id


def test_a_lost_answer_can_be_asked_for_again_with_the_old_token(ada: Client) -> None:
    """In whatever order the answers arrive, all of them hold the same new token."""
    with ThreadPoolExecutor(6) as threads:
        tokens = set(
            threads.map(lambda _: caller(ada, ada.token).post("/v1/me/token")["token"], range(6))
        )
    (token,) = tokens
    new = caller(ada, token)
    assert new.get("/v1/me")["id"] == ada.id
    ada.refused("invalid_token", "POST", "/v1/me/token")
    third = caller(ada, new.post("/v1/me/token")["token"])
    assert third.token not in (ada.token, new.token)
    assert third.get("/v1/me")["id"] == ada.id
    new.refused("invalid_token", "GET", "/v1/me")


def test_the_old_token_ends_ten_minutes_after_a_new_one_was_issued(
    service: Service, ada: Client
) -> None:
    token = ada.post("/v1/me/token")["token"]
    key = f"player:{{{ada.id}}}"
    with service.store.client() as redis:
        issued = int(redis.hget(key, "next_token_at") or 0)
        redis.hset(key, "next_token_at", str(issued - 9 * 60_000))
        # Asking again does not make the old token live longer.
        assert ada.post("/v1/me/token")["token"] == token
        assert int(redis.hget(key, "next_token_at") or 0) == issued - 9 * 60_000
        redis.hset(key, "next_token_at", str(issued - 10 * 60_000 - 1))
    ada.refused("invalid_token", "GET", "/v1/me")
    assert caller(ada, token).get("/v1/me")["id"] == ada.id


def test_the_store_knows_no_token_and_no_other_answer_tells_one(
    service: Service, ada: Client
) -> None:
    assert ada.token is not None
    secret = ada.token.partition(".")[2]
    game = ada.create()
    ada.get("/v1/me/games")
    ada.get(f"/v1/games/{game['id']}/events")
    for answer in ada.log:
        assert secret not in answer.text
    with service.store.client() as redis:
        for key in redis.scan_iter("*"):
            kept = b"" if redis.type(key) != b"hash" else repr(redis.hgetall(key)).encode()
            assert secret.encode() not in key + kept
    assert secret not in service.output


def test_a_player_is_told_until_when_it_is_kept(ada: Client) -> None:
    def seconds_left(answer: Any, asked: float) -> float:
        return datetime.fromisoformat(answer["expires_at"]).timestamp() - asked

    asked = time.time()
    created = ada.post("/v1/players", {"name": "Eve", "kind": "bot"}, 201)
    assert seconds_left(created, asked) == pytest.approx(3600, abs=60)
    eve = Client(ada.url, created["token"], created["id"])
    own = eve.get("/v1/me")
    assert own["expires_at"] > created["expires_at"]
    assert own.keys() == created.keys() - {"token"}
    eve.create()
    assert seconds_left(eve.get("/v1/me"), asked) == pytest.approx(90 * 86_400, abs=60)
