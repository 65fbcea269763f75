"""What concerns the caller: who it is, its token, its games, and those that wait for it."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.config.rate_policies import POLLS, TOKENS
from api.games.answers import GamePage, TokenAnswer, TurnsAnswer
from api.model.game import Player
from api.observability.context import note_time
from api.web.openapi.blueprint import Blueprint
from api.web.openapi.components import MAY_BE_CROWDED
from api.web.responses import answer, credentials, retry_later, services
from api.web.schemas.games import PageQuerySchema, TurnsQuerySchema

blueprint = Blueprint("me", __name__, url_prefix="/v1/me")


@blueprint.get("")
@blueprint.operation("getMe")
@blueprint.response(200, Player)
def get_me() -> Response:
    """Who am I

    The player whose token is sent, as others see it.
    """
    return answer(services().players.caller(credentials()))


@blueprint.post("/token")
@blueprint.operation("rotateToken", limits=(TOKENS,))
@blueprint.response(200, TokenAnswer)
def rotate_token() -> Response:
    """Get a new token

    The old token ends when the new one is first used, at the latest after ten minutes. If the
    answer is lost, ask again with the old one.
    """
    token = services().players.rotate_token(credentials())
    return answer(token)


@blueprint.get("/games")
@blueprint.operation("listMyGames", "invalid_request")
@blueprint.arguments(PageQuerySchema, location="query")
@blueprint.response(200, GamePage)
def list_my_games(query: dict[str, Any]) -> Response:
    """List my games

    Those that the caller hosts, sits in, or has a seat reserved in, newest first.
    """
    return answer(
        services().queries.own_games(
            credentials(), query.get("status"), query.get("cursor"), query["limit"]
        )
    )


@blueprint.get("/turns")
@blueprint.operation("listTurns", "invalid_request", limits=(POLLS,))
@blueprint.arguments(TurnsQuerySchema, location="query")
@blueprint.response(200, TurnsAnswer, headers=MAY_BE_CROWDED)
def list_turns(query: dict[str, Any]) -> Response:
    """List the games that wait for me

    Each as getGame shows it, with the legal moves: pick one and play it. At most 100, longest
    waiting first. With `wait` the answer comes when there is one that `since` does not know of,
    or a game has ended; with Retry-After, if too many wait, at once.
    """
    polled = services().long_polls.turns(credentials(), query.get("since"), query["wait"])
    note_time(polled.now)
    response = answer(polled.answer)
    return retry_later(response) if polled.is_over_cap else response
