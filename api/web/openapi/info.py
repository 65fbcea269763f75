"""The introduction of the document: summary, description, contact and tags."""

from __future__ import annotations

SUMMARY = "Stores the state of card games, knows their rules, and manages turns."

DESCRIPTION = """\
Stores the state of card games, knows their rules, and shows each seat what it may see and do.

**In short.** `createPlayer` returns a token. `quickMatch` gives you a seat in a game with others \
who want the same; `createGame` makes one of your own, `joinGame` is for a game in `listGames`. \
`listTurns` returns the games in which it is your turn, each with its legal moves; `playMove` \
plays one. A bot needs no more. A front end reads `getGame`, and gets news from `streamEvents`, or \
from `listEvents` with `wait`.

**Views.** The token selects the view: a caller cannot read the view of another seat. Without a \
token, or without a seat, you are a spectator. In lists by seat, the index is the seat number.

**Turns and versions.** `turn` counts decisions: a move names the turn that it answers. `version` \
counts all items of the history. Seats that choose at the same time share one turn, so the choice \
of another seat never makes yours stale.

**Retries.** Moves are idempotent: the same seat, turn and move have the same outcome. Joining, \
starting, leaving and cancelling are idempotent too; createGame and quickMatch take an \
`Idempotency-Key`.

**Problems.** Every failure is a problem (RFC 9457) with a `code` for programs, which \
`/problems/{code}` explains. A request that is not valid HTTP is refused before any operation: \
400 `bad_request`, 414 `uri_too_long`, 417 `expectation_failed`, 431 `headers_too_large`, 501 \
`unsupported_transfer_coding`. So is a wrong path or method: 404 `not_found`, 405 \
`method_not_allowed`.

**Compatibility.** Answers may get more members, and there may be new rulesets, options, house \
levels, problem codes and rule codes. Moves, events, tables and statuses do not change in `/v1`. \
Request bodies accept only the described members, except in `analyse`.

**Headers.** A response without its own cache lifetime has `Cache-Control: no-store`. Times are in \
UTC. Any web page may call the service (CORS).
"""

CONTACT = {"name": "The Ludothèque authors"}

TAGS = [
    {"name": "players", "description": "Players and their tokens."},
    {"name": "rulesets", "description": "The catalogue of games: cards, options, rules as text."},
    {"name": "games", "description": "Tables: creating, finding, reading, joining, leaving."},
    {"name": "play", "description": "Moves, history and event streams."},
    {
        "name": "me",
        "description": "The caller: its player, its games, and the games in which it must move.",
    },
    {"name": "analysis", "description": "Replaying a deal and moves without a stored game."},
    {"name": "service", "description": "The service itself: health, document, problem codes."},
]
