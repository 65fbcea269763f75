"""What all games share: moves, events, results, and the shape of a `Ruleset`.

A ruleset is a value that holds plain functions. The module of a game defines these functions in
the game's own words and ends with its `Ruleset`. Nothing here knows any game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from engine.published import (
    MAX_SEATS,
    MIN_SEATS,
    NamedChoice,
    bounded,
    described,
    published_as,
)

NOT_YOUR_TURN = "not_your_turn"
"""The rule code of a move by a seat that the game does not wait for, in all games."""

COUNTDOWN_RUNNING = "countdown_running"
"""The rule code of a move that starts a countdown while one runs, in all games."""

Seat = Annotated[int, bounded(minimum=0, maximum=MAX_SEATS - 1)]
"""A seat at the table, from 0 in clockwise order."""

Card = Annotated[
    str,
    bounded(
        pattern="^[a-z]{1,16}-[0-9]{1,2}$",
        description="A card, `color-value`.",
        examples=["red-7"],
    ),
]
"""A card's name, ``color-value``: ``red-7``."""

Score = Annotated[int, bounded(minimum=0)]

OPTION_TYPE = NamedChoice(
    "OptionType",
    ("boolean", "integer", "string", "strings"),
    "What an option's value is: `strings` is a list of texts, `string` one of its choices.",
)


class IllegalMove(ValueError):
    """The rules forbid this move in this position.

    ``rule`` is a code for programs (``card_not_in_hand``). ``detail`` tells the player what is
    wrong and what is allowed.
    """

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule
        self.detail = detail


class InvalidSetup(ValueError):
    """The game cannot start with this number of seats, these options or this deal.

    ``path`` leads from the given value to the member that is wrong or missing: ``("hands", 2)``
    in a deal.
    """

    def __init__(self, detail: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path


class InvalidSeatCount(InvalidSetup):
    """The game does not allow this number of seats."""


class InvalidOptions(InvalidSetup):
    """The game has no such option, or does not allow its value."""


class InvalidDeal(InvalidSetup):
    """No shuffle of this game could give this deal."""


class Move(Struct, frozen=True, tag_field="type"):
    """What a seat does. A move that names a set of things holds them sorted."""


class UnknownMove(Move, frozen=True, tag=""):
    """A move of a type that no game has. Each ruleset refuses it as `WRONG_MOVE_TYPE`."""

    name: str
    """The type as the client wrote it."""


def type_of_move(move: Move) -> str:
    """Return the name of a move's type, as clients write it."""
    return move.name if isinstance(move, UnknownMove) else str(move.__struct_config__.tag)


WRONG_MOVE_TYPE = "wrong_move_type"
"""The rule that a move breaks whose type is not possible now."""


def sort_set(move: Move, member: str) -> None:
    """Sort a member that names a set, so that equal moves are equal values."""
    named = getattr(move, member)
    force_setattr(move, member, tuple(sorted(named)))


class Event(Struct, frozen=True, tag_field="type"):
    """One thing that happened, as one reader sees it."""


class TimedEvent(Event, frozen=True, kw_only=True):
    """An event that starts a countdown."""

    # The engine has no clock: the service fills the deadline in.
    deadline: Annotated[
        str | None,
        described(
            "The end of the countdown; null in an analysis, which has no clock.",
            format="date-time",
        ),
    ] = None


class Table(Struct, frozen=True, tag_field="ruleset"):
    """What one reader sees of a position."""


class Preview(Struct, frozen=True, tag_field="ruleset"):
    """What a seat can know of a move's consequences beforehand."""


class Told(Struct, frozen=True):
    """One thing that happened, as each reader is told it."""

    everybody: Event
    """The event for all readers but the seats in ``privately``."""

    privately: tuple[tuple[Seat, Event], ...] = ()
    """The seats that are told more, each with the event as it is told it."""

    def to(self, reader: Seat | None) -> Event:
        """Return the event for this seat, or for a spectator (None)."""
        for seat, event in self.privately:
            if seat == reader:
                return event
        return self.everybody

    def in_full(self) -> Event:
        """Return the event with nothing hidden: for the one seat that is told more, if any."""
        return self.privately[0][1] if len(self.privately) == 1 else self.everybody


class Result(Struct, frozen=True):
    """The end of a game."""

    scores: Annotated[
        tuple[Score, ...],
        described(
            "By seat: its points; the rules say whether many or few are good.",
            minItems=MIN_SEATS,
            maxItems=MAX_SEATS,
        ),
    ]
    winners: Annotated[
        tuple[Seat, ...],
        described(
            "The seats that won; several share the win; none if all lost together.",
            maxItems=MAX_SEATS,
        ),
    ]


class Option(Struct, frozen=True):
    """An option of a ruleset, for createGame."""

    name: Annotated[str, described("The member of `options` that sets it.")]
    type: Annotated[str, published_as(OPTION_TYPE, "The type of its value.")]
    # Of any type: of a union of texts, numbers and lists openapi-generator makes a Java class that
    # does not compile.
    default: Annotated[
        Any,
        described("The value if the option is not given; null if there is no default."),
    ]
    description: Annotated[str, described("What it changes, in sentences for people.")]
    minimum: Annotated[
        int | None,
        described("The least value, or the fewest texts; null if there is no bound.", minimum=0),
    ] = None
    maximum: Annotated[
        int | None,
        described("The greatest value, or the most texts; null if there is no bound.", minimum=0),
    ] = None
    choices: Annotated[
        tuple[str, ...] | None,
        described("The allowed texts; null if the option is no choice between texts."),
    ] = None


class Component(Struct, frozen=True):
    """A kind of thing in the box."""

    kind: Annotated[str, described("Its kind, for example `card`.")]
    name: Annotated[str, described("The name in moves, tables and events.")]
    count: Annotated[int, described("How many there are in the box.", minimum=1)] = 1
    color: Annotated[str | None, described("Its colour; null without one.")] = None
    value: Annotated[
        int | None, described("The value printed on it; null without one.", minimum=0)
    ] = None
    parts: Annotated[
        tuple[str, ...],
        described("The names of its symbols or of its two faces; empty for most things."),
    ] = ()


class MoveType(Struct, frozen=True):
    """A type of move of a game."""

    type: Annotated[str, described("The `type` of such a move.")]
    description: Annotated[str, described("What it does, in a sentence for people.")]


OptionsT = TypeVar("OptionsT", bound=Struct)
DealT = TypeVar("DealT", bound=Struct)
StateT = TypeVar("StateT", bound=Struct)
MoveT = TypeVar("MoveT", bound=Move)
TableT = TypeVar("TableT", bound=Table)

Outcome = tuple[StateT, tuple[Told, ...]]
"""A new position, and what happened, in order."""


def no_countdown(state: Any) -> int | None:
    """Return None: the ``countdown`` of a game without countdowns."""
    return None


def nothing_expires(state: Any) -> Any:
    """Raise `IllegalMove` (``no_countdown``): the ``expire`` of a game without countdowns."""
    raise IllegalMove("no_countdown", "No countdown is running.")


def no_preview(table: Any, seat: Seat, move: Any) -> Preview | None:
    """Return None: the ``preview`` of a game without previews."""
    return None


def any_options(seats: int, options: Any) -> None:
    """Allow all options: the ``check_options`` of a game whose struct checks everything."""


@dataclass(frozen=True, slots=True)
class Ruleset(Generic[OptionsT, DealT, StateT, MoveT, TableT]):
    """A game: its description for the catalogue, its types, and the functions that play it.

    The types are msgspec types that read and write JSON; equal values write equal bytes.
    """

    id: str
    """The id on the wire: lower-case words with hyphens."""

    title: str
    """The title as printed on the box."""

    min_seats: int
    """The least number of seats."""

    max_seats: int
    """The largest number of seats."""

    options: tuple[Option, ...]
    """The options, in the order of the fields of ``options_type``."""

    components: tuple[Component, ...]
    """Everything in the box, each kind of thing once."""

    move_types: tuple[MoveType, ...]
    """The types of move, one for each member of ``move_type``."""

    options_type: type[OptionsT]
    """The struct of the options; its defaults are those of the catalogue."""

    deal_type: type[DealT]
    """The struct of a deal."""

    state_type: type[StateT]
    """The struct of a position."""

    move_type: Any
    """A type of move, or a union of several."""

    event_types: tuple[type[Event], ...]
    """The structs of the events, in the order of the document."""

    table_type: type[TableT]
    """The struct of what a seat or a spectator sees."""

    deal: Callable[[int, OptionsT, Random], DealT]
    """``deal(seats, options, rng)``: everything that chance decides in a game."""

    start: Callable[[int, OptionsT, DealT], Outcome[StateT]]
    """``start(seats, options, deal)``: the first state, and what happened. Raises `InvalidDeal`."""

    to_move: Callable[[StateT], tuple[Seat, ...]]
    """``to_move(state)``: the seats that the game waits for, ascending; empty once it is over."""

    legal_moves: Callable[[StateT, Seat], tuple[MoveT, ...]]
    """``legal_moves(state, seat)``: every legal move of a seat, in a fixed order."""

    apply: Callable[[StateT, Seat, MoveT], Outcome[StateT]]
    """``apply(state, seat, move)``: the new state, and what happened. Raises `IllegalMove`."""

    view: Callable[[StateT, Seat | None], TableT]
    """``view(state, seat)``: what a seat, or a spectator (None), sees."""

    result: Callable[[StateT], Result | None]
    """``result(state)``: the scores and winners; None before the end."""

    redeal_hidden: Callable[[StateT, Seat | None, Random], StateT]
    """``redeal_hidden(state, seat, rng)``: a random state that a seat, or a spectator (None),
    cannot tell from this one, given everything that it has been told."""

    preview_type: type[Preview] | None = None
    """The struct of what ``preview`` returns; None in a game without previews."""

    preview: Callable[[TableT, Seat, MoveT], Preview | None] = no_preview
    """``preview(table, seat, move)``: what a move would do, judged by the seat's view; or None."""

    countdown: Callable[[StateT], int | None] = no_countdown
    """``countdown(state)``: the length of the running countdown in seconds; None without one."""

    expire: Callable[[StateT], Outcome[StateT]] = nothing_expires
    """``expire(state)``: what the end of the countdown brings. Raises `IllegalMove`."""

    check_options: Callable[[int, OptionsT], None] = any_options
    """``check_options(seats, options)``: what the struct cannot check. Raises `InvalidOptions`."""

    def check_seats(self, seats: int) -> None:
        """Raise `InvalidSeatCount` unless the game allows this number of seats."""
        if not self.min_seats <= seats <= self.max_seats:
            raise InvalidSeatCount(
                f"{self.title} is for {self.min_seats} to {self.max_seats} seats, not {seats}."
            )

    def read_options(self, seats: int, given: Mapping[str, Any]) -> OptionsT:
        """Read options, with defaults for those not given. Raises `InvalidOptions`."""
        options = _read(given, self.options_type, InvalidOptions)
        self.check_options(seats, options)
        return options

    def read_deal(self, given: Any) -> DealT:
        """Read a deal from its JSON form. Raises `InvalidDeal`; ``start`` checks its cards."""
        return _read(given, self.deal_type, InvalidDeal)


AnyRuleset = Ruleset[Any, Any, Any, Any, Any]
"""A ruleset of any game."""

Value = TypeVar("Value")


def _read(given: Any, wanted: type[Value], error: type[InvalidSetup]) -> Value:
    """Convert a JSON value to a type, or raise this error with the path of the wrong member."""
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
    """Split a path as msgspec writes it (``$.hands[2]``) into its steps.

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
    """Whether the game is at the same decision point before and after a move.

    Seats that act at the same time share one decision point: after one of them has moved, the
    game waits for exactly the others. Any other change opens a new decision point.

    >>> same_decision((0, 1, 2), 1, (0, 2)), same_decision((0,), 0, (1,))
    (True, False)
    """
    return bool(after) and after == tuple(seat for seat in before if seat != mover)


def replaced(values: tuple[Value, ...], seat: Seat, value: Value) -> tuple[Value, ...]:
    """Return a list by seat with the entry of one seat replaced.

    >>> replaced((10, 11, 12), 1, 99)
    (10, 99, 12)
    """
    return (*values[:seat], value, *values[seat + 1 :])
