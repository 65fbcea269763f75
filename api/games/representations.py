"""Fills the answers about a game from its record and position, for one audience.

The record is public except for the invite. The position is shown through the ruleset's view for
the reader's seat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw

from api.games.answers import (
    GameAnswer,
    GameSummary,
    HappenedItemAnswer,
    SeatAnswer,
    WaitingGame,
)
from api.games.cursors import EventsCursor
from api.model.game import Audience, Game, HistoryItem, raw, timestamp
from api.storage.games import GameDocument, StoredGame
from engine.registry import RULESETS
from engine.ruleset import Move, Seat

LONG_OPTIONS = {
    name: frozenset(option.name for option in ruleset.options if option.type == "strings")
    for name, ruleset in RULESETS.items()
}
"""By ruleset: the options that lists of games omit because they are long."""


Found = TypeVar("Found", bound=GameDocument)


def _rendered(found: Found, audience: Audience, answer: Callable[[Found, Audience], Any]) -> Raw:
    """Return the encoded answer about a game for an audience. It is encoded once."""
    key = (answer, audience)
    encoded = found.rendered.get(key)
    if encoded is None:
        encoded = found.rendered[key] = raw(answer(found, audience))
    return encoded


def game_summary(found: GameDocument, reader: str | None) -> Raw:
    """Return the encoded game as lists show it to this player, or to a spectator (None)."""
    return _rendered(found, found.game.audience_of(reader), _game_summary)


def _game_summary(found: GameDocument, audience: Audience) -> GameSummary:
    game = found.game
    members = _public_members(game, audience)
    if LONG_OPTIONS[game.ruleset]:
        options = msgspec.json.decode(game.options)
        kept = {name: options[name] for name in options if name not in LONG_OPTIONS[game.ruleset]}
        members["options"] = raw(kept)
    return GameSummary(**members)


def game_answer(found: StoredGame, audience: Audience) -> Raw:
    """Return the encoded game for this audience."""
    return _rendered(found, audience, _game_answer)


def game_without_view(game: Game, reader: str) -> Raw:
    """Return the encoded game without the members that need its position."""
    return raw(WaitingGame(**_public_members(game, game.audience_of(reader))))


def _game_answer(found: StoredGame, audience: Audience) -> GameAnswer:
    game, state, seat = found.game, found.position, audience.seat
    ruleset = RULESETS[game.ruleset]
    return GameAnswer(
        **_public_members(game, audience),
        legal_moves=() if state is None or seat is None else legal_moves(game, state, seat),
        table=UNSET if state is None else ruleset.view(state, seat),
    )


def legal_moves(game: Game, state: Any, seat: Seat) -> tuple[Move, ...]:
    """Return the legal moves of a seat; none unless the game is being played."""
    return () if game.turn is None else RULESETS[game.ruleset].legal_moves(state, seat)


def _public_members(game: Game, audience: Audience) -> dict[str, Any]:
    return {
        "id": game.id,
        "ruleset": game.ruleset,
        "seat_count": game.seat_count,
        "options": game.options,
        "visibility": game.visibility,
        "status": game.status,
        "host": game.host,
        "seats": tuple(
            [
                SeatAnswer(seat, record.player, record.house, record.reserved_for)
                for seat, record in enumerate(game.seats)
            ]
        ),
        "version": game.version,
        "cursor": EventsCursor.after(game).text,
        "turn": game.turn,
        "to_move": game.to_move,
        "deadline": _time(game.deadline),
        "turn_seconds": game.turn_seconds,
        "you": audience.seat,
        "left_seat": audience.left_seat,
        "result": game.result,
        "deal_sha256": game.deal_sha256,
        "rematch": game.rematch,
        "invite": game.invite if audience.is_host else None,
        "created_at": timestamp(game.created_at),
        "started_at": _time(game.started_at),
        "finished_at": _time(game.finished_at),
        "updated_at": timestamp(game.updated_at),
    }


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else timestamp(milliseconds)


def item_answers(items: Sequence[HistoryItem], seat: Seat | None) -> tuple[HappenedItemAnswer, ...]:
    """Return the items with the events that this seat, or a spectator (None), may see."""
    return tuple(
        HappenedItemAnswer(
            each.version, timestamp(each.at), each.turn, each.by, each.seat, each.events(seat)
        )
        for each in items
    )
