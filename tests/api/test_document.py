"""The published document: what it promises to those who generate clients from it."""

import re
from collections.abc import Iterator
from typing import Any

from api import openapi_document
from api.schemas.unions import EVENTS, MOVES, PREVIEWS, TABLES
from engine.registry import MOVE_TYPES, RULESETS
from tests.api.client import Client
from tests.api.document import ROOT, document, operations


def test_the_committed_document_is_what_the_code_says() -> None:
    committed = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert committed == openapi_document(), "Run `make openapi` and commit openapi.yaml."


def test_the_service_serves_its_document_in_both_forms(stranger: Client) -> None:
    answer = stranger.request("GET", "/openapi.yaml")
    assert answer.content.decode() == (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert stranger.get("/openapi.json") == document()
    tag = answer.headers["ETag"]
    assert (
        stranger.session.get(
            stranger.url + "/openapi.yaml", headers={"If-None-Match": tag}, timeout=30
        ).status_code
        == 304
    )


def test_it_is_of_the_version_that_generators_digest() -> None:
    assert document()["openapi"] == "3.1.0"
    assert document()["info"]["license"]["identifier"] == "MIT"


def test_operations_have_unique_camel_case_ids_one_tag_and_their_security() -> None:
    tags = {tag["name"] for tag in document()["tags"]}
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)
    for _, _, operation in operations():
        assert re.fullmatch(r"[a-z]+([A-Z][a-z]*)*", operation["operationId"])
        assert len(operation["tags"]) == 1
        assert operation["tags"][0] in tags
        assert "security" in operation
        assert operation["summary"]


def test_every_variant_of_a_union_requires_its_tag_as_a_constant() -> None:
    schemas = document()["components"]["schemas"]
    unions = {name: each for name, each in schemas.items() if "oneOf" in each}
    assert set(unions) == {"Move", "GameEvent", "Table", "Preview"}
    for union in unions.values():
        tag, mapping = union["discriminator"]["propertyName"], union["discriminator"]["mapping"]
        assert [each["$ref"] for each in union["oneOf"]] == list(mapping.values())
        for value, reference in mapping.items():
            variant = schemas[reference.rpartition("/")[2]]
            assert variant["properties"][tag]["const"] == value
            assert tag in variant["required"]


def test_request_bodies_have_no_defaults_and_no_unknown_members() -> None:
    schemas = document()["components"]["schemas"]
    for _, _, operation in operations():
        body = operation.get("requestBody")
        if body is None:
            continue
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        if operation["operationId"] != "analyse":  # takes a record as it is, with what is more
            assert schemas[name]["additionalProperties"] is False
        for member in schemas[name]["properties"].values():
            assert "default" not in member


def test_answers_always_have_all_their_members() -> None:
    """A member of an answer may be null; only what is asked for or may apply can be absent."""
    optional = {
        "Problem": {"rule", "errors"},
        "FieldError": {"pointer", "parameter"},
        "Analysis": {"steps"},
        "RecordedMove": {"seat", "move", "by", "expire"},
    }
    schemas = document()["components"]["schemas"]
    for name in answer_schemas():
        schema = schemas[name]
        if "properties" in schema and name != "Options":
            absent = set(schema["properties"]) - set(schema.get("required", []))
            assert absent == optional.get(name, set()), name


def answer_schemas() -> set[str]:
    """The names of all schemas that answers are made of."""
    schemas = document()["components"]["schemas"]
    found: set[str] = set()

    def visit(part: Any) -> None:
        for reference in references(part):
            name = reference.rpartition("/")[2]
            if name not in found:
                found.add(name)
                visit(schemas[name])

    for _, _, operation in operations():
        visit(operation["responses"])
    return found


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for below in part.values():
            yield from references(below)
    elif isinstance(part, list):
        for below in part:
            yield from references(below)


def test_nothing_is_published_inline_or_unused() -> None:
    """Generators give inline objects and enums names that nobody can read."""
    text = str(document()["paths"])
    assert "'enum'" not in text
    assert "'properties'" not in text
    used = {each.rpartition("/")[2] for each in references(document())}
    assert used >= set(document()["components"]["schemas"])


def test_every_move_table_and_preview_of_the_engine_has_its_schema() -> None:
    assert set(MOVES) == set(MOVE_TYPES)
    assert set(TABLES) == set(RULESETS)
    assert set(PREVIEWS) <= set(RULESETS)
    assert len(EVENTS) == len(document()["components"]["schemas"]["GameEvent"]["oneOf"])


def test_every_status_is_documented_with_its_problem_codes() -> None:
    for _, _, operation in operations():
        for status, response in operation["responses"].items():
            if status >= "400":
                assert list(response["content"]) == ["application/problem+json"]
                assert re.match(r"- `[a-z_]+`: ", response["description"])
