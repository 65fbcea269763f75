"""The route of quick matches."""

from __future__ import annotations

from flask import Response

from api.config.rate_policies import SEATS, SEATS_DAILY
from api.games.answers import GameAnswer
from api.games.matching import NewMatch
from api.web.openapi.blueprint import Blueprint
from api.web.openapi.components import IDEMPOTENCY_KEY, SERVER_TIME
from api.web.responses import game, idempotency_key, required_credentials, services
from api.web.schemas.games import MatchBodySchema

blueprint = Blueprint("match", __name__, url_prefix="/v1/match")


@blueprint.post("")
@blueprint.operation(
    "quickMatch",
    "too_many_games",
    "idempotency_key_reused",
    "busy",
    body=True,
    game=True,
    parameters=[IDEMPOTENCY_KEY],
    limits=(SEATS_DAILY, SEATS),
    tags=["games"],
)
@blueprint.arguments(MatchBodySchema)
@blueprint.response(
    200, GameAnswer, description="The game in which you have a seat.", headers=SERVER_TIME
)
def quick_match(body: NewMatch) -> Response:
    """Take a seat in a game with others who want the same

    Seats the caller in the oldest open game that quickMatch created for the same wish, or creates
    one. Players who ask at the same moment are seated together. Asking again while the game is
    open returns that game; to repeat a request after a lost answer, even if the game has started
    meanwhile, send an Idempotency-Key. It is a public game like others, with its first player as
    host. A request that creates a game counts for the limits of new games too.
    """
    return game(services().matching.match(required_credentials(), body, idempotency_key()))
