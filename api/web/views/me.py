"""Routes of the caller: its player, its token, its games, and the games that wait for it."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from api.config.rate_policies import POLLS, TICKETS, TICKETS_HERE, TOKENS
from api.games.answers import (
    TURN_STREAM_DATA,
    GamePage,
    NewTokenAnswer,
    OwnPlayer,
    TicketAnswer,
    TurnsAnswer,
)
from api.web.openapi.blueprint import TOKEN_OPTIONAL, Blueprint
from api.web.openapi.components import MAY_BE_CROWDED, SERVER_TIME, STREAM, parameter
from api.web.openapi.structs import Answer
from api.web.problem_responses import STREAM_TYPE, stream_response
from api.web.responses import answer, credentials, required_credentials, retry_later, services
from api.web.schemas.games import (
    TURNS_CURSOR,
    OwnGamesQuerySchema,
    TurnsQuerySchema,
    TurnStreamQuerySchema,
)

blueprint = Blueprint("me", __name__, url_prefix="/v1/me")

LAST_EVENT_ID = parameter(
    "Last-Event-ID",
    "header",
    "The last event id that you received, or a `cursor` of listTurns: the stream tells what is new "
    "since.",
    examples=[TURNS_CURSOR],
)


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


@blueprint.post("/stream-tickets")
@blueprint.operation("createTurnsTicket", limits=(TICKETS_HERE, TICKETS))
@blueprint.response(201, TicketAnswer, headers=SERVER_TIME)
def create_turns_ticket() -> Response:
    """Get a ticket for my stream

    For browsers, whose EventSource sends no headers. A ticket opens the stream of all my games, and
    nothing else. It can be used repeatedly for some hours, and expires earlier when my token does.
    """
    return answer(services().turn_streams.create_ticket(required_credentials()), 201)


@blueprint.get("/stream")
@blueprint.operation(
    "streamTurns",
    "missing_token",
    "invalid_ticket",
    "too_many_waiting",
    "stopping",
    security=TOKEN_OPTIONAL,
    stream=True,
    parameters=[LAST_EVENT_ID],
    limits=(POLLS,),
)
@blueprint.arguments(TurnStreamQuerySchema, location="query")
@blueprint.response(200, Answer(TURN_STREAM_DATA), content_type=STREAM_TYPE, headers=STREAM)
def stream_turns(query: dict[str, Any]) -> Response:
    """Stream what concerns me in all my games

    Needs my token or a ticket. Server-Sent Events, with JSON in `data`: `turn`, `{game}`, a game
    that waits for me, with its legal moves, or whose deadline has changed; `started`, `{game}`, a
    game that I play from now on; `invited`, `{game}`, an open game in which a seat is reserved for
    me; `ended`, `{id, result}`. `unavailable`, a problem: the stream cannot go on now; open it
    again after the time in `retry`.

    Ids are cursors, the same as those of listTurns. A stream that opens with one tells what is true
    now and what the cursor does not know, each once; a turn that has passed is not told. Without
    one, it tells all that is true: the games that wait for me, all that I play, all invitations,
    and what ended in the last day. The stream closes when the service stops or my token expires.
    """
    last_id = request.headers.get("Last-Event-ID", query.get("last_event_id"))
    stream = services().turn_streams.open(credentials(), query.get("ticket"), last_id)
    response = stream_response(stream.parts())
    response.call_on_close(stream.close)
    return response
