"""What happens at a table that is no matter of any game's rules: people come, go, and end."""

from __future__ import annotations

from enum import StrEnum

from api.model.game import Player
from engine.ruleset import Event, Result, Seat


class Cause(StrEnum):
    """Who caused something."""

    PLAYER = "player"
    HOUSE = "house"
    CLOCK = "clock"
    TABLE = "table"


BY_PLAYER, BY_HOUSE, BY_CLOCK, BY_TABLE = Cause


class SeatTaken(Event, frozen=True, tag="seat_taken"):
    """A player sat down."""

    seat: Seat
    player: Player


class SeatLeft(Event, frozen=True, tag="seat_left"):
    """A player left before the start, and the seat is free again."""

    seat: Seat
    player: Player


class SeatHandedOver(Event, frozen=True, tag="seat_handed_over"):
    """The house plays for a seat from now on."""

    seat: Seat
    house: str


class SeatTakenBack(Event, frozen=True, tag="seat_taken_back"):
    """A player plays again for the seat that the house had."""

    seat: Seat
    player: Player


class TimeRanOut(Event, frozen=True, tag="time_ran_out"):
    """A seat took too long: the house makes this one move for it, and the move's events follow."""

    seat: Seat


class GameStarted(Event, frozen=True, tag="game_started"):
    """All seats are taken and the game begins; its first events follow."""

    seat_count: int


class GameFinished(Event, frozen=True, tag="game_finished"):
    """The rules ended the game."""

    result: Result


class GameCancelled(Event, frozen=True, tag="game_cancelled"):
    """The game was called off."""
