"""The links of the document: which request can follow a response.

A link says which part of a response, or of its request, goes where in the next request. Links are
for readers and for tools that try sequences of requests; the service does not use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BODY = "x-request-body"
"""The key for the body of the next request if it is more than one expression."""

THE_GAME = {"game_id": "$response.body#/id"}
SAME_GAME = {"game_id": "$request.path.game_id"}


def _link(
    operation_id: str,
    description: str,
    parameters: Mapping[str, str] | None = None,
    body: Any = None,
) -> dict[str, Any]:
    link: dict[str, Any] = {"operationId": operation_id, "description": description}
    if parameters:
        link["parameters"] = dict(parameters)
    if isinstance(body, str):
        link["requestBody"] = body
    elif body is not None:
        # OpenAPI allows this in `requestBody`, but openapi-generator parses only strings there.
        link[BODY] = body
    return link


LINKS: dict[str, dict[str, Any]] = {
    # From a response that is a game.
    "GetGame": _link("getGame", "Read the game again.", THE_GAME),
    "JoinGame": _link("joinGame", "Other players join by its id.", THE_GAME),
    "StartGame": _link("startGame", "The host can start without more players.", THE_GAME),
    "CancelGame": _link("cancelGame", "The host can cancel it before the start.", THE_GAME),
    "LeaveGame": _link("leaveGame", "Leave the game.", THE_GAME),
    "ListEvents": _link("listEvents", "The history of the game.", THE_GAME),
    "CreateStreamTicket": _link(
        "createStreamTicket", "For the event stream of the game.", THE_GAME
    ),
    "GetPresence": _link("getPresence", "When the players were last active.", THE_GAME),
    "ListLegalMoves": _link("listLegalMoves", "My legal moves, with previews.", THE_GAME),
    "CheckMove": _link(
        "checkMove",
        "The outcome of the first of my legal moves.",
        THE_GAME,
        {"turn": "$response.body#/turn", "move": "$response.body#/legal_moves/0"},
    ),
    "PlayMove": _link(
        "playMove",
        "Play the first of my legal moves.",
        THE_GAME,
        {"turn": "$response.body#/turn", "move": "$response.body#/legal_moves/0"},
    ),
    "GetRecord": _link("getRecord", "After the end: the deal and every move.", THE_GAME),
    "RematchGame": _link(
        "rematchGame", "After the end: a new game with the same players.", THE_GAME
    ),
    # From other responses.
    "PlayNextMove": _link(
        "playMove",
        "If it is my turn again: the first of my legal moves.",
        SAME_GAME,
        {"turn": "$response.body#/game/turn", "move": "$response.body#/game/legal_moves/0"},
    ),
    "PlayListedMove": _link(
        "playMove",
        "Play the first one.",
        SAME_GAME,
        {"turn": "$response.body#/turn", "move": "$response.body#/moves/0"},
    ),
    "PlayInFirstGame": _link(
        "playMove",
        "Play in the game that has waited longest.",
        {"game_id": "$response.body#/items/0/id"},
        {"turn": "$response.body#/items/0/turn", "move": "$response.body#/items/0/legal_moves/0"},
    ),
    "PlayInGames": _link(
        "playMoves",
        "Play in several games with one request.",
        body={
            "moves": [
                {
                    "game_id": "$response.body#/items/0/id",
                    "turn": "$response.body#/items/0/turn",
                    "move": "$response.body#/items/0/legal_moves/0",
                }
            ]
        },
    ),
    "ListNewerEvents": _link(
        "listEvents",
        "Later items.",
        {**SAME_GAME, "since": "$response.body#/cursor"},
    ),
    "ListEventsAfterMove": _link(
        "listEvents",
        "Later items.",
        {**SAME_GAME, "since": "$response.body#/game/cursor"},
    ),
    "ListNewerTurns": _link("listTurns", "Later news.", {"since": "$response.body#/cursor"}),
    "ListMoreGames": _link("listGames", "The next page.", {"cursor": "$response.body#/next"}),
    "ListMoreOfMyGames": _link("listMyGames", "The next page.", {"cursor": "$response.body#/next"}),
    "StreamEvents": _link(
        "streamEvents",
        "Open the stream.",
        {**SAME_GAME, "ticket": "$response.body#/ticket"},
    ),
    "CreateTurnsTicket": _link("createTurnsTicket", "For a stream of the same news."),
    "StreamTurns": _link("streamTurns", "Open the stream.", {"ticket": "$response.body#/ticket"}),
    "StreamNewerTurns": _link(
        "streamTurns", "Later news, as they come.", {"last_event_id": "$response.body#/cursor"}
    ),
    "Analyse": _link("analyse", "Replay it.", body="$response.body"),
    "GetRuleset": _link(
        "getRuleset", "One of them.", {"ruleset": "$response.body#/items/0/ruleset"}
    ),
}

_A_TABLE = (
    "GetGame",
    "JoinGame",
    "StartGame",
    "CancelGame",
    "LeaveGame",
    "ListEvents",
    "CreateStreamTicket",
    "GetPresence",
    "ListLegalMoves",
    "CheckMove",
    "PlayMove",
)
_A_GAME = (*_A_TABLE, "GetRecord", "RematchGame")

_BY_OPERATION: dict[str, dict[int, tuple[str, ...]]] = {
    "createGame": {200: _A_GAME, 201: _A_TABLE},
    "quickMatch": {200: _A_GAME},
    "getGame": {200: _A_GAME},
    "joinGame": {200: _A_GAME},
    "startGame": {200: _A_GAME},
    "leaveGame": {200: ("GetGame", "JoinGame", "ListEvents")},
    "cancelGame": {200: ("GetGame", "ListEvents")},
    "rematchGame": {200: _A_GAME, 201: _A_TABLE},
    "playMove": {200: ("PlayNextMove", "ListEventsAfterMove")},
    "listLegalMoves": {200: ("PlayListedMove",)},
    "listEvents": {200: ("ListNewerEvents",)},
    "listTurns": {
        200: (
            "PlayInFirstGame",
            "PlayInGames",
            "ListNewerTurns",
            "StreamNewerTurns",
            "CreateTurnsTicket",
        )
    },
    "listGames": {200: ("ListMoreGames",)},
    "listMyGames": {200: ("ListMoreOfMyGames",)},
    "listRulesets": {200: ("GetRuleset",)},
    "createStreamTicket": {201: ("StreamEvents",)},
    "createTurnsTicket": {201: ("StreamTurns",)},
    "getRecord": {200: ("Analyse",)},
}


def responses_with_links(operation_id: str) -> dict[int, dict[str, Any]]:
    """Return references to the links of an operation's responses, by status."""
    return {
        status: {
            "links": {
                LINKS[name]["operationId"]: {"$ref": f"#/components/links/{name}"} for name in names
            }
        }
        for status, names in _BY_OPERATION.get(operation_id, {}).items()
    }
