"""What every game offers: the words they share, and the shape of a ruleset.

A ruleset is a value made of plain functions; its module defines them in the game's own
words and hands them over in one `Ruleset` at its end. Nothing here knows any game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

NOT_YOUR_TURN = "not_your_turn"
"""The rule against a move of a seat that the game does not wait for; the same in all games."""

COUNTDOWN_RUNNING = "countdown_running"
"""The rule against starting a countdown that runs already; the same in all games."""

Seat = int
"""A place at the table, from 0 in clockwise order."""

Card = str
"""A card's name, ``color-value``: ``red-7``."""


class IllegalMove(ValueError):
    """The rules forbid this move in this position.

    ``rule`` is a machine code (``card_not_in_hand``), ``detail`` a sentence for people.
    """

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule
        self.detail = detail


class InvalidSetup(ValueError):
    """A number of seats, an option or a deal that this game cannot start from.

    ``path`` leads from the value that was given to the member that is wrong, or missing:
    ``("hands", 2)`` in a deal.
    """

    def __init__(self, detail: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path


class InvalidSeatCount(InvalidSetup):
    """The game is not for this number of seats."""


class InvalidOptions(InvalidSetup):
    """An option that the game does not have, or a value that it does not allow."""


class InvalidDeal(InvalidSetup):
    """A deal that no shuffle of this game could have given."""


class Move(Struct, frozen=True, tag_field="type"):
    """What a seat does. A move that names a set holds it in its canonical, sorted order."""


def sort_set(move: Move, member: str) -> None:
    """Bring a member that names a set into its canonical order, whatever order was given."""
    named = getattr(move, member)
    force_setattr(move, member, tuple(sorted(named)))


class Event(Struct, frozen=True, tag_field="type"):
    """One thing that happened, as one reader may see it."""


class TimedEvent(Event, frozen=True, kw_only=True):
    """An event that opens a countdown. The engine has no clock: whoever has one fills in when."""

    deadline: str | None = None


class Table(Struct, frozen=True, tag_field="ruleset"):
    """What one reader may see of a position."""


class Preview(Struct, frozen=True, tag_field="ruleset"):
    """What a seat can already know of a move's consequences."""


class Told(Struct, frozen=True):
    """One thing that happened: what everybody is told, and the seats that are told more."""

    everybody: Event
    privately: tuple[tuple[Seat, Event], ...] = ()

    def to(self, reader: Seat | None) -> Event:
        """The event as this seat, or a spectator (None), is told it."""
        for seat, event in self.privately:
            if seat == reader:
                return event
        return self.everybody

    def in_full(self) -> Event:
        """The event as told to the one seat that is told more, for who may know everything."""
        return self.privately[0][1] if len(self.privately) == 1 else self.everybody


class Result(Struct, frozen=True):
    """The end of a game: a score for each seat, and the seats that won."""

    scores: tuple[int, ...]
    winners: tuple[Seat, ...]


class Option(Struct, frozen=True):
    """A choice that whoever creates a game may make, for the catalogue."""

    name: str
    type: str
    default: Any
    description: str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] | None = None


class Component(Struct, frozen=True):
    """A kind of thing in the box: its name on the wire, what it is made of, how many there are."""

    kind: str
    name: str
    count: int = 1
    color: str | None = None
    value: int | None = None
    parts: tuple[str, ...] = ()


class MoveType(Struct, frozen=True):
    """A type of move of a game, for the catalogue."""

    type: str
    description: str


OptionsT = TypeVar("OptionsT", bound=Struct)
DealT = TypeVar("DealT", bound=Struct)
StateT = TypeVar("StateT", bound=Struct)
MoveT = TypeVar("MoveT", bound=Move)
TableT = TypeVar("TableT", bound=Table)

Outcome = tuple[StateT, tuple[Told, ...]]
"""A new position, and what happened."""


def no_countdown(state: Any) -> int | None:
    """For the games without a countdown."""
    return None


def nothing_expires(state: Any) -> Any:
    """For the games without a countdown.

    Raises `IllegalMove` (``no_countdown``), always.
    """
    raise IllegalMove("no_countdown", "No countdown is running.")


def no_preview(table: Any, seat: Seat, move: Any) -> Preview | None:
    """For the games where nothing can be told of a move beforehand."""
    return None


@dataclass(frozen=True, slots=True)
class Ruleset(Generic[OptionsT, DealT, StateT, MoveT, TableT]):
    """A game: what it is called and made of, and the functions that play it.

    Types: ``options_type``, ``deal_type``, ``state_type`` and ``move_type`` (a union of
    moves) are msgspec types that read and write JSON; equal values write equal bytes.

    - ``deal(seats, options, rng)``: everything that chance decides in a game.
    - ``start(seats, options, deal)``: the first state, and what everybody is told of it.
      Raises `InvalidDeal`.
    - ``to_move(state)``: the seats that the game waits for, ascending; empty once it is over.
    - ``legal_moves(state, seat)``: every legal move, in a fixed order.
    - ``apply(state, seat, move)``: the new state, and what happened. Raises `IllegalMove`.
    - ``view(state, seat)``: what this seat, or a spectator (None), may see.
    - ``result(state)``: scores and winners, None before the end.
    - ``preview(table, seat, move)``: from the seat's own view, what its move would do; or None.
    - ``redeal_hidden(state, seat, rng)``: a random state that this seat (None: a spectator)
      cannot tell from this one, given everything that it has been told.
    - ``countdown(state)``: how many seconds the running countdown gives, None if none runs.
    - ``expire(state)``: what happens when the countdown has run out. Raises `IllegalMove`.
    """

    id: str
    title: str
    min_seats: int
    max_seats: int
    options: tuple[Option, ...]
    components: tuple[Component, ...]
    move_types: tuple[MoveType, ...]

    options_type: type[OptionsT]
    deal_type: type[DealT]
    state_type: type[StateT]
    move_type: Any

    deal: Callable[[int, OptionsT, Random], DealT]
    start: Callable[[int, OptionsT, DealT], Outcome[StateT]]
    to_move: Callable[[StateT], tuple[Seat, ...]]
    legal_moves: Callable[[StateT, Seat], tuple[MoveT, ...]]
    apply: Callable[[StateT, Seat, MoveT], Outcome[StateT]]
    view: Callable[[StateT, Seat | None], TableT]
    result: Callable[[StateT], Result | None]
    redeal_hidden: Callable[[StateT, Seat | None, Random], StateT]
    preview: Callable[[TableT, Seat, MoveT], Preview | None] = no_preview
    countdown: Callable[[StateT], int | None] = no_countdown
    expire: Callable[[StateT], Outcome[StateT]] = nothing_expires
    check_options: Callable[[int, OptionsT], None] = lambda seats, options: None

    def check_seats(self, seats: int) -> None:
        """Raise `InvalidSeatCount` if the game is not for this number of seats."""
        if not self.min_seats <= seats <= self.max_seats:
            raise InvalidSeatCount(
                f"{self.title} is for {self.min_seats} to {self.max_seats} seats."
            )

    def read_options(self, seats: int, given: Mapping[str, Any]) -> OptionsT:
        """The options, with defaults for those not given. Raises `InvalidOptions`."""
        options = _read(given, self.options_type, InvalidOptions)
        self.check_options(seats, options)
        return options

    def read_deal(self, given: Any) -> DealT:
        """A deal from its JSON form. Raises `InvalidDeal`; ``start`` checks the rest."""
        return _read(given, self.deal_type, InvalidDeal)


AnyRuleset = Ruleset[Any, Any, Any, Any, Any]
"""A ruleset of which nothing is known but that it is one."""


Value = TypeVar("Value")


def _read(given: Any, wanted: type[Value], error: type[InvalidSetup]) -> Value:
    try:
        return msgspec.convert(given, wanted)
    except UnicodeEncodeError:
        raise error("Not well-formed Unicode.") from None
    except msgspec.ValidationError as problem:
        detail, _, where = str(problem).partition(" - at `")
        path = _path(where.rstrip("`"))
        if named := re.fullmatch(r"Object .* field `(.*)`", detail):
            path = (*path, named[1])
        raise error(detail + ".", path) from None


def _path(where: str) -> tuple[str | int, ...]:
    """The path in msgspec's words (``$.hands[2]``) as its steps.

    >>> _path("$.hands[2]")
    ('hands', 2)
    """
    steps: list[str | int] = []
    for name in where.removeprefix("$").replace("[", ".[").split(".")[1:]:
        index = name.strip("[]")
        if name.startswith("[") and index.isdigit():
            steps.append(int(index))
        elif not name.startswith("["):
            steps.append(name)
    return tuple(steps)


def same_decision(before: tuple[Seat, ...], mover: Seat, after: tuple[Seat, ...]) -> bool:
    """Whether a move leaves the game at the decision point at which it was made.

    Seats that act at once share one decision point: after one of them moved, the game still
    waits for exactly the others. Any other change opens a new one.

    >>> same_decision((0, 1, 2), 1, (0, 2)), same_decision((0,), 0, (1,))
    (True, False)
    """
    return bool(after) and after == tuple(seat for seat in before if seat != mover)


def replaced(values: tuple[Value, ...], seat: Seat, value: Value) -> tuple[Value, ...]:
    """A list by seat with one seat's entry replaced.

    >>> replaced((10, 11, 12), 1, 99)
    (10, 99, 12)
    """
    return (*values[:seat], value, *values[seat + 1 :])
