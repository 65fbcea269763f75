"""Answers are compressed for clients that accept gzip, and their tags stay comparable."""

import gzip
import json
import random
import zlib

import pytest

from api.web.compression import PIECE_BYTES
from tests.support.api_client import Client, play_out, seated
from tests.support.http_client import Response

GZIP = {"Accept-Encoding": "gzip"}
PREPARED = [
    "/openapi.json",
    "/openapi.yaml",
    "/v1/rulesets",
    "/v1/rulesets/parade",
    "/problems",
    "/docs",
    "/assets/page.css",
    "/assets/swagger-ui-bundle.js",
]


def varies(response: Response) -> bool:
    return "Accept-Encoding" in response.headers.get("Vary", "")


def is_compressed(response: Response) -> bool:
    return response.headers.get("Content-Encoding") == "gzip"


@pytest.mark.parametrize("path", PREPARED)
def test_documents_and_catalogues_are_compressed_when_asked(stranger: Client, path: str) -> None:
    with stranger.unchecked():
        plain, compressed = (
            stranger.request("GET", path, headers=headers) for headers in ({}, GZIP)
        )
    assert is_compressed(compressed)
    assert not is_compressed(plain)
    assert varies(plain)
    assert varies(compressed)
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) < len(plain.content) / 2
    assert compressed.headers["Content-Type"] == plain.headers["Content-Type"]
    assert compressed.headers.get("ETag") == plain.headers.get("ETag")


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("GZIP;q=0.5", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("*", True),
        ("identity;q=0.5, gzip;q=1", True),
        ("gzip;q=0", False),
        ("identity", False),
        ("", False),
        ("br, deflate", False),
        ("*;q=0", False),
        ("gzip;q=0.2, identity;q=0.8", False),
        ("x" * 500, False),
    ],
)
def test_the_client_decides_by_accept_encoding(
    ada: Client, bob: Client, accepted: str, compressed: bool
) -> None:
    headers = {"Accept-Encoding": accepted}
    events = f"/v1/games/{seated([ada, bob])['id']}/events"
    with ada.unchecked():
        assert is_compressed(ada.request("GET", "/openapi.json", headers=headers)) == compressed
        plain = ada.request("GET", events)
        answer = ada.request("GET", events, headers=headers)
    assert is_compressed(answer) == (compressed and len(plain.content) >= 4096)


def test_answers_of_four_kilobytes_and_more_are_compressed(ada: Client, bob: Client) -> None:
    game_id = seated([ada, bob], ruleset="tea-time")["id"]
    play_out([ada, bob], game_id, random.Random(1))
    path = f"/v1/games/{game_id}"
    seen = set()
    with ada.unchecked():
        for below in ("", "/events", "/record", "/presence", "/events?limit=1"):
            plain = ada.request("GET", path + below)
            answer = ada.request("GET", path + below, headers=GZIP)
            assert is_compressed(answer) == (len(plain.content) >= 4096), below
            seen.add(is_compressed(answer))
            content = answer.content
            if is_compressed(answer):
                assert answer.headers["Content-Length"] == str(len(content))
                content = gzip.decompress(content)
            assert content == plain.content
    assert seen == {True, False}


def test_an_answer_of_many_pieces_is_one_gzip_stream(ada: Client) -> None:
    game_id = ada.create(4, "mit-list-und-tuecke", house=["random"] * 3)["id"]
    play_out([ada], game_id, random.Random(1))
    body = {**ada.get(f"/v1/games/{game_id}/record"), "trace": True}
    plain = ada.request("POST", "/v1/analysis", json=body)
    with ada.unchecked():
        answer = ada.request("POST", "/v1/analysis", json=body, headers=GZIP)
    reader = zlib.decompressobj(wbits=31)
    assert reader.decompress(answer.content) == plain.content
    assert len(plain.content) > 2 * PIECE_BYTES
    assert reader.eof
    assert not reader.unused_data


def test_the_tag_of_a_compressed_answer_is_known(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    path = f"/v1/games/{game['id']}"
    with ada.unchecked():
        for where in (path, "/openapi.json", "/openapi.yaml", "/assets/page.css"):
            compressed = ada.request("GET", where, headers=GZIP)
            for accepted in ({}, GZIP):
                headers = {**accepted, "If-None-Match": compressed.headers["ETag"]}
                known = ada.request("GET", where, headers=headers)
                assert known.status_code == 304
                for name in ("ETag", "Vary", "Cache-Control"):
                    assert known.headers[name] == compressed.headers[name]
        mover = (ada, bob)[game["to_move"][0]]
        tag = mover.request("GET", path, headers=GZIP).headers["ETag"]
    own = mover.game(game["id"])
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    mover.post(f"{path}/moves", body, headers={"If-Match": tag})


def test_a_stream_is_not_compressed(ada: Client, bob: Client) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}/stream"
    with ada.open("GET", path, headers=GZIP) as stream:
        assert not is_compressed(stream)
        assert any("snapshot" in line for line, _ in zip(stream.lines(), range(5), strict=False))


def test_the_head_of_a_compressed_answer_is_that_of_its_get(stranger: Client) -> None:
    with stranger.unchecked():
        get, head = (
            stranger.request(method, "/openapi.json", headers=GZIP) for method in ("GET", "HEAD")
        )
    assert head.content == b""
    for name in ("Content-Encoding", "Content-Length", "ETag", "Vary"):
        assert head.headers[name] == get.headers[name]


def test_problems_and_metrics_are_compressed(stranger: Client) -> None:
    query = "&".join(f"unknown{number}={number}" for number in range(100))
    with stranger.unchecked():
        problem = stranger.request("GET", f"/v1/games?{query}", headers=GZIP)
        metrics = stranger.request("GET", "/metrics", headers=GZIP)
    assert len(json.loads(gzip.decompress(problem.content))["errors"]) == 100
    assert b"# HELP" in gzip.decompress(metrics.content)
