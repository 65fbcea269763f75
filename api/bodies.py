"""Reading request bodies: JSON only, of bounded size and depth, with a length given beforehand."""

from __future__ import annotations

import json
from typing import Any

from flask import Request, request
from marshmallow import Schema
from webargs.flaskparser import FlaskParser

from api.problems import Problem

MAX_BODY = 64 * 1024
MAX_ANALYSIS_BODY = 256 * 1024
"""Bytes. A record of a whole game is to be analysed as it is."""


class Parser(FlaskParser):
    """Reads bodies and queries for the schemas."""

    def load_json(self, req: Request, schema: Schema) -> Any:
        """The body's JSON value. Raises `Problem` for what is no JSON."""
        body = req.get_data(cache=False)
        if not body and not any(field.required for field in schema.fields.values()):
            return {}
        if not req.is_json:
            raise Problem("unsupported_media_type")
        return read_json(body)

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        """The query's parameters; of one given twice, the first."""
        return {name: req.args[name] for name in req.args if name in schema.fields}


def read_json(body: bytes) -> Any:
    """The JSON value of a body. Raises `Problem` (``invalid_json``) for anything else."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Problem("invalid_json", "The body is not UTF-8.") from None
    except RecursionError:
        raise Problem("invalid_json", "The body is nested too deeply.") from None
    except ValueError as error:
        raise Problem("invalid_json", f"The body is not JSON: {error}.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def bound_body() -> None:
    """Refuse a body that is too large, or of which nobody can tell, before reading it."""
    if request.content_length is None and "Transfer-Encoding" in request.headers:
        raise Problem("length_required")
    limit = MAX_ANALYSIS_BODY if request.endpoint == "analysis.analyse" else MAX_BODY
    if (request.content_length or 0) > limit:
        raise Problem("body_too_large", f"A body may have {limit // 1024} KiB here.")
