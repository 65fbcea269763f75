"""What the games have in common on the wire: the unions of their moves, events, tables, previews.

A ruleset's wire schemas are listed here, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.model.events import (
    GameCancelled,
    GameFinished,
    GameStarted,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
    TimeRanOut,
)
from api.web.openapi.structs import Answer
from api.web.schemas import contrast, mit_list_und_tuecke, parade, tea_time
from api.web.schemas.cards import MAX_SEATS, by_seat
from api.web.schemas.fields import MoveField, Union, described, listed, number

OF_RULESETS: dict[str, Any] = {
    "parade": parade,
    "tea-time": tea_time,
    "contrast": contrast,
    "mit-list-und-tuecke": mit_list_und_tuecke,
}


class ResultSchema(Schema):
    """The end of a game."""

    scores = by_seat(
        number(), "By seat; whether many or few points are good is for the game to say."
    )
    winners = listed(
        number(maximum=MAX_SEATS - 1),
        "The seats that won; several share the win, none if all lost together.",
        most=MAX_SEATS,
    )


MOVES: dict[str, type[Schema]] = {}
EVENTS: dict[str, type[Schema] | Answer] = {
    "seat_taken": Answer(SeatTaken),
    "seat_left": Answer(SeatLeft),
    "seat_handed_over": Answer(SeatHandedOver),
    "seat_taken_back": Answer(SeatTakenBack),
    "time_ran_out": Answer(TimeRanOut),
    "game_started": Answer(GameStarted),
    "game_finished": Answer(GameFinished),
    "game_cancelled": Answer(GameCancelled),
}
TABLES: dict[str, type[Schema]] = {}
PREVIEWS: dict[str, type[Schema]] = {}
OPTIONS: dict[str, fields.Field[Any]] = {}


def _join(name: str, common: dict[str, Any], of_game: dict[str, Any]) -> None:
    """Add what a game has. What two games name alike must be one and the same."""
    for key, value in of_game.items():
        if common.setdefault(key, value) is not value:
            raise ValueError(f"Two games have different {name} called {key}.")


for _ruleset, _module in OF_RULESETS.items():
    _join("moves", MOVES, _module.MOVES)
    _join("events", EVENTS, _module.EVENTS)
    _join("options", OPTIONS, _module.OPTIONS)
    TABLES[_ruleset] = _module.TABLE
    if _module.PREVIEW is not None:
        PREVIEWS[_ruleset] = _module.PREVIEW


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


def event(**kwargs: Any) -> Union:
    """An event of any game."""
    return Union(
        "GameEvent", "type", EVENTS, "One thing that happened, as you are told it.", **kwargs
    )


def table(description: str | None = None, **kwargs: Any) -> Union:
    """What a reader sees of any game."""
    return Union(
        "Table",
        "ruleset",
        TABLES,
        "What you see of the table.",
        metadata={} if description is None else described(description),
        **kwargs,
    )


def preview(description: str | None = None, **kwargs: Any) -> Union:
    """What a seat can know beforehand, of any game."""
    return Union(
        "Preview",
        "ruleset",
        PREVIEWS,
        "What you can know of a move beforehand.",
        metadata={} if description is None else described(description),
        **kwargs,
    )
