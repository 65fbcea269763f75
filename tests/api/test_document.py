"""The published document: what it promises to those who generate clients from it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import yaml

from api import openapi_document
from api.games.answers import BREAKDOWNS, EVENTS, PREVIEWS, TABLES
from api.problems.catalogue import CATALOGUE
from api.web.schemas.unions import MOVES
from engine.published import MAX_SEATS, MIN_SEATS
from engine.registry import MOVE_TYPES, RULESETS
from engine.ruleset import Breakdown, Event, Preview, Table, TimedEvent
from tests.support.api_client import Client
from tests.support.document import METHODS, document, operations, parameters, resolved
from tests.support.paths import ROOT


def test_the_committed_document_is_what_the_code_says() -> None:
    committed = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert committed == openapi_document(), "Run `make openapi` and commit openapi.yaml."


def test_the_service_serves_its_document_in_both_forms(stranger: Client) -> None:
    answer = stranger.request("GET", "/openapi.yaml")
    served = yaml.load(answer.content, yaml.CSafeLoader)
    assert stranger.get("/openapi.json") == served
    assert served.pop("servers") == [
        {"url": "/", "description": "The server that sent this document."}
    ]
    assert served == {name: each for name, each in document().items() if name != "servers"}
    tag = answer.headers["ETag"]
    known = {"If-None-Match": tag}
    assert stranger.request("GET", "/openapi.yaml", headers=known).status_code == 304


def test_clients_generated_from_the_committed_document_call_a_service_on_their_machine() -> None:
    assert document()["servers"][0]["url"] == "http://127.0.0.1:8000"


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


def test_every_operation_parameter_header_and_answer_says_what_it_is() -> None:
    for tag in document()["tags"]:
        assert is_said(tag)
    for path, methods in document()["paths"].items():
        for _, operation in ((m, each) for m, each in methods.items() if m in METHODS):
            assert operation["summary"], operation["operationId"]
            assert is_said(operation), operation["operationId"]
            for parameter in parameters(path, operation):
                assert is_said(parameter), (operation["operationId"], parameter["name"])
                assert isinstance(parameter["required"], bool)
            for status, each in operation["responses"].items():
                response = resolved(each)
                assert is_said(response), (operation["operationId"], status)
                for name, header in response.get("headers", {}).items():
                    assert is_said(resolved(header)), (operation["operationId"], status, name)
                    assert isinstance(resolved(header)["required"], bool)


def test_every_parameter_and_header_has_an_example_of_its_form() -> None:
    checked = 0
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            headers = [
                each
                for response in operation["responses"].values()
                for each in resolved(response).get("headers", {}).values()
            ]
            for part in (*parameters(path, operation), *headers):
                schema = resolved(resolved(part)["schema"])
                validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
                # The values of a closed set are examples themselves.
                shown = schema.get("examples", schema.get("enum"))
                assert shown, (operation["operationId"], part)
                for example in shown:
                    validator.validate(example)
                    checked += 1
    assert checked > 100


def test_game_ids_are_parameters_of_each_operation_and_not_of_its_path() -> None:
    assert not [path for path, methods in document()["paths"].items() if "parameters" in methods]
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            names = {each["name"] for each in parameters(path, operation)}
            assert set(re.findall(r"{(\w+)}", path)) <= names


def test_examples_are_components_each_shown_where_it_belongs() -> None:
    shown = [
        example["$ref"].rpartition("/")[2]
        for _, _, operation in operations()
        for part in (operation.get("requestBody", {}), *operation["responses"].values())
        for media in resolved(part).get("content", {}).values()
        for example in media.get("examples", {}).values()
    ]
    assert set(shown) == set(document()["components"]["examples"])


def test_a_shared_refusal_is_named_by_what_it_means() -> None:
    names = document()["components"]["responses"]
    assert {"Unauthorized", "Unavailable", "GameNotFound", "TooManyRequests"} <= names.keys()
    assert not [name for name in names if "Or" in name]


def test_no_name_of_a_component_is_numbered_or_given_twice() -> None:
    """Generators put schemas, responses and parameters into one namespace, and number the rest."""
    names = [
        name
        for kind in ("schemas", "responses", "parameters", "examples")
        for name in document()["components"][kind]
    ]
    assert not [name for name in names if name[-1].isdigit()]
    assert len(set(names)) == len(names)


def test_nothing_but_a_description_stands_beside_a_reference() -> None:
    """Some generators ignore what stands there, and others make a type of it."""
    for name, schema in document()["components"]["schemas"].items():
        for member, declared in schema.get("properties", {}).items():
            if {"$ref", "anyOf"} & declared.keys():
                assert declared.keys() <= {"$ref", "anyOf", "description"}, f"{name}.{member}"


def test_the_example_of_the_catalogue_is_one_short_ruleset() -> None:
    example = document()["components"]["examples"]["listRulesets-shortened"]
    assert len(example["value"]["items"]) == 1
    assert len(json.dumps(example)) < 2000


def test_only_operations_that_read_a_game_have_the_problems_of_its_format() -> None:
    formats = {"newer_format", "unsupported_format"}
    for _, _, operation in operations():
        codes = {
            code for response in operation["responses"].values() for code in problems_of(response)
        }
        reads_a_game = bool({"game_not_found", "idempotency_key_reused"} & codes)
        assert codes & formats == (formats if reads_a_game else set()), operation["operationId"]


def problems_of(response: dict[str, Any]) -> list[str]:
    return re.findall(r"^- `([a-z_]+)`: ", resolved(response)["description"], re.MULTILINE)


def test_constants_are_published_as_constants_alone() -> None:
    assert not [where for where, schema in all_schemas() if {"enum", "const"} <= schema.keys()]


def test_a_text_that_has_a_name_is_declared_once() -> None:
    schemas = document()["components"]["schemas"]
    declared = [schemas[name]["pattern"] for name in ("Card", "Cell", "GameId", "PlayerId")]
    inline = [
        where
        for where, schema in all_schemas()
        if schema.get("pattern") in declared and where.count("/") > 1
    ]
    assert not inline


def test_every_seat_is_a_seat_number() -> None:
    seats = [
        each
        for schema in document()["components"]["schemas"].values()
        for member, each in schema.get("properties", {}).items()
        if member in ("seat", "you", "by_seat", "alice_holder", "leader")
    ]
    assert len(seats) > 20
    number = document()["components"]["schemas"]["SeatNumber"]
    assert all(plain(each) == number for each in seats)


def is_said(part: dict[str, Any]) -> bool:
    """Whether a part's description is a sentence or a list, and not the name of a status."""
    return bool(re.search(r"[.:)]$", part.get("description", "").strip()))


def test_every_component_and_each_of_its_members_says_what_it_is() -> None:
    answers = answer_schemas()
    for name, schema in document()["components"]["schemas"].items():
        assert is_said(schema), name
        for member, each in schema.get("properties", {}).items():
            assert is_said(each), f"{name}.{member}"
            # In requests, null stands for an absent member.
            says_null = name not in answers or "null" in each["description"].lower()
            assert says_null or not is_nullable(each), f"{name}.{member} does not say what null is"


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a member that is not null, without its reference."""
    (only,) = [each for each in schema.get("anyOf", [schema]) if each != {"type": "null"}]
    return resolved(only)


def is_nullable(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    return (isinstance(types, list) and "null" in types) or {"type": "null"} in schema.get(
        "anyOf", ()
    )


def schemas_within(part: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas in a part of the document that stand there themselves, with their place."""
    if isinstance(part, list):
        for place, below in enumerate(part):
            yield from schemas_within(below, f"{where}/{place}")
    elif isinstance(part, dict):
        if "type" in part and not isinstance(part["type"], dict):
            yield where, part
        for name, below in part.items():
            if name not in ("examples", "discriminator"):
                yield from schemas_within(below, f"{where}/{name}")


def all_schemas() -> list[tuple[str, dict[str, Any]]]:
    parts = document()["components"]
    found = [
        each
        for kind in ("schemas", "parameters", "headers", "responses")
        for each in schemas_within(parts[kind], kind)
    ]
    return found + list(schemas_within(document()["paths"], "paths"))


def test_every_integer_has_a_least_value() -> None:
    integers = [
        (where, schema)
        for where, schema in all_schemas()
        if "integer" in ([schema["type"]] if isinstance(schema["type"], str) else schema["type"])
    ]
    assert len(integers) > 50
    for where, schema in integers:
        assert "minimum" in schema, where


def test_ids_hashes_and_secrets_have_their_pattern_and_times_their_format() -> None:
    schemas = document()["components"]["schemas"]
    for name in answer_schemas() - {"RulesetOption"}:
        for member, schema in schemas[name].get("properties", {}).items():
            if member in ("id", "rematch", "invite", "token", "ticket", "deal_sha256"):
                pattern = plain(schema)["pattern"]
                assert pattern.startswith("^"), f"{name}.{member}"
                assert pattern.endswith("$"), f"{name}.{member}"
            if member.endswith("_at") or member in ("at", "deadline", "last_seen"):
                assert schema["format"] == "date-time", f"{name}.{member}"


def test_lists_are_never_published_as_sets() -> None:
    """Generators make sets of them, which have no order and no place for an index."""
    assert not [where for where, schema in all_schemas() if "uniqueItems" in schema]


def test_no_list_of_an_answer_holds_null() -> None:
    """Many typed clients cannot read a list with gaps."""
    schemas = document()["components"]["schemas"]
    lists = [
        (where, schema["items"])
        for name in answer_schemas()
        for where, schema in schemas_within(schemas[name], name)
        if "items" in schema
    ]
    assert len(lists) > 50
    assert not [where for where, items in lists if is_nullable(items)]


def test_every_variant_of_a_union_requires_its_tag_as_a_constant() -> None:
    schemas = document()["components"]["schemas"]
    unions = {name: each for name, each in schemas.items() if "discriminator" in each}
    assert set(unions) == {
        "Move",
        "GameEvent",
        "Table",
        "Preview",
        "Breakdown",
        "Deal",
        "RecordedMove",
        "AnalysedMove",
    }
    for union in unions.values():
        tag, mapping = union["discriminator"]["propertyName"], union["discriminator"]["mapping"]
        assert [each["$ref"] for each in union["oneOf"]] == list(mapping.values())
        for value, reference in mapping.items():
            variant = schemas[reference.rpartition("/")[2]]
            assert variant["properties"][tag]["const"] == value
            assert tag in variant["required"]


def test_every_union_has_a_tag() -> None:
    schemas = document()["components"]["schemas"]
    assert not [n for n, each in schemas.items() if "oneOf" in each and "discriminator" not in each]


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
    """A member may be null. Absent are only unions, and what depends on the request."""
    optional = {
        "Problem": {"rule", "errors"},
        "FieldError": {"pointer", "parameter"},
        "Analysis": {"steps"},
        "Game": {"table"},
        "MoveCheck": {"preview"},
    }
    schemas = document()["components"]["schemas"]
    for name in answer_schemas():
        schema = schemas[name]
        if "properties" in schema and name != "GameOptions":
            absent = set(schema["properties"]) - set(schema.get("required", []))
            assert absent == optional.get(name, set()), name


def answer_schemas() -> set[str]:
    """The names of all schemas that answers are made of."""
    schemas = document()["components"]["schemas"]
    found: set[str] = set()

    def visit(part: Any) -> None:
        for reference in references(part):
            kind, _, name = reference.removeprefix("#/components/").partition("/")
            if kind != "schemas":
                visit(document()["components"][kind][name])
            elif name not in found:
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
    """Generators give inline objects, enums and unions names that nobody can read."""
    inline = re.compile(r"paths|(parameters|headers|responses)|schemas/[^/]+/.+")
    for where, schema in all_schemas():
        if inline.match(where):
            assert not {"enum", "oneOf", "allOf", "properties"} & set(schema), where
            assert schema["type"] != "object", where
    used = set(references(document()))
    for kind in ("schemas", "parameters", "headers", "responses"):
        assert used >= {f"#/components/{kind}/{name}" for name in document()["components"][kind]}


def test_every_move_event_table_preview_and_breakdown_of_the_engine_has_its_schema() -> None:
    assert set(MOVES) == set(MOVE_TYPES)
    assert TABLES.tags == list(RULESETS)
    assert set(TABLES.variants) == set(Table.__subclasses__())
    assert set(PREVIEWS.variants) == set(Preview.__subclasses__())
    assert BREAKDOWNS.tags == list(RULESETS)
    assert set(BREAKDOWNS.variants) == set(Breakdown.__subclasses__())
    assert set(EVENTS.variants) == {*Event.__subclasses__(), *TimedEvent.__subclasses__()} - {
        TimedEvent
    }
    assert len(set(EVENTS.tags)) == len(EVENTS.tags)


def test_the_bounds_of_seats_are_those_of_the_rulesets() -> None:
    assert min(ruleset.min_seats for ruleset in RULESETS.values()) == MIN_SEATS
    assert max(ruleset.max_seats for ruleset in RULESETS.values()) == MAX_SEATS


def test_every_status_is_documented_with_its_problem_codes() -> None:
    for _, _, operation in operations():
        for status, each in operation["responses"].items():
            if status >= "400":
                response = resolved(each)
                assert list(response["content"]) == ["application/problem+json"]
                codes = problems_of(response)
                assert codes
                assert {CATALOGUE[code].status for code in codes} == {int(status)}


def test_every_operation_that_a_caller_can_get_wrong_says_with_what_it_refuses() -> None:
    for path, methods in document()["paths"].items():
        for operation in (each for method, each in methods.items() if method in METHODS):
            takes = {each["in"] for each in parameters(path, operation)} - {"header"}
            if takes or operation["security"] or "requestBody" in operation:
                assert [each for each in operation["responses"] if each.startswith("4")]


def test_what_operations_share_is_published_once() -> None:
    parts = document()["components"]
    for kind in ("responses", "parameters", "headers"):
        written = [str(each) for each in parts[kind].values()]
        assert len(set(written)) == len(written)
    refusals = [
        each["description"]
        for _, _, operation in operations()
        for status, each in operation["responses"].items()
        if status >= "500" and "description" in each
    ]
    assert len(set(refusals)) == len(refusals)
