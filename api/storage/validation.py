"""What has to hold of a game as it was read, so that nothing that is done with it fails halfway.

Damaged data, and data that the service did not write, is `Unreadable`. A game that a newer
release wrote is `NewerFormat`, and a game in a format of an earlier release that this release
cannot play is `UnsupportedFormat`. Each error concerns one game only. Whether the values of a
position fit its game is not checked: only the rules could tell.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from api.model.game import FORMAT, PLAYING, Game, GameStatus, Visibility
from api.storage.client import Unreadable
from engine.house import HOUSE_LEVELS
from engine.registry import RULESETS

UNDECODABLE = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
)
"""What decoding raises for bytes that it was not made for."""

_LEVELS = frozenset({None, *HOUSE_LEVELS})
_STATUSES = frozenset(GameStatus)
_VISIBILITIES = frozenset(Visibility)


class NewerFormat(Unreadable):
    """A game that a newer release wrote, and that this one must not touch."""


class UnsupportedFormat(Unreadable):
    """A game that an earlier release stored in a format that this release cannot play."""


def check_game(game: Game, game_id: str) -> None:
    """Raise `NewerFormat` or `Unreadable` for a game that cannot be what was kept by this id."""
    if game.format > FORMAT or not _is_known(game):
        raise NewerFormat(game_id)
    if game.id != game_id or not _is_sound(game):
        raise Unreadable


def check_stored(
    game: Game, state: bytes | None, version: bytes | None, commit: bytes | None
) -> None:
    """Raise `Unreadable` unless a game goes with what is kept beside it.

    That is its position, and what a commit is compared with, the version and the commit's id.
    """
    was_started = game.status == PLAYING or game.started_at is not None
    if was_started and state is None:
        raise Unreadable
    if int(version or b"0") != game.version or (commit or b"").decode() != game.commit:
        raise Unreadable


def has_unknown_members(data: bytes, wanted: type[Struct]) -> bool:
    """Return whether this is a JSON object with members that `wanted` does not have.

    If such an object cannot be decoded as `wanted`, another release wrote it. Data without
    unknown members that cannot be decoded is damaged.
    """
    try:
        members = msgspec.json.decode(data)
    except UNDECODABLE:
        return False
    return isinstance(members, dict) and not members.keys() <= set(wanted.__struct_fields__)


def is_early(game: Game) -> bool:
    """Return whether an early release stored this game after its start.

    These releases did not write `indexed_at`. Some of them stored positions in another format
    under the same format number, so the position must be decoded to know whether it is readable.
    """
    return game.indexed_at == 0 and game.started_at is not None


def _is_known(game: Game) -> bool:
    """Whether what grows from release to release is known to this one."""
    return game.ruleset in RULESETS and _LEVELS.issuperset([seat.house for seat in game.seats])


def _is_sound(game: Game) -> bool:
    return (
        game.status in _STATUSES
        and game.visibility in _VISIBILITIES
        and game.seat_count == len(game.seats)
        and frozenset(range(game.seat_count)).issuperset(game.to_move + game.answered)
        and (game.status != PLAYING or game.turn is not None)
    )
