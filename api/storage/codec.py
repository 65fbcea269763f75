"""Decoding and validation of stored records, so that no request fails halfway because of one.

Damaged data, and data that the service did not write, is `Unreadable`. A game that a newer
release wrote is `NewerFormat`, and a game in a format of an earlier release that this release
cannot play is `UnsupportedFormat`. Each error concerns one record only. Whether the values of a
position fit its game is not checked: only the rules could tell.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from api.model.game import FORMAT, PLAYING, Game, GameStatus, Visibility
from api.storage.errors import NewerFormat, Unreadable, UnsupportedFormat
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

    `fields` are its state, version and commit, if they were read: they must fit the game. Raises
    `Unreadable`, `NewerFormat` or `UnsupportedFormat`.
    """
    try:
        game = _game_decoder.decode(document.decode())
        _check_game(game, game_id)
        if fields:
            _check_fields(game, *fields)
    except UNDECODABLE as error:
        # Whatever else a newer release changes, it stores the number of its format.
        if _is_newer(document):
            raise NewerFormat(game_id) from None
        if _has_unknown_members(document, Game):
            raise UnsupportedFormat(game_id) from None
        raise Unreadable from error
    return game


def decode_state(game: Game, state: bytes) -> Any:
    """Return the decoded position of a game. Raises `Unreadable` or `UnsupportedFormat`."""
    try:
        return _state_decoders[game.ruleset].decode(state)
    except UNDECODABLE as error:
        if _has_unknown_members(state, RULESETS[game.ruleset].state_type):
            raise UnsupportedFormat(game.id) from None
        raise Unreadable from error


def is_early(game: Game) -> bool:
    """Return whether an early release stored this game after its start.

    These releases did not write `indexed_at`. Some of them stored positions in another format
    under the same format number, so the position must be decoded to know whether it is readable.
    """
    return game.indexed_at == 0 and game.started_at is not None


def _check_game(game: Game, game_id: str) -> None:
    """Raise `NewerFormat` or `Unreadable` unless a game can have been stored by this id."""
    if game.format > FORMAT or not _is_known(game):
        raise NewerFormat(game_id)
    if game.id != game_id or not _is_valid(game):
        raise Unreadable


def _check_fields(
    game: Game, state: bytes | None, version: bytes | None, commit: bytes | None
) -> None:
    """Raise `Unreadable` unless a game fits the fields that are stored beside its document."""
    was_started = game.status == PLAYING or game.started_at is not None
    if was_started and state is None:
        raise Unreadable
    if int(version or b"0") != game.version or (commit or b"").decode() != game.commit:
        raise Unreadable


def _is_known(game: Game) -> bool:
    """Return whether this release has the game's ruleset and house levels."""
    return game.ruleset in RULESETS and _LEVELS.issuperset([seat.house for seat in game.seats])


def _is_valid(game: Game) -> bool:
    return (
        game.status in _STATUSES
        and game.visibility in _VISIBILITIES
        and game.seat_count == len(game.seats)
        and frozenset(range(game.seat_count)).issuperset(game.to_move + game.answered)
        and (game.status != PLAYING or game.turn is not None)
    )


def _is_newer(document: bytes) -> bool:
    try:
        return _format_decoder.decode(document).format > FORMAT
    except UNDECODABLE:
        return False


def _has_unknown_members(data: bytes, expected: type[Struct]) -> bool:
    """Return whether this is a JSON object with members that `expected` does not have.

    If such an object cannot be decoded as `expected`, another release wrote it. Data without
    unknown members that cannot be decoded is damaged.
    """
    try:
        members = msgspec.json.decode(data)
    except UNDECODABLE:
        return False
    return isinstance(members, dict) and not members.keys() <= set(expected.__struct_fields__)
