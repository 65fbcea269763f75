"""The document's links: what an answer is good for next, followed as a reader would."""

from typing import Any

import pytest

from api.web.openapi.links import BODY
from tests.support.api_client import Client
from tests.support.document import METHODS, document, parameters, resolved


def links_of(operation_id: str, status: str) -> dict[str, dict[str, Any]]:
    """The links of an operation's answer, by the operation that each leads to."""
    _, _, operation = by_id()[operation_id]
    answer = resolved(operation["responses"][status])
    return {name: resolved(link) for name, link in answer["links"].items()}


def by_id() -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {
        operation["operationId"]: (method, path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def evaluated(expression: Any, asked: dict[str, str], answer: Any) -> Any:
    """What an expression stands for, in what was asked and answered."""
    if isinstance(expression, dict):
        return {name: evaluated(each, asked, answer) for name, each in expression.items()}
    if isinstance(expression, list):
        return [evaluated(each, asked, answer) for each in expression]
    if expression.startswith("$request.path."):
        return asked[expression.removeprefix("$request.path.")]
    value = answer
    for step in expression.removeprefix("$response.body").lstrip("#/").split("/"):
        value = value[int(step)] if isinstance(value, list) else value[step] if step else value
    return value


def follow(caller: Client, link: dict[str, Any], asked: dict[str, str], answer: Any) -> Any:
    """Send the request that a link describes; its answer."""
    method, path, operation = by_id()[link["operationId"]]
    values = evaluated(link.get("parameters", {}), asked, answer)
    places = {each["name"]: each["in"] for each in parameters(path, operation)}
    query = {name: value for name, value in values.items() if places[name] == "query"}
    body = link.get("requestBody", link.get(BODY))
    body = None if body is None else evaluated(body, asked, answer)
    response = caller.request(method.upper(), path.format(**values), params=query, json=body)
    assert response.ok, response.text
    return response.json()


@pytest.mark.parametrize("name", document()["components"]["links"])
def test_a_link_leads_to_an_operation_and_gives_what_it_needs(name: str) -> None:
    link = document()["components"]["links"][name]
    _, path, operation = by_id()[link["operationId"]]
    taken = {each["name"]: each for each in parameters(path, operation)}
    given = set(link.get("parameters", {}))
    assert given <= set(taken)
    assert given >= {each for each, parameter in taken.items() if parameter["required"]}
    if operation.get("requestBody", {}).get("required"):
        assert link.get("requestBody", link.get(BODY))


def test_every_link_is_of_some_answer() -> None:
    used = {
        link["$ref"].rpartition("/")[2]
        for _, _, operation in by_id().values()
        for answer in operation["responses"].values()
        for link in resolved(answer).get("links", {}).values()
    }
    assert used == set(document()["components"]["links"])


def test_a_game_is_played_to_its_end_along_the_links(ada: Client) -> None:
    game = ada.create(2, house=["random"])
    asked = {"game_id": game["id"]}
    links = links_of("createGame", "201")
    for name in ("getGame", "listEvents", "listLegalMoves", "checkMove", "getPresence"):
        follow(ada, links[name], asked, game)
    played = follow(ada, links["playMove"], asked, game)
    while played["game"]["status"] == "playing":
        played = follow(ada, links_of("playMove", "200")["playMove"], asked, played)
    links = links_of("getGame", "200")
    record = follow(ada, links["getRecord"], asked, played["game"])
    analysis = follow(ada, links_of("getRecord", "200")["analyse"], asked, record)
    assert analysis["result"] == played["game"]["result"]
    assert follow(ada, links["rematchGame"], asked, played["game"])["status"] == "playing"


def test_what_comes_after_an_answer_is_asked_for_along_its_links(ada: Client) -> None:
    game = ada.create(2, house=["random"])
    asked = {"game_id": game["id"]}
    events = ada.get(f"/v1/games/{game['id']}/events")
    newer = follow(ada, links_of("listEvents", "200")["listEvents"], asked, events)
    assert newer["items"] == []
    turns = ada.get("/v1/me/turns")
    follow(ada, links_of("listTurns", "200")["listTurns"], {}, turns)
    follow(ada, links_of("listTurns", "200")["playMove"], {}, turns)
    again = follow(ada, links_of("listTurns", "200")["playMoves"], {}, turns)
    assert again["items"][0]["status"] == 200
    ada.create(2, house=["random"])
    for operation_id, path in (("listGames", "/v1/games"), ("listMyGames", "/v1/me/games")):
        page = ada.get(f"{path}?limit=1")
        next_page = follow(ada, links_of(operation_id, "200")[operation_id], {}, page)
        assert next_page["items"][0]["id"] != page["items"][0]["id"]
    follow(ada, links_of("listRulesets", "200")["getRuleset"], {}, ada.get("/v1/rulesets"))
