"""Refuses query parameters that an operation does not have.

A misspelt parameter would otherwise be ignored: a long poll would not wait, a list would not be
filtered.
"""

from __future__ import annotations

from itertools import islice

from flask import current_app

from api.problems.nearest import unknown_names
from api.problems.problem import FieldError
from api.problems.quoting import shortened
from api.web.problem_responses import MAX_ERRORS, invalid_request
from api.web.request import current_request


def refuse_unknown_parameters() -> None:
    """Raise `Problem` for parameters that the operation does not declare. Runs before its view.

    Pages, which are no operations, ignore their query.
    """
    request = current_request()
    if not request.query_string or request.endpoint is None or request.method == "OPTIONS":
        return
    known = getattr(current_app.view_functions[request.endpoint], "parameters", None)
    if known is None:
        return
    unknown = list(islice((name for name in request.args if name not in known), MAX_ERRORS))
    if unknown:
        errors = [
            FieldError(f"`{shortened(name)}` {text}", parameter=shortened(name))
            for name, text in unknown_names("query parameter", unknown, known).items()
        ]
        raise invalid_request(errors)
