"""The answers about the service itself: home, health and the catalogue of problems."""

from __future__ import annotations

from typing import Annotated

from marshmallow import INCLUDE, Schema
from msgspec import Struct

from engine.published import described


class HealthAnswer(Struct, frozen=True):
    """The service is well."""

    status: Annotated[str, described("In what way, in one word.")]
    detail: Annotated[
        str | None,
        described(
            "What limits the service now, as a sentence for its operator: for example, that "
            "the store refuses changes because its disk is full. Null if nothing does."
        ),
    ]


class ApiDocumentSchema(Schema):
    """The document itself, as OpenAPI says."""

    class Meta:
        unknown = INCLUDE


class ProblemKindAnswer(Struct, frozen=True):
    """A kind of problem."""

    code: Annotated[str, described("The code, as problems have it.")]
    status: Annotated[
        int, described("The HTTP status that it comes with.", minimum=400, maximum=599)
    ]
    title: Annotated[
        str,
        described("What is wrong, in a few words; the same for all problems of this code."),
    ]
    meaning: Annotated[str, described("When this is answered.")]
    advice: Annotated[str, described("What a client should do.")]


class ProblemKindPage(Struct, frozen=True):
    """All kinds of problems."""

    items: Annotated[tuple[ProblemKindAnswer, ...], described("The kinds, by their status.")]


class HomeAnswer(Struct, frozen=True):
    """The service, and where its parts are."""

    name: Annotated[str, described("What the service is called.")]
    version: Annotated[str, described("The release that runs here.")]
    docs: Annotated[str, described("The path of the interactive reference.")]
    openapi_yaml: Annotated[str, described("The path of this document as YAML.")]
    openapi_json: Annotated[str, described("The path of this document as JSON.")]
    rulesets: Annotated[str, described("The path of the games that there are.")]
    problems: Annotated[str, described("The path of the reasons why requests fail.")]
