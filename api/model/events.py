"""Events of a game's lifecycle, which are the same under all rules."""

from __future__ import annotations

from enum import StrEnum

from api.model.game import Player
from engine.ruleset import Event, Result, Seat


class Cause(StrEnum):
    """The actor that caused an event."""

    PLAYER = "player"
    HOUSE = "house"
    CLOCK = "clock"
    TABLE = "table"


BY_PLAYER, BY_HOUSE, BY_CLOCK, BY_TABLE = Cause


class SeatTaken(Event, frozen=True, tag="seat_taken"):
    """A player took the seat."""

    seat: Seat
    player: Player


class SeatLeft(Event, frozen=True, tag="seat_left"):
    """A player left before the start, and the seat is free again."""

    seat: Seat
    player: Player


class SeatHandedOver(Event, frozen=True, tag="seat_handed_over"):
    """The house plays for the seat from now on."""

    seat: Seat
    house: str


class SeatTakenBack(Event, frozen=True, tag="seat_taken_back"):
    """The player plays again for the seat that the house played for."""

    seat: Seat
    player: Player


class TimeRanOut(Event, frozen=True, tag="time_ran_out"):
    """The time of a seat ran out: the house makes this one move for it.

    The events of the move follow.
    """

    seat: Seat


class GameStarted(Event, frozen=True, tag="game_started"):
    """All seats are taken and the game starts; its first events follow."""

    seat_count: int


class GameFinished(Event, frozen=True, tag="game_finished"):
    """The game is over by its rules."""

    result: Result


class GameCancelled(Event, frozen=True, tag="game_cancelled"):
    """The game was cancelled before its end."""
