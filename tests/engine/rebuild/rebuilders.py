"""For every ruleset, how a front end would redraw the table from events alone.

A rebuilder gets the table as JSON, the reader (a seat, None for a spectator) and one event as
this reader is told it, and changes the table. It knows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.engine.rebuild import contrast, mit_list_und_tuecke, parade, tea_time

Rebuilder = Callable[[dict[str, Any], int | None, dict[str, Any]], None]

REBUILDERS: dict[str, Rebuilder] = {
    "parade": parade.redraw,
    "tea-time": tea_time.redraw,
    "contrast": contrast.redraw,
    "mit-list-und-tuecke": mit_list_und_tuecke.redraw,
}
