"""Routes of games: creating, listing, reading, joining, leaving, starting and cancelling them."""

from __future__ import annotations

from typing import Any

from flask import Response, url_for

from api.config.rate_policies import GAMES, GAMES_DAILY, GAMES_HERE, SEATS, SEATS_DAILY
from api.games.answers import GameAnswer, GamePage, GameRecord, PresenceAnswer
from api.games.creation import NewGame
from api.games.queries import LobbyFilter, require_record
from api.games.transactions import LoadedGame
from api.live.long_polls import Polled
from api.web.openapi.blueprint import TOKEN_OPTIONAL, Blueprint
from api.web.openapi.components import (
    CONDITIONAL,
    GAME_ID,
    HEADERS,
    IDEMPOTENCY_KEY,
    IF_NONE_MATCH,
    LOCATION,
    SERVER_TIME,
    parameter,
)
from api.web.responses import (
    GAME,
    answer,
    credentials,
    game,
    idempotency_key,
    if_match,
    is_known,
    load_game,
    preferred_wait,
    required_credentials,
    retry_later,
    services,
    shown,
    unless_known,
)
from api.web.schemas.games import JoinBodySchema, LobbyQuerySchema, NewGameBodySchema
from api.web.waiting_responses import poll_response

blueprint = Blueprint("games", __name__, url_prefix="/v1/games")

PREFER = parameter(
    "Prefer",
    "header",
    "`wait=N`, with If-None-Match: wait up to N seconds, at most 25, until the answer would not "
    "be 304. Preference-Applied says that the service waited.",
    examples=["wait=20"],
)
AWAITED = {
    **CONDITIONAL,
    "Preference-Applied": HEADERS["PreferenceApplied"],
    "Retry-After": HEADERS["CrowdedRetryAfter"],
}


@blueprint.post("")
@blueprint.operation(
    "createGame",
    "too_many_games",
    "idempotency_key_reused",
    "busy",
    game=True,
    body=True,
    parameters=[IDEMPOTENCY_KEY],
    limits=(GAMES_DAILY, GAMES_HERE, GAMES),
)
@blueprint.arguments(NewGameBodySchema)
@blueprint.response(201, GameAnswer, description="The new game.", headers=LOCATION)
@blueprint.alt_response(
    200,
    schema=GameAnswer,
    description="The game that this Idempotency-Key created before.",
    headers=LOCATION,
)
def create_game(body: NewGame) -> Response:
    """Create a game

    The caller is its host and takes a seat, unless `take_seat` is false. The game starts by
    itself when all seats are taken.
    """
    found, is_new = services().creation.create(required_credentials(), body, idempotency_key())
    location = url_for("games.get_game", game_id=found.game.id)
    return game(found, 201 if is_new else 200, {"Location": location})


@blueprint.get("")
@blueprint.operation("listGames", security=TOKEN_OPTIONAL)
@blueprint.arguments(LobbyQuerySchema, location="query")
@blueprint.response(200, GamePage)
def list_games(query: dict[str, Any]) -> Response:
    """List the public games, newest first

    A page may have fewer games than the limit, even none, and still a `next`: follow it. Of the
    games that ended, the newest are listed: about 10,000 of each ruleset that are finished, and as
    many that were cancelled.
    A deadline that has passed takes effect before a game is listed. One request does that for at
    most four games; the others are listed as they are until a later request.
    """
    cursor, limit = query.pop("cursor", None), query.pop("limit")
    wanted = LobbyFilter(**query)
    return answer(services().queries.public_games(credentials(), wanted, cursor, limit))


@blueprint.get("/<game_id>", parameters=[GAME_ID])
@blueprint.operation(
    "getGame", "game_not_found", security=TOKEN_OPTIONAL, parameters=[IF_NONE_MATCH, PREFER]
)
@blueprint.response(200, GameAnswer, headers=AWAITED)
@blueprint.alt_response(304, description="You have it already.", headers=AWAITED)
def get_game(game_id: str) -> Response:
    """Get a game as I see it

    The token selects the view: the caller's own seat, otherwise a spectator's. With
    If-None-Match, 304 while nothing has changed; with Prefer as well, the answer waits for a
    change.
    """
    found = load_game(game_id)
    seconds = preferred_wait()
    if seconds is not None and is_known(found, GAME):
        return _wait_for_change(found, seconds)
    return unless_known(found, GAME, lambda: shown(found))


@blueprint.delete("/<game_id>", parameters=[GAME_ID])
@blueprint.operation(
    "cancelGame",
    "game_not_found",
    "not_host",
    "game_already_started",
    "game_over",
    "busy",
    if_match=True,
    limits=(SEATS,),
)
@blueprint.response(200, GameAnswer, headers=SERVER_TIME)
def cancel_game(game_id: str) -> Response:
    """Cancel a game before its start; for its host

    The game ends without a result. Cancelling it again returns the current game.
    """
    return game(services().tables.cancel(required_credentials(), game_id, if_match()))


@blueprint.post("/<game_id>/seats", parameters=[GAME_ID])
@blueprint.operation(
    "joinGame",
    "game_not_found",
    "game_full",
    "game_over",
    "seat_taken",
    "seat_reserved",
    "already_seated",
    "too_many_games",
    "busy",
    body=True,
    if_match=True,
    limits=(SEATS_DAILY, SEATS),
)
@blueprint.arguments(JoinBodySchema, required=False)
@blueprint.response(200, GameAnswer, headers=SERVER_TIME)
def join_game(body: dict[str, Any], game_id: str) -> Response:
    """Take a seat

    Any free seat, or the requested one. The last seat taken starts the game. After the start, a
    player can only take its own seat back from the house, which plays for a player who has left, or
    for whom the clock moved in two turns in a row. Joining again returns the current game.
    """
    tables = services().tables
    seat, invite = body.get("seat"), body.get("invite")
    return game(tables.join(required_credentials(), game_id, seat, invite, if_match()))


@blueprint.delete("/<game_id>/seats/me", parameters=[GAME_ID])
@blueprint.operation(
    "leaveGame", "game_not_found", "busy", if_match=True, limits=(SEATS_DAILY, SEATS)
)
@blueprint.response(200, GameAnswer, headers=SERVER_TIME)
def leave_game(game_id: str) -> Response:
    """Leave a game

    Before the start, this frees the caller's seat, or the seat reserved for the caller; when the
    host leaves its seat, the player who sat down next becomes host. After the start, the house
    plays for the caller, who can take the seat back by joining. When the last person leaves, the
    game is cancelled. Leaving again returns the current game.
    """
    return game(services().tables.leave(required_credentials(), game_id, if_match()))


@blueprint.post("/<game_id>/start", parameters=[GAME_ID])
@blueprint.operation(
    "startGame",
    "game_not_found",
    "not_host",
    "no_players",
    "game_over",
    "busy",
    if_match=True,
    limits=(SEATS,),
)
@blueprint.response(200, GameAnswer, headers=SERVER_TIME)
def start_game(game_id: str) -> Response:
    """Start a game; for its host

    House players take the empty seats. A game starts by itself when all seats are taken. Starting
    it again returns the current game.
    """
    return game(services().tables.start(required_credentials(), game_id, if_match()))


@blueprint.get("/<game_id>/record", parameters=[GAME_ID])
@blueprint.operation(
    "getRecord",
    "game_not_found",
    "game_not_over",
    "record_not_found",
    security=TOKEN_OPTIONAL,
    parameters=[IF_NONE_MATCH],
)
@blueprint.response(200, GameRecord, headers=CONDITIONAL)
@blueprint.alt_response(304, description="You have it already.", headers=CONDITIONAL)
def get_record(game_id: str) -> Response:
    """Get the record of a game that has ended

    The deal and all moves; replaying them gives the same result. `analyse` accepts it unchanged.
    """
    found = load_game(game_id)
    require_record(found)
    return unless_known(found, "record", lambda: services().queries.record(found))


@blueprint.post("/<game_id>/rematch", parameters=[GAME_ID])
@blueprint.operation(
    "rematchGame",
    "game_not_found",
    "not_seated",
    "game_not_over",
    "game_full",
    "game_over",
    "too_many_games",
    "busy",
    limits=(GAMES_DAILY, GAMES_HERE, GAMES),
)
@blueprint.response(201, GameAnswer, description="The new game.", headers=LOCATION)
@blueprint.alt_response(
    200, schema=GameAnswer, description="The rematch that exists already.", headers=LOCATION
)
def rematch_game(game_id: str) -> Response:
    """Play again with the same players

    For the players of a game that has ended. The first call creates the new game, with each seat
    reserved for its player, and takes the caller's seat; later calls take a seat in it. The other
    players find it among their invitations (listMyGames), and in the old game's `rematch`.
    """
    found, is_new = services().creation.rematch(required_credentials(), game_id)
    location = url_for("games.get_game", game_id=found.game.id)
    return game(found, 201 if is_new else 200, {"Location": location})


@blueprint.get("/<game_id>/presence", parameters=[GAME_ID])
@blueprint.operation("getPresence", "game_not_found", security=TOKEN_OPTIONAL)
@blueprint.response(200, PresenceAnswer, headers=SERVER_TIME)
def get_presence(game_id: str) -> Response:
    """See which players are online

    When each seat's player last sent a request, accurate to half a minute; null for the house and
    for an empty seat.
    """
    return answer(services().queries.presence(load_game(game_id)))


def _wait_for_change(found: LoadedGame, seconds: int) -> Response:
    """Return the game when it has changed from the caller's version; 304 when the time is up."""

    def changed(polled: Polled) -> Response:
        response = unless_known(polled.loaded, GAME, lambda: shown(polled.loaded))
        response.headers["Preference-Applied"] = f"wait={seconds}"
        return retry_later(response) if polled.is_over_quota else response

    return poll_response(services().long_polls.until_changed(found, seconds), changed)
