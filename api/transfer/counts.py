"""What became of the records of a transfer."""

from __future__ import annotations

from collections import Counter

from api.transfer.records import KINDS

EXPORTED = "exported"
NEW = "new"
CHANGED = "changed"
SAME = "same"
REFUSED = "refused"
EXPIRED = "expired"
REMOVED = "removed"

OUTCOMES = (EXPORTED, NEW, CHANGED, SAME, REFUSED, EXPIRED, REMOVED)

MAX_NAMED = 5
"""How many games are named at most."""


class Counts:
    """The numbers of records by kind and outcome, and of what was left out.

    Attributes:
        foreign: Keys that are none of the service's.
        unreadable: Records that hold data of a type that the service does not use.
        unlisted: Games that were copied but are in no list, as this release cannot read them.
        unlisted_ids: The ids of the first few of them.
    """

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str, str]] = Counter()
        self.foreign = 0
        self.unreadable = 0
        self.unlisted = 0
        self.unlisted_ids: list[str] = []

    def add(self, kind: str, outcome: str, number: int = 1) -> None:
        """Count records."""
        self._numbers[kind, outcome] += number

    def add_unlisted(self, game_id: str) -> None:
        """Count a game that is in no list."""
        self.unlisted += 1
        if len(self.unlisted_ids) < MAX_NAMED:
            self.unlisted_ids.append(game_id)

    def number(self, kind: str, outcome: str) -> int:
        """Return the number of records of a kind with an outcome."""
        return self._numbers[kind, outcome]

    def total(self, *outcomes: str) -> int:
        """Return the number of records with one of some outcomes."""
        return sum(self._numbers[kind, each] for kind in KINDS for each in outcomes)

    def table(self) -> str:
        """Return a table of the kinds and the outcomes that there were."""
        columns = [each for each in OUTCOMES if self.total(each)] or ["none"]
        rows = [["", *columns]]
        rows += [[kind, *(f"{self.number(kind, each):,}" for each in columns)] for kind in KINDS]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        )
