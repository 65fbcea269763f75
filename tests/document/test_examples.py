"""The document's examples: recorded, valid, of every kind."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from api.games.answers import EVENTS, TABLES
from api.problems.catalogue import CATALOGUE
from api.web.openapi.components import codes_of
from api.web.openapi.examples import RECORDED
from api.web.schemas.unions import MOVES
from tests.support.document import document, operations, resolved, validator

NOT_RECORDED = {"busy"}
"""What no scenario can bring about at will."""

WITHOUT_EXAMPLES = {"getDocumentAsJson", "getDocumentAsYaml"}
"""The document is no example in itself."""

SHOWN_TYPES = {
    "application/json",
    "application/problem+json",
    "image/svg+xml",
    "text/event-stream",
}


class Example(NamedTuple):
    operation: str
    part: str
    name: str
    schema: dict[str, Any]
    summary: str
    value: Any


def media_of(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The media types of an operation's request and answers, by part."""
    parts = {"request": operation.get("requestBody", {}), **operation["responses"]}
    for part, each in parts.items():
        for content_type, media in resolved(each).get("content", {}).items():
            if content_type in SHOWN_TYPES:
                yield part, media


def examples() -> list[Example]:
    return [
        Example(
            operation["operationId"], part, name, media["schema"], each["summary"], each["value"]
        )
        for _, _, operation in operations()
        for part, media in media_of(operation)
        for name, part_ in media.get("examples", {}).items()
        for each in (resolved(part_),)
    ]


def inside(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a value."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from inside(each)
    elif isinstance(value, list):
        for each in value:
            yield from inside(each)


@pytest.mark.parametrize("operation_id", [each["operationId"] for _, _, each in operations()])
def test_examples_are_valid_and_have_no_member_that_is_unknown(operation_id: str) -> None:
    for example in examples():
        if example.operation == operation_id:
            assert example.summary.endswith("."), "a summary is a sentence"
            if "$ref" in example.schema:
                # A record is analysed as it is, with more than that needs.
                closed = (operation_id, example.part) != ("analyse", "request")
                validator(example.schema["$ref"], closed=closed).validate(example.value)
            else:
                assert isinstance(example.value, str)
                assert example.schema == {"type": "string"}


def test_every_request_and_every_answer_that_is_no_refusal_has_an_example() -> None:
    for _, _, operation in operations():
        if operation["operationId"] in WITHOUT_EXAMPLES:
            continue
        for part, media in media_of(operation):
            if part < "300" or part == "request":
                assert media.get("examples"), f"{operation['operationId']} {part}"


def test_every_problem_code_of_every_operation_has_an_example() -> None:
    for _, _, operation in operations():
        for status, each in operation["responses"].items():
            response = resolved(each)
            if status >= "400":
                media = response["content"]["application/problem+json"]
                shown = [resolved(each)["value"] for each in media.get("examples", {}).values()]
                codes = {problem["code"] for problem in shown}
                assert codes == set(codes_of(response)) - NOT_RECORDED, operation["operationId"]
                assert {problem["status"] for problem in shown} <= {int(status)}
    assert set(CATALOGUE) >= NOT_RECORDED


def test_a_refusal_is_shown_as_an_operation_of_this_kind_has_it() -> None:
    has_body = {each["operationId"]: "requestBody" in each for _, _, each in operations()}
    for example in examples():
        if example.part < "400" or example.part == "request":
            continue
        of_metrics = example.operation == "getMetrics"
        assert ("METRICS_TOKEN" in example.value["detail"]) <= of_metrics, example.operation
        if not has_body[example.operation]:
            errors = example.value.get("errors", ())
            assert not any("pointer" in each for each in errors), example.operation
        if example.value["code"] == "body_too_large":
            size = "256 KiB" if example.operation == "analyse" else "64 KiB"
            assert size in example.value["detail"]


def test_the_examples_show_every_table_type_of_move_and_type_of_event() -> None:
    shown = [each for example in examples() for each in inside(example.value)]
    tags = {each["type"] for each in shown if isinstance(each.get("type"), str)}
    tables = {each["ruleset"] for each in shown if "phase" in each}
    assert tables == set(TABLES.tags)
    assert tags >= set(MOVES)
    assert tags >= set(EVENTS.tags)
    played = [example.value for example in examples() if example[:2] == ("playMove", "request")]
    assert {body["move"]["type"] for body in played} == set(MOVES)


def test_everything_that_was_recorded_is_in_the_document() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    shown = {(each.operation, each.part, each.name) for each in examples()}
    for operation, parts in recorded.items():
        for part, of_part in parts.items():
            for name in of_part:
                assert (operation, part, name) in shown


def test_the_document_stays_of_a_size_that_people_and_tools_can_open() -> None:
    assert RECORDED.stat().st_size < 300_000
    assert len(json.dumps(document())) < 600_000
