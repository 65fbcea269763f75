"""Moves and options of all games, as request bodies have them.

A ruleset's wire schemas are listed here, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.web.schemas import contrast, mit_list_und_tuecke, parade, tea_time
from api.web.schemas.fields import MoveField, described

OF_RULESETS: dict[str, Any] = {
    "parade": parade,
    "tea-time": tea_time,
    "contrast": contrast,
    "mit-list-und-tuecke": mit_list_und_tuecke,
}


MOVES: dict[str, type[Schema]] = {}
OPTIONS: dict[str, fields.Field[Any]] = {}


def _join(name: str, common: dict[str, Any], of_game: dict[str, Any]) -> None:
    """Add what a game has. What two games name alike must be one and the same."""
    for key, value in of_game.items():
        if common.setdefault(key, value) is not value:
            raise ValueError(f"Two games have different {name} called {key}.")


for _module in OF_RULESETS.values():
    _join("moves", MOVES, _module.MOVES)
    _join("options", OPTIONS, _module.OPTIONS)


class OptionsSchema(Schema.from_dict(OPTIONS)):  # type: ignore[misc]
    """The options of a game; which ones there are depends on the ruleset."""


def move(description: str | None = None, **kwargs: Any) -> MoveField:
    """A move of any game."""
    return MoveField(
        "Move",
        "type",
        MOVES,
        "What a seat does when it is to move.",
        metadata={} if description is None else described(description),
        **kwargs,
    )
