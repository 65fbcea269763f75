"""Types of members that records and answers have in common, with what is published of them.

Of the records only what is needed to read them is checked when they are decoded. What is
published of their members beyond that is `extra_json_schema`, which msgspec does not check.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.published import described
from engine.registry import RULESETS

MIN_SEATS = min(ruleset.min_seats for ruleset in RULESETS.values())
MAX_SEATS = max(ruleset.max_seats for ruleset in RULESETS.values())

Id = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"})]
"""The id of a game or a player."""

Hash = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]
"""A SHA-256 in hexadecimal."""

Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time as RFC 3339 text in UTC."""

SeatNumber = Annotated[int, Meta(ge=0, le=MAX_SEATS - 1)]
SeatCount = Annotated[int, Meta(ge=MIN_SEATS, le=MAX_SEATS)]
Number = Annotated[int, Meta(ge=0)]
"""A number of things, or a version."""

Turn = Annotated[int, Meta(ge=1)]


def by_seat(description: str) -> Meta:
    """Annotate a list with one entry for each seat."""
    return described(description, min_length=MIN_SEATS, max_length=MAX_SEATS)
