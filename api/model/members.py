"""Types of members that records and answers have in common, with what is published of them."""

from __future__ import annotations

from typing import Annotated

from engine.published import (
    MAX_SEATS,
    MIN_SEATS,
    NamedScalar,
    bounded,
    described,
    published_as,
)

ID_PATTERN = "^[0-9a-f]{32}$"
GAME_ID = NamedScalar(
    "GameId",
    {
        "type": "string",
        "pattern": ID_PATTERN,
        "examples": ["9f86d081884c7d659a2feaa0c55ad015"],
    },
    "The id of a game.",
)
PLAYER_ID = NamedScalar(
    "PlayerId",
    {
        "type": "string",
        "pattern": ID_PATTERN,
        "examples": ["60303ae22b998861bce3b28f33eec1be"],
    },
    "The id of a player. It is public and gives no access.",
)
GameId = Annotated[str, published_as(GAME_ID)]
PlayerId = Annotated[str, published_as(PLAYER_ID)]
Hash = Annotated[str, described("A SHA-256 in hexadecimal.", pattern="^[0-9a-f]{64}$")]
Moment = Annotated[str, described("A time in UTC (RFC 3339).", format="date-time")]
SeatCount = Annotated[int, bounded(minimum=MIN_SEATS, maximum=MAX_SEATS)]
Number = Annotated[int, bounded(minimum=0)]
"""A number of things, or a version."""

Turn = Annotated[int, bounded(minimum=1)]
