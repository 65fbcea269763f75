"""What the store keeps, as typed values, and how it is written.

Times are milliseconds of the store's clock. A game's document holds all but its position,
its deal and what happened, which have places of their own, so that nothing grows with it.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct

from api.model.members import Id
from engine.published import described, published_as
from engine.ruleset import Event, Result, Seat, Told

FORMAT = 1
"""The version of this format, written into every game."""


Count = Annotated[int, Meta(ge=0)]
Time = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""A time in milliseconds, until the end of the year 9999."""

Seconds = Annotated[int, Meta(ge=0, le=1_000_000_000)]


class GameStatus(StrEnum):
    """Where in its life a game is."""

    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Visibility(StrEnum):
    """Whom a game exists for: everybody, or its players and those with its invite."""

    PUBLIC = "public"
    PRIVATE = "private"


OPEN, PLAYING, FINISHED, CANCELLED = GameStatus
PUBLIC, PRIVATE = Visibility
UNFINISHED = (OPEN, PLAYING)
ENDED = (FINISHED, CANCELLED)


class PlayerKind(StrEnum):
    """Who plays: a person or a program."""

    HUMAN = "human"
    BOT = "bot"


MAX_NAME_LENGTH = 40


class Player(Struct, frozen=True):
    """A player."""

    id: Annotated[Id, described("The player's id. Anybody may know it: it proves nothing.")]
    name: Annotated[
        str,
        described(
            "What the player is called. Names need not be different.",
            minLength=1,
            maxLength=MAX_NAME_LENGTH,
        ),
    ]
    kind: Annotated[str, published_as(PlayerKind, "Whether a person or a program plays.")]


class Account(Struct, frozen=True):
    """A player with what proves a caller to be that player: hashes of tokens.

    `next_token` was issued at `next_token_at` and has not been used; `kept_at` is when the
    account's life was last renewed, 0 for a player who never was in a game; `seen_at` when it
    was last heard of, or somewhat before.
    """

    player: Player
    token: str
    next_token: str | None
    next_token_at: int
    kept_at: int
    seen_at: int


class SeatRecord(Struct, frozen=True):
    """A seat: who sits there, whether the house plays for it, for whom it is reserved.

    A player who left during the game stays, with the house playing for it; `times_left` counts
    how often it did.
    """

    player: Player | None = None
    house: str | None = None
    reserved_for: Player | None = None
    times_left: int = 0

    @property
    def is_free(self) -> bool:
        """Whether nobody plays here, neither a player nor the house."""
        return self.player is None and self.house is None

    def plays(self, player_id: str | None) -> bool:
        """Whether this player plays here itself."""
        return self.house is None and self.player is not None and self.player.id == player_id


class Place(NamedTuple):
    """Where somebody is at a table, and how often it has left it: what a ticket was made for."""

    seat: Seat | None
    times_left: int


class Audience(NamedTuple):
    """For whom an answer about a game is: what it shows depends on nothing else of the reader."""

    seat: Seat | None
    is_host: bool

    @property
    def name(self) -> str:
        """What tells it apart from the others, in a tag."""
        place = "spectator" if self.seat is None else f"seat{self.seat}"
        return f"{place}-host" if self.is_host else place


class Version(NamedTuple):
    """A version, and the id of the commit that brought it; "" if that is not known."""

    number: int
    id: str


class Game(Struct, frozen=True, kw_only=True):
    """A game but for its position.

    `answered` lists the seats that have moved in the present turn; `left` the last players who
    left before the start, so that they may be told so again; `indexed_at` is when the entries
    of its indexes were last written. `version_id` is the id of the commit that brought the
    version: a failover may lose changes, and the same number come again with another content.
    """

    format: int = FORMAT
    id: str
    ruleset: str
    seat_count: int
    options: Raw
    visibility: str
    invite: str | None
    turn_seconds: Seconds = 86_400
    host: Player
    status: str = OPEN
    seats: tuple[SeatRecord, ...]
    left: tuple[str, ...] = ()
    version: Count = 0
    version_id: str = ""
    commit: str = ""
    turn: Count | None = None
    turn_started_at: Time | None = None
    to_move: tuple[Seat, ...] = ()
    answered: tuple[Seat, ...] = ()
    deadline: Time | None = None
    result: Result | None = None
    deal_sha256: str | None = None
    rematch: str | None = None
    created_at: Time
    started_at: Time | None = None
    finished_at: Time | None = None
    updated_at: Time
    indexed_at: Time = 0

    @property
    def known_as(self) -> Version:
        """The version, so that no other is taken for it."""
        return Version(self.version, self.version_id)

    def seat_of(self, player_id: str | None) -> Seat | None:
        """The seat that this player plays, None without one."""
        for seat, record in enumerate(self.seats):
            if record.plays(player_id):
                return seat
        return None

    def audience_of(self, player_id: str | None) -> Audience:
        """The audience that this reader belongs to."""
        return Audience(self.seat_of(player_id), player_id == self.host.id)

    def left_seat_of(self, player_id: str) -> Seat | None:
        """The seat that the house plays for this player, None without one."""
        for seat, record in enumerate(self.seats):
            if record.house is None or record.player is None:
                continue
            if record.player.id == player_id:
                return seat
        return None

    def players(self) -> set[str]:
        """Those to whom the seats belong, whoever plays for them."""
        return {r.player.id for r in self.seats if r.player is not None}

    def persons(self) -> set[str]:
        """The players who play for their seats themselves."""
        return {r.player.id for r in self.seats if r.player is not None and r.house is None}

    def place_of(self, player_id: str | None) -> Place:
        """Where this player is; who watches or has left has no seat."""
        own = (r for r in self.seats if r.player is not None and r.player.id == player_id)
        return Place(self.seat_of(player_id), sum(record.times_left for record in own))

    def table_company(self) -> set[str]:
        """Those whom the game takes a place of: who play, and who hosts an open table."""
        return self.persons() | ({self.host.id} if self.status == OPEN else set())

    def company(self) -> set[str]:
        """Those whose game it is: who hosts it, and to whom its seats belong."""
        return self.players() | {self.host.id}

    def members(self) -> set[str]:
        """The players for whom the game exists even if it is private."""
        concerned = [p for r in self.seats for p in (r.player, r.reserved_for) if p is not None]
        return {self.host.id, *(player.id for player in concerned)}


NOT_A_MOVE = Raw(b"null")


class Item(Struct, frozen=True, kw_only=True):
    """One thing that happened: who caused it, and its events as each audience is told them.

    `told` is what everybody is told; `told_to` what single seats (by their number as text) are
    told instead. `move` is what was played, for the record alone. The last item of a commit has
    the game's `version_id`.
    """

    version: Count
    at: Time
    turn: Count | None = None
    by: str
    seat: Seat | None = None
    move: Raw = NOT_A_MOVE
    told: Raw
    told_to: dict[str, Raw] = {}
    version_id: str = ""

    def events(self, reader: Seat | None) -> Raw:
        """The events as this seat, or a spectator, is told them."""
        return self.told_to.get(str(reader), self.told)


class StoredDeal(Struct, frozen=True):
    """A game's deal, and the text whose hash was published at the start."""

    deal: Raw
    deal_text: str


def item(
    version: int,
    at: int,
    by: str,
    told: tuple[Told, ...],
    *,
    turn: int | None = None,
    seat: Seat | None = None,
    move: Any = None,
) -> Item:
    """An item, with its events written out for each audience."""
    told_more = {seat for each in told for seat, _ in each.privately}
    return Item(
        version=version,
        at=at,
        turn=turn,
        by=by,
        seat=seat,
        move=NOT_A_MOVE if move is None else raw(move),
        told=raw([each.everybody for each in told]),
        told_to={str(reader): raw([each.to(reader) for each in told]) for reader in told_more},
    )


def public_item(version: int, at: int, by: str, seat: Seat | None, *events: Event) -> Item:
    """An item that is not a move, and the same for all."""
    return item(version, at, by, tuple(Told(event) for event in events), seat=seat)


def raw(value: Any) -> Raw:
    """A value as the JSON that will be stored or sent of it."""
    return Raw(msgspec.json.encode(value))


def timestamp(milliseconds: int) -> str:
    """A time as RFC 3339 text in UTC.

    >>> timestamp(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03}Z"


@lru_cache(8192)
def _to_the_second(seconds: int) -> str:
    # Of an aware time, isoformat would write the offset; to cut it off is quicker than strftime.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
