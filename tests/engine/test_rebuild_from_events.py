"""A front end can redraw every change of the table from the events alone."""

from __future__ import annotations

import pytest

from engine.registry import RULESETS
from tests.engine.play import Case, Step, all_cases, plain, several_games, views
from tests.engine.rebuild.rebuilders import REBUILDERS

MOVES = 300
"""How many moves are redrawn for each case; the last game is redrawn to its end."""


@pytest.mark.parametrize("ruleset_id", RULESETS)
def test_every_ruleset_can_be_redrawn(ruleset_id: str) -> None:
    assert ruleset_id in REBUILDERS, "tests/engine/rebuild/rebuilders.py needs an entry"


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_the_first_view_and_the_events_give_every_later_view(case: Case) -> None:
    for number, steps in enumerate(several_games(case, MOVES)):
        redraw_game(case, steps, f"game {number}")


def redraw_game(case: Case, steps: tuple[Step, ...], game: str) -> None:
    """Redraw a game for each reader, and compare with its view after every move."""
    redraw = REBUILDERS[case.ruleset_id]
    tables = {reader: plain(table) for reader, table in views(case, steps[0].before).items()}
    for number, step in enumerate(steps):
        for reader, table in tables.items():
            for event in step.events(reader):
                redraw(table, reader, plain(event))
            seen = plain(case.ruleset.view(step.after, reader))
            assert table == seen, f"{game}, move {number}, reader {reader}"
