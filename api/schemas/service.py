"""The service itself on the wire."""

from __future__ import annotations

from marshmallow import INCLUDE, Schema

from api.schemas.fields import number, text


class HealthSchema(Schema):
    """The service is well."""

    status = text("In what way, in one word.")


class ApiDocumentSchema(Schema):
    """The document itself, as OpenAPI says."""

    class Meta:
        unknown = INCLUDE


class ProblemKindSchema(Schema):
    """A kind of problem."""

    code = text("The code, as problems have it.")
    status = number("The HTTP status that it comes with.", 400, 599)
    title = text("What is wrong, in a few words; the same for all problems of this code.")
    advice = text("What a client should do.")
