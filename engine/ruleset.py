"""What all games share: moves, events, results, and the shape of a `Ruleset`.

A ruleset is a value that holds plain functions. The module of a game defines these functions in
the game's own words and ends with its `Ruleset`. Nothing here knows any game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Annotated, Any, Generic, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from engine.published import (
    MAX_SEATS,
    NamedChoice,
    NamedScalar,
    bounded,
    by_seat,
    described,
    published_as,
)

NOT_YOUR_TURN = "not_your_turn"
"""The rule code of a move by a seat that the game does not wait for, in all games."""

COUNTDOWN_RUNNING = "countdown_running"
"""The rule code of a move that starts a countdown while one runs, in all games."""

SEAT_NUMBER = NamedScalar(
    "SeatNumber",
    {"type": "integer", "minimum": 0, "maximum": MAX_SEATS - 1},
    "The number of a seat, from 0 in clockwise order.",
)
Seat = Annotated[int, published_as(SEAT_NUMBER)]
"""A seat at the table, from 0 in clockwise order."""

CARD = NamedScalar(
    "Card",
    {"type": "string", "pattern": "^[a-z]{1,16}-[0-9]{1,2}$", "examples": ["red-7"]},
    "A card, `color-value`.",
)
Card = Annotated[str, published_as(CARD)]
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


class Deal(Struct, frozen=True, forbid_unknown_fields=True, tag_field="ruleset"):
    """Everything that chance decides in a game."""


class Table(Struct, frozen=True, tag_field="ruleset"):
    """What one reader sees of a position."""


class Preview(Struct, frozen=True, tag_field="type"):
    """What a seat can know of a move's consequences beforehand."""


class NothingPreview(Preview, frozen=True, tag="nothing"):
    """The move has no consequences that its seat can know beforehand."""


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


class BestScore(StrEnum):
    """Whether the lowest or the highest score wins."""

    LOWEST = "lowest"
    HIGHEST = "highest"


class TieBreak(StrEnum):
    """The rule that decided between the seats with the best score.

    `shared`: the seats were still tied after all rules of the game, and share the win.
    """

    FEWEST_CARDS = "fewest_cards"
    ALICE = "alice"
    SHARED = "shared"


class Breakdown(Struct, frozen=True, tag_field="ruleset"):
    """What the scores of a game are made of."""


class GameResult(Struct, frozen=True):
    """The end of a game.

    Where all seats win or lose together, no seat is better than another: each has rank 1, and
    `tie_break` is null. Then only `winners` tells whether they won.
    """

    scores: Annotated[
        tuple[Score, ...], by_seat("By seat: its points; `best` says whether few or many are good.")
    ]
    winners: Annotated[
        tuple[Seat, ...],
        described(
            "The seats that won, ascending; several share the win; none if all lost together.",
            maxItems=MAX_SEATS,
        ),
    ]
    ranks: Annotated[
        tuple[Annotated[int, bounded(minimum=1, maximum=MAX_SEATS)], ...],
        by_seat(
            "By seat: one more than the number of seats that are better, by score and tie-break. "
            "Tied seats have the same rank; all have rank 1 if they win or lose together."
        ),
    ]
    best: Annotated[BestScore, described("Whether the lowest or the highest score is the best.")]
    tie_break: Annotated[
        TieBreak | None,
        described("What decided between several seats with the best score; null if it is no tie."),
    ]
    breakdown: Annotated[
        Breakdown, published_as("Breakdown", "What the scores are made of; depends on the ruleset.")
    ]


def ranked(
    scores: tuple[Score, ...],
    best: BestScore,
    breakdown: Breakdown,
    *,
    tie_break: TieBreak = TieBreak.SHARED,
    preferred: Sequence[Any] | None = None,
) -> GameResult:
    """Return the result of a game in which the seats play against each other.

    `preferred` decides between equal scores: by seat a value, the least of which is the best. It
    comes with `tie_break`, the name of the rule. Without it equal scores are equal ranks.

    Seats 0 and 2 have the most points, and seat 2 has fewer cards than seat 0:

    >>> result = ranked(
    ...     (9, 4, 9), BestScore.HIGHEST, Breakdown(),
    ...     tie_break=TieBreak.FEWEST_CARDS, preferred=(7, 5, 6),
    ... )
    >>> result.winners, result.ranks, result.tie_break.value
    ((2,), (2, 3, 1), 'fewest_cards')

    Without such a rule the two share the win:

    >>> result = ranked((9, 4, 9), BestScore.HIGHEST, Breakdown())
    >>> result.winners, result.ranks, result.tie_break.value
    ((0, 2), (1, 3, 1), 'shared')
    """
    sign = 1 if best is BestScore.LOWEST else -1
    values = preferred or (0,) * len(scores)
    keys = [(sign * score, value) for score, value in zip(scores, values, strict=True)]
    ranks = tuple([1 + sum([other < key for other in keys]) for key in keys])
    winners = tuple([seat for seat, rank in enumerate(ranks) if rank == 1])
    decided_by: TieBreak | None = None
    if len(winners) > 1:
        decided_by = TieBreak.SHARED
    elif scores.count(scores[winners[0]]) > 1:
        decided_by = tie_break
    return GameResult(scores, winners, ranks, best, decided_by, breakdown)


class Option(Struct, frozen=True):
    """An option of a ruleset."""

    name: str
    """The member of ``options`` that sets it."""

    type: str
    """What its value is: one of `OPTION_TYPE`."""

    default: Any
    """The value if it is not given; None if there is no default."""

    minimum: int | None = None
    """The least value, or the fewest texts; None if there is no bound."""

    maximum: int | None = None
    """The greatest value, or the most texts; None if there is no bound."""

    choices: tuple[str, ...] | None = None
    """The allowed texts; None if it is no choice between texts."""


class Component(Struct, frozen=True):
    """A kind of thing in the box."""

    kind: str
    """Its kind: ``card``."""

    name: str
    """The name in moves, tables and events."""

    count: int = 1
    """How many there are in the box."""

    color: str | None = None
    """Its colour; None without one."""

    value: int | None = None
    """The value printed on it; None without one."""

    parts: tuple[str, ...] = ()
    """The names of its symbols or of its two faces."""


OptionsT = TypeVar("OptionsT", bound=Struct)
DealT = TypeVar("DealT", bound=Deal)
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


def no_preview(table: Any, seat: Seat, move: Any) -> Preview:
    """Return `NothingPreview`: the ``preview`` of a game without previews."""
    return NothingPreview()


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

    breakdown_type: type[Breakdown]
    """The struct of what the scores are made of."""

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

    result: Callable[[StateT], GameResult | None]
    """``result(state)``: scores, ranks and what they are made of; None before the end."""

    redeal_hidden: Callable[[StateT, Seat | None, Random], StateT]
    """``redeal_hidden(state, seat, rng)``: a random state that a seat, or a spectator (None),
    cannot tell from this one, given everything that it has been told."""

    preview_types: tuple[type[Preview], ...] = ()
    """The structs that ``preview`` returns, `NothingPreview` aside."""

    preview: Callable[[TableT, Seat, MoveT], Preview] = no_preview
    """``preview(table, seat, move)``: what a move would do, judged by the seat's view;
    `NothingPreview` if the seat can know nothing of it."""

    countdown: Callable[[StateT], int | None] = no_countdown
    """``countdown(state)``: the length of the running countdown in seconds; None without one."""

    expire: Callable[[StateT], Outcome[StateT]] = nothing_expires
    """``expire(state)``: what the end of the countdown brings. Raises `IllegalMove`."""

    check_options: Callable[[int, OptionsT], None] = any_options
    """``check_options(seats, options)``: what the struct cannot check. Raises `InvalidOptions`."""

    @property
    def move_types(self) -> tuple[str, ...]:
        """The ``type`` of each type of move."""
        shapes = get_args(self.move_type) or (self.move_type,)
        return tuple(shape.__struct_config__.tag for shape in shapes)

    def check_seats(self, seats: int) -> None:
        """Raise `InvalidSeatCount` unless the game allows this number of seats."""
        if not self.min_seats <= seats <= self.max_seats:
            raise InvalidSeatCount(
                f"{self.title} is for {self.min_seats} to {self.max_seats} seats, not {seats}."
            )

    def read_options(self, seats: int, given: Mapping[str, Any]) -> OptionsT:
        """Read options, with defaults for those not given. Raises `InvalidOptions`."""
        names = [option.name for option in self.options]
        for name in given:
            if name not in names:
                allowed = f"Its options are: {', '.join(names)}." if names else "It has no options."
                raise InvalidOptions(f"{self.title} has no option `{name}`. {allowed}", (name,))
        options = _read(given, self.options_type, InvalidOptions)
        self.check_options(seats, options)
        return options

    def read_deal(self, given: Any) -> DealT:
        """Read a deal from its JSON form. Raises `InvalidDeal`; ``start`` checks its cards.

        The deals of early records do not name their ruleset.
        """
        named = given.get("ruleset", self.id) if isinstance(given, Mapping) else self.id
        if named != self.id:
            raise InvalidDeal(
                f"This is a deal of {str(named)[:24]!r}. Send a deal of {self.id!r}.", ("ruleset",)
            )
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
        if named := re.fullmatch(r"Object (.*) field `(.*)`", detail, re.DOTALL):
            path = (*path, named[2])
            is_unknown = named[1] == "contains unknown"
            wrong = f"is unknown; {_members(wanted)}" if is_unknown else "is missing, but required"
            raise error(f"`{named[2][:24]}` {wrong}.", path) from None
        if types := re.fullmatch(r"Expected `(\w+)`, got `(\w+)`", detail):
            expected, got = (JSON_TYPES.get(name, name) for name in types.groups())
            raise error(f"{_place(path)} is {got}; it must be {expected}.", path) from None
        raise error(detail + ".", path) from None


JSON_TYPES = {
    "array": "an array",
    "bool": "true or false",
    "float": "a number with a fraction",
    "int": "an integer",
    "object": "an object",
    "str": "a string",
}
"""What msgspec calls a type of JSON, and what error texts call it."""


def _members(wanted: Any) -> str:
    """Tell the members that a struct has."""
    names = [wanted.__struct_config__.tag_field, *wanted.__struct_fields__]
    return f"the members here are: {', '.join(filter(None, names))}"


def _place(path: tuple[str | int, ...]) -> str:
    """Name the place where a path ends.

    >>> _place(("hands",)), _place(("hands", 0, 2)), _place(())
    ('`hands`', 'Item 2 of item 0 of `hands`', 'The value')
    """
    place = ""
    for step in path:
        place = f"item {step} of {place}" if isinstance(step, int) else f"`{step}`"
    return place[:1].upper() + place[1:] or "The value"


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
