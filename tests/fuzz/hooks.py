"""What schemathesis knows of the service besides its document.

Schemathesis loads this module into its process. It provides tokens, games in play and finished
games, shortens waits, and accepts refusals of valid data whose reasons no schema can state.
"""

from __future__ import annotations

import contextlib
import random
import re
from functools import cache
from typing import Any

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

from tests.support.http_client import HttpClient

LIFE_SECONDS = 20
"""How long a player is used. A player may be in a hundred games only, and a request for a new token
ends the old one."""

LONGEST_WAIT = 1
PLAYABLE: list[dict[str, Any]] = [
    {"ruleset": "parade", "seat_count": 2, "house": ["random"]},
    {"ruleset": "parade", "seat_count": 4, "house": ["random"] * 3, "visibility": "private"},
    {"ruleset": "tea-time", "seat_count": 2, "house": ["random"]},
    {"ruleset": "contrast", "seat_count": 3, "house": ["random"] * 2},
    {"ruleset": "mit-list-und-tuecke", "seat_count": 4, "house": ["random"] * 3},
]

STATES_AND_RULES = {
    "precondition_failed",
    "illegal_move",
    "invalid_deal",
    "idempotency_key_reused",
}
"""Problems of valid requests."""

BEFORE_ANY_OPERATION = {"uri_too_long", "headers_too_large", "body_too_large"}
"""Problems of requests that are too long to reach an operation."""

WHERE_MORE_IS_ASKED: dict[str, tuple[str, ...]] = {
    "createPlayer": (
        # Control characters, and names without a visible character.
        r"#/name",
    ),
    "createGame": (
        # The rulesets, and what each allows.
        r"#/ruleset",
        r"#/seat_count",
        r"#/options.*",
        r"#/house.*",
        # Each seat and each player once, and both must exist.
        r"#/reserved_seats.*",
    ),
    "quickMatch": (
        r"#/ruleset",
        r"#/seat_count",
        r"#/options.*",
        # A level that exists, and only with a time.
        r"#/house",
    ),
    # As many seats as this game has.
    "joinGame": (r"#/seat",),
    "listGames": (r"ruleset", r"cursor"),
    "listMyGames": (r"cursor",),
    "listEvents": (r"since",),
    "listTurns": (r"since",),
    # A move's members depend on its type; its schema, which answers share, is open.
    "playMove": (r"#/move/.*",),
    "checkMove": (r"#/move/.*",),
    "playMoves": (r"#/moves/\d+/move/.*",),
    "analyse": (
        r"#/ruleset",
        r"#/seat_count",
        r"#/options.*",
        r"#/deal.*",
        # Either a countdown ran out, or a seat made a move.
        r"#/moves/\d+(/.*)?",
    ),
}
"""The members and parameters of each operation with rules that their schema cannot state."""


@schemathesis.auth(refresh_interval=LIFE_SECONDS)
class Player:
    """Provides the token of a player, and a new player from time to time."""

    def get(self, case: schemathesis.Case, context: schemathesis.AuthContext) -> str:
        return new_token(case.operation.base_url)

    def set(self, case: schemathesis.Case, data: str, context: schemathesis.AuthContext) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.hook("before_call")
def prepare(
    context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]
) -> None:
    """Shorten waits, and often make the request one about a game in play or a finished one.

    By chance alone no game would get as many players as it has seats.
    """
    shorten_waits(case)
    if case.meta is None or case.meta.generation.mode.is_negative:
        return
    pick = random.Random(case.id)
    operation_id = case.operation.definition.raw["operationId"]
    if pick.random() < 0.5:
        return
    if operation_id == "createGame":
        case.body = pick.choice(PLAYABLE)
    elif operation_id == "getRecord":
        case.path_parameters = {"game_id": pick.choice(records(case.operation.base_url))[0]}
    elif operation_id == "analyse":
        case.body = pick.choice(records(case.operation.base_url))[1]


@schemathesis.hook("filter_failure")
def is_a_fault(
    context: schemathesis.HookContext,
    failure: schemathesis.Failure,
    case: schemathesis.Case,
    response: schemathesis.Response,
) -> bool:
    """Whether a failure is a fault of the service, and not the right refusal of valid data."""
    if response.status_code < 400 or not response.headers["content-type"][0].endswith("json"):
        return True
    problem = response.json()
    if problem["code"] in BEFORE_ANY_OPERATION:
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    if problem["code"] in STATES_AND_RULES:
        return False
    asked = WHERE_MORE_IS_ASKED.get(case.operation.definition.raw["operationId"], ())
    return problem["code"] != "invalid_request" or not all(
        is_for_a_reason(error, asked) for error in problem.get("errors", ())
    )


def is_for_a_reason(error: dict[str, str], asked: tuple[str, ...]) -> bool:
    """Whether a member or parameter may be refused although it is valid by its schema."""
    place = error["pointer"] if "pointer" in error else error["parameter"]
    return any(re.fullmatch(pattern, place, re.DOTALL) for pattern in asked)


def shorten_waits(case: schemathesis.Case) -> None:
    query = case.query or {}
    with contextlib.suppress(KeyError, TypeError, ValueError):
        if int(query["wait"]) > LONGEST_WAIT:
            case.query = {**query, "wait": LONGEST_WAIT}
    headers = case.headers or {}
    if "wait" in str(headers.get("Prefer", "")):
        case.headers = {**headers, "Prefer": f"wait={LONGEST_WAIT}"}


def new_token(url: str) -> str:
    client = HttpClient(url.rstrip("/"), keep_alive=False)
    answer = client.request("POST", "/v1/players", json={"name": "Ada", "kind": "bot"})
    return str(answer.json()["token"])


@cache
def records(url: str) -> list[tuple[str, Any]]:
    """Play games to their ends, and return the id and the record of each."""
    client = HttpClient(url.rstrip("/"), new_token(url))
    return [play_out(client, game) for game in PLAYABLE]


def play_out(client: HttpClient, body: dict[str, Any]) -> tuple[str, Any]:
    game = client.request("POST", "/v1/games", json=body).json()
    path = f"/v1/games/{game['id']}"
    while game["status"] == "playing":
        move = {"turn": game["turn"], "move": game["legal_moves"][0]}
        game = client.request("POST", f"{path}/moves", json=move).json()["game"]
    return game["id"], client.request("GET", f"{path}/record").json()
