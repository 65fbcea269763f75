"""Conversion of games in format 1, which release 0.1 stored.

A position, the events of a move and a result have other forms in that format. The rules alone
decide all three, so they are computed again, by playing the recorded moves from the deal. Only the
causes and times are taken from the stored history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.concurrency.time_slices import long_work, pause
from api.model.events import (
    BY_CLOCK,
    GameFinished,
    GameStarted,
    HandoverCause,
    SeatHandedOver,
    TimeRanOut,
)
from api.model.game import (
    FINISHED,
    NOT_A_MOVE,
    NULL,
    PLAYING,
    Game,
    HistoryItem,
    StoredDeal,
    encoded_events,
    raw,
)
from api.storage.errors import UnsupportedFormat
from engine.earlier import position_of_0_1
from engine.registry import RULESETS
from engine.ruleset import Seat, TimedEvent, Told


class Converted(NamedTuple):
    """A whole game in the present format. Before the start it has no position and no deal."""

    game: Game
    position: Any
    deal: StoredDeal | None
    items: tuple[HistoryItem, ...]


class _Event(Struct):
    """What is read of a stored event: its type, and members that the rules do not decide."""

    type: str
    deadline: str | None = None
    seat: Seat | None = None
    house: str | None = None
    cause: str | None = None


_events_decoder = msgspec.json.Decoder(list[_Event])


def convert(game: Game, deal: StoredDeal | None, items: Sequence[HistoryItem]) -> Converted:
    """Return a game in the present format, except for its number, `Game.format`.

    Raises `UnsupportedFormat` if its moves are not a game under the present rules.
    """
    replay = _Replay(game, deal)
    with long_work():
        try:
            new_items = tuple(replay.convert(items))
            return Converted(replay.game(), replay.position, replay.deal(), new_items)
        except Exception as error:  # whatever the rules make of moves that were not theirs
            raise UnsupportedFormat(game.id) from error


def encode_state(game: Game, position: Any) -> bytes:
    """Return a position as release 0.1 reads it."""
    return msgspec.json.encode(position_of_0_1(game.ruleset, position))


def encode_deal(deal: StoredDeal) -> bytes:
    """Return a deal as release 0.1 reads it: without its ruleset, which its analysis refuses.

    The text stays the one whose hash was published.
    """
    members = msgspec.json.decode(deal.deal)
    del members["ruleset"]
    return msgspec.json.encode(StoredDeal(raw(members), deal.deal_text))


class _Replay:
    """Plays a game again, item by item. `position` is the one after the items so far."""

    def __init__(self, game: Game, deal: StoredDeal | None) -> None:
        self.position: Any = None
        self._game = game
        self._deal = deal
        self._ruleset = RULESETS[game.ruleset]

    def convert(self, items: Iterable[HistoryItem]) -> Iterable[HistoryItem]:
        """Yield the items with new events."""
        for item in items:
            pause()
            earlier = _events_decoder.decode(item.told)
            told = self._told(item, {each.type: each for each in earlier})
            if told is None:
                yield item
                continue
            deadlines = [each.deadline for each in earlier if each.deadline is not None]
            everybody, privately = encoded_events(_with_deadlines(told, deadlines))
            yield replace(item, told=everybody, told_to=privately)

    def _told(self, item: HistoryItem, earlier: dict[str, _Event]) -> tuple[Told, ...] | None:
        """Go on by an item, and return its events; None if they stay as they are."""
        ruleset, seats = self._ruleset, self._game.seat_count
        told: tuple[Told, ...]
        if "game_started" in earlier:
            options = msgspec.json.decode(self._game.options, type=ruleset.options_type)
            self.position, told = ruleset.start(seats, options, self._read_deal())
            return (Told(GameStarted(seats)), *told)
        if item.move != NOT_A_MOVE:
            assert item.seat is not None
            move = msgspec.json.decode(item.move, type=ruleset.move_type)
            self.position, told = ruleset.apply(self.position, item.seat, move)
            return (Told(TimeRanOut(item.seat)), *told) if "time_ran_out" in earlier else told
        if item.by == BY_CLOCK:
            self.position, told = ruleset.expire(self.position)
            return told
        if "game_finished" in earlier:
            result = ruleset.result(self.position)
            assert result is not None
            return (Told(GameFinished(result)),)
        if "seat_handed_over" in earlier:
            return (Told(self._handed_over(earlier["seat_handed_over"])),)
        return None

    def _handed_over(self, event: _Event) -> SeatHandedOver:
        """Return the event with its cause: in 0.1 house players got a seat in two cases only."""
        assert event.seat is not None
        assert event.house is not None
        cause = HandoverCause.START if self.position is None else HandoverCause.LEFT
        return SeatHandedOver(event.seat, event.house, event.cause or cause)

    def game(self) -> Game:
        """Return the document after all items. Raises `ValueError` if it does not fit them."""
        game, result = self._game, None
        if game.status == PLAYING and self._ruleset.to_move(self.position) != game.to_move:
            raise ValueError("other seats are to move")
        if self.position is not None:
            result = self._ruleset.result(self.position)
        if (result is not None) != (game.status == FINISHED):
            raise ValueError("the game ends at another time")
        return replace(game, result=NULL if result is None else raw(result))

    def deal(self) -> StoredDeal | None:
        """Return the deal, with its ruleset; its text stays the one whose hash was published."""
        if self._deal is None:
            return None
        return StoredDeal(raw(self._read_deal()), self._deal.deal_text)

    def _read_deal(self) -> Any:
        assert self._deal is not None
        return self._ruleset.read_deal(msgspec.json.decode(self._deal.deal))


def _with_deadlines(told: Iterable[Told], deadlines: list[str]) -> tuple[Told, ...]:
    """Return events with the deadlines of the countdowns that they start, in order."""
    left = iter(deadlines)
    return tuple(
        replace(each, everybody=replace(each.everybody, deadline=next(left, None)))
        if isinstance(each.everybody, TimedEvent)
        else each
        for each in told
    )
