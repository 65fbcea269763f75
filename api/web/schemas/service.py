"""The service itself on the wire."""

from __future__ import annotations

from marshmallow import INCLUDE, Schema, fields

from api.web.schemas.fields import listed, number, text


class HealthSchema(Schema):
    """The service is well."""

    status = text("In what way, in one word.")
    detail = text(
        "What limits the service now, as a sentence for its operator: for example, that the store "
        "refuses changes because its disk is full. Null if nothing does.",
        allow_none=True,
    )


class ApiDocumentSchema(Schema):
    """The document itself, as OpenAPI says."""

    class Meta:
        unknown = INCLUDE


class ProblemKindSchema(Schema):
    """A kind of problem."""

    code = text("The code, as problems have it.")
    status = number("The HTTP status that it comes with.", 400, 599)
    title = text("What is wrong, in a few words; the same for all problems of this code.")
    meaning = text("When this is answered.")
    advice = text("What a client should do.")


class ProblemKindPageSchema(Schema):
    """All kinds of problems."""

    items = listed(fields.Nested(ProblemKindSchema), "The kinds, by their status.")


class HomeSchema(Schema):
    """The service, and where its parts are."""

    name = text("What the service is called.")
    version = text("The release that runs here.")
    docs = text("The path of the interactive reference.")
    openapi_yaml = text("The path of this document as YAML.")
    openapi_json = text("The path of this document as JSON.")
    rulesets = text("The path of the games that there are.")
    problems = text("The path of the reasons why requests fail.")
