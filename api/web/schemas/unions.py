"""The moves and options of all games, as request bodies have them.

The module of each ruleset's request schemas is registered here, and only here.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.web.schemas import contrast, mit_list_und_tuecke, parade, tea_time
from api.web.schemas.fields import MoveField, RequestSchema, described

OF_RULESETS: dict[str, Any] = {
    "parade": parade,
    "tea-time": tea_time,
    "contrast": contrast,
    "mit-list-und-tuecke": mit_list_und_tuecke,
}


MOVES: dict[str, type[Schema]] = {}
OPTIONS: dict[str, fields.Field[Any]] = {}


def _join(name: str, common: dict[str, Any], of_game: dict[str, Any]) -> None:
    """Add the moves or options of a game. A name that two games use must mean the same object."""
    for key, value in of_game.items():
        if common.setdefault(key, value) is not value:
            raise ValueError(f"Two games have different {name} called {key}.")


for _module in OF_RULESETS.values():
    _join("moves", MOVES, _module.MOVES)
    _join("options", OPTIONS, _module.OPTIONS)


class GameOptionsSchema(Schema.from_dict(OPTIONS)):  # type: ignore[misc]
    """The options of a game; which ones there are depends on the ruleset."""


class ChosenOptionsSchema(RequestSchema.from_dict(OPTIONS)):  # type: ignore[misc]
    """The options that a new game is to have; which ones there are depends on the ruleset."""


def move(description: str | None = None, **kwargs: Any) -> MoveField:
    """Return a field for a move of any game."""
    return MoveField(
        "Move",
        "type",
        MOVES,
        "What a seat does when it is to move.",
        metadata={} if description is None else described(description),
        **kwargs,
    )
