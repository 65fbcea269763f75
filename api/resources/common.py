"""What views share: who is calling, the services, answers that can be asked for conditionally."""

from __future__ import annotations

from typing import Any, cast

from flask import Response, current_app, g, request

from api.accounts import Credentials, read_credentials
from api.answers import answer, game_answer
from api.game.desk import Visit
from api.services import Services
from api.stored import timestamp

GAME_ID = {
    "name": "game_id",
    "in": "path",
    "required": True,
    "description": "The game's id.",
    "schema": {"type": "string"},
}


def services() -> Services:
    """The services of this application."""
    return cast("Services", current_app.extensions["ludotheque"])


def credentials() -> Credentials | None:
    """What the caller shows, None if nothing. Raises `Problem` (``invalid_token``)."""
    return read_credentials(request.headers.get("Authorization"))


def visit(game_id: str) -> Visit:
    """The caller before a game. Raises `Problem` (``invalid_token``, ``game_not_found``)."""
    found = services().desk.visit(credentials(), game_id)
    g.server_time = found.now
    return found


def game(found: Visit, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A game as the caller sees it."""
    g.server_time = found.now
    return answer(game_answer(found.found, found.reader), status, headers)


def etag(found: Visit) -> str:
    """What an answer about a game depends on: its content, and for whom it is."""
    audience = "spectator" if found.seat is None else f"seat{found.seat}"
    host = "-host" if found.reader == found.game.host.id else ""
    return f'"{found.game.version}-{found.game.commit}-{audience}{host}"'


def unless_known(found: Visit, body: Any) -> Response:
    """The answer that `body()` makes, or 304 if the caller has it already."""
    tag = etag(found)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    if request.headers.get("If-None-Match") is not None and request.if_none_match.contains_weak(
        tag.strip('"')
    ):
        response = Response(status=304, headers=headers)
        del response.headers["Content-Type"]
        return response
    return answer(body(), headers=headers)


def set_headers(response: Response) -> Response:
    """What every answer says: the store's time if it was read, and not to be kept if unsaid."""
    response.headers.setdefault("Cache-Control", "no-store")
    if (now := g.get("server_time")) is not None:
        response.headers["Server-Time"] = timestamp(now)
    return response
