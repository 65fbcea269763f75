"""Types of members that records and answers have in common, with what is published of them."""

from __future__ import annotations

from typing import Annotated

from engine.published import MAX_SEATS, MIN_SEATS, bounded, described

Id = Annotated[str, described("The id of a game or a player.", pattern="^[0-9a-f]{32}$")]
Hash = Annotated[str, described("A SHA-256 in hexadecimal.", pattern="^[0-9a-f]{64}$")]
Moment = Annotated[str, described("A time in UTC (RFC 3339).", format="date-time")]
SeatCount = Annotated[int, bounded(minimum=MIN_SEATS, maximum=MAX_SEATS)]
Number = Annotated[int, bounded(minimum=0)]
"""A number of things, or a version."""

Turn = Annotated[int, bounded(minimum=1)]
