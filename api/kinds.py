"""Every kind of problem there is: its code, its status, what it means, what a client should do.

A table and nothing else: whoever answers with a problem, down to the worker that refuses what
is no HTTP, looks it up here. It imports nothing, so that the worker can load it early.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of problem: its status, its title, and what a client should do about it."""

    status: int
    title: str
    advice: str


KINDS: dict[str, Kind] = {
    # 400: what was sent cannot be read
    "bad_request": Kind(400, "The request cannot be read", "Correct the request; do not repeat it as it is."),
    "invalid_json": Kind(400, "The body is not JSON", "Send one JSON value in UTF-8."),
    # 401
    "missing_token": Kind(401, "A token is needed", "Send the header 'Authorization: Bearer TOKEN'; POST /v1/players gives a token."),
    "invalid_token": Kind(401, "The token is not valid", "Use the player's present token. A player who is in no game within the hour is forgotten: create a new one."),
    "invalid_ticket": Kind(401, "The ticket is not valid", "Get a new one with the player's token. A ticket ends after some hours, when its player leaves or changes seats, and with its token."),
    # 403
    "not_host": Kind(403, "Only the host may do this", "Ask the host of the game."),
    "not_seated": Kind(403, "You have no seat in this game", "Join the game while it is open."),
    # 404
    "not_found": Kind(404, "There is nothing here", "Compare the path with the API document."),
    "game_not_found": Kind(404, "There is no such game", "Check the id. A private game exists only for its players and those with its invite."),
    "ruleset_not_found": Kind(404, "There is no such ruleset", "GET /v1/rulesets lists them."),
    "record_not_found": Kind(404, "There is no record of this game", "A game that was cancelled before its start has none."),
    "problem_not_found": Kind(404, "There is no such problem", "Check the code."),
    # 405 to 431: the request's form
    "method_not_allowed": Kind(405, "This method is not allowed here", "The header Allow lists the methods."),
    "body_too_slow": Kind(408, "The body took too long to come", "Send the request again, without pausing in its body."),
    "length_required": Kind(411, "The body needs a length", "Send Content-Length; chunked bodies are not accepted."),
    "body_too_large": Kind(413, "The body is too large", "Send less: 64 KiB, 256 KiB for an analysis."),
    "unsupported_media_type": Kind(415, "The body must be JSON", "Send the header 'Content-Type: application/json'."),
    "uri_too_long": Kind(414, "The address is too long", "Send a shorter path and query; no id of ours is long."),
    "expectation_failed": Kind(417, "The expectation cannot be met", "Send no Expect header but 100-continue."),
    "headers_too_large": Kind(431, "The header is too large", "Send fewer and shorter header fields."),
    "precondition_failed": Kind(412, "The game is not what If-Match says", "Read the game and decide again."),
    # 409: true in itself, but not now
    "game_not_started": Kind(409, "The game has not started", "Wait until all seats are taken."),
    "game_already_started": Kind(409, "The game has started", "Read the game to see where it is."),
    "game_over": Kind(409, "The game is over", "Read the game to see the result."),
    "game_not_over": Kind(409, "The game is not over", "Ask again when the game has ended."),
    "stale_turn": Kind(409, "The game is at another turn", "Read the game and decide again."),
    "already_moved": Kind(409, "You have already moved in this turn", "Wait for the next turn: a choice stands."),
    "not_your_turn": Kind(409, "It is not your turn", "Wait until the game's to_move lists your seat."),
    "countdown_running": Kind(409, "The countdown is running already", "Wait: the game's deadline says until when."),
    "game_full": Kind(409, "All seats are taken", "Join another game."),
    "seat_taken": Kind(409, "The seat is taken", "Ask for another seat, or for any."),
    "seat_reserved": Kind(409, "The seat is reserved for another player", "Ask for another seat, or for any."),
    "already_seated": Kind(409, "You already have another seat in this game", "Leave the game first to change seats."),
    "no_players": Kind(409, "Nobody sits at this table", "Take a seat first: the house does not play alone."),
    "too_many_games": Kind(409, "You are in too many games that have not ended", "End or leave some first."),
    # 422: well-formed, but not valid
    "invalid_request": Kind(422, "A member or parameter of the request is not valid", "See 'errors' for which, and why."),
    "invalid_deal": Kind(422, "The deal is not one of this game", "See 'errors' for where it goes wrong."),
    "illegal_move": Kind(422, "The rules forbid this move", "See 'rule'; the legal moves are in the game's legal_moves."),
    "idempotency_key_reused": Kind(422, "This Idempotency-Key was used for another request", "Use a new key for a new request."),
    # 429
    "too_many_waiting": Kind(429, "Too many are waiting already", "Try again after Retry-After seconds, or close other streams and polls of yours."),
    # 5xx: not the caller's doing
    "internal_error": Kind(500, "Something went wrong here", "It was logged. A retry may help; if not, report it."),
    "unsupported_transfer_coding": Kind(501, "The transfer coding is not supported", "Send Content-Length and no transfer coding."),
    "newer_format": Kind(503, "The game was written by a newer release", "Try again after Retry-After seconds: the release is being rolled out."),
    "busy": Kind(503, "Too much is happening in this game at once", "Try again after Retry-After seconds."),
    "store_evicts": Kind(503, "The store may drop games", "Whoever runs it sets maxmemory-policy to noeviction."),
    "store_read_only": Kind(503, "The store takes no changes", "Whoever runs it names the master in REDIS_URL, or its Sentinels, not a replica."),
    "not_replicated": Kind(503, "It was done, but is not safe yet", "Send the same request again after Retry-After seconds: nothing is done twice."),
    "store_unavailable": Kind(503, "The store of games cannot be reached", "Try again after Retry-After seconds. What was acknowledged is not lost."),
}  # fmt: skip
