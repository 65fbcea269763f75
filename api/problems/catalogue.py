"""Every kind of problem there is: its code, its status, what it means, what a client should do.

A table and nothing else: whoever answers with a problem, down to the worker that refuses what
is no HTTP, looks it up here. It imports nothing, so that the worker can load it early.
"""

from __future__ import annotations

from typing import NamedTuple


class ProblemType(NamedTuple):
    """A kind of problem: its status, its title, when it is answered, what a client should do."""

    status: int
    title: str
    meaning: str
    advice: str


CATALOGUE: dict[str, ProblemType] = {
    # 400: what was sent cannot be read
    "bad_request": ProblemType(
        400,
        "The request cannot be read",
        "What arrived is not a well-formed HTTP request.",
        "Correct the request; do not repeat it as it is. A client library that writes HTTP for you does not make this mistake, but headers put together by hand may: look there first.",
    ),
    "invalid_json": ProblemType(
        400,
        "The body is not JSON",
        "The body is not one JSON value in UTF-8: it is cut short, nested too deeply, or has something that JSON lacks, as NaN, a comment or a comma at the end.",
        "Send one JSON value in UTF-8, best written by a JSON library. Do not repeat the request as it is.",
    ),
    # 401
    "missing_token": ProblemType(
        401,
        "A token is needed",
        "This request needs to know who is calling, and has no Authorization header.",
        "Send the header 'Authorization: Bearer TOKEN'. POST /v1/players gives a token, once: keep it.",
    ),
    "invalid_token": ProblemType(
        401,
        "The token is not valid",
        "The Authorization header holds no token of a player that is known: it is mistyped or of another scheme, was replaced by a newer one, or its player was forgotten.",
        "Use the player's present token. If it was the right one, the player is gone, as one who is in no game within the hour is, or who was not heard of for long: create a new one.",
    ),
    "invalid_ticket": ProblemType(
        401,
        "The ticket is not valid",
        "The stream's ticket is unknown, of another game, or has ended: after some hours, when its player left or changed seats, or with the token that it was got with.",
        "Get a new one with the player's token: POST /v1/games/{game_id}/stream-tickets. Then open the stream again with it.",
    ),
    # 403
    "not_host": ProblemType(
        403,
        "Only the host may do this",
        "Starting a game early and cancelling it are for the player who created it.",
        "Leave it to the host, whom the game's 'host' names. A game also starts by itself when its last seat is taken.",
    ),
    "not_seated": ProblemType(
        403,
        "You have no seat in this game",
        "Moves, legal moves and a rematch are for the game's players, and the token is of somebody else. Perhaps it is of another player of yours.",
        "Check which token you send: GET /v1/me says whose it is. If it is the right one, join the game while it is open.",
    ),
    # 404
    "not_found": ProblemType(
        404,
        "There is nothing here",
        "The service has no such path.",
        "Compare the path with the API document, /openapi.yaml: those of games begin with /v1, and none has a slash at its end.",
    ),
    "game_not_found": ProblemType(
        404,
        "There is no such game",
        "The id is wrong, or the game was not touched for so long that it has expired. Or it is private: it exists only for its host, its players and whom it is reserved for.",
        "Check the id. To join a private game, send its 'invite' in the body of the request for a seat; once there, send the token with every request about it.",
    ),
    "ruleset_not_found": ProblemType(
        404,
        "There is no such ruleset",
        "The service does not know a game by this id.",
        "Take an id from GET /v1/rulesets, as 'tea-time'.",
    ),
    "record_not_found": ProblemType(
        404,
        "There is no record of this game",
        "The game was cancelled before its start, so nothing was dealt or played.",
        "Do not ask again: it will never have one.",
    ),
    "problem_not_found": ProblemType(
        404,
        "There is no such problem",
        "The service does not answer with a problem of this code.",
        "Take a code from GET /problems.",
    ),
    # 405 to 431: the request's form
    "method_not_allowed": ProblemType(
        405,
        "This method is not allowed here",
        "The path is right, but not for this method.",
        "The header Allow lists the methods that the path has.",
    ),
    "body_too_slow": ProblemType(
        408,
        "The body took too long to come",
        "The header promised a body that did not arrive whole within some seconds. Often Content-Length is larger than what was sent.",
        "Check that Content-Length counts bytes, not characters, and send the request again without pausing in its body. Nothing was done.",
    ),
    "unsupported_format": ProblemType(
        410,
        "The game has a format of an earlier release",
        "An earlier release of the service stored this game in a format that this release cannot play. The data of the game is intact.",
        "This release cannot play the game: do not repeat the request. Create a new game. To continue or read the old game, ask the operator of the service to run the release that stored it.",
    ),
    "length_required": ProblemType(
        411,
        "The body needs a length",
        "The body was sent in chunks, without saying how long it is.",
        "Send Content-Length; chunked bodies are not accepted. Most client libraries do so when the body is given as a whole, not as a stream.",
    ),
    "precondition_failed": ProblemType(
        412,
        "The game is not what If-Match says",
        "The game has changed since you got the ETag that you sent as If-Match. Nothing was done.",
        "Read the game and decide again, with its new ETag. If you do not care what has changed, send no If-Match.",
    ),
    "body_too_large": ProblemType(
        413,
        "The body is too large",
        "No request needs as much as was sent.",
        "Send less: at most 4 KiB for a new player, 256 KiB for an analysis, 64 KiB otherwise.",
    ),
    "uri_too_long": ProblemType(
        414,
        "The address is too long",
        "The path and query are longer than the server reads.",
        "Send a shorter path and query; no id of ours is long.",
    ),
    "unsupported_media_type": ProblemType(
        415,
        "The body must be JSON",
        "The header Content-Type is absent, or names another type.",
        "Send the header 'Content-Type: application/json'. With curl, add -H 'Content-Type: application/json' to -d.",
    ),
    "expectation_failed": ProblemType(
        417,
        "The expectation cannot be met",
        "The header Expect asks for what the server does not know.",
        "Send no Expect header but 100-continue.",
    ),
    "headers_too_large": ProblemType(
        431,
        "The header is too large",
        "The request line and all header fields may have 32 KiB together, in at most 100 fields of 8 KiB, and a header that the service reads 1,024 characters.",
        "Send fewer and shorter header fields. Cookies are not needed here.",
    ),
    # 409: true in itself, but not now
    "game_not_started": ProblemType(
        409,
        "The game has not started",
        "Some seats are still empty, so nothing is dealt yet.",
        "Wait until all seats are taken: GET /v1/me/turns with 'wait' tells as soon as it is your turn. The host may start at once: the house then takes the empty seats.",
    ),
    "game_already_started": ProblemType(
        409,
        "The game has started",
        "A game can be cancelled only before its start.",
        "Read the game to see where it is. You may leave it: the house then plays on for you.",
    ),
    "game_over": ProblemType(
        409,
        "The game is over",
        "The game has finished, or was cancelled: it takes no more moves and no more players.",
        "Stop sending moves. The game's 'result' has the scores, GET /v1/games/{game_id}/record every move; POST /v1/games/{game_id}/rematch plays again.",
    ),
    "game_not_over": ProblemType(
        409,
        "The game is not over",
        "The record would give hidden cards away, and a rematch needs a game that was played and has ended.",
        "Ask again when the game's 'status' is finished or cancelled: GET /v1/games/{game_id}/events with 'wait' tells when.",
    ),
    "stale_turn": ProblemType(
        409,
        "The game is at another turn",
        "The 'turn' that you sent is not the present one, and this move was not played in it. The game went on: others moved, or your time was up and the house moved for you.",
        "Read the game and decide again: send its present 'turn', and a move of its 'legal_moves' if they are not empty. Do not repeat the old one.",
    ),
    "already_moved": ProblemType(
        409,
        "You have already moved in this turn",
        "Several seats decide at once in this turn; you have decided, and this is another move than you made. The turn stays the same until all have.",
        "Wait for the next turn: a choice stands. Sending the same move again is safe, and answered as the first time.",
    ),
    "not_your_turn": ProblemType(
        409,
        "It is not your turn",
        "The turn is the present one, but the game waits for others.",
        "Wait until the game's 'to_move' lists your seat: GET /v1/me/turns with 'wait' tells as soon as it does.",
    ),
    "countdown_running": ProblemType(
        409,
        "The countdown is running already",
        "Somebody has counted before you in this turn; one countdown is enough.",
        "Wait: the game's 'deadline' says until when. What you may do meanwhile is in its 'legal_moves'.",
    ),
    "game_full": ProblemType(
        409,
        "All seats are taken",
        "The game has started, or every seat is taken or kept for somebody else.",
        "Join another game, GET /v1/games?status=open lists them, or create one.",
    ),
    "seat_taken": ProblemType(
        409,
        "The seat is taken",
        "A player or the house has the seat that you asked for.",
        "Ask for another seat, or for any by leaving 'seat' out.",
    ),
    "seat_reserved": ProblemType(
        409,
        "The seat is reserved for another player",
        "Whoever created the game keeps this seat for a player: its 'reserved_for' says whom.",
        "Ask for another seat, or for any by leaving 'seat' out.",
    ),
    "already_seated": ProblemType(
        409,
        "You already have another seat in this game",
        "A player has one seat in a game, and you asked for a second one.",
        "Play with the seat that you have, the game's 'you'. To change seats before the start, leave the game and join it again.",
    ),
    "no_players": ProblemType(
        409,
        "Nobody sits at this table",
        "The game would be the house's alone.",
        "Take a seat first, with POST /v1/games/{game_id}/seats: the house does not play alone.",
    ),
    "too_many_games": ProblemType(
        409,
        "You are in too many games that have not ended",
        "A player may be in so many games at a time and no more. Open ones that nobody joined count too.",
        "End or leave some first: GET /v1/me/games?status=open and ?status=playing list them. A bot that creates games should join open ones before.",
    ),
    # 422: well-formed, but not valid
    "invalid_request": ProblemType(
        422,
        "A member or parameter of the request is not valid",
        "The request is readable, but something in it is missing, unknown, of another type or out of bounds.",
        "See 'errors': each has a JSON pointer into the body, or the name of a query parameter, and says why. Correct it; do not repeat the request as it is.",
    ),
    "invalid_deal": ProblemType(
        422,
        "The deal is not one of this game",
        "The deal that was sent for an analysis could not have been dealt with this ruleset, number of seats and options.",
        "See 'errors' for where it goes wrong. A record is accepted as it is; check that its options and seat_count came along.",
    ),
    "illegal_move": ProblemType(
        422,
        "The rules forbid this move",
        "It is your turn and the move is well-formed, but a rule is against it: 'rule' says which, 'detail' in a sentence. The game is unchanged and still waits for you.",
        "See 'rule', and send one of the game's 'legal_moves' instead: whatever is listed there is accepted. Do not repeat this move in this turn.",
    ),
    "idempotency_key_reused": ProblemType(
        422,
        "This Idempotency-Key was used for another request",
        "You sent the same key within a day with another body, and the first one counts.",
        "Use a new random key for each new request, and the same one only to repeat a request as it was.",
    ),
    # 429
    "too_many_requests": ProblemType(
        429,
        "Too many requests",
        "The token or the address has used up a limit for now. A legal move is never too many.",
        "Try again after Retry-After seconds. The header RateLimit says how much of which limit is left, RateLimit-Policy what they are.",
    ),
    "too_many_waiting": ProblemType(
        429,
        "Too many are waiting already",
        "The service holds so many streams at a time, for one player and for all, and no more.",
        "Try again after Retry-After seconds, or close other streams and polls of yours. Polling without 'wait' always works.",
    ),
    # 5xx: not the caller's doing
    "internal_error": ProblemType(
        500,
        "Something went wrong here",
        "A fault of the service, not of your request. It was logged.",
        "Repeat the request once: a move is safe to repeat. If it fails again, report it with the time and the path.",
    ),
    "unsupported_transfer_coding": ProblemType(
        501,
        "The transfer coding is not supported",
        "The header Transfer-Encoding names what the server cannot decode.",
        "Send Content-Length and no transfer coding.",
    ),
    "newer_format": ProblemType(
        503,
        "The game was written by a newer release",
        "The service is being renewed: another worker has written this game already in a way that this one cannot read.",
        "Repeat the request after Retry-After seconds, and again until it succeeds: soon all workers are of the new release.",
    ),
    "busy": ProblemType(
        503,
        "Too much is happening in this game at once",
        "Other requests about the same game were faster several times in a row. Nothing was done.",
        "Repeat the request after Retry-After seconds.",
    ),
    "stopping": ProblemType(
        503,
        "The service is stopping",
        "It was told to stop. What reaches it in time is still answered. Only /readyz says so.",
        "Whoever sends requests on sends them to another instance. Players need to do nothing.",
    ),
    "store_evicts": ProblemType(
        503,
        "The store may drop games",
        "The Redis or Valkey that keeps the games would forget some when its memory is full. Only /readyz says so.",
        "Whoever runs it sets maxmemory-policy to noeviction. Players need to do nothing.",
    ),
    "store_read_only": ProblemType(
        503,
        "The store takes no changes",
        "The Redis or Valkey that was reached is a replica. Only /readyz says so.",
        "Whoever runs the service names the master in REDIS_URL, or its Sentinels, not a replica.",
    ),
    "not_replicated": ProblemType(
        503,
        "It was done, but is not safe yet",
        "The change was made, but too few replicas of the store have confirmed it in time.",
        "Send the same request again after Retry-After seconds: nothing is done twice.",
    ),
    "store_full": ProblemType(
        503,
        "The store of games is full",
        "The memory or the disk of the store is full, so it accepts no changes for now. Games can still be read, and what was acknowledged is not lost.",
        "Repeat the request after Retry-After seconds, waiting longer each time: it is safe to repeat, and succeeds once the operator has made room.",
    ),
    "store_unavailable": ProblemType(
        503,
        "The store of games cannot be reached",
        "The Redis or Valkey that keeps the games did not answer in time, so it is not known whether a change was made.",
        "Repeat the request after Retry-After seconds, waiting longer each time. A move, a seat or a start is safe to repeat, and a new game is with the same Idempotency-Key.",
    ),
}
