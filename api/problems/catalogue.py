"""The error catalogue: each problem's code, status, title, meaning and advice for clients.

This module is a table and imports nothing of the service, so that the worker can load it before
the application, for answers to malformed HTTP.
"""

from __future__ import annotations

from typing import NamedTuple


class ProblemType(NamedTuple):
    """A problem of the catalogue.

    Attributes:
        status: The HTTP status.
        title: What is wrong, in a few words.
        meaning: When the service answers with this problem.
        advice: What the client should do next.
    """

    status: int
    title: str
    meaning: str
    advice: str


CATALOGUE: dict[str, ProblemType] = {
    # 400: the request cannot be read
    "bad_request": ProblemType(
        400,
        "The request cannot be read",
        "The server received bytes that are not a well-formed HTTP request.",
        "Correct the request; do not repeat it unchanged. Client libraries write well-formed HTTP: check headers that your code builds by hand.",
    ),
    "invalid_json": ProblemType(
        400,
        "The body is not JSON",
        "The body is not one JSON value in UTF-8: it is truncated, nested too deeply, or contains something that JSON does not have, such as NaN, a comment or a trailing comma.",
        "Send one JSON value in UTF-8, written by a JSON library. Do not repeat the request unchanged.",
    ),
    # 401
    "missing_token": ProblemType(
        401,
        "A token is required",
        "This request must say which player sends it, and it has no Authorization header.",
        "Send the header 'Authorization: Bearer TOKEN'. POST /v1/players returns a token, once: store it.",
    ),
    "invalid_token": ProblemType(
        401,
        "The token is not valid",
        "The Authorization header contains no valid token of a player: it is mistyped, of another scheme, replaced by a newer token, or its player has expired.",
        "Send the player's current token. If this is the right token, the player has expired: a player that never was in a game is kept for an hour after its last request, others for longer; getMe tells until when. Create a new player.",
    ),
    "invalid_ticket": ProblemType(
        401,
        "The ticket is not valid",
        "The stream's ticket is unknown, belongs to another game, or has expired: after some hours, when its player left or changed seats, or with the token that requested it.",
        "Request a new ticket with the player's token: POST /v1/games/{game_id}/stream-tickets, or POST /v1/me/stream-tickets for the stream of all your games. Then open the stream again with it.",
    ),
    # 403
    "not_host": ProblemType(
        403,
        "Only the host may do this",
        "Only the host of a game may start it early or cancel it: its creator, or if that player has left, the player who sat down next.",
        "Leave this to the host, whom the game's 'host' names. A game also starts by itself when its last seat is taken.",
    ),
    "not_seated": ProblemType(
        403,
        "You have no seat in this game",
        "Moves, legal moves and a rematch are for the game's players, and this token belongs to a player without a seat. You may have sent the token of another player of yours.",
        "Check the token: GET /v1/me returns its player. If it is the right one, join the game: while it is open, or to take your seat back from the house.",
    ),
    # 404
    "not_found": ProblemType(
        404,
        "There is nothing here",
        "The service has no such path.",
        "Compare the path with the API document, /openapi.yaml: paths of games begin with /v1, and no path ends with a slash.",
    ),
    "game_not_found": ProblemType(
        404,
        "There is no such game",
        "The id is wrong, or the game has expired because no request touched it for long. Or the game is private: it exists only for its host, its players and the players with a reserved seat.",
        "Check the id. To join a private game, send its 'invite' in the body of the request for a seat; after that, send the token with every request about the game.",
    ),
    "ruleset_not_found": ProblemType(
        404,
        "There is no such ruleset",
        "The service has no ruleset with this id.",
        "Use an id from GET /v1/rulesets, for example 'tea-time'.",
    ),
    "picture_not_found": ProblemType(
        404,
        "There is no such picture",
        "The ruleset has no component of this name with a picture.",
        "Use the 'url' of a component from GET /v1/rulesets/{ruleset}, where it is not null. Pictures that the creator of a game named are not here: show their name, or load their https address.",
    ),
    "record_not_found": ProblemType(
        404,
        "There is no record of this game",
        "The game was cancelled before it started, so no cards were dealt and no moves were played.",
        "Do not repeat the request: this game will never have a record.",
    ),
    "problem_not_found": ProblemType(
        404,
        "There is no such problem",
        "The service has no problem with this code.",
        "Use a code from GET /problems.",
    ),
    # 405 to 431: the request's form
    "method_not_allowed": ProblemType(
        405,
        "This method is not allowed here",
        "The path exists, but not for this method.",
        "Use a method that the header Allow lists.",
    ),
    "body_too_slow": ProblemType(
        408,
        "The body arrived too slowly",
        "The complete body did not arrive within some seconds. Often Content-Length is larger than the body, or the last chunk is missing.",
        "Check that Content-Length counts bytes, not characters, and send the request again without pauses in its body. The request changed nothing.",
    ),
    "unsupported_format": ProblemType(
        410,
        "The game has a format of an earlier release",
        "An earlier release of the service stored this game in a format that this release cannot play. The data of the game is intact.",
        "This release cannot play the game: do not repeat the request. Create a new game. To continue or read the old game, ask the operator of the service to run the release that stored it.",
    ),
    "precondition_failed": ProblemType(
        412,
        "The game does not match If-Match",
        "The game has changed since the response whose ETag you sent as If-Match. The request changed nothing.",
        "Read the game and decide again, with its new ETag. If any state of the game is fine for you, omit If-Match.",
    ),
    "body_too_large": ProblemType(
        413,
        "The body is too large",
        "The body is larger than any valid request, or has too many chunks.",
        "Send less: at most 4 KiB for a new player, 256 KiB for an analysis, 64 KiB otherwise; in at most 10,000 chunks.",
    ),
    "uri_too_long": ProblemType(
        414,
        "The address is too long",
        "The path and query are longer than the server reads.",
        "Send a shorter path and query; every id of this service is short.",
    ),
    "unsupported_media_type": ProblemType(
        415,
        "The body must be JSON",
        "The header Content-Type is missing or names another type.",
        "Send the header 'Content-Type: application/json'. With curl, add -H 'Content-Type: application/json' to -d.",
    ),
    "expectation_failed": ProblemType(
        417,
        "The expectation cannot be met",
        "The header Expect has a value that the server does not support.",
        "Send no Expect header, or 100-continue.",
    ),
    "headers_too_large": ProblemType(
        431,
        "The header is too large",
        "The request line and all header fields may have 32 KiB together, in at most 100 fields of 8 KiB, and a header that the service reads 1,024 characters.",
        "Send fewer and shorter header fields. The service needs no cookies.",
    ),
    # 409: valid, but not in the current state
    "game_not_started": ProblemType(
        409,
        "The game has not started",
        "Some seats are still empty, so no cards are dealt yet.",
        "Wait until all seats are taken: GET /v1/me/turns with 'wait' answers as soon as it is your turn. The host may start at once: house players then take the empty seats.",
    ),
    "game_already_started": ProblemType(
        409,
        "The game has started",
        "A game can be cancelled only before its start.",
        "Read the game to see its state. You may leave it: the house then plays for you.",
    ),
    "game_over": ProblemType(
        409,
        "The game is over",
        "The game has finished or was cancelled: it accepts no more moves and no more players.",
        "Stop sending moves. The game's 'result' has the scores, GET /v1/games/{game_id}/record every move; POST /v1/games/{game_id}/rematch starts a new game with the same players.",
    ),
    "game_not_over": ProblemType(
        409,
        "The game is not over",
        "A record would reveal hidden cards, and a rematch needs a game that was played and has ended.",
        "Repeat the request when the game's 'status' is finished or cancelled: GET /v1/games/{game_id}/events with 'wait' answers when it changes.",
    ),
    "stale_turn": ProblemType(
        409,
        "The game is at another turn",
        "The 'turn' that you sent is not the current one, and this move was not played in it. The game has moved on: other seats moved, or your time ran out and the house moved for you.",
        "Read the game and decide again: send its current 'turn', and one of its 'legal_moves' if there are any. Do not repeat the old move.",
    ),
    "already_moved": ProblemType(
        409,
        "You have already moved in this turn",
        "Several seats decide simultaneously in this turn; you have decided, and this is a different move. The turn stays the same until all seats have decided.",
        "Wait for the next turn: a choice is final. Sending the same move again is safe and has the same answer as the first time.",
    ),
    "not_your_turn": ProblemType(
        409,
        "It is not your turn",
        "The turn is the current one, but the game waits for other seats.",
        "Wait until the game's 'to_move' lists your seat: GET /v1/me/turns with 'wait' answers as soon as it does.",
    ),
    "countdown_running": ProblemType(
        409,
        "The countdown is already running",
        "Another seat has started the countdown in this turn; there is one countdown a turn.",
        "Wait: the game's 'deadline' says until when. The moves that you may play meanwhile are in its 'legal_moves'.",
    ),
    "game_full": ProblemType(
        409,
        "All seats are taken",
        "The game has started, or every seat is taken or reserved for another player. Or seats of this game were taken and left too often: 1000 times before the start, or 100 times by you after it.",
        "Join another game, GET /v1/games?status=open lists them, or send POST /v1/match, which finds one or creates it.",
    ),
    "seat_taken": ProblemType(
        409,
        "The seat is taken",
        "A player or the house has the seat that you requested.",
        "Request another seat, or any seat by omitting 'seat'.",
    ),
    "seat_reserved": ProblemType(
        409,
        "The seat is reserved for another player",
        "The host has reserved this seat for a player: its 'reserved_for' names the player.",
        "Request another seat, or any seat by omitting 'seat'.",
    ),
    "already_seated": ProblemType(
        409,
        "You already have another seat in this game",
        "A player has at most one seat in a game, and you requested a second one.",
        "Play with the seat that you have, the game's 'you'. To change seats before the start, leave the game and join it again.",
    ),
    "no_players": ProblemType(
        409,
        "The table has no players",
        "Only house players would play in this game.",
        "Take a seat first, with POST /v1/games/{game_id}/seats: house players do not play alone.",
    ),
    "too_many_games": ProblemType(
        409,
        "You are in too many games that have not ended",
        "The number of unfinished games of one player is limited. Open games without other players count too.",
        "End or leave some games first: GET /v1/me/games?status=open and ?status=playing list them. A bot should send POST /v1/match, which joins an open game before it creates one.",
    ),
    # 422: well-formed, but not valid
    "invalid_request": ProblemType(
        422,
        "A member or parameter of the request is not valid",
        "The request is readable, but a member or parameter is missing, unknown, of the wrong type or out of bounds.",
        "See 'errors': each has a JSON pointer into the body, or the name of a query parameter, and the reason. Correct the request; do not repeat it unchanged.",
    ),
    "invalid_deal": ProblemType(
        422,
        "The deal is not valid for this game",
        "The deal that was sent for an analysis is impossible with this ruleset, number of seats and options.",
        "See 'errors' for the first difference. A record is accepted unchanged; check that you also sent its options and seat_count.",
    ),
    "illegal_move": ProblemType(
        422,
        "The rules forbid this move",
        "It is your turn and the move is well-formed, but a rule forbids it: 'rule' is the code of the rule, 'detail' explains it. The game is unchanged and still waits for you.",
        "See 'rule', and send one of the game's 'legal_moves' instead: every move listed there is accepted. Do not repeat this move in this turn.",
    ),
    "idempotency_key_reused": ProblemType(
        422,
        "This Idempotency-Key was used for another request",
        "You sent the same key within a day with a different body; the first request counts.",
        "Use a new random key for each new request, and the same key only to repeat a request unchanged.",
    ),
    # 429
    "too_many_requests": ProblemType(
        429,
        "Too many requests",
        "A rate limit of the token or the address is used up. Legal moves are never limited.",
        "Repeat the request after Retry-After seconds. The header RateLimit says how much of each limit is left, RateLimit-Policy describes the limits.",
    ),
    "too_many_waiting": ProblemType(
        429,
        "Too many requests are waiting",
        "The number of open streams is limited, for each player and for the service.",
        "Repeat the request after Retry-After seconds, or close other streams and polls of yours. Polling without 'wait' always works.",
    ),
    # 5xx: faults of the service or its store
    "internal_error": ProblemType(
        500,
        "The service failed",
        "This is a fault of the service, not of your request. It was logged.",
        "Repeat the request once: a move is safe to repeat. If it fails again, report it with the time and the path.",
    ),
    "unsupported_transfer_coding": ProblemType(
        501,
        "The transfer coding is not supported",
        "The header Transfer-Encoding names a coding that the server cannot decode.",
        "Send Content-Length, or Transfer-Encoding: chunked and no other coding.",
    ),
    "newer_format": ProblemType(
        503,
        "The game was written by a newer release",
        "The service is being updated: a worker of a newer release has stored this game in a format that this worker cannot read.",
        "Repeat the request after Retry-After seconds, until it succeeds: all workers will soon run the new release.",
    ),
    "busy": ProblemType(
        503,
        "Too many requests change this game at once",
        "Other requests changed the game first several times in a row. Your request changed nothing.",
        "Repeat the request after Retry-After seconds.",
    ),
    "stopping": ProblemType(
        503,
        "The service is stopping",
        "The service has received a signal to stop. It still answers requests for a short time, but opens no streams. Only /readyz and streams have this problem.",
        "Open the stream again after Retry-After seconds: another worker or instance will answer. A load balancer should send requests to another instance.",
    ),
    "store_evicts": ProblemType(
        503,
        "The store may lose games",
        "The Redis or Valkey that stores the games would evict some of them when its memory is full. Only /readyz has this problem.",
        "The operator must set maxmemory-policy to noeviction. Players need to do nothing.",
    ),
    "store_read_only": ProblemType(
        503,
        "The store accepts no changes",
        "The Redis or Valkey at this address is a replica. Only /readyz has this problem.",
        "The operator must set REDIS_URL to the master or to its Sentinels, not to a replica. Players need to do nothing.",
    ),
    "not_replicated": ProblemType(
        503,
        "The change is not replicated yet",
        "The change was made, but too few replicas of the store have confirmed it in time.",
        "Send the same request again after Retry-After seconds: it is never done twice.",
    ),
    "store_full": ProblemType(
        503,
        "The store of games is full",
        "The memory or the disk of the store is full, so it accepts no changes for now. Games can still be read, and every acknowledged change is kept.",
        "Repeat the request after Retry-After seconds, waiting longer each time: it is safe to repeat, and succeeds once the operator has made room.",
    ),
    "store_unavailable": ProblemType(
        503,
        "The store of games is unavailable",
        "The Redis or Valkey that stores the games did not answer in time, so it is unknown whether a change was made.",
        "Repeat the request after Retry-After seconds, waiting longer each time. A move, a seat or a start is safe to repeat, and a new game is with the same Idempotency-Key.",
    ),
}
