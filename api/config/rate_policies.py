"""The table of the rate limits, and the setting that changes it.

`api.ratelimit` counts the requests. This module imports nothing of the service.
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
MAX_AMOUNT = 1_000_000_000


class Policy(NamedTuple):
    """A rate limit: `amount` requests in `seconds`.

    Attributes:
        by_address: Counts for an address; else for a token, or for the address if there is none.
        shared: Counted in the store for all workers together; else by each worker for itself.
        what: The requests that count.
    """

    name: str
    amount: int
    seconds: int
    by_address: bool
    shared: bool
    what: str

    def __str__(self) -> str:
        unit = next(unit for unit, seconds in SECONDS.items() if seconds == self.seconds)
        return f"{self.amount}/{unit}"


MINUTE, HOUR, DAY = SECONDS["minute"], SECONDS["hour"], SECONDS["day"]

POLICIES = (
    Policy(REQUESTS, 30_000, MINUTE, True, False, "all requests below, except single moves"),
    Policy(READS, 3000, MINUTE, False, False, "reading games, lists and events; checking moves"),
    Policy(POLLS, 1200, MINUTE, False, False, "reading one's turns, opening streams"),
    Policy(MOVES, 100, MINUTE, False, False, "moves in one game that are refused or repeated"),
    Policy(ANALYSES, 60, MINUTE, True, False, "analyses"),
    Policy(PLAYERS, 1000, HOUR, True, True, "new players"),
    Policy(GAMES, 600, HOUR, False, True, "new games and rematches"),
    Policy(GAMES_HERE, 1000, HOUR, True, True, "new games and rematches of all players"),
    Policy(GAMES_DAILY, 2000, DAY, True, True, "new games and rematches of all players"),
    Policy(SEATS, 2000, HOUR, False, True, "joining, matching, leaving, starting, cancelling"),
    Policy(SEATS_DAILY, 20_000, DAY, True, True, "joining, matching, leaving by all players"),
    Policy(SITTINGS, 300, HOUR, False, True, "seats taken; after the start, by one player"),
    Policy(TICKETS, 600, HOUR, False, True, "new tickets for streams"),
    Policy(TICKETS_HERE, 3000, HOUR, True, True, "new tickets for streams of all players"),
    Policy(TOKENS, 600, HOUR, True, True, "new tokens"),
    Policy(FAILURES, 120, MINUTE, True, True, "wrong tokens, tickets, game ids and invites"),
)

_CHANGE = re.compile(r"([a-z-]+)=(?:(off)|([0-9]{1,10})/([a-z]+))")
BOUNDS = "`off`, or NAME=NUMBER/UNIT and NAME=off, separated by commas"


def read_policies(text: str) -> tuple[Policy, ...]:
    """Return the policies that a setting's text demands: none, or all with some changed.

    >>> read_policies("off")
    ()
    >>> [str(each) for each in read_policies("games=5/day, tickets=off")][6:8]
    ['5/day', '1000/hour']

    Raises:
        ValueError: the text is wrong; the message goes on from the name of the setting.
    """
    if text.strip().lower() == "off":
        return ()
    defaults = {each.name: each for each in POLICIES}
    policies: dict[str, Policy | None] = {**defaults}
    for part in text.split(","):
        match = _CHANGE.fullmatch(part.strip().lower())
        if match is None:
            raise ValueError(f"must be {BOUNDS}")
        name, off, amount, unit = match.groups()
        if name not in policies:
            raise ValueError(f"must name limits of these: {', '.join(policies)}")
        if off is None and unit not in SECONDS:
            raise ValueError(f"must have one of the units {', '.join(SECONDS)}")
        policies[name] = None
        if amount is not None and int(amount) > 0:
            policies[name] = defaults[name]._replace(
                amount=min(int(amount), MAX_AMOUNT), seconds=SECONDS[unit]
            )
    return tuple(each for each in policies.values() if each is not None)
