"""What the games have in common on the wire: the unions of their moves, events, tables, previews.

A ruleset's wire schemas are listed here, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api.web.schemas import contrast, mit_list_und_tuecke, parade, tea_time
from api.web.schemas.cards import MAX_SEATS, MIN_SEATS, by_seat, seat
from api.web.schemas.fields import Constant, MoveField, Union, described, listed, number, part, text
from api.web.schemas.players import PlayerSchema

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


class SeatTakenSchema(Schema):
    """A player sat down."""

    type = Constant("seat_taken")
    seat = seat("The seat that was free.")
    player = part(PlayerSchema, "Who has it now.")


class SeatLeftSchema(Schema):
    """A player left before the start, and the seat is free again."""

    type = Constant("seat_left")
    seat = seat("The seat that is free now.")
    player = part(PlayerSchema, "Who had it, or had it reserved.")


class SeatHandedOverSchema(Schema):
    """The house plays for a seat from now on, at this level."""

    type = Constant("seat_handed_over")
    seat = seat("The seat.")
    house = text("The level at which the house plays.")


class SeatTakenBackSchema(Schema):
    """A player plays again for the seat that the house had."""

    type = Constant("seat_taken_back")
    seat = seat("The seat.")
    player = part(PlayerSchema, "Who is back.")


class TimeRanOutSchema(Schema):
    """A seat took too long: the house makes this one move for it."""

    type = Constant("time_ran_out")
    seat = seat("The seat, which moves itself again the next time.")


class GameStartedSchema(Schema):
    """All seats are taken and the game begins."""

    type = Constant("game_started")
    seat_count = number("How many play.", MIN_SEATS, MAX_SEATS)


class GameFinishedSchema(Schema):
    """The rules ended the game."""

    type = Constant("game_finished")
    result = part(ResultSchema, "How it ended.")


class GameCancelledSchema(Schema):
    """The game was called off."""

    type = Constant("game_cancelled")


MOVES: dict[str, type[Schema]] = {}
EVENTS: dict[str, type[Schema]] = {
    "seat_taken": SeatTakenSchema,
    "seat_left": SeatLeftSchema,
    "seat_handed_over": SeatHandedOverSchema,
    "seat_taken_back": SeatTakenBackSchema,
    "time_ran_out": TimeRanOutSchema,
    "game_started": GameStartedSchema,
    "game_finished": GameFinishedSchema,
    "game_cancelled": GameCancelledSchema,
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
