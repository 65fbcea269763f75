"""What of stored records can be read, and what is wrong with the others."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from api.model.game import FORMAT, PLAYING, Game, SeatRecord
from api.storage.codec import decode, decode_game, decode_state, encode
from api.storage.errors import NewerFormat, Unreadable
from engine.house import HOUSE_LEVELS
from tests.support.records import ADA, make_game

GAME = make_game(version=3, commit="c", status=PLAYING, turn=2, started_at=5, to_move=(1,))
STATE = b"{}"
RECORD = b"a record"
FIELDS = (STATE, b"3", b"c", None)


def document(game: Game = GAME, **members: Any) -> bytes:
    """A game's document with some members replaced, also by what no game can have."""
    return json.dumps({**json.loads(encode(game)), **members}).encode()


def error_of(document: bytes, *fields: bytes | None) -> type[Exception]:
    """The exact error of a game that cannot be read."""
    with pytest.raises(Unreadable) as caught:
        decode_game(GAME.id, document, *fields)
    return caught.type


def test_a_game_is_read_as_it_was_written() -> None:
    assert decode_game(GAME.id, encode(GAME)) == GAME
    assert decode_game(GAME.id, encode(GAME), *FIELDS) == GAME


@pytest.mark.parametrize("level", [None, *HOUSE_LEVELS])
def test_every_level_of_the_house_is_known(level: str | None) -> None:
    game = make_game(seats=(SeatRecord(player=ADA, house=level), SeatRecord()))
    assert decode_game(game.id, encode(game)) == game


@pytest.mark.parametrize(
    "members",
    [
        {"id": "1" * 32},
        {"status": "asleep"},
        {"visibility": "dim"},
        {"seat_count": 3},
        {"to_move": [2]},
        {"answered": [2]},
        {"answered": [-1]},
        {"turn": None},
        {"version": -1},
        {"created_at": 253_402_300_800_000},
        {"seats": "two"},
    ],
)
def test_a_document_that_no_game_can_have_is_damaged(members: dict[str, Any]) -> None:
    assert error_of(document(**members)) is Unreadable


def test_a_game_needs_a_turn_only_while_it_is_played() -> None:
    game = make_game(turn=None)
    assert decode_game(game.id, encode(game)) == game


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"id": "\xff"}']
)
def test_bytes_that_are_no_document_are_damaged(data: bytes) -> None:
    assert error_of(data) is Unreadable
    with pytest.raises(Unreadable) as caught:
        decode(msgspec.json.Decoder(Game), data)
    assert caught.type is Unreadable


def test_text_that_is_not_unicode_is_damaged_where_nothing_looks_into_it() -> None:
    assert error_of(encode(GAME).replace(b'"options":{', b'"options":{"\xff":1')) is Unreadable


@pytest.mark.parametrize(
    "members",
    [
        {"format": FORMAT + 1},
        {"format": FORMAT + 1, "seats": "two"},
        {"format": FORMAT + 1, "status": "asleep", "new": 1},
        {"ruleset": "zebra"},
        {"seats": [{"house": "brilliant"}, {}]},
    ],
)
def test_a_game_of_a_newer_release_is_told_from_a_damaged_one(members: dict[str, Any]) -> None:
    assert error_of(document(**members)) is NewerFormat


def test_a_member_that_this_release_does_not_know_is_no_reason_not_to_read_the_others() -> None:
    assert decode_game(GAME.id, document(new=1)) == GAME


@pytest.mark.parametrize(
    "fields",
    [
        (None, b"3", b"c", None),
        (STATE, b"4", b"c", None),
        (STATE, b"x", b"c", None),
        (STATE, None, b"c", None),
        (STATE, b"3", b"d", None),
        (STATE, b"3", b"\xff", None),
        (STATE, b"3", None, None),
    ],
)
def test_the_fields_beside_a_document_must_fit_it(fields: tuple[bytes | None, ...]) -> None:
    assert error_of(encode(GAME), *fields) is Unreadable


def test_only_a_game_that_was_started_needs_a_state() -> None:
    opened = make_game()
    assert decode_game(opened.id, encode(opened), None, None, None, None) == opened
    # Early releases stored games without the time of their start.
    for members in ({"started_at": None}, {"format": 1, "status": "finished"}):
        assert error_of(document(**members), None, b"3", b"c", None) is Unreadable
    cancelled = make_game(format=1, status="cancelled")
    assert decode_game(cancelled.id, encode(cancelled), None, b"0", b"", None) == cancelled


def test_a_game_that_has_ended_needs_its_record_instead() -> None:
    cancelled = make_game(status="cancelled")
    assert decode_game(cancelled.id, encode(cancelled), None, b"0", b"", RECORD) == cancelled
    assert error_of(encode(cancelled), STATE, b"0", b"", None) is Unreadable


@pytest.mark.parametrize("state", [b"", b"{", b"{}", b"[]", b'{"new": 1}', b"\xff"])
def test_a_state_that_its_ruleset_cannot_have_is_damaged(state: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        decode_state(GAME, state)
    assert caught.type is Unreadable
