"""Problems on the wire: the one shape in which every request fails."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.web.schemas.fields import described, number, text


class FieldErrorSchema(Schema):
    """A member or parameter that is wrong."""

    detail = text("What is wrong with it, for people.")
    pointer = fields.String(
        metadata=described(
            "Of a member of the body: a JSON pointer to it, as `#/move/card`; `#` is the body.",
            pattern="^#",
        )
    )
    parameter = fields.String(
        metadata=described("Of anything else: the name of the query parameter or header.")
    )


class ProblemSchema(Schema):
    """Why a request failed (RFC 9457). Decide by `code`; show `detail` to people."""

    type = text("The address of what there is to say about this code.", format="uri-reference")
    title = text("What is wrong, in a few words; the same for all problems of this code.")
    status = number("The HTTP status of the answer.", 400, 599)
    code = text("What is wrong, for programs. There may be new codes: go by the status then.")
    detail = text("What is wrong this time, for people.")
    rule = fields.String(
        metadata=described(
            "Of an illegal move: a code of the rule against it, as `card_not_in_hand`."
        )
    )
    errors = fields.List(
        fields.Nested(FieldErrorSchema),
        metadata=described("The members or parameters at fault, where any are.", minItems=1),
    )
