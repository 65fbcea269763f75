"""Events of a game's lifecycle, which are the same under all rules."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from api.model.game import Player
from api.model.members import SeatCount
from engine.published import described, published_as
from engine.ruleset import Event, GameResult, Seat


class ItemCause(StrEnum):
    """The actor that caused an event."""

    PLAYER = "player"
    HOUSE = "house"
    CLOCK = "clock"
    TABLE = "table"


BY_PLAYER, BY_HOUSE, BY_CLOCK, BY_TABLE = ItemCause


class HandoverCause(StrEnum):
    """Why the house plays for a seat.

    Its player left, the clock moved for it in two turns in a row, or it was empty at the start.
    """

    LEFT = "left"
    TIME = "time"
    START = "start"


class SeatTaken(Event, frozen=True, tag="seat_taken"):
    """A player took the seat."""

    seat: Annotated[Seat, described("The seat.")]
    player: Annotated[Player, described("The player who took it.")]


class SeatLeft(Event, frozen=True, tag="seat_left"):
    """A player left before the start, and the seat is free again.

    If it was the host's seat, the player who sat down next is the game's `host` from now on.
    """

    seat: Annotated[Seat, described("The seat, which is free now.")]
    player: Annotated[Player, described("The player who had it or for whom it was reserved.")]


class SeatHandedOver(Event, frozen=True, tag="seat_handed_over"):
    """The house plays for the seat from now on."""

    seat: Annotated[Seat, described("The seat.")]
    house: Annotated[str, described("The level of the house.")]
    cause: Annotated[str, published_as(HandoverCause, "Why the house plays for the seat.")]


class SeatTakenBack(Event, frozen=True, tag="seat_taken_back"):
    """The player plays again for the seat that the house played for."""

    seat: Annotated[Seat, described("The seat.")]
    player: Annotated[Player, described("The player.")]


class TimeRanOut(Event, frozen=True, tag="time_ran_out"):
    """The time of a seat ran out: the house makes this one move for it.

    The events of the move follow.
    """

    seat: Annotated[
        Seat,
        described(
            "The seat. Its player makes the next move again, unless `seat_handed_over` follows."
        ),
    ]


class GameStarted(Event, frozen=True, tag="game_started"):
    """All seats are taken and the game starts; its first events follow."""

    seat_count: Annotated[SeatCount, described("The number of seats.")]


class GameFinished(Event, frozen=True, tag="game_finished"):
    """The game is over by its rules."""

    result: Annotated[GameResult, described("The result.")]


class GameCancelled(Event, frozen=True, tag="game_cancelled"):
    """The game was cancelled before its end."""
