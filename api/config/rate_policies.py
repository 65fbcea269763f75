"""The limits that there are: how often what may happen, and what may be set about it.

A table and the reading of one setting; nothing is counted here. It imports nothing of the
service, so that the settings can load it early.
"""

from __future__ import annotations

import re
from typing import NamedTuple

REQUESTS = "requests"
READS = "reads"
POLLS = "polls"
MOVES = "moves"
ANALYSES = "analyses"
PLAYERS = "players"
GAMES = "games"
GAMES_HERE = "games-here"
GAMES_DAILY = "games-daily"
SEATS = "seats"
SEATS_DAILY = "seats-daily"
SITTINGS = "sittings"
TICKETS = "tickets"
TICKETS_HERE = "tickets-here"
TOKENS = "tokens"
FAILURES = "failures"

SECONDS = {"second": 1, "minute": 60, "hour": 60 * 60, "day": 24 * 60 * 60}
MOST = 1_000_000_000


class Policy(NamedTuple):
    """So many in so many seconds.

    `by_address`: of one address; else of one token, or of one address where there is none; but
    `by_game`: of one game, whoever asks.
    `shared`: in the store, for all workers together; else each worker counts for itself.
    """

    name: str
    amount: int
    seconds: int
    by_address: bool
    shared: bool
    what: str
    by_game: bool = False

    def __str__(self) -> str:
        unit = next(unit for unit, seconds in SECONDS.items() if seconds == self.seconds)
        return f"{self.amount}/{unit}"


MINUTE, HOUR, DAY = SECONDS["minute"], SECONDS["hour"], SECONDS["day"]

POLICIES = (
    Policy(REQUESTS, 30_000, MINUTE, True, False, "all that is below, but for moves"),
    Policy(READS, 3000, MINUTE, False, False, "reading games, lists, events; checking moves"),
    Policy(POLLS, 1200, MINUTE, False, False, "asking for one's turns, and opening streams"),
    Policy(MOVES, 100, MINUTE, False, False, "moves in one game that are refused or not new"),
    Policy(ANALYSES, 60, MINUTE, True, False, "analyses"),
    Policy(PLAYERS, 1000, HOUR, True, True, "new players"),
    Policy(GAMES, 600, HOUR, False, True, "new games and rematches"),
    Policy(GAMES_HERE, 1000, HOUR, True, True, "new games and rematches, whoever asks"),
    Policy(GAMES_DAILY, 2000, DAY, True, True, "new games and rematches, whoever asks"),
    Policy(SEATS, 2000, HOUR, False, True, "joining, leaving, starting, cancelling"),
    Policy(SEATS_DAILY, 20_000, DAY, True, True, "joining and leaving, whoever asks"),
    Policy(SITTINGS, 300, HOUR, False, True, "seats taken; after the start, by one player", True),
    Policy(TICKETS, 600, HOUR, False, True, "new tickets for streams"),
    Policy(TICKETS_HERE, 3000, HOUR, True, True, "new tickets for streams, whoever asks"),
    Policy(TOKENS, 600, HOUR, True, True, "new tokens"),
    Policy(FAILURES, 120, MINUTE, True, True, "tokens, tickets, games and invites that are wrong"),
)

_CHANGE = re.compile(r"([a-z-]+)=(?:(off)|([0-9]{1,10})/([a-z]+))")
BOUNDS = "`off`, or NAME=NUMBER/UNIT and NAME=off with commas between them"


def read_policies(text: str) -> tuple[Policy, ...]:
    """The policies that a setting asks for: none, or all with some changed.

    >>> read_policies("off")
    ()
    >>> [str(each) for each in read_policies("games=5/day, tickets=off")][6:8]
    ['5/day', '1000/hour']

    Raises:
        ValueError: what is not understood, as a sentence about the setting.
    """
    if text.strip().lower() == "off":
        return ()
    policies: dict[str, Policy | None] = {each.name: each for each in POLICIES}
    for part in text.split(","):
        match = _CHANGE.fullmatch(part.strip().lower())
        if match is None:
            raise ValueError(f"must be {BOUNDS}")
        name, off, amount, unit = match.groups()
        if name not in policies:
            raise ValueError(f"must be about {', '.join(policies)}")
        if off is None and unit not in SECONDS:
            raise ValueError(f"must be by {', '.join(SECONDS)}")
        before = next(each for each in POLICIES if each.name == name)
        is_off = off is not None or int(amount) == 0
        policies[name] = (
            None
            if is_off
            else before._replace(amount=min(int(amount), MOST), seconds=SECONDS[unit])
        )
    return tuple(each for each in policies.values() if each is not None)
