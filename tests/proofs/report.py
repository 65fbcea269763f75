"""The figures of a proof, with the bounds that they must keep, as a table and as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

QUICK_SECONDS = 6.0
LONG_SECONDS = 60.0


Number = TypeVar("Number", int, float)


class Effort(NamedTuple):
    """How long a proof runs, and how much it tries."""

    seconds: float
    is_quick: bool

    def times(self, quick: Number, long: Number) -> Number:
        """Choose a value for the quick or for the long form."""
        return quick if self.is_quick else long

    def least(self, each_second: float) -> int:
        """Return the number that this rate reaches. Slow machines must reach it too."""
        return max(round(each_second * self.seconds), 1)


QUICK = Effort(QUICK_SECONDS, is_quick=True)


@dataclass(frozen=True)
class Row:
    """A figure, its bound if it has one, and whether it keeps it."""

    scenario: str
    what: str
    number: float
    demanded: str = ""
    is_met: bool = True


class Report:
    """Collects the figures of scenarios."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.scenario = ""

    def tell(self, what: str, number: float) -> None:
        """Add a figure without a bound."""
        self.rows.append(Row(self.scenario, what, number))

    def none(self, what: str, number: int, examples: object = None) -> None:
        """Add a figure that must be zero."""
        self._demand(what, number, "0", number == 0)
        if number:
            self.notes.append(f"{self.scenario}: {what}: {examples}"[:2000])

    def at_least(self, what: str, number: float, least: float) -> None:
        """Add a figure with a lower bound, as proof that the load was real."""
        self._demand(what, number, f">= {least:g}", number >= least)

    def at_most(self, what: str, number: float, most: float) -> None:
        """Add a figure with an upper bound."""
        self._demand(what, number, f"<= {most:g}", number <= most)

    def _demand(self, what: str, number: float, demanded: str, is_met: bool) -> None:
        self.rows.append(Row(self.scenario, what, number, demanded, is_met))

    @property
    def failures(self) -> list[str]:
        """The figures out of bounds, in words."""
        failed = [
            f"{row.scenario}: {row.what}: {row.number:g}, not {row.demanded}"
            for row in self.rows
            if not row.is_met
        ]
        return failed + self.notes if failed else []

    def table(self) -> str:
        """Return all figures as a table."""
        lines = [f"{'':54}{'number':>12}  demanded"]
        scenario = None
        for row in self.rows:
            if row.scenario != scenario:
                scenario = row.scenario
                lines.append(scenario)
            number = f"{row.number:,.2f}" if isinstance(row.number, float) else f"{row.number:,}"
            mark = "" if row.is_met else "  NOT MET"
            lines.append(f"  {row.what:<52}{number:>12}  {row.demanded}{mark}")
        return "\n".join([*lines, *self.notes])

    def json(self) -> str:
        """Return all figures as JSON."""
        return json.dumps([asdict(row) for row in self.rows], indent=2) + "\n"


Scenario = Callable[[Report, Effort], None]


def run(scenarios: Mapping[str, Scenario], about: str | None) -> None:
    """Run the scenarios as a command."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help=", ".join(scenarios))
    parser.add_argument("--quick", action="store_true", help="the short form that CI runs")
    parser.add_argument("--seconds", type=float, help="how long each kind of load lasts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    groups = {name.partition("/")[0] for name in scenarios}
    if unknown := set(arguments.scenario) - set(scenarios) - groups:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    seconds = arguments.seconds or (QUICK_SECONDS if arguments.quick else LONG_SECONDS)
    effort = Effort(seconds, arguments.quick)
    report = Report()
    for name, scenario in scenarios.items():
        is_asked_for = {name, name.partition("/")[0]} & set(arguments.scenario)
        if is_asked_for or not arguments.scenario:
            report.scenario = name
            print(f"{name} …", file=sys.stderr, flush=True)
            try:
                scenario(report, effort)
            except pytest.skip.Exception as lacking:  # a program that it needs
                report.notes.append(f"{name} was not tried: {lacking}")
    print(report.table())
    if arguments.json:
        arguments.json.write_text(report.json(), encoding="utf-8")
    sys.exit(1 if report.failures or not report.rows else 0)
