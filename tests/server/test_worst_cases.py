"""No value that a client can send costs a worker much more CPU than a plain request.

Every text, list, number and object of every body, and every parameter and header, gets values of
the largest size that are slow to handle. The measure is a ratio to a plain request of the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz.cost import HEAD_RATIO
from tests.fuzz.mutations import at
from tests.fuzz.worst import (
    Case,
    Findings,
    Target,
    bodies,
    cases,
    measure,
    places,
    service_to_measure,
    try_case,
)
from tests.support.document import document, operations, resolved


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with service_to_measure(tmp_path_factory.mktemp("service")) as measured:
        yield measured


@pytest.mark.slow
def test_no_field_parameter_or_header_costs_more_than_its_size_allows(target: Target) -> None:
    found = measure(target, few=True)
    print(found.report())
    assert not found.faults, "\n".join(found.faults)


def test_a_value_that_costs_too_much_is_reported_with_its_recipe(target: Target) -> None:
    found = Findings([], [])
    plain = next(case for case in cases(target, few=True) if case.place == "getProblem code")
    assert 0 < try_case(target, plain, found).ratio < HEAD_RATIO
    assert not found.faults
    try_case(target, Case(plain.place, plain.recipe, plain.message, bound=0.0), found)
    (told,) = found.faults
    assert plain.recipe in told


def members(schema: dict[str, Any]) -> set[str]:
    """The names of all members in a schema of the document."""
    schema = resolved(schema)
    below = [*schema.get("properties", {}).values()]
    below += [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    below += [schema["items"]] if "items" in schema else []
    return set(schema.get("properties", {})).union(*map(members, below))


def test_every_member_that_a_body_may_have_is_tried() -> None:
    for _, _, operation in operations():
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            tried = {
                step
                for body in bodies(operation)
                for path in places(body)
                for step in (path[-1:] if path and at(body, path) is not None else ())
            }
            assert tried >= members(schema), operation["operationId"]


def test_every_parameter_is_tried(target: Target) -> None:
    tried = {case.place for case in cases(target, few=True)}
    for part in document()["components"]["parameters"].values():
        assert any(part["name"] in place for place in tried), part["name"]
