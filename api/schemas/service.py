"""The service itself on the wire."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.schemas.fields import described, listed


class HealthSchema(Schema):
    """The service is well."""

    status = fields.String(required=True)


class ProblemKindSchema(Schema):
    """A kind of problem."""

    code = fields.String(required=True)
    status = fields.Integer(required=True)
    title = fields.String(required=True)
    meaning = fields.String(required=True, metadata=described("When this is answered."))
    advice = fields.String(required=True, metadata=described("What a client should do."))


class ProblemKindPageSchema(Schema):
    """All kinds of problems."""

    items = listed(fields.Nested(ProblemKindSchema))


class HomeSchema(Schema):
    """The service, and where its parts are."""

    name = fields.String(required=True)
    version = fields.String(required=True)
    docs = fields.String(required=True, metadata=described("The interactive reference."))
    openapi_yaml = fields.String(required=True, metadata=described("This document as YAML."))
    openapi_json = fields.String(required=True, metadata=described("This document as JSON."))
    rulesets = fields.String(required=True, metadata=described("The games that there are."))
    problems = fields.String(required=True, metadata=described("Why requests fail."))
