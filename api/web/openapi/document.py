"""The published document: built from the registered routes, and written as YAML.

flask-smorest collects the declarations of the blueprints (`api.web.openapi.blueprint`). Only public
hooks of the libraries are used.
"""

from __future__ import annotations

from typing import Any

import yaml
from flask import Flask, request
from flask_smorest import Api as SmorestApi
from werkzeug import Response
from werkzeug.exceptions import HTTPException

from api.web.openapi.blueprint import LIMITED, MORE_PARAMETERS, PROBLEM
from api.web.openapi.components import HEADERS, STANDING, publish_once
from api.web.openapi.converter import Plugin
from api.web.openapi.examples import add_examples
from api.web.openapi.info import CONTACT, DESCRIPTION, SUMMARY, TAGS
from api.web.openapi.links import LINKS
from api.web.problem_responses import problem_of, problem_response


class Api(SmorestApi):  # type: ignore[misc]
    """The document, and the handler of errors that Flask and Werkzeug raise."""

    ERROR_SCHEMA = PROBLEM
    DEFAULT_ERROR_RESPONSE_NAME = None

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Return the error as a problem; return a redirect unchanged."""
        if error.code is not None and error.code < 400:
            return error.get_response()
        # The error holds the request by its traceback: if the request held the error too, both
        # would be kept until the next garbage collection.
        request.routing_exception = None
        return problem_response(problem_of(error))


LOCAL_SERVER = {"url": "http://127.0.0.1:8000", "description": "A service on this machine."}
"""The server of openapi.yaml, which generated clients call by default."""

THIS_SERVER = {"url": "/", "description": "The server that sent this document."}
"""The server of the document that a service sends."""

INFO = {
    "summary": SUMMARY,
    "description": DESCRIPTION,
    "contact": CONTACT,
    "license": {"name": "MIT", "identifier": "MIT"},
}


def make_api(app: Flask, version: str) -> Api:
    """Return the API of an application, on which the blueprints are then registered."""
    app.config.update(
        API_TITLE="Ludothèque",
        API_VERSION=version,
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": INFO,
            "tags": TAGS,
            "components": {
                "links": LINKS,
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "The token that createPlayer returns once.",
                    },
                    "metrics": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "The METRICS_TOKEN of the service, if one is configured.",
                    },
                },
            },
        },
    )
    api = Api(app, spec_kwargs={"marshmallow_plugin": Plugin()})
    api.spec.components.schemas.pop("PaginationMetadata")  # flask-smorest's own, unused here
    return api


def make_document(api: Api, server: dict[str, str]) -> dict[str, Any]:
    """Return the document of a server with its examples, in reading order."""
    spec = {**api.spec.to_dict(), "servers": [server]}
    for path in spec["paths"].values():
        of_path = path.pop("parameters", [])
        for method, operation in path.items():
            add_headers(operation, is_limited=operation.pop(LIMITED, False))
            own = operation.pop("parameters", [])
            # In each operation, as some generators ignore those of a path.
            if parameters := [*of_path, *own, *operation.pop(MORE_PARAMETERS, [])]:
                operation["parameters"] = parameters
            path[method] = _in_order(operation)
    add_examples(spec)
    publish_once(spec)
    first = ("openapi", "info", "servers", "tags", "paths", "components")
    return {name: spec[name] for name in (*first, *(each for each in spec if each not in first))}


def add_headers(operation: dict[str, Any], *, is_limited: bool) -> None:
    """Add the headers of every response: the request id, and the rate limits of a limited one."""
    everywhere = {"X-Request-ID": HEADERS["RequestId"], **(STANDING if is_limited else {})}
    for response in operation["responses"].values():
        response["headers"] = {**response.get("headers", {}), **everywhere}


def _in_order(operation: dict[str, Any]) -> dict[str, Any]:
    """Return an operation in reading order: what it is, what it takes, what it returns."""
    first = ("operationId", "summary", "description", "tags", "security", "parameters")
    ordered = {name: operation[name] for name in first if name in operation}
    ordered["description"] = _unwrapped(operation["description"])
    if "requestBody" in operation:
        ordered["requestBody"] = operation["requestBody"]
    responses = operation["responses"]
    ordered["responses"] = {str(each): responses[each] for each in sorted(responses, key=str)}
    return ordered


def _unwrapped(text: str) -> str:
    """Return a docstring with each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes YAML with small values on one line and without aliases, with libyaml if installed."""

    SMALL = 72

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values in full each time."""
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        """Represent a list; a list of short scalars is wrapped like text."""
        node = super().represent_sequence(tag, sequence, flow_style)
        node.length = sum(_length(each) for each in node.value)
        node.flow_style = node.length <= self.SMALL or all(
            _length(each) < self.SMALL // 2 and isinstance(each.value, str) for each in node.value
        )
        return node

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        """Represent an object; a small one stands on one line."""
        node = super().represent_mapping(tag, mapping, flow_style)
        node.length = sum(_length(name) + _length(each) for name, each in node.value)
        node.flow_style = node.length <= self.SMALL
        return node


def _length(node: Any) -> int:
    """Return the approximate number of characters of a node on a line."""
    return int(getattr(node, "length", len(node.value))) + 2


def as_yaml(document: dict[str, Any]) -> str:
    """Return the document as YAML text."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
