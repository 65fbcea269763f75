"""Cursors: text that a client sends back to continue where an answer ended.

To clients they are opaque. The cursor of a page is the position of its last game. The cursor of a
game's events is a version and the revision of the game that the client was shown with it. The
cursor of a player's turns is a time and the marks of what the client was told; a mark is a short
hash. The ids of streams are cursors too.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from api.model.game import Game, Revision
from api.problems.problem import FieldError, Problem
from api.storage.indexes import Cursor

MARK_BYTES = 6

_PAGE_CURSOR = re.compile(r"([0-9]{1,15})-([0-9a-f]{32})")
_EVENTS_CURSOR = re.compile(r"([0-9]{1,15})-(?:([0-9]{1,15})-)?([0-9a-f]{0,32})")
_TURNS_CURSOR = re.compile(r"([0-9]{1,15})\.([A-Za-z0-9_-]{0,4096})")


def page_cursor(position: Cursor) -> str:
    """Return the cursor of the page after a position."""
    return f"{position.created_at}-{position.game_id}"


def read_page_cursor(text: str | None) -> Cursor | None:
    """Return the position of a cursor, None without one. Raises `Problem` (``invalid_request``)."""
    if text is None:
        return None
    match = _PAGE_CURSOR.fullmatch(text)
    if match is None:
        raise _invalid(
            "cursor",
            "This cursor was not issued by this service. Send the 'next' of a page unchanged, or "
            "no cursor for the first page.",
        )
    return Cursor(int(match[1]), match[2])


class EventsCursor(NamedTuple):
    """What a client knows of a game: the items up to `version` of the history with `revision`.

    `version` is lower than the revision's number after a page that was not the last one.
    """

    version: int
    revision: Revision

    @classmethod
    def after(cls, game: Game) -> EventsCursor:
        """Return the cursor of a client that knows all of a game."""
        return cls(game.version, game.revision)

    @property
    def text(self) -> str:
        """The cursor as clients have it."""
        number, id_ = self.revision
        return f"{number}-{id_}" if self.version == number else f"{self.version}-{number}-{id_}"

    def knows_all_of(self, game: Game) -> bool:
        """Return whether the client knows this revision of the game, and all items up to it."""
        return self.version == game.version and self.revision.is_same(game.revision)


BEGINNING = EventsCursor(0, Revision(0, ""))
"""The cursor of a client that knows nothing of a game."""


def find_events_cursor(text: str) -> EventsCursor | None:
    """Return what a client knows of a game, None if the text is no cursor of its events."""
    match = _EVENTS_CURSOR.fullmatch(text)
    if match is None:
        return None
    version, number = int(match[1]), int(match[2] or match[1])
    return None if version > number else EventsCursor(version, Revision(number, match[3]))


def read_events_cursor(text: str) -> EventsCursor:
    """Return what a client knows of a game. Raises `Problem` (``invalid_request``)."""
    cursor = find_events_cursor(text)
    if cursor is None:
        raise _invalid(
            "since",
            "This cursor was not issued by this service; a version is no cursor. Send the 'cursor' "
            "of a game or of an earlier answer unchanged, or no 'since' to begin with the first "
            "item.",
        )
    return cursor


class TurnsCursor(NamedTuple):
    """What a client knows of its games: the ends before a time (ms), and what the marks name."""

    since: int
    marks: frozenset[bytes]

    def with_marks(self, marks: Iterable[bytes]) -> TurnsCursor:
        """Return the cursor with more marks."""
        return self._replace(marks=self.marks.union(marks))

    @property
    def text(self) -> str:
        """The cursor as clients get it."""
        return f"{self.since}.{urlsafe_b64encode(b''.join(sorted(self.marks))).decode()}"


def read_turns_cursor(text: str) -> TurnsCursor:
    """Return what a client knows of its turns. Raises `Problem` (``invalid_request``)."""
    cursor = find_turns_cursor(text)
    if cursor is None:
        raise _invalid(
            "since",
            "This cursor was not issued by this service. Send the 'cursor' of an earlier answer "
            "unchanged, or no cursor at first.",
        )
    return cursor


def find_turns_cursor(text: str) -> TurnsCursor | None:
    """Return what a client knows of its turns, None if the text is no cursor."""
    match = _TURNS_CURSOR.fullmatch(text)
    # The base64 of six bytes is eight characters, without padding.
    if match is None or len(match[2]) % 8:
        return None
    joined = urlsafe_b64decode(match[2])
    marks = (joined[at : at + MARK_BYTES] for at in range(0, len(joined), MARK_BYTES))
    return TurnsCursor(int(match[1]), frozenset(marks))


def turn_mark(game: Game) -> bytes:
    """Return the mark of a game's turn. It changes with the turn and with the deadline."""
    return _mark(f"{game.id} {game.turn} {game.deadline}")


def end_mark(game: Game) -> bytes:
    """Return the mark of a game's end.

    It names the commit: after a failover that loses the end, the game can end in another way.
    """
    return _mark(f"{game.id} {game.version_id} ended")


def start_mark(game_id: str) -> bytes:
    """Return the mark of a game that the player plays."""
    return _mark(f"{game_id} started")


def invitation_mark(game_id: str) -> bytes:
    """Return the mark of a game in which a seat is reserved for the player."""
    return _mark(f"{game_id} invited")


def _mark(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=MARK_BYTES).digest()


def _invalid(parameter: str, detail: str) -> Problem:
    return Problem("invalid_request", detail, errors=(FieldError(detail, parameter=parameter),))
