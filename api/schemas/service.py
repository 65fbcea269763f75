"""The service itself on the wire."""

from __future__ import annotations

from marshmallow import Schema, fields


class HealthSchema(Schema):
    """The service is well."""

    status = fields.String(required=True)


class ProblemKindSchema(Schema):
    """A kind of problem."""

    code = fields.String(required=True)
    status = fields.Integer(required=True)
    title = fields.String(required=True)
    advice = fields.String(required=True, metadata={"description": "What a client should do."})
