"""HTTP clients of several languages, with what they send by default: chunks, gzip, kept sockets."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import requests

from tests.support.http_client import authorized
from tests.support.paths import PROGRAMS
from tests.support.service import Service
from tests.support.tools import find_program

JSON = {"Content-Type": "application/json"}
PLAYER = {"name": "Ada", "kind": "bot"}
GAME = {"ruleset": "contrast", "seat_count": 2.0, "options": {"expert": None}, "house": None}


def pieces(body: Any) -> Iterator[bytes]:
    return (part.encode() for part in json.JSONEncoder().iterencode(body))


def create_games(post: Callable[[str, dict[str, str], Any], Any]) -> None:
    """Create a player and some games on one connection, with what sends a body in pieces."""
    token = post("/v1/players", JSON, PLAYER)["token"]
    for _ in range(3):
        assert post("/v1/games", {**JSON, **authorized(token)}, GAME)["seat_count"] == 2


def test_requests_sends_bodies_from_generators(service: Service) -> None:
    with requests.Session() as session:

        def post(path: str, headers: dict[str, str], body: Any) -> Any:
            answer = session.post(service.url + path, headers=headers, data=pieces(body))
            assert answer.request.headers["Transfer-Encoding"] == "chunked"
            answer.raise_for_status()
            return answer.json()

        create_games(post)
        rulesets = session.get(f"{service.url}/v1/rulesets")
        assert rulesets.headers["Content-Encoding"] == "gzip"
        assert len(rulesets.json()["items"]) == 4


def test_httpx_sends_bodies_from_generators(service: Service) -> None:
    with httpx.Client(base_url=service.url) as client:

        def post(path: str, headers: dict[str, str], body: Any) -> Any:
            answer = client.post(path, headers=headers, content=pieces(body))
            assert answer.request.headers["Transfer-Encoding"] == "chunked"
            return answer.raise_for_status().json()

        create_games(post)
        rulesets = client.get("/v1/rulesets")
        assert rulesets.headers["Content-Encoding"] == "gzip"
        assert len(rulesets.json()["items"]) == 4


def test_aiohttp_sends_bodies_from_generators(service: Service) -> None:
    async def pieces_of(body: Any) -> AsyncIterator[bytes]:
        for piece in pieces(body):
            yield piece

    async def play() -> None:
        async with aiohttp.ClientSession(service.url, raise_for_status=True) as session:
            sent = pieces_of(PLAYER)
            async with session.post("/v1/players", headers=JSON, data=sent) as answer:
                assert answer.request_info.headers["Transfer-Encoding"] == "chunked"
                token = (await answer.json())["token"]
            headers = {**JSON, **authorized(token)}
            for _ in range(3):
                async with session.post("/v1/games", headers=headers, data=pieces_of(GAME)) as made:
                    assert (await made.json())["seat_count"] == 2
            async with session.get("/v1/rulesets") as rulesets:
                assert len((await rulesets.json())["items"]) == 4

    asyncio.run(play())


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_curl_sends_a_body_in_chunks(service: Service) -> None:
    curl = [find_program("curl"), "-sS", "--compressed", "--fail-with-body"]
    chunked = ["-H", "Content-Type: application/json", "-H", "Transfer-Encoding: chunked"]
    url = f"{service.url}/v1/players"
    body = ["-d", json.dumps(PLAYER)]
    said = run(*curl, *chunked, *body, url, "--next", *curl[1:], *chunked, *body, url)
    assert said.count('"token"') == 2
    assert len(json.loads(run(*curl, f"{service.url}/v1/rulesets"))["items"]) == 4


@pytest.mark.slow
def test_node_sends_bodies_by_write_and_from_streams(service: Service) -> None:
    program = PROGRAMS / "streaming_client.js"
    assert run(find_program("node"), program, service.url) == "done\n"


@pytest.mark.slow
def test_java_sends_bodies_from_input_streams(service: Service) -> None:
    find_program("javac")
    program = PROGRAMS / "StreamingClient.java"
    assert run(find_program("java"), program, service.url) == "done\n"
