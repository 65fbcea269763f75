"""Routes of the caller: its player, its token, its games, and the games that wait for it."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.config.rate_policies import POLLS, TOKENS
from api.games.answers import GamePage, NewTokenAnswer, OwnPlayer, TurnsAnswer
from api.web.openapi.blueprint import Blueprint
from api.web.openapi.components import MAY_BE_CROWDED
from api.web.responses import answer, required_credentials, retry_later, services
from api.web.schemas.games import OwnGamesQuerySchema, TurnsQuerySchema

blueprint = Blueprint("me", __name__, url_prefix="/v1/me")


@blueprint.get("")
@blueprint.operation("getMe")
@blueprint.response(200, OwnPlayer)
def get_me() -> Response:
    """Get my player

    The player that the token belongs to, as other players see it, and until when it is kept.
    """
    return answer(services().players.own(required_credentials()))


@blueprint.post("/token")
@blueprint.operation("rotateToken", limits=(TOKENS,))
@blueprint.response(200, NewTokenAnswer)
def rotate_token() -> Response:
    """Get a new token

    The old token expires when the new one is first used, at the latest after ten minutes. If the
    response is lost, repeat the request with the old token.
    """
    token = services().players.rotate_token(required_credentials())
    return answer(token)


@blueprint.get("/games")
@blueprint.operation("listMyGames")
@blueprint.arguments(OwnGamesQuerySchema, location="query")
@blueprint.response(200, GamePage)
def list_my_games(query: dict[str, Any]) -> Response:
    """List my games

    The games that the caller hosts or has a seat in, newest first. With `status=invited`, the open
    games in which a seat is only reserved for the caller: the newest 100. A deadline that has
    passed takes effect before a game is listed, as in listGames.
    """
    return answer(
        services().queries.own_games(
            required_credentials(), query.get("status"), query.get("cursor"), query["limit"]
        )
    )


@blueprint.get("/turns")
@blueprint.operation("listTurns", limits=(POLLS,))
@blueprint.arguments(TurnsQuerySchema, location="query")
@blueprint.response(200, TurnsAnswer, headers=MAY_BE_CROWDED)
def list_turns(query: dict[str, Any]) -> Response:
    """List the games that wait for me

    Each game as getGame returns it, with its legal moves: choose one and play it. At most 100
    games, longest waiting first. With `since`, an answer that has nothing new is small: `unchanged`
    is true and `items` is empty. So move in every game that an answer lists. If you could not,
    remember the game, or ask without `since`, which lists again all that wait. With `wait`, the
    answer waits for a game that `since` does not include, or for the end of a game. If too many
    requests wait, the answer comes at once, with Retry-After.
    """
    polled = services().long_polls.turns(
        required_credentials(), query.get("since"), query["wait"], has_view=query["view"]
    )
    response = answer(polled.answer)
    return retry_later(response) if polled.is_over_quota else response
