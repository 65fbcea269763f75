"""Histories of games: the steps that are stored, and the items that clients are told of them.

- What happens in a game follows from its deal and its moves. So a step stores only its cause: a
  move, the end of a countdown, the start and the end of the game, or the change of a seat with its
  events. The rules play the steps again to derive the events of all others (`Replay`).
- While a game goes on, its steps are a list in the store, one JSON array each (`encode_step`), and
  the position is stored beside them: a move needs no history, and appends to it.
- The commit that ends a game replaces its position, deal, steps and played moves by one record
  (`pack_record`): the deal and all steps, compressed. The position at the end is derived from it.
- A page of events is derived from the position before it. A worker remembers the last commit of
  each game that it has seen (`Traces`): its items, and the position after it. So a worker that
  follows a game plays one move again. Only for the first page of a game that it does not know, it
  replays all moves before that page; it makes no items of these moves.
- What was derived from a record is cached (`derived`). The moves of a game and the changes of its
  seats are bounded, and a replay gives other requests their turn.
- Reading needs no dictionary or other table: all of it is JSON, some of it compressed.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from api.concurrency.time_slices import long_work, pause
from api.model.events import (
    BY_CLOCK,
    GameFinished,
    GameStarted,
    ItemCause,
    TimeRanOut,
)
from api.model.game import (
    NOT_A_MOVE,
    NULL,
    Game,
    HistoryItem,
    StoredDeal,
    encoded_events,
    with_deadline,
)
from api.storage.errors import Unreadable
from engine.registry import RULESETS
from engine.ruleset import Told

CACHED_RECORDS = 32
"""How many ended games a worker keeps derived.

The longest takes half a megabyte; with all changes of seats that the limits allow, 1.5 MB.
"""

CACHED_TRACES = 2048
"""Of how many games a worker remembers the last commit that it has seen."""

MAX_TRACE_ITEMS = 16
"""A longer commit is remembered without its items."""

_CAUSES = {cause[0]: cause for cause in ItemCause}
"""The causes by their first letters, by which steps name them."""

_CLOCK = BY_CLOCK[0]

DERIVED_EVENTS = (GameStarted.__struct_config__.tag, GameFinished.__struct_config__.tag)
"""Events that belong to no move, but follow from the rules all the same."""


class Step(Struct, frozen=True, array_like=True):
    """A step of a history as it is stored. Times are in milliseconds since the game's creation.

    `what` is a move (an object), the events of a step that does not follow from the rules (a list),
    or null: for the start, the end of a countdown, and the end of the game. `version_id` is that of
    the item. `deadline` is the end of the countdown that the step starts.
    """

    at: int
    by: str
    seat: int | None
    turn: int | None
    what: Raw
    version_id: str
    deadline: int | None = None


class _EventType(Struct):
    type: str


Result = TypeVar("Result")


_encode = msgspec.json.Encoder().encode
_steps_decoder = msgspec.json.Decoder(list[Step])
_types_decoder = msgspec.json.Decoder(list[_EventType])


# --- Steps ---------------------------------------------------------------------------------


def encode_step(game: Game, item: HistoryItem) -> bytes:
    """Return an item of a game as its step is stored."""
    what = item.move
    if what == NOT_A_MOVE and item.by != BY_CLOCK:
        types = [each.type for each in _types_decoder.decode(item.told)]
        what = NULL if types and types[0] in DERIVED_EVENTS else item.told
    since = game.created_at
    step = (item.at - since, item.by[0], item.seat, item.turn, what, item.version_id)
    return _encode(step if item.deadline is None else (*step, item.deadline - since))


def decode_steps(encoded: Sequence[bytes]) -> list[Step]:
    """Return steps as they were stored. Raises `Unreadable`."""
    return _decode_steps(b"[%b]" % b",".join(encoded))


def _decode_steps(text: bytes) -> list[Step]:
    try:
        return _steps_decoder.decode(text.decode())
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Unreadable from error


def _is_move(what: bytes) -> bool:
    """Return whether a step with this `what` is a move."""
    return what.startswith(b"{")


def _is_derived(what: bytes) -> bool:
    """Return whether the events of a step with this `what` are derived, and not stored in it."""
    return not what.startswith(b"[")


# --- Replaying -----------------------------------------------------------------------------


class Setup(NamedTuple):
    """What a game is played with besides its deal, and the time to which its steps are relative."""

    ruleset: str
    seat_count: int
    options: bytes
    created_at: int

    @classmethod
    def of(cls, game: Game) -> Setup:
        """Return the setup of a game, which never changes once the game has started."""
        return cls(game.ruleset, game.seat_count, bytes(game.options), game.created_at)


class Replay:
    """Plays a game again, step by step.

    Attributes:
        version: The version of the last step.
        position: The position after it, None before the start.
    """

    def __init__(
        self, setup: Setup, deal: StoredDeal | None, version: int = 0, position: Any = None
    ) -> None:
        self.version = version
        self.position = position
        self._setup = setup
        self._deal = deal
        self._ruleset = RULESETS[setup.ruleset]

    def skip(self, steps: Iterable[Step]) -> None:
        """Go on by some steps. Raises `Unreadable` if they are not what the rules allow."""
        self._go_on(steps, self._skip)

    def items(self, steps: Iterable[Step]) -> list[HistoryItem]:
        """Go on by some steps, and return their items.

        Raises `Unreadable` if they are not what the rules allow.
        """
        return self._go_on(steps, self._item)

    def _go_on(self, steps: Iterable[Step], by: Callable[[Step], Result]) -> list[Result]:
        results = []
        with long_work():
            try:
                for step in steps:
                    pause()
                    results.append(by(step))
            except Exception as error:  # whatever the rules make of steps that were not theirs
                raise Unreadable from error
        return results

    def _skip(self, step: Step) -> None:
        what = bytes(step.what)
        if _is_derived(what):
            self._told(step, what)
        self.version += 1

    def _item(self, step: Step) -> HistoryItem:
        created_at, what = self._setup.created_at, bytes(step.what)
        deadline = None if step.deadline is None else created_at + step.deadline
        everybody: Raw = step.what
        privately: dict[str, Raw] = {}
        if _is_derived(what):
            told = self._told(step, what)
            told = told if deadline is None else with_deadline(told, deadline)
            everybody, privately = encoded_events(told)
        self.version += 1
        return HistoryItem(
            version=self.version,
            at=created_at + step.at,
            turn=step.turn,
            by=_CAUSES[step.by],
            seat=step.seat,
            move=step.what if _is_move(what) else NOT_A_MOVE,
            told=everybody,
            told_to=privately,
            version_id=step.version_id,
            deadline=deadline,
        )

    def _told(self, step: Step, what: bytes) -> tuple[Told, ...]:
        """Go on by a step whose events are derived, and return them."""
        ruleset = self._ruleset
        told: tuple[Told, ...]
        if _is_move(what):
            assert step.seat is not None
            decoded = msgspec.json.decode(what, type=ruleset.move_type)
            self.position, told = ruleset.apply(self.position, step.seat, decoded)
            return (Told(TimeRanOut(step.seat)), *told) if step.by == _CLOCK else told
        if step.by == _CLOCK:
            self.position, told = ruleset.expire(self.position)
            return told
        if self.position is None:
            return self._start()
        result = ruleset.result(self.position)
        assert result is not None
        return (Told(GameFinished(result)),)

    def _start(self) -> tuple[Told, ...]:
        setup, ruleset = self._setup, self._ruleset
        assert self._deal is not None
        options = msgspec.json.decode(setup.options, type=ruleset.options_type)
        deal = ruleset.read_deal(msgspec.json.decode(self._deal.deal))
        self.position, told = ruleset.start(setup.seat_count, options, deal)
        return (Told(GameStarted(setup.seat_count)), *told)


# --- Compressed values ---------------------------------------------------------------------

LEVEL = 4
"""How hard records are compressed. The default, 6, takes twice as long for a twentieth less."""

SEPARATOR = b"\n"
"""Stands between the parts of a compressed value; encoded JSON has none."""


def pack_deal(deal: StoredDeal) -> bytes:
    """Return a deal as it is stored."""
    return zlib.compress(SEPARATOR.join((bytes(deal.deal), deal.deal_text.encode())), LEVEL)


def unpack_deal(packed: bytes) -> StoredDeal:
    """Return a deal as it was stored. Raises `Unreadable`."""
    return _read_deal(*_unpack(packed, 2))


def pack_record(deal: bytes | None, steps: Sequence[bytes]) -> bytes:
    """Return the record of an ended game, from its deal, if it has one, and its steps, as stored.

    Raises `Unreadable`.
    """
    parts = (b"", b"") if deal is None else _unpack(deal, 2)
    return zlib.compress(SEPARATOR.join((*parts, b"[%b]" % b",".join(steps))), LEVEL)


def _unpack(packed: bytes, parts: int) -> list[bytes]:
    try:
        found = zlib.decompress(packed).split(SEPARATOR)
    except zlib.error as error:
        raise Unreadable from error
    if len(found) != parts:
        raise Unreadable
    return found


def _read_deal(deal: bytes, text: bytes) -> StoredDeal:
    try:
        return StoredDeal(Raw(deal.decode().encode()), text.decode())
    except UnicodeDecodeError as error:
        raise Unreadable from error


# --- Ended games ---------------------------------------------------------------------------


class Derived(NamedTuple):
    """An ended game as it is derived from its record: its deal, its items, its last position."""

    deal: StoredDeal | None
    items: tuple[HistoryItem, ...]
    position: Any


def derived(game: Game, record: bytes) -> Derived:
    """Return an ended game as it is derived from its record. Raises `Unreadable`."""
    return _derived(Setup.of(game), record)


@lru_cache(CACHED_RECORDS)
def _derived(setup: Setup, record: bytes) -> Derived:
    deal_json, text, steps = _unpack(record, 3)
    deal = _read_deal(deal_json, text) if deal_json else None
    replay = Replay(setup, deal)
    items = tuple(replay.items(_decode_steps(steps)))
    return Derived(deal, items, replay.position)


# --- Games in play -------------------------------------------------------------------------


class Trace(NamedTuple):
    """What a worker remembers of a game: its state after a commit, and items up to there.

    Attributes:
        version: The version that the commit wrote.
        version_id: The id of the commit.
        state: The encoded position, None before the start.
        start: The version before the first of the items.
        start_id: The id of the commit that wrote that version, "" if unknown.
        items: The items after `start`.
    """

    version: int
    version_id: str
    state: bytes | None
    start: int
    start_id: str
    items: tuple[HistoryItem, ...]

    def id_of(self, version: int) -> str | None:
        """Return the id of the commit that wrote a version, None if it is not remembered."""
        if self.start < version <= self.version:
            return self.items[version - self.start - 1].version_id
        return {self.version: self.version_id, self.start: self.start_id or None}.get(version)


class Traces:
    """The traces of the games that a worker has met last."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, Trace] = OrderedDict()

    def get(self, game_id: str) -> Trace | None:
        """Return the trace of a game, None without one."""
        return self._traces.get(game_id)

    def put(self, game_id: str, trace: Trace) -> None:
        """Remember a trace instead of the last one of the game."""
        if len(trace.items) > MAX_TRACE_ITEMS:
            trace = trace._replace(start=trace.version, start_id=trace.version_id, items=())
        self._traces[game_id] = trace
        self._traces.move_to_end(game_id)
        if len(self._traces) > CACHED_TRACES:
            self._traces.popitem(last=False)

    def forget(self, game_id: str) -> None:
        """Forget a game: it has ended, or the store has lost the commit."""
        self._traces.pop(game_id, None)
