"""What was released of the document is kept, or the version says that it is not."""

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.document import compatibility
from tests.document.compatibility import CURRENT, RELEASED, breaks, judge, load
from tests.document.schemas import KNOWN, alternatives

Change = Callable[[Any], None]


def test_the_document_breaks_nothing_that_was_released_unless_its_version_says_so() -> None:
    assert RELEASED.exists(), "Run `make release`."
    found, is_allowed = judge(load(RELEASED), load(CURRENT))
    assert is_allowed, "\n".join([*found, "Raise the version, or break nothing."])


# --- A small document, and all that can be done to it ------------------------------------------

SMALL: dict[str, Any] = {
    "info": {"version": "1.2.0"},
    "paths": {
        "/games": {
            "post": {
                "operationId": "createGame",
                "security": [{"token": []}, {}],
                "parameters": [
                    {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 9}},
                    {"$ref": "#/components/parameters/Kind"},
                ],
                "requestBody": {
                    "required": False,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Body"}}
                    },
                },
                "responses": {
                    "201": {
                        "description": "The game.",
                        "headers": {"Location": {"required": True, "schema": {"type": "string"}}},
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Game"}}
                        },
                    },
                    "409": {"description": "- `busy`: Busy.\n- `full`: Full."},
                },
            }
        }
    },
    "components": {
        "parameters": {
            "Kind": {
                "in": "header",
                "name": "Kind",
                "schema": {"$ref": "#/components/schemas/Kind"},
            }
        },
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "x"}},
        "schemas": {
            "Kind": {"type": "string", "enum": ["human", "bot"]},
            "Body": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "maxLength": 40},
                    "seat": {"type": ["integer", "null"], "minimum": 0},
                    "kind": {"$ref": "#/components/schemas/Kind"},
                    "move": {"$ref": "#/components/schemas/Move"},
                },
            },
            "Move": {
                "oneOf": [
                    {"$ref": "#/components/schemas/Play"},
                    {"$ref": "#/components/schemas/Count"},
                ]
            },
            "Play": {
                "type": "object",
                "required": ["type", "cards"],
                "properties": {
                    "type": {"type": "string", "const": "play"},
                    "cards": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                },
            },
            "Count": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string", "const": "count"}},
            },
            "Game": {
                "type": "object",
                "required": ["id", "host", "status", "moves"],
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "host": {"anyOf": [{"$ref": "#/components/schemas/Host"}, {"type": "null"}]},
                    "status": {"type": "string", "enum": ["open", "over"]},
                    "moves": {"type": "array", "items": {"$ref": "#/components/schemas/Move"}},
                    "note": {"type": "string"},
                    "rematch": {"$ref": "#/components/schemas/Game"},
                },
            },
            "Host": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    },
}


def operation(document: Any) -> Any:
    return document["paths"]["/games"]["post"]


def schema(document: Any, name: str) -> Any:
    return document["components"]["schemas"][name]


def member(document: Any, name: str, of: str) -> Any:
    return schema(document, name)["properties"][of]


def add_variant(document: Any, name: str = "Move") -> None:
    schema(document, "Move")["oneOf"].append({"$ref": "#/components/schemas/Pass"})
    document["components"]["schemas"]["Pass"] = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "const": "pass"}},
    }


BREAKS: dict[str, tuple[Change, str]] = {
    # Operations
    "a path": (lambda d: d["paths"].pop("/games"), "POST /games is gone"),
    "a method": (lambda d: d["paths"]["/games"].pop("post"), "POST /games is gone"),
    "a name": (lambda d: operation(d).update(operationId="makeGame"), "is called makeGame"),
    "a token": (lambda d: operation(d).update(security=[{"token": []}]), "without a token"),
    "another scheme": (
        lambda d: d["components"]["securitySchemes"]["token"].update(scheme="basic"),
        "security scheme token",
    ),
    # Parameters
    "a parameter": (lambda d: operation(d)["parameters"].pop(0), "parameter limit is gone"),
    "a required parameter": (
        lambda d: operation(d)["parameters"].append(
            {"in": "query", "name": "x", "required": True, "schema": {"type": "string"}}
        ),
        "parameter x is required",
    ),
    "a parameter is required": (
        lambda d: operation(d)["parameters"][0].update(required=True),
        "parameter limit is required",
    ),
    "a parameter's bound": (
        lambda d: operation(d)["parameters"][0]["schema"].update(maximum=8),
        "limit: maximum 8",
    ),
    "a parameter's values": (
        lambda d: schema(d, "Kind").update(enum=["bot"]),
        "Kind: the value human is no longer taken",
    ),
    # Bodies
    "the body": (lambda d: operation(d).pop("requestBody"), "no longer takes a body"),
    "the body is required": (
        lambda d: operation(d)["requestBody"].update(required=True),
        "needs a body now",
    ),
    "the body's type": (
        lambda d: operation(d)["requestBody"].update(content={"a/b": {"schema": {}}}),
        "no longer takes application/json",
    ),
    "a member of the body": (
        lambda d: schema(d, "Body")["properties"].pop("seat"),
        "body.seat is no longer taken",
    ),
    "a member of the body is required": (
        lambda d: schema(d, "Body")["required"].append("seat"),
        "body.seat is required",
    ),
    "a new required member of the body": (
        lambda d: (
            schema(d, "Body")["properties"].update(x={"type": "string"}),
            schema(d, "Body")["required"].append("x"),
        ),
        "body.x is required",
    ),
    "a member's length": (
        lambda d: member(d, "Body", "name").update(maxLength=39),
        "body.name: maxLength 39, where it was 40",
    ),
    "a member's least": (
        lambda d: member(d, "Body", "seat").update(minimum=1),
        "body.seat: minimum 1, where it was 0",
    ),
    "a member's pattern": (
        lambda d: member(d, "Body", "name").update(pattern="^x$"),
        "body.name: pattern",
    ),
    "a member's type": (
        lambda d: member(d, "Body", "name").update(type="integer"),
        "body.name: string is no longer taken",
    ),
    "a member's null": (
        lambda d: member(d, "Body", "seat").update(type="integer"),
        "body.seat: null is no longer taken",
    ),
    "a member's values": (
        lambda d: member(d, "Body", "name").update(enum=["Ada"]),
        "body.name: only Ada",
    ),
    "a variant of the body": (
        lambda d: schema(d, "Move")["oneOf"].pop(),
        "body.move[count]: object is no longer taken",
    ),
    "a list's length": (
        lambda d: member(d, "Play", "cards").update(maxItems=2),
        "body.move[play].cards: maxItems 2",
    ),
    "a list's values": (
        lambda d: member(d, "Play", "cards")["items"].update(minLength=2),
        "body.move[play].cards[]: minLength 2",
    ),
    # Answers
    "a status": (lambda d: operation(d)["responses"].pop("201"), "201 is gone"),
    "another status": (
        lambda d: operation(d)["responses"].update({"204": {"description": "x"}}),
        "204 is a new success",
    ),
    "an answer's type": (
        lambda d: operation(d)["responses"]["201"].update(content={}),
        "201: application/json is gone",
    ),
    "a header": (
        lambda d: operation(d)["responses"]["201"].pop("headers"),
        "201: Location is gone",
    ),
    "a header is sure": (
        lambda d: operation(d)["responses"]["201"]["headers"]["Location"].pop("required"),
        "201: Location may be missing",
    ),
    "a problem": (
        lambda d: operation(d)["responses"]["409"].update(description="- `busy`: Busy."),
        "the problem full with 409 is gone",
    ),
    "the problems of a status": (
        lambda d: operation(d)["responses"].pop("409"),
        "the problem busy with 409 is gone",
    ),
    "a member of the answer": (
        lambda d: (
            schema(d, "Game")["properties"].pop("id"),
            schema(d, "Game")["required"].remove("id"),
        ),
        "201.id is gone",
    ),
    "an optional member of the answer": (
        lambda d: schema(d, "Game")["properties"].pop("note"),
        "201.note is gone",
    ),
    "a member of the answer is sure": (
        lambda d: schema(d, "Game")["required"].remove("id"),
        "201.id may be missing",
    ),
    "a member of the answer may be null": (
        lambda d: member(d, "Game", "id").update(type=["string", "null"]),
        "201.id: null is new in answers",
    ),
    "a member of the answer is of another type": (
        lambda d: member(d, "Game", "id").update(type="integer"),
        "201.id: integer is new in answers",
    ),
    "a member of the answer's format": (
        lambda d: member(d, "Game", "id").pop("format"),
        "201.id: format uuid, and now anything",
    ),
    "a value of a closed set": (
        lambda d: member(d, "Game", "status")["enum"].append("lost"),
        "201.status: the value lost is new",
    ),
    "an open set": (
        lambda d: member(d, "Game", "status").pop("enum"),
        "201.status: only open, over",
    ),
    "a variant of the answer": (add_variant, "201.moves[][pass]: object is new in answers"),
    "a member of a variant": (
        lambda d: schema(d, "Play")["required"].remove("cards"),
        "201.moves[][play].cards may be missing",
    ),
    "what may be an object is a text": (
        lambda d: member(d, "Game", "host")["anyOf"].append({"type": "string"}),
        "201.host: string is new",
    ),
}

GROWTH: dict[str, Change] = {
    "an operation": lambda d: d["paths"].update({"/x": {"get": {"operationId": "x"}}}),
    "an optional parameter": lambda d: operation(d)["parameters"].append(
        {"in": "query", "name": "x", "schema": {"type": "string"}}
    ),
    "a wider bound": lambda d: operation(d)["parameters"][0]["schema"].update(maximum=10),
    "a value that is taken": lambda d: schema(d, "Kind")["enum"].append("ghost"),
    "an optional member of the body": lambda d: schema(d, "Body")["properties"].update(
        x={"type": "string"}
    ),
    "a member that may be left out": lambda d: schema(d, "Body")["required"].remove("name"),
    "a body that takes more": lambda d: schema(d, "Body").update(additionalProperties=True),
    "another type of the body": lambda d: operation(d)["requestBody"]["content"].update(
        {"a/b": {"schema": {}}}
    ),
    "a member that takes more": lambda d: member(d, "Body", "name").update(
        type=["string", "integer"], maxLength=50
    ),
    "a member of the answer": lambda d: schema(d, "Game")["properties"].update(
        x={"type": "string"}
    ),
    "a member of the answer that is sure": lambda d: schema(d, "Game")["required"].append("note"),
    "a member of the answer that is never null": lambda d: member(d, "Game", "host")["anyOf"].pop(),
    "a value that is not answered any more": lambda d: member(d, "Game", "status")["enum"].pop(),
    "a header": lambda d: operation(d)["responses"]["201"]["headers"].update(
        X={"schema": {"type": "string"}}
    ),
    "a problem": lambda d: operation(d)["responses"]["409"].update(
        description="- `busy`: Busy.\n- `full`: Full.\n- `late`: Late."
    ),
    "a status of problems": lambda d: operation(d)["responses"].update(
        {"404": {"description": "- `gone`: Gone."}}
    ),
    "no token": lambda d: operation(d).update(security=[]),
    "words": lambda d: (
        d["components"]["securitySchemes"]["token"].update(description="y"),
        schema(d, "Game").update(description="z", examples=[1]),
    ),
    "a name of a component": lambda d: (
        d["components"]["schemas"].update(Owner=d["components"]["schemas"].pop("Host")),
        member(d, "Game", "host").update(anyOf=[{"$ref": "#/components/schemas/Owner"}]),
    ),
}


def changed(change: Change) -> Any:
    document = copy.deepcopy(SMALL)
    change(document)
    return document


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_clients_is_found(what: str) -> None:
    change, sentence = BREAKS[what]
    found = breaks(SMALL, changed(change))
    assert any(sentence in each for each in found), found


@pytest.mark.parametrize("what", BREAKS)
def test_a_version_that_says_so_may_break_what_it_likes(what: str) -> None:
    document = changed(BREAKS[what][0])
    assert not judge(SMALL, document)[1]
    for version, is_allowed in (("1.2.1", False), ("1.3.0", False), ("2.0.0", True)):
        document["info"]["version"] = version
        assert judge(SMALL, document)[1] is is_allowed
    before = copy.deepcopy(SMALL)
    before["info"]["version"] = "0.2.0"
    for version, is_allowed in (("0.2.1", False), ("0.3.0", True), ("1.0.0", True)):
        document["info"]["version"] = version
        assert judge(before, document)[1] is is_allowed


@pytest.mark.parametrize("what", GROWTH)
def test_what_only_adds_breaks_nothing(what: str) -> None:
    document = changed(GROWTH[what])
    assert document != SMALL
    assert breaks(SMALL, document) == []


def test_a_schema_that_the_comparison_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="patternProperties"):
        list(alternatives({}, {"patternProperties": {}}))
    assert "patternProperties" not in KNOWN


def test_a_real_break_of_the_published_document_is_found_in_every_operation() -> None:
    """The document itself is compared through and through: every answer has this member gone."""
    released, current = load(CURRENT), load(CURRENT)
    assert breaks(released, current) == []
    for name in ("Game", "GameSummary", "WaitingGame"):
        current["components"]["schemas"][name]["required"].remove("to_move")
    found = breaks(released, current)
    for path in (
        "POST /v1/games",
        "GET /v1/games",
        "GET /v1/me/turns",
        "POST /v1/games/{game_id}/moves",
    ):
        assert any(each.startswith(f"{path}: ") and "to_move" in each for each in found), path


def test_releasing_keeps_the_document_unless_it_breaks_what_was_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    released = tmp_path / "released.yaml"
    monkeypatch.setattr(compatibility, "RELEASED", released)
    monkeypatch.setattr(sys, "argv", ["compatibility", "--release"])
    assert compatibility.main() == 0
    assert load(released) == load(CURRENT)
    promised = load(CURRENT)
    promised["paths"]["/v1/promised"] = {"get": {"operationId": "promised", "responses": {}}}
    text = compatibility.yaml.safe_dump(promised)
    released.write_text(text, encoding="utf-8")
    assert compatibility.main() == 1
    assert released.read_text(encoding="utf-8") == text
    assert "GET /v1/promised is gone" in capsys.readouterr().out
