"""The answers about the service itself: home, health and the catalogue of problems."""

from __future__ import annotations

from typing import Annotated

from marshmallow import INCLUDE, Schema
from msgspec import Struct

from engine.published import described


class HealthAnswer(Struct, frozen=True):
    """The state of the service."""

    status: Annotated[str, described("`alive` or `ready`.")]
    detail: Annotated[
        str | None,
        described(
            "What restricts the service now, as a sentence for the operator: for example, the "
            "store refuses changes because its disk is full. Null if nothing does."
        ),
    ]


class ApiDocumentSchema(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE


class ProblemKindAnswer(Struct, frozen=True):
    """An entry of the catalogue of problems."""

    code: Annotated[str, described("The problem code.")]
    status: Annotated[
        int, described("The HTTP status of these problems.", minimum=400, maximum=599)
    ]
    title: Annotated[
        str,
        described("What is wrong, in a few words; the same for all problems of this code."),
    ]
    meaning: Annotated[str, described("When the service returns this problem.")]
    advice: Annotated[str, described("What the client should do next.")]


class ProblemKindPage(Struct, frozen=True):
    """The catalogue of problems."""

    items: Annotated[tuple[ProblemKindAnswer, ...], described("The problem codes, by status.")]


class HomeAnswer(Struct, frozen=True):
    """The service and the paths of its parts."""

    name: Annotated[str, described("The name of the service.")]
    version: Annotated[str, described("The version of the service.")]
    docs: Annotated[str, described("The path of the interactive reference.")]
    openapi_yaml: Annotated[str, described("The path of this document as YAML.")]
    openapi_json: Annotated[str, described("The path of this document as JSON.")]
    rulesets: Annotated[str, described("The path of the rulesets.")]
    problems: Annotated[str, described("The path of the catalogue of problems.")]
