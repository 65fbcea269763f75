"""Headers, parameters and problem responses that several operations share.

Operations are declared with these values. `publish_once` then moves them into `components` under
their names and leaves references.
"""

from __future__ import annotations

import re
from itertools import chain, count
from typing import Any

from api.web.schemas.fields import ID

Part = dict[str, Any]
"""An object of the document."""


def header(description: str, *, required: bool = True, **schema: Any) -> Part:
    """Return a header of a response; a header that is not `required` may be missing."""
    return {
        "description": description,
        "required": required,
        "schema": {"type": "string", **schema},
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
        format="date-time",
    ),
    "ETag": header(
        "The tag of this answer: send it as If-None-Match to get the answer only if it changed."
    ),
    "Revalidate": header(
        "`no-cache`: a cache may store the answer and must revalidate it before each use."
    ),
    "Lifetime": header("`max-age`: how many seconds any cache may store the answer."),
    "VaryByToken": header(
        "`Authorization`, as the answer depends on the token, and `Accept-Encoding`."
    ),
    "VaryByLanguage": header(
        "`Accept-Language` and `Accept-Encoding`: the answer depends on them."
    ),
    "Language": header("The language of the rules text: `en` or `fr`."),
    "Location": header("The path of the game.", format="uri-reference"),
    "RetryAfter": header("Seconds to wait before trying again.", **SECONDS),
    "CrowdedRetryAfter": header(
        "Seconds to wait before the next request; only present if too many requests are waiting.",
        required=False,
        **SECONDS,
    ),
    "RequestId": header(
        "The id of the request, as in the log: your X-Request-ID if it has 1 to 128 letters, "
        "digits and `._:=+/@-`. An id that could contain a token is replaced."
    ),
    "RateLimitPolicy": header(
        'The limits that count this request: `q` in `w` seconds, as `"reads";q=3000;w=60`.',
        required=False,
    ),
    "RateLimit": header(
        "What is left of each limit (`r`), and after how many seconds (`t`) it is full again, as "
        '`"reads";r=2999;t=60`.',
        required=False,
    ),
    "PreferenceApplied": header(
        "`wait=N`, as applied; missing if your version of the game was not current.",
        required=False,
    ),
    "Challenge": header("`Bearer`, and the error of the token if one was sent (RFC 6750)."),
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
    "GameId": parameter(
        "game_id",
        "path",
        "The game's id.",
        required=True,
        pattern=ID,
        examples=["9f86d081884c7d659a2feaa0c55ad015"],
    ),
    "IfMatch": parameter(
        "If-Match",
        "header",
        "The ETag of getGame's answer: act only if the game has not changed since.",
    ),
    "IfNoneMatch": parameter(
        "If-None-Match",
        "header",
        "The ETag of the answer that you have: 304 if it is still current.",
    ),
    "AcceptLanguage": parameter(
        "Accept-Language",
        "header",
        "Your preferred languages: the rules text is in English, or in French if you prefer it.",
        examples=["fr"],
    ),
}
GAME_ID = PARAMETERS["GameId"]
IF_MATCH = PARAMETERS["IfMatch"]
IF_NONE_MATCH = PARAMETERS["IfNoneMatch"]
ACCEPT_LANGUAGE = PARAMETERS["AcceptLanguage"]

EVERYWHERE_ALIKE = frozenset(
    {
        "body_too_large",
        "body_too_slow",
        "busy",
        "game_not_found",
        "internal_error",
        "invalid_json",
        "invalid_token",
        "missing_token",
        "newer_format",
        "not_replicated",
        "too_many_requests",
        "precondition_failed",
        "store_full",
        "store_unavailable",
        "unsupported_format",
        "unsupported_media_type",
    }
)
"""The codes whose problems mean the same in every operation."""


def codes_of(response: Part) -> list[str]:
    r"""Return the problem codes in the description of a response.

    >>> codes_of({"description": "- `busy`: Too much.\n- `newer_format`: Too new."})
    ['busy', 'newer_format']
    """
    return re.findall(r"^- `([a-z_]+)`:", response["description"], flags=re.MULTILINE)


def publish_once(document: Part) -> None:
    """Move what several operations share into `components`, and refer to it there."""
    shared = Shared()
    for path in document["paths"].values():
        operations = [each for each in path.values() if isinstance(each, dict)]
        for holder in (path, *operations):
            if "parameters" in holder:
                holder["parameters"] = [shared.parameter(each) for each in holder["parameters"]]
        for operation in operations:
            operation["responses"] = {
                status: shared.response(each) for status, each in operation["responses"].items()
            }
    for kind, named in shared.components.items():
        document["components"][kind] = dict(sorted(named.items()))


class Shared:
    """The parts that were moved into `components`, by kind and name."""

    def __init__(self) -> None:
        self.components: dict[str, dict[str, Part]] = {
            "responses": {},
            "parameters": {},
            "headers": {},
        }

    def parameter(self, part: Part) -> Part:
        """Return a reference to a named parameter, or any other parameter itself."""
        return self._named("parameters", PARAMETERS, part)

    def header(self, part: Part) -> Part:
        """Return a reference to a named header, or any other header itself."""
        return self._named("headers", HEADERS, part)

    def response(self, part: Part) -> Part:
        """Return a reference to a shared problem response, or any other response itself."""
        if "headers" in part:
            headers = {name: self.header(each) for name, each in part["headers"].items()}
            part = {**part, "headers": headers}
        codes = codes_of(part)
        if not codes or not EVERYWHERE_ALIKE.issuperset(codes):
            return part
        name = "Or".join(code.title().replace("_", "") for code in codes)
        if "RateLimit" not in part.get("headers", {}):
            # The same problems without rate-limit headers.
            name = f"Unlimited{name}"
        named = self.components["responses"]
        variants = chain((name,), (f"{name}{number}" for number in count(2)))
        own = next(each for each in variants if named.get(each, part) == part)
        return self._refer("responses", own, part)

    def _named(self, kind: str, known: dict[str, Part], part: Part) -> Part:
        name = next((name for name, each in known.items() if each == part), None)
        return part if name is None else self._refer(kind, name, part)

    def _refer(self, kind: str, name: str, part: Part) -> Part:
        self.components[kind][name] = part
        return {"$ref": f"#/components/{kind}/{name}"}
