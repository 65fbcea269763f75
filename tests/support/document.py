"""The published document, and the check of a response against it.

The status and the content type of a response are documented for its operation, and its body has
the members that the schema names, and no others.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from api.web.headers import EXPOSED_HEADERS
from tests.support.http_client import Response

ROOT = Path(__file__).resolve().parents[2]
METHODS = {"get", "post", "put", "patch", "delete"}
DOCUMENTED_HEADERS = {*EXPOSED_HEADERS, "Content-Language", "Vary"}
"""Headers for clients: each response that has one must document it."""


@cache
def document() -> dict[str, Any]:
    return yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the document, or the component that it refers to."""
    while "$ref" in part:
        kind, _, name = part["$ref"].removeprefix("#/components/").partition("/")
        part = document()["components"][kind][name]
    return part


def parameters(path: str, operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all parameters of an operation at a path."""
    of_path = document()["paths"][path].get("parameters", [])
    return [resolved(each) for each in (*of_path, *operation.get("parameters", []))]


@cache
def operations() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Return all operations: the method, a pattern of the path, and the operation object."""
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
    """Return the schemas, closed for members that they do not name."""
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
def validator(reference: str, *, closed: bool = True) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for a component; unless `closed`, it allows unknown members."""
    schemas = closed_components() if closed else document()["components"]["schemas"]
    schema = {"$ref": reference, "components": {"schemas": schemas}}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def check(response: Response) -> None:
    """Fail unless the document allows this response to its request."""
    method = response.method
    path = response.path.partition("?")[0]
    operation = find_operation(method, path)
    if operation is None:
        assert response.status_code in (404, 405, 413, 411), f"{method} {path} is undocumented"
        return
    about = f"{operation['operationId']}, {response.status_code}"
    assert str(response.status_code) in operation["responses"], f"{about} is undocumented"
    documented = resolved(operation["responses"][str(response.status_code)])
    check_headers(response, documented.get("headers", {}), about)
    if response.status_code in (204, 304):
        assert response.content == b""
        return
    content_type = response.headers["Content-Type"]
    if content_type.startswith("text/plain;"):
        content_type = "text/plain"  # the version of Prometheus' format is no part of the type
    assert content_type in documented["content"], f"{content_type} is undocumented"
    if content_type not in ("application/json", "application/problem+json"):
        return
    schema = documented["content"][content_type]["schema"]
    if "$ref" in schema:
        validator(schema["$ref"]).validate(response.json())
    if content_type == "application/problem+json":
        assert f"`{response.json()['code']}`" in documented["description"], (
            f"{operation['operationId']} says nothing of {response.json()['code']}"
        )


def check_headers(response: Response, documented: dict[str, Any], about: str) -> None:
    """Fail if a required header is missing, a header is malformed, or one is not documented."""
    headers = {name: resolved(each) for name, each in documented.items()}
    for name, header in headers.items():
        assert name in response.headers or not header["required"], f"{about} lacks {name}"
        if name in response.headers:
            value: Any = response.headers[name]
            if header["schema"]["type"] == "integer":
                value = int(value)
            jsonschema_rs.Draft202012Validator(header["schema"], validate_formats=True).validate(
                value
            )
    undocumented = DOCUMENTED_HEADERS & set(response.headers) - set(headers)
    assert not undocumented, f"{about} says nothing of {undocumented}"
