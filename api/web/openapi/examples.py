"""Adds the recorded examples to the document: requests and responses of a real server.

`make examples` records them in `examples.json`; nothing in it is written by hand. The file is read
once a process, when the document is built.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from api.web.openapi.components import codes_of

RECORDED = Path(__file__).with_name("examples.json")

Examples = dict[str, dict[str, Any]]
"""Examples by name, each with a `summary` and a `value`."""


def add_examples(document: dict[str, Any]) -> None:
    """Add the recorded examples to the requests and responses of the document."""
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
    """Return whose problems an operation's problems resemble: `body`, `query` or `service`."""
    if operation["tags"] == ["service"]:
        return "service"
    return "body" if "requestBody" in operation else "query"


def _by_code(
    recorded: dict[str, dict[str, Examples]], operations: list[dict[str, Any]], kind: str
) -> Examples:
    """Return an example problem for each code, if possible from an operation of this kind.

    Examples of the service come last for other kinds: their tokens are not those of players.
    """
    order = [kind, *(each for each in ("body", "query", "service") if each != kind)]
    problems: Examples = {}
    # The bodies of analyse may be larger, so its examples do not fit other operations.
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
        if status >= "400":
            # In one order, so that operations with the same examples share a response.
            examples = dict(sorted(examples.items()))
        _add(response, examples)


def _add(part: dict[str, Any], examples: Examples) -> None:
    """Add examples to the only media type of a request or a response."""
    if examples:
        (media,) = part["content"].values()
        media["examples"] = examples
