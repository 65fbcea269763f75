"""Headers, parameters and problem responses that several operations share.

Operations are declared with these values. `publish_once` then moves them into `components` under
their names and leaves references.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

REQUEST = "request"

Part = dict[str, Any]
"""An object of the document."""


def header(description: str, example: Any, *, required: bool = True, **schema: Any) -> Part:
    """Return a header of a response; a header that is not `required` may be missing."""
    return {
        "description": description,
        "required": required,
        "schema": {"type": "string", **schema, "examples": [example]},
    }


def parameter(
    name: str, location: str, description: str, *, required: bool = False, **schema: Any
) -> Part:
    """Return a parameter that is not declared in a query's schema."""
    return {
        "name": name,
        "in": location,
        "required": required,
        "description": description,
        "schema": {"type": "string", **schema},
    }


SECONDS: dict[str, Any] = {"type": "integer", "minimum": 1}

HEADERS = {
    "ServerTime": header(
        "The time of the store when this was read. Deadlines follow this clock, not yours.",
        example="2026-11-28T09:30:00.123Z",
        format="date-time",
    ),
    "ETag": header(
        "The tag of this answer: send it as If-None-Match to get the answer only if it changed.",
        'W/"game-31-8d4f-seat0"',
    ),
    "Revalidate": header(
        "`no-cache`: a cache may store the answer and must revalidate it before each use.",
        "private, no-cache",
    ),
    "Lifetime": header(
        "`max-age`: how many seconds any cache may store the answer.", "public, max-age=300"
    ),
    "Forever": header(
        "`immutable`: the answer never changes, so any cache may keep it.",
        "public, max-age=31536000, immutable",
    ),
    "VaryByEncoding": header("`Accept-Encoding`: the answer may be compressed.", "Accept-Encoding"),
    "VaryByToken": header(
        "`Authorization`, as the answer depends on the token, and `Accept-Encoding`.",
        "Authorization, Accept-Encoding",
    ),
    "VaryByLanguage": header(
        "`Accept-Language` and `Accept-Encoding`: the answer depends on them.",
        "Accept-Language, Accept-Encoding",
    ),
    "Language": header("The language of the texts: `en` or `fr`.", "fr"),
    "Location": header(
        "The path of the game.",
        "/v1/games/9f86d081884c7d659a2feaa0c55ad015",
        format="uri-reference",
    ),
    "RetryAfter": header("Seconds to wait before trying again.", 1, **SECONDS),
    "CrowdedRetryAfter": header(
        "Seconds to wait before the next request; only present if too many requests are waiting.",
        1,
        required=False,
        **SECONDS,
    ),
    "StreamTime": header(
        "The time of the store when the stream opened; missing if the store was not read.",
        example="2026-11-28T09:30:00.123Z",
        required=False,
        format="date-time",
    ),
    "StreamRetryAfter": header(
        "Seconds to wait before opening the stream again; only present if it is unavailable.",
        1,
        required=False,
        **SECONDS,
    ),
    "RequestId": header(
        "The id of the request, as in the log: your X-Request-ID if it has 1 to 128 letters, "
        "digits and `._:=+/@-`. An id that could contain a token is replaced.",
        "60303ae22b998861bce3b28f33eec1be",
    ),
    "RateLimitPolicy": header(
        'The limits that count this request: `q` in `w` seconds, as `"reads";q=3000;w=60`.',
        '"reads";q=3000;w=60',
        required=False,
    ),
    "RateLimit": header(
        "What is left of each limit (`r`), and after how many seconds (`t`) it is full again, as "
        '`"reads";r=2999;t=60`.',
        '"reads";r=2999;t=60',
        required=False,
    ),
    "PreferenceApplied": header(
        "`wait=N`, as applied; missing if your version of the game was not current.",
        "wait=20",
        required=False,
    ),
    "MinimalApplied": header(
        "`return=minimal` if the games and items were left out, as you preferred.",
        "return=minimal",
        required=False,
    ),
    "MovesRetryAfter": header(
        "Seconds to wait before sending those moves again that have the status 429 or 503; only "
        "present if there are any.",
        1,
        required=False,
        **SECONDS,
    ),
    "Challenge": header(
        "`Bearer`, and the error of the token if one was sent (RFC 6750).",
        'Bearer realm="ludotheque"',
    ),
}

SERVER_TIME = {"Server-Time": HEADERS["ServerTime"]}
CONDITIONAL = {
    **SERVER_TIME,
    "ETag": HEADERS["ETag"],
    "Cache-Control": HEADERS["Revalidate"],
    "Vary": HEADERS["VaryByToken"],
}
LOCATION = {**SERVER_TIME, "Location": HEADERS["Location"]}
IN_A_LANGUAGE = {
    "Content-Language": HEADERS["Language"],
    "Cache-Control": HEADERS["Lifetime"],
    "Vary": HEADERS["VaryByLanguage"],
}
MAY_BE_CROWDED = {**SERVER_TIME, "Retry-After": HEADERS["CrowdedRetryAfter"]}
STREAM = {"Server-Time": HEADERS["StreamTime"], "Retry-After": HEADERS["StreamRetryAfter"]}
STANDING = {
    "RateLimit-Policy": HEADERS["RateLimitPolicy"],
    "RateLimit": HEADERS["RateLimit"],
}

OF_STATUS = {
    401: {"WWW-Authenticate": HEADERS["Challenge"]},
    429: {"Retry-After": HEADERS["RetryAfter"]},
    503: {"Retry-After": HEADERS["RetryAfter"]},
}
"""The headers of problems, by status."""

PARAMETERS = {
    # Not GameId, which is the schema: some generators put both into one namespace.
    "GameIdParameter": {
        "name": "game_id",
        "in": "path",
        "required": True,
        "description": "The game's id.",
        "schema": {"$ref": "#/components/schemas/GameId"},
    },
    "IfMatch": parameter(
        "If-Match",
        "header",
        "The ETag of getGame's answer: act only if the game has not changed since.",
        examples=['W/"game-31-8d4f-seat0"'],
    ),
    "IfNoneMatch": parameter(
        "If-None-Match",
        "header",
        "The ETag of the answer that you have: 304 if it is still current.",
        examples=['W/"game-31-8d4f-seat0"'],
    ),
    "IdempotencyKey": parameter(
        "Idempotency-Key",
        "header",
        "Any text of 1 to 100 printable ASCII characters. The same key with the same body returns "
        "the same game for 24 hours; with a different body it is a problem.",
        minLength=1,
        maxLength=100,
        pattern="^[ -~]+$",
        examples=["c4f5c4a8-5b5e-4a3c-9d7c-2a9d6b1a0c11"],
    ),
    "AcceptLanguage": parameter(
        "Accept-Language",
        "header",
        "Your preferred languages: texts are in English, or in French if you prefer it.",
        examples=["fr"],
    ),
}
GAME_ID = PARAMETERS["GameIdParameter"]
IF_MATCH = PARAMETERS["IfMatch"]
IF_NONE_MATCH = PARAMETERS["IfNoneMatch"]
IDEMPOTENCY_KEY = PARAMETERS["IdempotencyKey"]
ACCEPT_LANGUAGE = PARAMETERS["AcceptLanguage"]

MEANING = {
    400: "bad request",
    401: "unauthorized",
    403: "forbidden",
    404: "not found",
    409: "conflict",
    422: "invalid",
    503: "unavailable",
}
"""What a problem response with several codes is called, by status."""

QUALIFIERS = {"newer_format": "game", "store_full": "change"}
"""What an operation does that has this problem: it reads a game, it changes the store."""


def codes_of(response: Part) -> list[str]:
    r"""Return the problem codes in the description of a response.

    >>> codes_of({"description": "- `busy`: Too much.\n- `newer_format`: Too new."})
    ['busy', 'newer_format']
    """
    return re.findall(r"^- `([a-z_]+)`:", response["description"], flags=re.MULTILINE)


def publish_once(document: Part) -> None:
    """Move the parts that several operations share into `components`, and refer to them there."""
    operations = [
        operation
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict)
    ]
    shared = Shared()
    # The service last: its problems are the least typical, and the first one gets the shorter name.
    for operation in sorted(operations, key=lambda each: each["tags"] == ["service"]):
        if "parameters" in operation:
            operation["parameters"] = [shared.parameter(each) for each in operation["parameters"]]
        parts = {REQUEST: operation.get("requestBody", {}), **operation["responses"]}
        for name, part in parts.items():
            shared.add_examples(operation["operationId"], name, part.get("content", {}))
            if "headers" in part:
                part["headers"] = {
                    name: shared.header(each) for name, each in part["headers"].items()
                }
    shared.add_responses(operations)
    for kind, named in shared.components.items():
        document["components"][kind] = dict(sorted(named.items()))


def response_name(status: str, response: Part) -> str:
    r"""Return the name of a problem response: of its only problem, else of its status.

    >>> limited = {"headers": {"RateLimit": {}}}
    >>> response_name("403", {"description": "- `not_host`: Only the host.", **limited})
    'NotHost'
    >>> response_name("401", {"description": "- `invalid_token`:\n- `missing_token`:", **limited})
    'Unauthorized'
    >>> response_name("503", {"description": "- `newer_format`:\n- `store_full`:", **limited})
    'GameChangeUnavailable'
    >>> response_name("500", {"description": "- `internal_error`: The service failed."})
    'ServiceInternalError'
    """
    codes = codes_of(response)
    if len(codes) == 1:
        words = codes[0].split("_")
    else:
        qualifiers = [word for code, word in QUALIFIERS.items() if code in codes]
        words = [*qualifiers, *MEANING[int(status)].split()]
    # Only operations of the service itself are without rate limits.
    is_limited = "RateLimit" in response.get("headers", {})
    return "".join(word.title() for word in (words if is_limited else ("service", *words)))


class Shared:
    """The parts that were moved into `components`, by kind and name."""

    def __init__(self) -> None:
        self.components: dict[str, dict[str, Part]] = {
            "responses": {},
            "parameters": {},
            "headers": {},
            "examples": {},
        }

    def parameter(self, part: Part) -> Part:
        """Return a reference to a named parameter, or any other parameter itself."""
        return self._named("parameters", PARAMETERS, part)

    def header(self, part: Part) -> Part:
        """Return a reference to a named header, or any other header itself."""
        return self._named("headers", HEADERS, part)

    def add_examples(self, operation_id: str, part: str, media_types: Part) -> None:
        """Move the examples of a request or a response.

        They are named by their operation. The first problem of a code is named by its code alone,
        and operations with the same problem share it.
        """
        of_operation = f"{operation_id}-request" if part == REQUEST else operation_id
        is_problem = part >= "400" and part != REQUEST
        for media in media_types.values():
            for name, example in media.get("examples", {}).items():
                own = f"{of_operation}-{name}"
                if is_problem:
                    own = self._name_of_problem(name, example) or own
                media["examples"][name] = self._refer("examples", own, example)

    def _name_of_problem(self, code: str, example: Part) -> str | None:
        """Return the name of a problem that is published already, or its code if that is free."""
        published = self.components["examples"]
        if code not in published:
            return code
        return next((name for name, each in published.items() if each == example), None)

    def add_responses(self, operations: Sequence[Part]) -> None:
        """Move the problem responses that several operations have in common.

        Of two with the same name but other examples, the second stays in its operations.
        """
        times = Counter(
            json.dumps(response)
            for operation in operations
            for response in operation["responses"].values()
        )
        for operation in operations:
            for status, response in operation["responses"].items():
                if status >= "400" and times[json.dumps(response)] > 1:
                    name = response_name(status, response)
                    if self.components["responses"].get(name, response) != response:
                        continue
                    operation["responses"][status] = self._refer("responses", name, response)

    def _named(self, kind: str, known: dict[str, Part], part: Part) -> Part:
        name = next((name for name, each in known.items() if each == part), None)
        return part if name is None else self._refer(kind, name, part)

    def _refer(self, kind: str, name: str, part: Part) -> Part:
        """Keep a part under a name, and return a reference to it."""
        if self.components[kind].setdefault(name, part) != part:
            raise ValueError(f"Two {kind} would be published as {name}.")
        return {"$ref": f"#/components/{kind}/{name}"}
