"""A view's declarations for the document: operation, security, problems, parameters, answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema
from msgspec import Struct

from api.config.rate_policies import POLLS, READS
from api.problems.catalogue import CATALOGUE
from api.problems.problem import ProblemBody
from api.web.bodies import read_arguments
from api.web.openapi.components import IF_MATCH, OF_STATUS
from api.web.openapi.links import responses_with_links
from api.web.openapi.structs import Answer, first_line
from api.web.problem_responses import PROBLEM_TYPE, TEMPORARY

View = TypeVar("View", bound=Callable[..., Any])

GAME = ("unsupported_format", "newer_format")
WITH_BODY = (
    "invalid_json",
    "body_too_slow",
    "body_too_large",
    "unsupported_media_type",
)
TOKEN = ("missing_token", "invalid_token")

TOKEN_NEEDED: list[dict[str, list[str]]] = [{"token": []}]
TOKEN_OPTIONAL: list[dict[str, list[str]]] = [{"token": []}, {}]
NO_TOKEN: list[dict[str, list[str]]] = []
METRICS_TOKEN: list[dict[str, list[str]]] = [{"metrics": []}, {}]

PROBLEM = Answer(ProblemBody)

LIMITED = "x-limited"
"""Marks rate-limited operations; removed when the document is built."""

MORE_PARAMETERS = "x-parameters"
"""Parameters besides those of the query's schema; a `parameters` list would replace the latter."""


class Blueprint(SmorestBlueprint):  # type: ignore[misc]
    """A group of routes with their entries in the document."""

    def arguments(
        self, schema: type[Schema], *, location: str = "json", **how: Any
    ) -> Callable[[View], View]:
        """Declare the body or query of an operation. One schema instance serves all requests."""
        instance = schema()
        documented: Callable[[View], View] = _only_described(
            super().arguments(instance, location=location, **how)
        )

        def declare(view: View) -> View:
            @wraps(view)
            def with_arguments(*args: Any, **path: str) -> Any:
                return view(*args, read_arguments(instance, location), **path)

            if location == "query":
                with_arguments.parameters = tuple(instance.fields)  # type: ignore[attr-defined]
            return documented(cast("View", with_arguments))

        return declare

    def response(
        self, status_code: int, schema: Any = None, *, description: str | None = None, **how: Any
    ) -> Callable[[View], View]:
        """Declare the response of an operation, by default with the schema's description."""
        if description is None and isinstance(schema, type):
            description = first_line(schema)
        documented = super().response(status_code, _schema(schema), description=description, **how)
        return _only_described(_telling_time(documented, how))

    def alt_response(self, status_code: int, response: Any = None, **how: Any) -> Any:
        """Declare an alternative response of an operation."""
        schema = _schema(how.pop("schema", None))
        documented = super().alt_response(status_code, response, schema=schema, **how)
        return _only_described(_telling_time(documented, how))

    def operation(
        self,
        operation_id: str,
        *problems: str,
        security: list[dict[str, list[str]]] = TOKEN_NEEDED,
        body: bool = False,
        store: bool = True,
        game: bool = False,
        if_match: bool = False,
        stream: bool = False,
        limits: tuple[str, ...] | None = None,
        **doc: Any,
    ) -> Callable[[View], View]:
        """Declare an operation: its id, security and problems.

        `body`: it takes a request body. `store`: it uses the store. `game`: it reads a stored game,
        as every operation does that has the problem game_not_found. `if_match`: it accepts
        If-Match. `stream`: it is an event stream, in which a temporary problem is an event.
        `limits`: the rate policies that count its requests (`api.config.rate_policies`); by default
        READS if it uses the store.
        """
        if limits is None:
            limits = (READS,) if store else ()
        parameters = list(doc.pop("parameters", ()))
        codes = [*problems, "invalid_request", "internal_error"]
        codes += ("store_unavailable",) if store else ()
        # Also a read, since it may store what a deadline brings about, or a new token.
        codes += ("not_replicated",) if limits and store else ()
        # A full store refuses changes only.
        codes += ("store_full",) if store and not {READS, POLLS}.issuperset(limits) else ()
        codes += WITH_BODY if body else ()
        codes += ("too_many_requests",) if limits else ()
        codes += GAME if game or "game_not_found" in problems else ()
        if security is TOKEN_NEEDED:
            codes += TOKEN
        elif security is TOKEN_OPTIONAL:
            codes.append("invalid_token")
        if if_match:
            codes.append("precondition_failed")
            parameters.append(IF_MATCH)
        told = [code for code in codes if stream and CATALOGUE[code].status in TEMPORARY]
        responses = {
            **problem_responses([code for code in codes if code not in told]),
            **responses_with_links(operation_id),
            **doc.pop("responses", {}),
        }
        if stream:
            responses[200] = _stream(told)
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
            view.is_stream = stream  # type: ignore[attr-defined]
            view.needs_token = security is TOKEN_NEEDED  # type: ignore[attr-defined]
            # Without a query's schema there are none: `api.web.queries` refuses all.
            vars(view).setdefault("parameters", ())
            return documented(view)

        return counted


def _stream(codes: list[str]) -> dict[str, Any]:
    """Return what the response of an event stream has besides its schema."""
    return {
        "description": "Server-Sent Events; the schema is that of their `data`. A stream that is "
        "not available now has one event, `unavailable`, with one of these problems, and ends:\n"
        + problem_list(codes)
    }


def _schema(schema: Any) -> Any:
    """Wrap the struct of an answer, so that flask-smorest does not instantiate it."""
    is_struct = isinstance(schema, type) and issubclass(schema, Struct)
    return Answer(schema) if is_struct else schema


def _telling_time(
    documented: Callable[[View], View], how: Mapping[str, Any]
) -> Callable[[View], View]:
    """Mark the view if a response is declared with the header Server-Time."""

    def declare(view: View) -> View:
        if "Server-Time" in how.get("headers", {}):
            view.tells_time = True  # type: ignore[attr-defined]
        return documented(view)

    return declare


def _only_described(documented: Callable[[View], View]) -> Callable[[View], View]:
    """Keep the declarations of a decorator, but not its wrapper: views return responses."""

    def describe(view: View) -> View:
        said = vars(documented(view))
        vars(view).update({name: said[name] for name in said if name != "__wrapped__"})
        return view

    return describe


def problem_list(codes: list[str]) -> str:
    """Return the list of some problem codes and their titles."""
    return "\n".join(f"- `{code}`: {CATALOGUE[code].title}." for code in sorted(set(codes)))


def problem_responses(codes: list[str]) -> dict[str, Any]:
    """Return the responses for these problem codes, one for each status."""
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in codes:
        if code not in by_status[CATALOGUE[code].status]:
            by_status[CATALOGUE[code].status].append(code)
    return {
        str(status): {
            "description": problem_list(of_status),
            "content": {PROBLEM_TYPE: {"schema": PROBLEM}},
            **({"headers": OF_STATUS[status]} if status in OF_STATUS else {}),
        }
        for status, of_status in sorted(by_status.items())
    }
