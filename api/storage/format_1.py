"""Conversion of games in format 1, which release 0.1 stored.

A position, the events of a move and a result have other forms in that format. The rules alone
decide all three, so they are computed again, by playing the recorded moves from the deal. Only the
causes and times are taken from the stored history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from api.model.events import GameStarted, HandoverCause, SeatHandedOver
from api.model.game import (
    FINISHED,
    NULL,
    PLAYING,
    Game,
    HistoryItem,
    StoredDeal,
    raw,
)
from api.storage.errors import UnsupportedFormat
from api.storage.history import Replay, Setup, decode_steps, encode_step
from engine.earlier import position_of_0_1
from engine.registry import RULESETS


class Converted(NamedTuple):
    """A whole game in the present format. Before the start it has no position and no deal."""

    game: Game
    position: Any
    deal: StoredDeal | None
    items: tuple[HistoryItem, ...]


class _Event(Struct):
    """What is read of a stored event: its type, and members that the rules do not decide."""

    type: str
    deadline: datetime | None = None
    seat: int | None = None
    house: str | None = None
    cause: str | None = None


_events_decoder = msgspec.json.Decoder(list[_Event])


def convert(game: Game, deal: StoredDeal | None, items: Sequence[HistoryItem]) -> Converted:
    """Return a game in the present format, except for its number, `Game.format`.

    Raises `UnsupportedFormat` if its moves are not a game under the present rules.
    """
    try:
        new_deal = None if deal is None else _named(game, deal)
        steps = decode_steps([encode_step(game, each) for each in _complete(items)])
        replay = Replay(Setup.of(game), new_deal)
        new_items = tuple(replay.items(steps))
        new_game = _with_result(game, replay.position)
        return Converted(new_game, replay.position, new_deal, new_items)
    except Exception as error:  # whatever the rules make of moves that were not theirs
        raise UnsupportedFormat(game.id) from error


def _named(game: Game, deal: StoredDeal) -> StoredDeal:
    """Return a deal with its ruleset; its text stays the one whose hash was published."""
    found = RULESETS[game.ruleset].read_deal(msgspec.json.decode(deal.deal))
    return StoredDeal(raw(found), deal.deal_text)


def _complete(items: Sequence[HistoryItem]) -> Iterator[HistoryItem]:
    """Yield items with the deadlines of their countdowns, and handed over seats with their causes.

    In 0.1 house players got a seat in two cases only.
    """
    cause = HandoverCause.START
    for item in items:
        told, deadline = item.told, None
        for event in _events_decoder.decode(item.told):
            if event.type == GameStarted.__struct_config__.tag:
                cause = HandoverCause.LEFT
            if event.deadline is not None:
                deadline = round(event.deadline.timestamp() * 1000)
            if event.type == SeatHandedOver.__struct_config__.tag:
                assert event.seat is not None
                assert event.house is not None
                told = raw([SeatHandedOver(event.seat, event.house, event.cause or cause)])
        yield replace(item, told=told, deadline=deadline)


def _with_result(game: Game, position: Any) -> Game:
    """Return the document with its result. Raises `ValueError` if it does not fit the position."""
    ruleset = RULESETS[game.ruleset]
    if game.status == PLAYING and ruleset.to_move(position) != game.to_move:
        raise ValueError("other seats are to move")
    result = None if position is None else ruleset.result(position)
    if (result is not None) != (game.status == FINISHED):
        raise ValueError("the game ends at another time")
    return replace(game, result=NULL if result is None else raw(result))


def encode_game(game: Game) -> bytes:
    """Return a document as release 0.1 wrote it: with all its members."""
    return msgspec.json.encode({**asdict(game), "seats": [asdict(each) for each in game.seats]})


def encode_item(item: HistoryItem) -> bytes:
    """Return an item as release 0.1 wrote it."""
    members = asdict(item)
    del members["deadline"]
    return msgspec.json.encode(members)


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
