"""Playing: legal moves, checking and making a move, and what happened."""

from __future__ import annotations

from typing import Any

from flask import Response, g

from api.openapi import CONDITIONAL, GAME_ID, IF_NONE_MATCH, SERVER_TIME, TOKEN_OPTIONAL, Blueprint
from api.resources.common import (
    answer,
    credentials,
    if_match,
    retry_later,
    services,
    unless_known,
    visit,
)
from api.schemas.games import (
    CheckSchema,
    EventPageSchema,
    EventsQuerySchema,
    LegalMovesQuerySchema,
    LegalMovesSchema,
    MoveBodySchema,
    PlayedSchema,
)

blueprint = Blueprint("play", __name__, url_prefix="/v1/games/<game_id>")


@blueprint.get("/legal-moves", parameters=[GAME_ID])
@blueprint.operation(
    "listLegalMoves",
    "game_not_found",
    "not_seated",
    "invalid_request",
    parameters=[IF_NONE_MATCH],
)
@blueprint.arguments(LegalMovesQuerySchema, location="query")
@blueprint.response(200, LegalMovesSchema, headers=CONDITIONAL)
@blueprint.alt_response(304, description="You have it already.", headers=CONDITIONAL)
def list_legal_moves(query: dict[str, Any], game_id: str) -> Response:
    """List my legal moves

    With `previews=true`, with what I can already know of each one's outcome.
    """
    found = visit(game_id, anonymous=False)
    moves, previews = services().moves, query["previews"]
    moves.seat(found)
    what = "previews" if previews else "moves"
    return unless_known(found, what, lambda: moves.listed(found, previews))


@blueprint.post("/moves/check", parameters=[GAME_ID])
@blueprint.operation("checkMove", "game_not_found", "not_seated", body=True)
@blueprint.arguments(MoveBodySchema)
@blueprint.response(200, CheckSchema)
def check_move(body: dict[str, Any], game_id: str) -> Response:
    """Ask whether a move would be legal

    As a new one, now. Changes nothing. What would be a problem for playMove is the answer here;
    for a legal move `preview` tells what you can already know of its outcome.
    """
    return answer(services().moves.check(credentials(), game_id, body["turn"], body["move"]))


@blueprint.post("/moves", parameters=[GAME_ID])
@blueprint.operation(
    "playMove",
    "game_not_found",
    "not_seated",
    "game_not_started",
    "game_over",
    "stale_turn",
    "already_moved",
    "not_your_turn",
    "countdown_running",
    "illegal_move",
    "busy",
    body=True,
    if_match=True,
)
@blueprint.arguments(MoveBodySchema)
@blueprint.response(200, PlayedSchema, headers=SERVER_TIME)
def play_move(body: dict[str, Any], game_id: str) -> Response:
    """Play a move

    Safe to send again: the same seat, turn and move have the same outcome. A move that is refused
    changes nothing.
    """
    now, played = services().moves.play(
        credentials(), game_id, body["turn"], body["move"], if_match
    )
    g.server_time = now
    return answer(played)


@blueprint.get("/events", parameters=[GAME_ID])
@blueprint.operation("listEvents", "game_not_found", "invalid_request", security=TOKEN_OPTIONAL)
@blueprint.arguments(EventsQuerySchema, location="query")
@blueprint.response(200, EventPageSchema, headers=SERVER_TIME)
def list_events(query: dict[str, Any], game_id: str) -> Response:
    """List what happened in a game

    After version `since`, as the caller is told it. With `wait` the answer comes when there is
    something, or nothing more can come; with Retry-After, if too many wait, at once.
    """
    polled = services().polls.events(visit(game_id), query["since"], query["limit"], query["wait"])
    g.server_time = polled.now
    response = answer(polled.page)
    return retry_later(response) if polled.is_over_cap else response
