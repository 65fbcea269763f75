"""What views share: who is calling, the services, answers that can be asked for conditionally."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import msgspec
from flask import Response, current_app, g, request
from msgspec import Raw, Struct

from api.accounts import Credentials, read_credentials
from api.answers import game_answer
from api.game.desk import Visit
from api.headers import DATA_POLICY, POLICY, SAFE_HEADERS
from api.problems import RETRY_AFTER_SECONDS
from api.services import Services
from api.stored import raw, timestamp
from api.waiting import MAX_WAIT_SECONDS

_encode = msgspec.json.Encoder().encode

GAME = "game"
"""What getGame answers, in a tag."""


def services() -> Services:
    """The services of this application."""
    return cast("Services", current_app.extensions["ludotheque"])


def credentials() -> Credentials | None:
    """What the caller shows, None if nothing. Raises `Problem` (``invalid_token``)."""
    return read_credentials(request.headers.get("Authorization"))


def if_match(tag: str) -> bool:
    """Whether the caller's If-Match, if it sent one, is the tag of getGame's answer."""
    return not request.if_match or request.if_match.contains(f"{GAME}-{tag}")


def visit(game_id: str, *, anonymous: bool = True) -> Visit:
    """The caller, perhaps without a token, before a game.

    Raises `Problem` (``missing_token``, ``invalid_token``, ``game_not_found``).
    """
    found = services().desk.visit(credentials(), game_id, anonymous=anonymous)
    g.server_time = found.now
    return found


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON body."""
    response = Response(_encode(body), status=status, content_type="application/json")
    if headers:
        response.headers.update(headers)
    return response


def game(found: Visit, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A game as the caller sees it."""
    g.server_time = found.now
    return answer(game_answer(found.found, found.reader), status, headers)


def unless_known(found: Visit, what: str, body: Callable[[], Struct | Raw]) -> Response:
    """The answer that `body` makes, or 304 if the caller has it already.

    `what` tells apart the answers that there are about one game.
    """
    tag = f"{what}-{found.tag}"
    headers = {"ETag": f'"{tag}"', "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    if is_known(found, what):
        response = Response(status=304, headers=headers)
        del response.headers["Content-Type"]
        return response
    return answer(body(), headers=headers)


def unless_had(response: Response) -> Response:
    """An answer with a tag, or 304 if the caller has it already.

    Response.make_conditional heeds If-Match too, with a 412 that is no problem of ours.
    """
    tag, _ = response.get_etag()
    if tag is None or not request.if_none_match.contains_weak(tag):
        return response
    kept = ("ETag", "Cache-Control", "Vary")
    headers = {name: response.headers[name] for name in kept if name in response.headers}
    had = Response(status=304, headers=headers)
    del had.headers["Content-Type"]
    return had


def is_known(found: Visit, what: str) -> bool:
    """Whether the caller has this answer already."""
    return request.if_none_match.contains_weak(f"{what}-{found.tag}")


def shown(found: Visit) -> Raw:
    """A game as the caller sees it, rendered."""
    return raw(game_answer(found.found, found.reader))


def preferred_wait() -> int | None:
    """How many seconds the caller would wait for a change (RFC 7240), None if it would not."""
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,9})", request.headers.get("Prefer", ""))
    return None if found is None else min(int(found[1]), MAX_WAIT_SECONDS)


def retry_later(response: Response) -> Response:
    """An answer that would have been waited for, if not so many did: ask again later."""
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def set_headers(response: Response) -> Response:
    """What every answer says: the store's time if it was read, and not to be kept if unsaid.

    To browsers it says to take it for nothing else than it is.
    """
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault(POLICY, DATA_POLICY)
    for name, value in SAFE_HEADERS:
        response.headers.add(name, value)
    if (now := g.get("server_time")) is not None:
        response.headers["Server-Time"] = timestamp(now)
    return response
