"""Query parameters: unknown ones are refused, and waits are cut to what the service allows."""

import re
import time
from typing import Any

import pytest

from tests.support.api_client import Client, seated
from tests.support.document import METHODS, document, parameters

OPERATIONS = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
    if method in METHODS
]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_an_unknown_query_parameter_is_refused_on_every_operation(
    ada: Client, method: str, path: str, operation: dict[str, Any]
) -> None:
    known = {each["name"] for each in parameters(path, operation) if each["in"] == "query"}
    path = re.sub(r"{[^/]+}", "0" * 32, path)
    problem = ada.refused("invalid_request", method.upper(), f"{path}?wiat=20&wait_seconds=2")
    assert [each["parameter"] for each in problem["errors"]] == ["wiat", "wait_seconds"]
    detail = problem["errors"][0]["detail"]
    assert detail.startswith("`wiat` is unknown; ")
    assert all(name in detail for name in known)
    assert ("Did you mean `wait`?" in detail) == ("wait" in known)


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("/v1/games?state=open", "state", "status"),
        ("/v1/games?Status=open", "Status", "status"),
        ("/v1/me/turns?sicne=x&wait=1", "sicne", "since"),
        ("/v1/games/{id}/events?after=3", "after", None),
        ("/v1/games/{id}/events?since=0-&waits=3", "waits", "wait"),
        ("/v1/games/{id}/legal-moves?preview=true", "preview", "previews"),
    ],
)
def test_a_misspelt_query_parameter_suggests_the_nearest(
    ada: Client, bob: Client, path: str, name: str, meant: str | None
) -> None:
    path = path.format(id=seated([ada, bob])["id"])
    (error,) = ada.refused("invalid_request", "GET", path)["errors"]
    assert error["parameter"] == name
    assert (f"Did you mean `{meant}`?" in error["detail"]) == (meant is not None)


def test_a_long_query_of_unknown_parameters_is_refused_with_a_bounded_list(ada: Client) -> None:
    query = "&".join(f"{'x' * 3}{number}" for number in range(500))
    assert len(ada.refused("invalid_request", "GET", f"/v1/games?{query}")["errors"]) == 100
    (error,) = ada.refused("invalid_request", "GET", f"/v1/games?{'x' * 3000}=1")["errors"]
    assert len(error["detail"]) < 200
    # It may be a ticket.
    assert error["parameter"] == "x" * 24 + "…"


def test_pages_and_preflight_requests_ignore_their_query(ada: Client) -> None:
    with ada.unchecked():
        assert ada.request("GET", "/docs?from=search").status_code == 200
        assert ada.request("OPTIONS", "/v1/games?x=1").status_code == 200


@pytest.mark.parametrize("seconds", [26, 60, 9_999_999])
def test_a_wait_beyond_the_longest_is_cut_to_it(ada: Client, bob: Client, seconds: int) -> None:
    game = seated([ada, bob])
    mover = (ada, bob)[game["to_move"][0]]
    begin = time.monotonic()
    assert mover.get(f"/v1/me/turns?wait={seconds}")["items"]
    events = f"/v1/games/{game['id']}/events?wait={seconds}"
    assert mover.get(events)["items"]
    prefer = {"Prefer": f"wait={seconds}", "If-None-Match": '"other"'}
    assert mover.get(f"/v1/games/{game['id']}", headers=prefer)["id"] == game["id"]
    assert time.monotonic() - begin < 20
