"""The published document as a test holds it against answers.

Every answer that a test's client gets is checked here: its status is documented for its
operation, its type too, and its body has the members that the schema says, and no others.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import requests
import yaml

ROOT = Path(__file__).resolve().parents[2]
METHODS = {"get", "post", "put", "patch", "delete"}


@cache
def document() -> dict[str, Any]:
    return yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


@cache
def operations() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Every operation: its method, a pattern of its path, what is said of it."""
    return [
        (method, re.compile(re.sub(r"{[^/]+}", "[^/]+", path)), operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]


def find_operation(method: str, path: str) -> dict[str, Any] | None:
    for of_method, pattern, operation in operations():
        if of_method == method.lower() and pattern.fullmatch(path):
            return operation
    return None


@cache
def closed_components() -> dict[str, Any]:
    """The schemas, with no room for members that they do not name."""
    return {name: _closed(schema) for name, schema in document()["components"]["schemas"].items()}


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    if isinstance(closed.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


@cache
def _validator(reference: str) -> jsonschema_rs.Draft202012Validator:
    schema = {"$ref": reference, "components": {"schemas": closed_components()}}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def check(response: requests.Response) -> None:
    """Fail unless the document says that this request may be answered like this."""
    method = str(response.request.method)
    path = str(response.request.path_url).partition("?")[0]
    operation = find_operation(method, path)
    if operation is None:
        assert response.status_code in (404, 405, 413, 411), f"{method} {path} is undocumented"
        return
    documented = operation["responses"].get(str(response.status_code))
    assert documented, f"{operation['operationId']} says nothing of {response.status_code}"
    if response.status_code in (204, 304):
        assert response.content == b""
        return
    content_type = response.headers["Content-Type"]
    if content_type.startswith("text/plain;"):
        content_type = "text/plain"  # the version of Prometheus' format is no part of the type
    assert content_type in documented["content"], f"{content_type} is undocumented"
    for name in documented.get("headers", {}):
        assert name in response.headers, f"{operation['operationId']} lacks the header {name}"
    if content_type not in ("application/json", "application/problem+json"):
        return
    schema = documented["content"][content_type]["schema"]
    if "$ref" in schema:
        _validator(schema["$ref"]).validate(response.json())
    if content_type == "application/problem+json":
        assert f"`{response.json()['code']}`" in documented["description"], (
            f"{operation['operationId']} says nothing of {response.json()['code']}"
        )
