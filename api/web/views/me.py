"""Routes of the caller: its player, its token, its games, its turns, and moves in many games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from api.concurrency.time_slices import long_work, pause
from api.config.rate_policies import MOVES, POLLS, REQUESTS, TICKETS, TICKETS_HERE, TOKENS
from api.games.answers import (
    TURN_STREAM_DATA,
    GamePage,
    MoveOutcomeAnswer,
    MoveOutcomesAnswer,
    NewTokenAnswer,
    OwnPlayer,
    TicketAnswer,
    TurnsAnswer,
)
from api.games.move_batches import BatchedMove, BatchOutcome
from api.games.moves import PlayedMove
from api.live.long_polls import PolledTurns
from api.observability import context
from api.problems.problem import Problem
from api.web.openapi.blueprint import TOKEN_OPTIONAL, Blueprint
from api.web.openapi.components import HEADERS, MAY_BE_CROWDED, SERVER_TIME, STREAM, parameter
from api.web.openapi.structs import Answer
from api.web.problem_responses import STREAM_TYPE, as_problem, retry_after
from api.web.responses import (
    answer,
    credentials,
    prefers_minimal,
    required_credentials,
    retry_later,
    services,
)
from api.web.schemas.games import (
    TURNS_CURSOR,
    MovesBodySchema,
    OwnGamesQuerySchema,
    TurnsQuerySchema,
    TurnStreamQuerySchema,
)
from api.web.waiting_responses import StreamResponse, poll_response

MINIMAL = {"Preference-Applied": "return=minimal"}
PREFER_MINIMAL = parameter(
    "Prefer",
    "header",
    "`return=minimal`: leave out the games and items, which makes the answer small and fast.",
    examples=["return=minimal"],
)
OF_MOVES = {
    **SERVER_TIME,
    "Preference-Applied": HEADERS["MinimalApplied"],
    "Retry-After": HEADERS["MovesRetryAfter"],
}

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
    poll = services().long_polls.turns(
        required_credentials(), query.get("since"), query["wait"], has_view=query["view"]
    )
    return poll_response(poll, _turns_answer)


def _turns_answer(polled: PolledTurns) -> Response:
    response = answer(polled.answer)
    return retry_later(response) if polled.is_over_quota else response


@blueprint.post("/moves")
@blueprint.operation("playMoves", body=True, parameters=[PREFER_MINIMAL], limits=(REQUESTS, MOVES))
@blueprint.arguments(MovesBodySchema)
@blueprint.response(200, MoveOutcomesAnswer, headers=OF_MOVES)
def play_moves(body: dict[str, Any]) -> Response:
    """Play moves in many games

    Each move has the outcome that playMove would have, whatever becomes of the others: its status,
    and its game and items or its problem, whose pointers say where in this request. Moves in one
    game are played in their order. Safe to repeat, as playMove is. Only a body that is wrong in its
    form is refused as a whole, and then no move is played.
    """
    batch = [BatchedMove(each["game_id"], each["turn"], each["move"]) for each in body["moves"]]
    outcomes = services().move_batches.play(required_credentials(), batch)
    problems = _problems(batch, outcomes)
    context.current().facts = {"moves": len(batch), "problems": len(problems)}
    is_minimal = prefers_minimal()
    items = []
    with long_work():
        for at, (each, outcome) in enumerate(zip(batch, outcomes, strict=True)):
            pause()
            items.append(_answer_of(each, outcome, problems.get(at), is_minimal=is_minimal))
    response = answer(MoveOutcomesAnswer(tuple(items)), headers=MINIMAL if is_minimal else None)
    waits = [seconds for each in problems.values() if (seconds := retry_after(each)) is not None]
    if waits:
        response.headers["Retry-After"] = str(max(waits))
    return response


def _problems(batch: Sequence[BatchedMove], outcomes: Sequence[BatchOutcome]) -> dict[int, Problem]:
    """Count the outcomes for the rate limits; return the problems by the index of the move."""
    problems: dict[int, Problem] = {}
    for at, (each, outcome) in enumerate(zip(batch, outcomes, strict=True)):
        is_repeated = False
        code = None
        if isinstance(outcome, PlayedMove):
            is_repeated = outcome.is_repeated
        else:
            problems[at] = as_problem(outcome).within("moves", at)
            code = problems[at].code
        over = services().rate_limits.count_move(each.game_id, code, is_repeated=is_repeated)
        if over is not None:
            problems[at] = over
    return problems


def _answer_of(
    move: BatchedMove, outcome: BatchOutcome, problem: Problem | None, *, is_minimal: bool
) -> MoveOutcomeAnswer:
    if problem is not None:
        return MoveOutcomeAnswer(move.game_id, problem.status, problem.body())
    if is_minimal:
        return MoveOutcomeAnswer(move.game_id, 200)
    assert isinstance(outcome, PlayedMove)
    played = outcome.answer()
    return MoveOutcomeAnswer(move.game_id, 200, None, played.game, played.items)


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
    return StreamResponse(stream)
