"""Seats: which seat a player gets, takes back or gives up. Nothing is read or changed here."""

from __future__ import annotations

from api.games.transactions import LoadedGame
from api.model.game import OPEN, PLAYING, Game, Player, SeatRecord
from api.problems.problem import Problem, invalid
from engine.ruleset import Seat

MAX_OPEN_VERSION = 1000
"""The version from which on no seat of an open game can be taken.

Each version before the start is a change of a seat. A history is read as a whole, so it must not
grow without end, however slowly.
"""

MAX_TIMES_LEFT = 100
"""How often a player may leave a game in play and still take its seat back."""


def free_seat(seats: tuple[SeatRecord, ...], player: Player) -> Seat | None:
    """Return the free seat that is reserved for a player, else the first unreserved free seat."""
    free = [(seat, record.reserved_for) for seat, record in enumerate(seats) if record.is_free]
    reserved = [seat for seat, owner in free if owner is not None and owner.id == player.id]
    unreserved = [seat for seat, owner in free if owner is None]
    return next(iter(reserved + unreserved), None)


def has_free_seat(game: Game, player_id: str | None) -> bool:
    """Return whether a game has a free seat that is not reserved for another player."""
    if game.status != OPEN or game.version >= MAX_OPEN_VERSION:
        return False
    return any(
        record.is_free and (record.reserved_for is None or record.reserved_for.id == player_id)
        for record in game.seats
    )


def seat_to_take_back(loaded: LoadedGame, seat: Seat | None) -> Seat | None:
    """Return the caller's own seat that a house player has, if the caller asks for that seat.

    `seat` is the seat that the caller asks for, None for any.

    Raises `Problem` (``game_full``) if the caller has left too often.
    """
    own = loaded.game.left_seat_of(loaded.reader)
    if own is None or seat not in (None, own):
        return None
    times_left = loaded.game.seats[own].times_left
    if times_left > MAX_TIMES_LEFT:
        raise Problem(
            "game_full",
            f"You have left this game {times_left} times, and can take your seat back at most "
            f"{MAX_TIMES_LEFT} times. The house plays for you to the end. Join another game or "
            "create one.",
        )
    return own


def wants_seat(loaded: LoadedGame, seat: Seat | None) -> bool:
    """Return whether the caller wants a seat in an open game, False if it has that seat already.

    `seat` is the seat that the caller asks for, None for any.

    Raises:
        Problem: ``invalid_request``, ``already_seated``, ``game_over``, ``game_full``.
    """
    game = loaded.game
    if seat is not None and seat >= game.seat_count:
        raise invalid(no_such_seat(seat, game.seat_count), "seat")
    if loaded.seat is not None:
        if seat is None or seat == loaded.seat:
            return False
        raise Problem(
            "already_seated",
            f"You have seat {loaded.seat} and ask for seat {seat}. A player has one seat in a "
            "game: play with yours, or leave the game before its start and join it again.",
        )
    if game.has_ended:
        raise Problem("game_over")
    if game.status == PLAYING:
        raise Problem("game_full")
    return True


def choose_seat(game: Game, player: Player, seat: Seat | None) -> Seat:
    """Return the seat that a player gets in an open game. `seat` is as for `wants_seat`.

    Raises:
        Problem: ``game_full``, ``seat_taken``, ``seat_reserved``.
    """
    if game.version >= MAX_OPEN_VERSION:
        raise Problem(
            "game_full",
            f"The seats of this game have been taken and left {game.version} times, and the limit "
            f"is {MAX_OPEN_VERSION}. Join another game or create one.",
        )
    if seat is None:
        free = free_seat(game.seats, player)
        if free is None:
            raise Problem(
                "game_full",
                "All seats are taken, or reserved for other players. Join another game or create "
                "one.",
            )
        return free
    record = game.seats[seat]
    if not record.is_free:
        raise Problem("seat_taken")
    if record.reserved_for is not None and record.reserved_for.id != player.id:
        raise Problem("seat_reserved")
    return seat


def taken_or_reserved_seat(game: Game, player: Player) -> Seat | None:
    """Return the seat that a player has in an open game, or that is reserved for the player."""
    for seat, record in enumerate(game.seats):
        if (record.player or record.reserved_for) == player:
            return seat
    return None


def next_host(game: Game) -> Player | None:
    """Return the seated player who becomes host: the one who sat down first, None without one."""
    seated = [(r.taken_at, seat, r.player) for seat, r in enumerate(game.seats) if r.player]
    return min(seated, key=lambda each: each[:2])[2] if seated else None


def no_such_seat(seat: int, seat_count: int) -> str:
    """Return the error text for a seat number that is too high."""
    return f"There is no seat {seat}. The seats of this game are 0 to {seat_count - 1}."
