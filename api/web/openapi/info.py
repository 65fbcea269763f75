"""The introduction of the document: summary, description, contact and tags."""

from __future__ import annotations

SUMMARY = "Games of cards, their rules, and whose move it is."

DESCRIPTION = """\
Keeps games of card games, knows their rules, and tells every seat what it sees and may do.

**In short.** `createPlayer` gives a token. `createGame`, or `joinGame` of a game that \
`listGames` shows, gives a seat. `listTurns` tells which games wait for you, each with its legal \
moves; `playMove` plays one. That is a bot's whole life. A front end reads `getGame`, and is told \
of news by `streamEvents`, or by `listEvents` with `wait`.

**Views.** The token picks the view: there is no way to ask for another seat's. Without a token, \
or without a seat, you are a spectator. In lists by seat, the place is the number of the seat.

**Turns and versions.** `turn` counts decisions: a move names the one that it answers. `version` \
counts all that happened. Seats that choose at once share one turn, so another's choice never \
makes yours stale.

**Sending again.** A move is safe to send again: the same seat, turn and move have the same \
outcome. So are joining, starting, leaving and cancelling; createGame takes an `Idempotency-Key`.

**Problems.** Every failure is a problem (RFC 9457) with a `code` to decide by, which \
`/problems/{code}` explains. What is no HTTP that the server can read is answered so too, before \
any operation: 400 `bad_request`, 414 `uri_too_long`, 417 `expectation_failed`, 431 \
`headers_too_large`, 501 `unsupported_transfer_coding`; and a wrong path or method with 404 \
`not_found` or 405 `method_not_allowed`.

**What may grow.** Answers may get more members, and there may be new rulesets, options, house \
levels, problem codes and codes of rules. Moves, events, tables and statuses stay as they are in \
`/v1`. Bodies of requests take no members that are not described here, but for `analyse`.

**Headers.** What does not say how long it may be kept is `Cache-Control: no-store`. Times are \
UTC. Any web page may call the service (CORS).
"""

CONTACT = {"name": "The Ludothèque authors"}

TAGS = [
    {"name": "rulesets", "description": "The games that there are: cards, options, rules as text."},
    {"name": "players", "description": "Players, and the tokens that prove who is calling."},
    {"name": "games", "description": "Tables: creating, finding, reading, joining, leaving."},
    {"name": "play", "description": "Moves, and what became of them, as it happens."},
    {"name": "me", "description": "The caller: who it is, its games, and those that wait for it."},
    {"name": "analysis", "description": "Games without a table: a deal and moves, replayed."},
    {"name": "service", "description": "The service itself: health, document, problem codes."},
]
