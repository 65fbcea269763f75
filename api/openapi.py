"""The published document, made from the routes and schemas: flask-smorest, and what it lacks.

Named enums, unions with a discriminator, constant tags, every problem that an operation can
answer with, and operations that say whether they take a token. The hooks used are public.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

import yaml
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask
from flask_smorest import Api as SmorestApi
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, fields
from werkzeug import Response
from werkzeug.exceptions import HTTPException

from api.bodies import Parser
from api.kinds import KINDS
from api.links import COMPONENTS as LINKS
from api.links import responses_with_links
from api.problems import PROBLEM_TYPE, from_http
from api.schemas.fields import BodySchema, Choice, Constant, Union

View = TypeVar("View", bound=Callable[..., Any])

STORE = ("store_unavailable", "newer_format", "not_replicated")
WITH_BODY = (
    "invalid_json",
    "body_too_slow",
    "length_required",
    "body_too_large",
    "unsupported_media_type",
    "invalid_request",
)
TOKEN = ("missing_token", "invalid_token")

TOKEN_NEEDED: list[dict[str, list[str]]] = [{"token": []}]
TOKEN_OPTIONAL: list[dict[str, list[str]]] = [{"token": []}, {}]
NO_TOKEN: list[dict[str, list[str]]] = []

RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds to wait before trying again.",
        "schema": {"type": "integer"},
    }
}
CHALLENGE = {
    "WWW-Authenticate": {
        "description": "How to authenticate (RFC 6750).",
        "schema": {"type": "string"},
    }
}
SERVER_TIME = {
    "Server-Time": {
        "description": "The time of the store, by which deadlines are kept.",
        "schema": {"type": "string", "format": "date-time"},
    }
}
CONDITIONAL = {
    **SERVER_TIME,
    "ETag": {
        "description": "Send it as If-None-Match to be told only of changes.",
        "schema": {"type": "string"},
    },
    "Cache-Control": {"description": "Always asks to revalidate.", "schema": {"type": "string"}},
    "Vary": {"description": "What else the answer depends on.", "schema": {"type": "string"}},
}
GAME_ID = {
    "name": "game_id",
    "in": "path",
    "required": True,
    "description": "The game's id.",
    "schema": {"type": "string"},
}
IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of getGame's answer: act only if the game is still that one.",
    "schema": {"type": "string"},
}
PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": (
        "`wait=N`, with If-None-Match: wait up to N seconds, at most 25, until the answer would "
        "not be 304. If it was heeded, Preference-Applied says so."
    ),
    "schema": {"type": "string"},
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of the answer that you have.",
    "schema": {"type": "string"},
}


class FieldErrorSchema(Schema):
    """A member or parameter that is wrong."""

    detail = fields.String(required=True)
    pointer = fields.String(metadata={"description": "A JSON pointer into the body (`#/move`)."})
    parameter = fields.String(metadata={"description": "The name of a query parameter."})


class ProblemSchema(Schema):
    """Why a request failed (RFC 9457). Decide by `code`; show `detail` to people."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True)
    detail = fields.String(required=True)
    rule = fields.String(metadata={"description": "Of an illegal move: the rule against it."})
    errors = fields.List(fields.Nested(FieldErrorSchema))


class Converter(OpenAPIConverter):
    """Marshmallow to JSON Schema, with names for enums and unions."""

    def field2property(self, field: fields.Field[Any]) -> dict[str, Any]:
        """A field's schema."""
        if isinstance(field, Choice):
            return self._choice(field)
        if isinstance(field, Union):
            return self._union(field)
        property_: dict[str, Any] = super().field2property(field)
        if isinstance(field, Constant):
            (value,) = property_.pop("enum")
            property_["const"] = value
        return property_

    def _choice(self, field: Choice) -> dict[str, Any]:
        values = [member.value for member in field.enum]
        schema = {"type": "string", "enum": values, "description": _first_line(field.enum)}
        return self._reference(field.enum.__name__, schema, field)

    def _union(self, field: Union) -> dict[str, Any]:
        mapping = {
            value: self.resolve_nested_schema(schema)["$ref"]  # type: ignore[no-untyped-call]
            for value, schema in field.variants.items()
        }
        schema = {
            "oneOf": [{"$ref": reference} for reference in mapping.values()],
            "discriminator": {"propertyName": field.tag, "mapping": mapping},
            "description": field.description,
        }
        return self._reference(field.union_name, schema, field)

    def _reference(
        self, name: str, schema: dict[str, Any], field: fields.Field[Any]
    ) -> dict[str, Any]:
        if name not in self.spec.components.schemas:
            self.spec.components.schema(name, schema)
        reference: dict[str, Any] = {"$ref": f"#/components/schemas/{name}"}
        if field.allow_none:
            reference = {"anyOf": [reference, {"type": "null"}]}
        description = field.metadata.get("description")
        return {**reference, "description": description} if description else reference

    def schema2jsonschema(self, schema: Schema) -> dict[str, Any]:
        """A schema's JSON Schema, with the first line of its docstring as its description."""
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        described["description"] = _first_line(type(schema))
        if not isinstance(schema, BodySchema) and described.get("additionalProperties") is False:
            # Answers may get more members; only what is a request and nothing else is closed.
            del described["additionalProperties"]
        return described


class Plugin(MarshmallowPlugin):
    """apispec's marshmallow plugin, with our converter."""

    Converter = Converter


class Blueprint(SmorestBlueprint):  # type: ignore[misc]
    """A resource: its routes, and what the document says of each."""

    ARGUMENTS_PARSER = Parser()

    def operation(
        self,
        operation_id: str,
        *problems: str,
        security: list[dict[str, list[str]]] = TOKEN_NEEDED,
        body: bool = False,
        store: bool = True,
        if_match: bool = False,
        **doc: Any,
    ) -> Callable[[View], View]:
        """What the document says of an operation: its id, its security, its problems.

        `body`: it takes one; `store`: it asks the store; `if_match`: it can be made to depend on
        what the game is.
        """
        codes = [*problems, "internal_error"]
        codes += STORE if store else ()
        codes += WITH_BODY if body else ()
        if security is TOKEN_NEEDED:
            codes += TOKEN
        elif security is TOKEN_OPTIONAL:
            codes.append("invalid_token")
        if if_match:
            codes.append("precondition_failed")
            doc["parameters"] = [*doc.get("parameters", ()), IF_MATCH]
        responses = {
            **problem_responses(codes),
            **responses_with_links(operation_id),
            **doc.pop("responses", {}),
        }
        documented: Callable[[View], View] = self.doc(
            operationId=operation_id, security=security, responses=responses, **doc
        )
        return documented


def problem_responses(codes: list[str]) -> dict[str, Any]:
    """The responses for these problems, one for each status."""
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in codes:
        if code not in by_status[KINDS[code].status]:
            by_status[KINDS[code].status].append(code)
    return {
        str(status): {
            "description": "\n".join(
                f"- `{code}`: {KINDS[code].title}." for code in sorted(of_status)
            ),
            "content": {PROBLEM_TYPE: {"schema": ProblemSchema}},
            **({"headers": RETRY_AFTER} if status in (429, 503) else {}),
            **({"headers": CHALLENGE} if status == 401 else {}),
        }
        for status, of_status in sorted(by_status.items())
    }


class Api(SmorestApi):  # type: ignore[misc]
    """The document, and the last resort for errors that Flask raises by itself."""

    ERROR_SCHEMA = ProblemSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def handle_http_exception(self, error: HTTPException) -> Response:
        """An error of Flask's or Werkzeug's as a problem; a redirect as it is."""
        if error.code is not None and error.code < 400:
            return error.get_response()
        return from_http(error).response()


INFO = {
    "summary": "Games of cards, their rules, and whose move it is.",
    "description": (
        "Keeps games of card games, knows their rules, tells every seat what it may do.\n\n"
        "A bot's whole life is `listTurns` and `playMove`. The token picks the view: there is no "
        "way to ask for another seat's. A move is safe to send again. Every failure is a problem "
        "(RFC 9457) with a `code` to decide by."
    ),
    "license": {"name": "MIT", "identifier": "MIT"},
}
TAGS = [
    {"name": "rulesets", "description": "The games that there are."},
    {"name": "players", "description": "Players and their tokens."},
    {"name": "games", "description": "Tables: creating, finding, joining, leaving."},
    {"name": "play", "description": "Moves, and what became of them."},
    {"name": "me", "description": "What concerns the caller."},
    {"name": "analysis", "description": "Games without a table."},
    {"name": "service", "description": "The service itself."},
]


def make_api(app: Flask, version: str) -> Api:
    """The document of an application; register the blueprints on it."""
    app.config.update(
        API_TITLE="Ludothèque",
        API_VERSION=version,
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": INFO,
            "servers": [{"url": "/", "description": "This server."}],
            "tags": TAGS,
            "components": {
                "links": LINKS,
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "The token that createPlayer answers with.",
                    }
                },
            },
        },
    )
    api = Api(app, spec_kwargs={"marshmallow_plugin": Plugin()})
    api.spec.components.schemas.pop("PaginationMetadata")  # flask-smorest's own, unused here
    return api


def make_document(api: Api) -> dict[str, Any]:
    """The document in the order in which people read it."""
    spec = api.spec.to_dict()
    for operations in spec["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict) and "responses" in operation:
                responses = operation["responses"]
                operation["responses"] = {str(k): responses[k] for k in sorted(responses, key=str)}
    first = ("openapi", "info", "servers", "tags", "paths", "components")
    return {name: spec[name] for name in (*first, *(each for each in spec if each not in first))}


def as_yaml(document: dict[str, Any]) -> str:
    """The document as YAML text."""
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


def _first_line(documented: type) -> str:
    return (documented.__doc__ or "").strip().splitlines()[0]
