"""Reads the arguments of a request: query parameters, and JSON of bounded size, depth and patience.

flask-smorest documents the schemas of the arguments. Its parser, that of webargs, is not used: it
takes as long as reading and checking the body of a move.
"""

from __future__ import annotations

import contextlib
import json
import sys
from codecs import BOM_UTF8
from itertools import islice
from typing import Any

import gevent
from marshmallow import Schema, ValidationError

from api.problems.problem import Problem, invalid
from api.web.problem_responses import MAX_ERRORS, field_errors, invalid_request
from api.web.request import Request, current_request
from api.web.schemas.fields import BodySchema

BODY_SECONDS = 10.0
"""How long a client may take to send a body; gunicorn has no limit."""

MAX_MEMBERS = 100
"""In one JSON object. Each unknown member becomes an error with a pointer of its own."""

MAX_OBJECTS = 5000
MAX_COMMAS = 25_000
"""In one body. An analysis of 2000 moves, more than in any game, needs fewer of both."""


def read_arguments(schema: Schema, location: str) -> Any:
    """Return the query parameters or the JSON body of the current request, as the schema reads it.

    `location` is ``query`` or ``json``. Raises `Problem`.
    """
    request = current_request()
    # Of a repeated parameter, the first counts.
    given = request.args.to_dict() if location == "query" else _read_body_of(request, schema)
    try:
        return schema.load(given)
    except ValidationError as error:
        errors = field_errors(location, error.messages)
        raise invalid_request(tuple(islice(errors, MAX_ERRORS))) from None


def _read_body_of(request: Request, schema: Schema) -> Any:
    """Return the body's JSON value, an empty object for an empty body. Raises `Problem`."""
    body = read_body(request, getattr(schema, "max_bytes", BodySchema.max_bytes))
    if not body.strip():
        if any(field.required for field in schema.fields.values()):
            raise Problem("invalid_json", "The body is empty. Send a JSON object.")
        return {}
    if not request.is_json:
        raise Problem("unsupported_media_type")
    if request.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise Problem("unsupported_media_type", "Send the body without a Content-Encoding.")
    return read_json(body)


class _TooSlow(Problem):
    """Created by the timeout only when it fires."""

    def __init__(self) -> None:
        super().__init__("body_too_slow")


def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body without a byte order mark.

    Raises `Problem` if the body is too large, too slow or incomplete.
    """
    environ = request.environ
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > max_bytes:
        raise _too_large(max_bytes)
    if not length and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    body = b""
    # The client may disconnect before the body is complete.
    with contextlib.suppress(OSError), gevent.Timeout(BODY_SECONDS, _TooSlow):
        # One byte more than allowed, to notice that chunks have too many.
        body = environ["wsgi.input"].read(length or max_bytes + 1)
    if len(body) > max_bytes:
        raise _too_large(max_bytes)
    if len(body) < length:
        raise Problem("invalid_json", "The body is shorter than its Content-Length.")
    return body.removeprefix(BOM_UTF8)


def _too_large(max_bytes: int) -> Problem:
    allowed = f"{max_bytes // 1024} KiB"
    return Problem(
        "body_too_large", f"The body has more than {allowed}. Send at most {allowed} here."
    )


def read_json(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises `Problem`: ``invalid_json`` for anything else, ``invalid_request`` for too many values.
    """
    # Counting bytes is a thousand times faster than decoding the values.
    objects, commas = body.count(b"{"), body.count(b",")
    if objects > MAX_OBJECTS or commas > MAX_COMMAS:
        raise invalid(
            f"The body has {objects} objects and {commas} commas, those within texts included; at "
            f"most {MAX_OBJECTS} and {MAX_COMMAS} are allowed. Send shorter lists."
        )
    try:
        return json.loads(
            body.decode(),
            parse_float=_read_number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_read_object,
        )
    except UnicodeDecodeError:
        raise Problem("invalid_json", "The body is not UTF-8.") from None
    except RecursionError:
        raise Problem("invalid_json", "The body is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise Problem("invalid_json", f"The body is not JSON: {error}.") from None
    except ValueError:
        # Of Python's limit, which it tells in words for programmers.
        raise Problem(
            "invalid_json",
            f"A number in the body has more than {sys.get_int_max_str_digits()} digits. Send "
            "integers up to 9007199254740991.",
        ) from None


def _read_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(members) > MAX_MEMBERS:
        raise invalid(
            f"An object in the body has {len(members)} members; at most {MAX_MEMBERS} are "
            "allowed. Remove those that the document does not name."
        )
    return dict(members)


def _read_number(text: str) -> int | float:
    """Return a number with a point or an exponent; without a fraction, as an integer.

    Clients whose only numbers are doubles write 5 as 5.0.

    >>> _read_number("5.0"), _read_number("5e0"), _read_number("5.5")
    (5, 5, 5.5)
    """
    number = float(text)
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> None:
    raise Problem("invalid_json", f"The body is not JSON: it has {name}. Send null or a number.")
