"""The route of analysis: replaying a deal and moves without a table."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.config.rate_policies import ANALYSES
from api.games.analysis import analyse as replay
from api.games.answers import AnalysisAnswer
from api.web.openapi.blueprint import NO_TOKEN, Blueprint
from api.web.responses import answer
from api.web.schemas.analysis import AnalysisBodySchema

blueprint = Blueprint("analysis", __name__, url_prefix="/v1/analysis")


@blueprint.post("")
@blueprint.operation(
    "analyse",
    "invalid_deal",
    "illegal_move",
    security=NO_TOKEN,
    store=False,
    body=True,
    limits=(ANALYSES,),
)
@blueprint.arguments(AnalysisBodySchema)
@blueprint.response(200, AnalysisAnswer)
def analyse(body: dict[str, Any]) -> Response:
    """Replay a deal and moves

    Returns the seats to move, every seat's legal moves and view, the events and the result. With
    `trace`, one request is enough to show a whole game, move by move; see `steps`. Accepts a
    record unchanged; unknown members are ignored. The body has at most 256 KiB.
    """
    return answer(replay(body))
