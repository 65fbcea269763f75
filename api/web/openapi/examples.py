"""The examples in the document: requests and answers of a real server.

They are in `examples.json`, which `make examples` records; nothing in it is written by hand. It
is read anew for each document, as there is one a process.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from api.web.openapi.components import codes_of

RECORDED = Path(__file__).with_name("examples.json")

Examples = dict[str, dict[str, Any]]
"""Examples by name, each with its `summary` and `value`."""


def add_examples(document: dict[str, Any]) -> None:
    """Give each request and answer of the document the examples that there are of it."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    operations = [
        operation
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict)
    ]
    for operation in operations:
        own = recorded.get(operation["operationId"], {})
        _add_to_operation(operation, own, _by_code(recorded, operations, _kind(operation)))


def _kind(operation: dict[str, Any]) -> str:
    """What kind of refusals an operation has: about a body, about a query, or about the service."""
    if operation["tags"] == ["service"]:
        return "service"
    return "body" if "requestBody" in operation else "query"


def _by_code(
    recorded: dict[str, dict[str, Examples]], operations: list[dict[str, Any]], kind: str
) -> Examples:
    """A problem of each code as an operation of this kind has it: best of one of its own kind.

    Of the service itself only where there is no other: its tokens are no player's.
    """
    order = [kind, *(each for each in ("body", "query", "service") if each != kind)]
    problems: Examples = {}
    # What analyse refuses is too large for others long before.
    lenders = [each for each in operations if each["operationId"] != "analyse"]
    for operation in sorted(lenders, key=lambda each: order.index(_kind(each))):
        for part, examples in recorded.get(operation["operationId"], {}).items():
            for example in examples.values() if part >= "400" and part != "request" else ():
                problems.setdefault(example["value"]["code"], example)
    return problems


def _add_to_operation(
    operation: dict[str, Any], own: dict[str, Examples], of_code: Examples
) -> None:
    _add(operation.get("requestBody", {}), own.get("request", {}))
    for status, response in operation["responses"].items():
        examples = own.get(status, {})
        codes = {each["value"]["code"] for each in examples.values()} if status >= "400" else set()
        for code in codes_of(response):
            if code in of_code and code not in codes:
                examples = {**examples, code: of_code[code]}
        _add(response, examples)


def _add(part: dict[str, Any], examples: Examples) -> None:
    """Put examples into the one media type of a request or an answer."""
    if examples:
        (media,) = part["content"].values()
        media["examples"] = examples
