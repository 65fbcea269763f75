"""Routes of players."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.config.rate_policies import PLAYERS
from api.games.answers import PlayerWithToken
from api.web.openapi.blueprint import NO_TOKEN, Blueprint
from api.web.responses import answer, services
from api.web.schemas.players import NewPlayerBodySchema

blueprint = Blueprint("players", __name__, url_prefix="/v1/players")


@blueprint.post("")
@blueprint.operation("createPlayer", security=NO_TOKEN, body=True, limits=(PLAYERS,))
@blueprint.arguments(NewPlayerBodySchema)
@blueprint.response(201, PlayerWithToken)
def create_player(body: dict[str, Any]) -> Response:
    """Create a player

    The token is returned only once: store it. A player who was never in a game is deleted some time
    after its last request: `expires_at` tells when.
    """
    player = services().players.create(body["name"], body["kind"])
    return answer(player, 201)
