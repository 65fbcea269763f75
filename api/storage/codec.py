"""Decoding and validation of stored records, so that no request fails halfway because of one.

Damaged data, and data that the service did not write, is `Unreadable`; a game that a newer release
wrote is `NewerFormat`. Each error concerns one record only. Whether the values of a position fit
its game is not checked: only the rules could tell.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from api.model.game import FORMAT, PLAYING, Game, GameStatus, Visibility
from api.storage.errors import NewerFormat, Unreadable
from engine.house import HOUSE_LEVELS
from engine.registry import RULESETS

Record = TypeVar("Record")

UNDECODABLE = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
)
"""Errors of decoding arbitrary bytes."""

_LEVELS = frozenset({None, *HOUSE_LEVELS})
_STATUSES = frozenset(GameStatus)
_VISIBILITIES = frozenset(Visibility)


class _Format(Struct):
    format: int = FORMAT


encode = msgspec.json.Encoder().encode
_format_decoder = msgspec.json.Decoder(_Format)
_game_decoder = msgspec.json.Decoder(Game)
_state_decoders = {
    name: msgspec.json.Decoder(ruleset.state_type) for name, ruleset in RULESETS.items()
}


def decode(decoder: msgspec.json.Decoder[Record], value: bytes) -> Record:
    """Return a decoded record. Raises `Unreadable`."""
    try:
        # As text: msgspec does not check the encoding of bytes in fields that it keeps raw.
        return decoder.decode(value.decode())
    except UNDECODABLE as error:
        raise Unreadable from error


def decode_game(game_id: str, document: bytes, *fields: bytes | None) -> Game:
    """Return a decoded game.

    `fields` are its state, version, commit and record, if they were read: they must fit the game. A
    game of an earlier format has its result in that format. Raises `Unreadable` or `NewerFormat`.
    """
    try:
        text = document.decode()
        # Whatever else a newer release changes, it stores the number of its format.
        if _format_decoder.decode(text).format > FORMAT:
            raise NewerFormat(game_id)
        game = _game_decoder.decode(text)
        _check_game(game, game_id)
        if fields:
            _check_fields(game, *fields)
    except UNDECODABLE as error:
        raise Unreadable from error
    return game


def decode_state(game: Game, state: bytes) -> Any:
    """Return the decoded position of a game. Raises `Unreadable`."""
    return decode(_state_decoders[game.ruleset], state)


def _check_game(game: Game, game_id: str) -> None:
    """Raise `NewerFormat` or `Unreadable` unless a game can have been stored by this id."""
    if not _is_known(game):
        raise NewerFormat(game_id)
    if game.id != game_id or not _is_valid(game):
        raise Unreadable


def _check_fields(
    game: Game,
    state: bytes | None,
    version: bytes | None,
    commit: bytes | None,
    record: bytes | None,
) -> None:
    """Raise `Unreadable` unless a game fits the fields that are stored beside its document."""
    was_started = game.status == PLAYING or game.started_at is not None
    has_record = game.has_ended and game.format == FORMAT
    if (record is None) if has_record else (was_started and state is None):
        raise Unreadable
    if int(version or b"0") != game.version or (commit or b"").decode() != game.commit:
        raise Unreadable


def _is_known(game: Game) -> bool:
    """Return whether this release has the game's ruleset and house levels."""
    levels = [game.house_level, *(seat.house for seat in game.seats)]
    return game.ruleset in RULESETS and _LEVELS.issuperset(levels)


def _is_valid(game: Game) -> bool:
    return (
        game.status in _STATUSES
        and game.visibility in _VISIBILITIES
        and game.seat_count == len(game.seats)
        and frozenset(range(game.seat_count)).issuperset(game.to_move + game.answered)
        and (game.status != PLAYING or game.turn is not None)
    )
