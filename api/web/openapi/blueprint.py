"""The published document, made from the routes and schemas: flask-smorest, and what it lacks.

Named enums, unions with a discriminator, constant tags, every problem that an operation can
answer with, and operations that say whether they take a token. The hooks used are public. What
operations share is in `api.web.openapi.components`, the examples are `api.web.openapi.examples`'.
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

from api.config.rate_policies import POLLS, READS
from api.problems.catalogue import CATALOGUE
from api.web.bodies import Parser
from api.web.openapi.components import HEADERS, IF_MATCH, OF_STATUS, STANDING, publish_once
from api.web.openapi.examples import add_examples
from api.web.openapi.info import CONTACT, DESCRIPTION, SUMMARY, TAGS
from api.web.openapi.links import LINKS, responses_with_links
from api.web.problem_responses import PROBLEM_TYPE, problem_of, problem_response
from api.web.schemas.fields import BodySchema, Choice, Either, Union
from api.web.schemas.problems import ProblemSchema

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
METRICS_TOKEN: list[dict[str, list[str]]] = [{"metrics": []}, {}]

LIMITED = "x-limited"
"""Marks the operations that are limited, until the document is made."""

MORE_PARAMETERS = "x-parameters"
"""Parameters beside those of the query's schema, which a list of their own would replace."""


class Converter(OpenAPIConverter):
    """Marshmallow to JSON Schema, with names for enums and unions."""

    def field2property(self, field: fields.Field[Any]) -> dict[str, Any]:
        """A field's schema."""
        if isinstance(field, Choice):
            return self._choice(field)
        if isinstance(field, Union):
            return self._union(field)
        if isinstance(field, Either):
            return self._either(field)
        property_: dict[str, Any] = super().field2property(field)
        if len(property_.get("enum", ())) == 1:
            # A constant: the tag of a variant, or a flag that is always true.
            (property_["const"],) = property_.pop("enum")
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

    def _either(self, field: Either) -> dict[str, Any]:
        variants = [self.resolve_nested_schema(each) for each in field.variants]  # type: ignore[no-untyped-call]
        schema = {"oneOf": variants, "description": field.description}
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

    def arguments(self, schema: type[Schema], **how: Any) -> Callable[[View], View]:
        """What an operation takes. The schema is made once, not for each request."""
        taken: Callable[[View], View] = super().arguments(schema(), **how)
        return taken

    def response(
        self, status_code: int, schema: Any = None, *, description: str | None = None, **how: Any
    ) -> Callable[[View], View]:
        """What an operation answers with; said in the schema's own words if nothing else is."""
        if description is None and isinstance(schema, type):
            description = _first_line(schema)
        return _only_described(
            super().response(status_code, schema, description=description, **how)
        )

    def alt_response(self, status_code: int, response: Any = None, **how: Any) -> Any:
        """What an operation may answer with instead."""
        return _only_described(super().alt_response(status_code, response, **how))

    def operation(
        self,
        operation_id: str,
        *problems: str,
        security: list[dict[str, list[str]]] = TOKEN_NEEDED,
        body: bool = False,
        store: bool = True,
        if_match: bool = False,
        limits: tuple[str, ...] | None = None,
        **doc: Any,
    ) -> Callable[[View], View]:
        """What the document says of an operation: its id, its security, its problems.

        `body`: it takes one; `store`: it asks the store; `if_match`: it can be made to depend on
        what the game is; `limits`: what its requests count as (see `api.limits`), reads by
        default if it asks the store.
        """
        if limits is None:
            limits = (READS,) if store else ()
        parameters = list(doc.pop("parameters", ()))
        codes = [*problems, "internal_error"]
        codes += STORE if store else ()
        # A full store can still be read.
        codes += ("store_full",) if store and not {READS, POLLS}.issuperset(limits) else ()
        codes += WITH_BODY if body else ()
        codes += ("too_many_requests",) if limits else ()
        codes += ("unsupported_format",) if "game_not_found" in problems else ()
        if security is TOKEN_NEEDED:
            codes += TOKEN
        elif security is TOKEN_OPTIONAL:
            codes.append("invalid_token")
        if if_match:
            codes.append("precondition_failed")
            parameters.append(IF_MATCH)
        responses = {
            **problem_responses(codes),
            **responses_with_links(operation_id),
            **doc.pop("responses", {}),
        }
        documented: Callable[[View], View] = _only_described(
            self.doc(
                operationId=operation_id,
                security=security,
                responses=responses,
                **{LIMITED: bool(limits), MORE_PARAMETERS: parameters},
                **doc,
            )
        )

        def counted(view: View) -> View:
            view.limits = limits  # type: ignore[attr-defined]
            return documented(view)

        return counted


def _only_described(documented: Callable[[View], View]) -> Callable[[View], View]:
    """What is said of a view, without what would be put around it: our views return answers."""

    def describe(view: View) -> View:
        said = vars(documented(view))
        vars(view).update({name: said[name] for name in said if name != "__wrapped__"})
        return view

    return describe


def problem_responses(codes: list[str]) -> dict[str, Any]:
    """The responses for these problems, one for each status."""
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in codes:
        if code not in by_status[CATALOGUE[code].status]:
            by_status[CATALOGUE[code].status].append(code)
    return {
        str(status): {
            "description": "\n".join(
                f"- `{code}`: {CATALOGUE[code].title}." for code in sorted(of_status)
            ),
            "content": {PROBLEM_TYPE: {"schema": ProblemSchema}},
            **({"headers": OF_STATUS[status]} if status in OF_STATUS else {}),
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
        return problem_response(problem_of(error))


INFO = {
    "summary": SUMMARY,
    "description": DESCRIPTION,
    "contact": CONTACT,
    "license": {"name": "MIT", "identifier": "MIT"},
}


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
                        "description": "The token that createPlayer answers with, once.",
                    },
                    "metrics": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "The METRICS_TOKEN that the service was given, if it was.",
                    },
                },
            },
        },
    )
    api = Api(app, spec_kwargs={"marshmallow_plugin": Plugin()})
    api.spec.components.schemas.pop("PaginationMetadata")  # flask-smorest's own, unused here
    return api


def make_document(api: Api) -> dict[str, Any]:
    """The document in the order in which people read it, with its examples."""
    spec = api.spec.to_dict()
    for path in spec["paths"].values():
        for method, operation in path.items():
            if method != "parameters":
                tell_of_headers(operation, is_limited=operation.pop(LIMITED, False))
                if more := operation.pop(MORE_PARAMETERS, []):
                    operation["parameters"] = [*operation.get("parameters", []), *more]
                path[method] = _in_order(operation)
    add_examples(spec)
    publish_once(spec)
    first = ("openapi", "info", "servers", "tags", "paths", "components")
    return {name: spec[name] for name in (*first, *(each for each in spec if each not in first))}


def tell_of_headers(operation: dict[str, Any], *, is_limited: bool) -> None:
    """What every answer has: the request's id, and of what is limited how its caller stands."""
    everywhere = {"X-Request-ID": HEADERS["RequestId"], **(STANDING if is_limited else {})}
    for response in operation["responses"].values():
        response["headers"] = {**response.get("headers", {}), **everywhere}


def _in_order(operation: dict[str, Any]) -> dict[str, Any]:
    """An operation as people read it: what it is, what it takes, what it answers."""
    first = ("operationId", "summary", "description", "tags", "security", "parameters")
    ordered = {name: operation[name] for name in first if name in operation}
    ordered["description"] = _unwrapped(operation["description"])
    if "requestBody" in operation:
        ordered["requestBody"] = operation["requestBody"]
    responses = operation["responses"]
    ordered["responses"] = {str(each): responses[each] for each in sorted(responses, key=str)}
    return ordered


def _unwrapped(text: str) -> str:
    """A docstring's paragraphs, each on a line of its own."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes YAML, by the C library if there is one: small values on one line, no aliases."""

    SMALL = 72

    def ignore_aliases(self, data: Any) -> bool:
        """What is said twice is written twice."""
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        """A list; one of short texts or numbers alone flows over as many lines as it takes."""
        node = super().represent_sequence(tag, sequence, flow_style)
        node.length = sum(_length(each) for each in node.value)
        node.flow_style = node.length <= self.SMALL or all(
            _length(each) < self.SMALL // 2 and isinstance(each.value, str) for each in node.value
        )
        return node

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        """An object."""
        node = super().represent_mapping(tag, mapping, flow_style)
        node.length = sum(_length(name) + _length(each) for name, each in node.value)
        node.flow_style = node.length <= self.SMALL
        return node


def _length(node: Any) -> int:
    """About how many characters a part takes on a line."""
    return int(getattr(node, "length", len(node.value))) + 2


def as_yaml(document: dict[str, Any]) -> str:
    """The document as YAML text."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _first_line(documented: type) -> str:
    return (documented.__doc__ or "").strip().splitlines()[0]
