"""Routes of play: legal moves, checking and playing a move, events and event streams."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from api.config.rate_policies import MOVES, POLLS, TICKETS, TICKETS_HERE
from api.games.answers import (
    STREAM_DATA,
    EventPage,
    LegalMovesAnswer,
    MoveCheckAnswer,
    PlayedMoveAnswer,
    TicketAnswer,
)
from api.games.cursors import BEGINNING, read_events_cursor
from api.games.moves import require_seat
from api.live.long_polls import PolledEvents
from api.observability import context
from api.web.openapi.blueprint import TOKEN_OPTIONAL, Blueprint
from api.web.openapi.components import (
    CONDITIONAL,
    GAME_ID,
    IF_NONE_MATCH,
    MAY_BE_CROWDED,
    SERVER_TIME,
    STREAM,
    parameter,
)
from api.web.openapi.structs import Answer
from api.web.problem_responses import STREAM_TYPE
from api.web.responses import (
    EmptyResponse,
    answer,
    credentials,
    if_match,
    required_credentials,
    retry_later,
    services,
    unless_known,
)
from api.web.schemas.games import (
    EventsQuerySchema,
    LegalMovesQuerySchema,
    MoveBodySchema,
    StreamQuerySchema,
)
from api.web.waiting_responses import StreamResponse, poll_response

blueprint = Blueprint("play", __name__, url_prefix="/v1/games/<game_id>")

LAST_EVENT_ID = parameter(
    "Last-Event-ID",
    "header",
    "The last event id that you received, or a game's `cursor`: the stream continues after it, "
    "without a snapshot.",
    examples=["31-9f3ac0d2e1b45877"],
)


@blueprint.get("/legal-moves", parameters=[GAME_ID])
@blueprint.operation(
    "listLegalMoves",
    "game_not_found",
    "not_seated",
    parameters=[IF_NONE_MATCH],
)
@blueprint.arguments(LegalMovesQuerySchema, location="query")
@blueprint.response(200, LegalMovesAnswer, headers=CONDITIONAL)
@blueprint.alt_response(304, description="You have it already.", headers=CONDITIONAL)
def list_legal_moves(query: dict[str, Any], game_id: str) -> Response:
    """List my legal moves

    With `previews=true`, each with what its outcome would be, as far as I can know it.
    """
    found = services().transactions.load(required_credentials(), game_id)
    seat, previews = require_seat(found), query["previews"]
    kind = "previews" if previews else "moves"
    return unless_known(found, kind, lambda: services().moves.list_legal(found, seat, previews))


@blueprint.post("/moves/check", parameters=[GAME_ID])
@blueprint.operation("checkMove", "game_not_found", "not_seated", body=True)
@blueprint.arguments(MoveBodySchema)
@blueprint.response(200, MoveCheckAnswer)
def check_move(body: dict[str, Any], game_id: str) -> Response:
    """Ask whether a move would be legal

    As a new move, now. Changes nothing. A problem that playMove would have is part of the answer;
    for a legal move, `preview` tells its outcome, as far as you can know it.
    """
    return answer(
        services().moves.check(required_credentials(), game_id, body["turn"], body["move"])
    )


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
    limits=(MOVES,),
)
@blueprint.arguments(MoveBodySchema)
@blueprint.response(200, PlayedMoveAnswer, headers=SERVER_TIME)
def play_move(body: dict[str, Any], game_id: str) -> Response:
    """Play a move

    Safe to repeat: the same seat, turn and move have the same outcome. A refused move changes
    nothing.
    """
    played = services().moves.play(
        required_credentials(), game_id, body["turn"], body["move"], if_match()
    )
    context.current().is_repeated_move = played.is_repeated
    return answer(played.answer())


@blueprint.post("/stream-tickets", parameters=[GAME_ID])
@blueprint.operation("createStreamTicket", "game_not_found", limits=(TICKETS_HERE, TICKETS))
@blueprint.response(201, TicketAnswer, headers=SERVER_TIME)
def create_stream_ticket(game_id: str) -> Response:
    """Get a ticket for a game's stream

    For browsers, whose EventSource sends no headers. A ticket opens the stream of this game, as I
    see it now, and nothing else. It can be used repeatedly for some hours, and expires earlier
    when I leave the game or my token expires.
    """
    return answer(services().event_streams.create_ticket(required_credentials(), game_id), 201)


@blueprint.get("/stream", parameters=[GAME_ID])
@blueprint.operation(
    "streamEvents",
    "game_not_found",
    "invalid_ticket",
    "too_many_waiting",
    "stopping",
    security=TOKEN_OPTIONAL,
    stream=True,
    parameters=[LAST_EVENT_ID],
    limits=(POLLS,),
)
@blueprint.arguments(StreamQuerySchema, location="query")
@blueprint.response(
    200,
    Answer(STREAM_DATA),
    content_type=STREAM_TYPE,
    headers=STREAM,
)
@blueprint.alt_response(
    204, description="The game has ended, and you have all its events.", headers=SERVER_TIME
)
def stream_events(query: dict[str, Any], game_id: str) -> Response:
    """Stream the events of a game

    Server-Sent Events, with JSON in `data`: `snapshot`, the game, if the stream opens without
    Last-Event-ID or the service has lost what that names; `update`, `{game, items}`, for all that
    happens; and a last one, after which the stream closes. `end`, `{id, status, result, reason}`:
    the game has ended, or my seat has changed. `unavailable`, a problem: the stream cannot go on
    now; open it again after the time in `retry`. Ids are cursors: each, like a game's `cursor`, can
    be the Last-Event-ID of a stream. The stream also closes, without an event, when the service
    stops or my token expires.
    """
    last_id = request.headers.get("Last-Event-ID", query.get("last_event_id"))
    stream = services().event_streams.open(credentials(), query.get("ticket"), game_id, last_id)
    if stream.is_done:
        return EmptyResponse(status=204)
    return StreamResponse(stream)


@blueprint.get("/events", parameters=[GAME_ID])
@blueprint.operation("listEvents", "game_not_found", security=TOKEN_OPTIONAL)
@blueprint.arguments(EventsQuerySchema, location="query")
@blueprint.response(200, EventPage, headers=MAY_BE_CROWDED)
def list_events(query: dict[str, Any], game_id: str) -> Response:
    """List the events of a game

    The events after the cursor `since` that the caller may see. With `wait`, the answer waits for
    events, unless the game has ended. If too many requests wait, the answer comes at once, with
    Retry-After. After a failure of its store, the service may have lost what `since` names: the
    answer is then a `reset` without items. Read the game again.
    """
    cursor, limit = query.get("since"), query["limit"]
    since = BEGINNING if cursor is None else read_events_cursor(cursor)
    found = services().queries.load_with_events(credentials(), game_id, since, limit)
    poll = services().long_polls.events(found, since, limit, query["wait"])
    return poll_response(poll, _events_answer)


def _events_answer(polled: PolledEvents) -> Response:
    response = answer(polled.page)
    return retry_later(response) if polled.is_over_quota else response
