"""Whatever changes on the table can be drawn from the events alone."""

from __future__ import annotations

import pytest

from engine.registry import RULESETS
from tests.engine.play import Case, all_cases, plain, random_game, views
from tests.engine.rebuild.rebuilders import REBUILDERS

GAMES = 20


@pytest.mark.parametrize("ruleset_id", RULESETS)
def test_every_ruleset_can_be_redrawn(ruleset_id: str) -> None:
    assert ruleset_id in REBUILDERS, "tests/engine/rebuild/rebuilders.py needs an entry"


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_the_first_view_and_the_events_give_every_later_view(case: Case) -> None:
    for seed in range(GAMES):
        redraw_game(case, seed)


def redraw_game(case: Case, seed: int) -> None:
    """Redraw a random game for each reader, and compare with its view after every move."""
    redraw = REBUILDERS[case.ruleset_id]
    steps = random_game(case, seed)
    tables = {reader: plain(table) for reader, table in views(case, steps[0].before).items()}
    for number, step in enumerate(steps):
        for reader, table in tables.items():
            for event in step.events(reader):
                redraw(table, reader, plain(event))
            where = f"game {seed}, move {number}, reader {reader}"
            assert table == plain(case.ruleset.view(step.after, reader)), where
