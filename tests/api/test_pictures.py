"""The pictures of Contrast over HTTP: their paths, and answers that caches may keep for ever."""

import gzip
from typing import Any

import pytest

from engine.pictures import draw
from tests.support.api_client import Client
from tests.support.http_client import Response

PATH = "/v1/rulesets/contrast/pictures/picture-7"


def pictures(stranger: Client) -> dict[str, str]:
    """The paths of all pictures, by component."""
    components = stranger.get("/v1/rulesets/contrast")["components"]
    return {each["name"]: each["url"] for each in components if each["kind"] == "picture"}


def test_every_picture_has_a_path_and_nothing_else_has_one(stranger: Client) -> None:
    for ruleset in stranger.get("/v1/rulesets")["items"]:
        for component in ruleset["components"]:
            assert (component["url"] is not None) == (component["kind"] == "picture")
    assert len(set(pictures(stranger).values())) == 74


def is_kept_forever(answer: Response) -> None:
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    policy = "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["Content-Security-Policy"] == policy


def test_every_path_answers_with_its_picture_and_then_with_not_modified(stranger: Client) -> None:
    tags = set()
    for name, path in pictures(stranger).items():
        answer = stranger.request("GET", path)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert answer.text == draw("contrast", name)
        is_kept_forever(answer)
        tags.add(answer.headers["ETag"])
        again = stranger.request("GET", path, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == answer.headers["ETag"]
        is_kept_forever(again)
    assert len(tags) == 74


def test_a_picture_comes_compressed_with_the_same_tag(stranger: Client) -> None:
    plain = stranger.request("GET", PATH, headers={"Accept-Encoding": "identity"})
    with stranger.unchecked():
        packed = stranger.request("GET", PATH, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["ETag"] == plain.headers["ETag"]


def test_head_tells_what_get_would(stranger: Client) -> None:
    with stranger.unchecked():
        head = stranger.request("HEAD", PATH)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == "image/svg+xml"


def test_a_picture_that_is_missing_is_named(stranger: Client) -> None:
    path = "/v1/rulesets/contrast/pictures/picture-75"
    assert stranger.refused("picture_not_found", "GET", path)["detail"] == (
        'Contrast has no picture "picture-75". Use the `url` of a component of getRuleset, where '
        "it is not null."
    )


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("contrast/pictures/picture-0", "picture_not_found"),
        ("contrast/pictures/picture-75", "picture_not_found"),
        ("contrast/pictures/picture-07", "picture_not_found"),
        ("contrast/pictures/picture-7.svg", "picture_not_found"),
        ("contrast/pictures/PICTURE-7", "picture_not_found"),
        ("contrast/pictures/red-yellow", "picture_not_found"),
        ("contrast/pictures/%3Cscript%3E", "picture_not_found"),
        (f"contrast/pictures/{'x' * 1000}", "picture_not_found"),
        ("parade/pictures/red-7", "picture_not_found"),
        ("chess/pictures/picture-7", "ruleset_not_found"),
        ("contrast/pictures/", "not_found"),
        ("contrast/pictures", "not_found"),
    ],
)
def test_there_is_no_other_picture(stranger: Client, path: str, code: str) -> None:
    problem = stranger.refused(code, "GET", f"/v1/rulesets/{path}")
    assert len(problem["detail"]) < 200
    assert stranger.log[-1].headers["Cache-Control"] == "no-store"


def test_a_query_that_would_get_past_caches_is_refused(stranger: Client) -> None:
    stranger.refused("invalid_request", "GET", f"{PATH}?v=2")


def test_the_picture_on_the_table_is_found_by_its_name(ada: Client) -> None:
    game: Any = ada.create(2, "contrast", house=["random"])
    path = pictures(ada)[game["table"]["picture"]]
    assert ada.request("GET", path).status_code == 200
