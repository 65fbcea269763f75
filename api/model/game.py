"""Games and players as they are stored, as typed values.

Times are milliseconds of the store's clock. A game's document has all but its position, its deal
and its history, which are stored separately so that the document does not grow with the game.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from api.model.members import PlayerId
from engine.published import described, published_as
from engine.ruleset import Event, Seat, TimedEvent, Told

FORMAT = 2
"""The version of the stored format, written into every game."""

Count = Annotated[int, Meta(ge=0)]
Time = Annotated[int, Meta(ge=0, le=253_402_300_799_999)]
"""A time in milliseconds, until the end of the year 9999."""

Seconds = Annotated[int, Meta(ge=0, le=1_000_000_000)]


class GameStatus(StrEnum):
    """The stage that a game is at."""

    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Visibility(StrEnum):
    """The callers that can see a game: all, or only its members and callers with its invite."""

    PUBLIC = "public"
    PRIVATE = "private"


OPEN, PLAYING, FINISHED, CANCELLED = GameStatus
PUBLIC, PRIVATE = Visibility
UNFINISHED = (OPEN, PLAYING)
ENDED = (FINISHED, CANCELLED)


class PlayerKind(StrEnum):
    """Whether the player is a person or a program."""

    HUMAN = "human"
    BOT = "bot"


MAX_NAME_LENGTH = 40
MIN_TURN_SECONDS, MAX_TURN_SECONDS = 5, 7 * 24 * 60 * 60


class Player(Struct, frozen=True):
    """The public data of a player."""

    id: Annotated[PlayerId, described("The player's id. It is public and gives no access.")]
    name: Annotated[
        str,
        described(
            "The player's name. Names are not unique.",
            minLength=1,
            maxLength=MAX_NAME_LENGTH,
        ),
    ]
    kind: Annotated[str, published_as(PlayerKind, "Whether the player is a person or a program.")]


class Account(Struct, frozen=True):
    """A player with the hashes of its tokens.

    `next_token` was issued at `next_token_at` and has not been used. `kept_at` is when a game last
    extended the account's time to live, 0 for a player that never was in a game. `seen_at` is when
    the player was last seen, to within `api.model.retention.SEEN_MS`.
    """

    player: Player
    token: str
    next_token: str | None
    next_token_at: int
    kept_at: int
    seen_at: int


class SeatRecord(Struct, frozen=True, omit_defaults=True):
    """A seat: its player, the level of the house that plays for it, the player it is reserved for.

    A player that leaves during the game keeps the seat, and the house plays for it; `times_left`
    counts how often that happened. `missed_turns` counts the turns in a row in which the
    clock acted for the player. `taken_at` is the version of the game in which the player took the
    seat, 0 if unknown.
    """

    player: Player | None = None
    house: str | None = None
    reserved_for: Player | None = None
    times_left: int = 0
    missed_turns: Count = 0
    taken_at: Count = 0

    @property
    def is_free(self) -> bool:
        """Whether neither a player nor the house plays for this seat."""
        return self.player is None and self.house is None

    def plays(self, player_id: str | None) -> bool:
        """Return whether this player plays for the seat, and not the house for it."""
        return self.house is None and self.player is not None and self.player.id == player_id


class Participation(NamedTuple):
    """A player's part in a game: its seat, None for a spectator, and how often it has left.

    A ticket for a stream is valid for one participation.
    """

    seat: Seat | None
    times_left: int


class Audience(NamedTuple):
    """The readers to whom a game is shown in the same way.

    `left_seat` is the seat that the house plays for the reader.
    """

    seat: Seat | None
    left_seat: Seat | None
    is_host: bool

    @property
    def name(self) -> str:
        """The name of the audience, for entity tags."""
        name = "spectator" if self.seat is None else f"seat{self.seat}"
        if self.left_seat is not None:
            name = f"left{self.left_seat}"
        return f"{name}-host" if self.is_host else name


class Revision(NamedTuple):
    """A version of a game: its number and the id of the commit that wrote it, "" if unknown.

    After a failover that loses changes, the same number can come again with another content.
    """

    number: int
    id: str

    def is_same(self, other: Revision) -> bool:
        """Return whether this is another revision, as far as their ids are known."""
        return self.number == other.number and ("" in (self.id, other.id) or self.id == other.id)


NULL = Raw(b"null")
"""The encoded JSON of a member that has no value."""


class Game(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document of a game: everything but its position, its deal and its history.

    `answered` lists the seats that have moved in the current turn. `left` lists the last players
    that left before the start, so that their requests can be repeated. An open game with a
    `deadline` starts then, with house players of `house_level` in the free seats. `result` is an
    encoded `engine.ruleset.GameResult`. `indexed_at` is when its index entries were last written.
    `version_id` is the id of the commit that wrote the version, `commit` that of the last commit,
    which may have left the version as it was.
    """

    # Made by a factory, as a default would be omitted: every release must find this number.
    format: Annotated[int, Meta(ge=1)] = msgspec.field(default_factory=lambda: FORMAT)
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
    house_level: str | None = None
    result: Raw = NULL
    deal_sha256: str | None = None
    rematch: str | None = None
    created_at: Time
    started_at: Time | None = None
    finished_at: Time | None = None
    updated_at: Time
    indexed_at: Time = 0

    @property
    def has_ended(self) -> bool:
        """Whether the game is finished or cancelled."""
        return self.status in ENDED

    @property
    def revision(self) -> Revision:
        """The version with the id of its commit."""
        return Revision(self.version, self.version_id)

    def seat_of(self, player_id: str | None) -> Seat | None:
        """Return the seat that this player plays for, None without one."""
        for seat, record in enumerate(self.seats):
            if record.plays(player_id):
                return seat
        return None

    def audience_of(self, player_id: str | None) -> Audience:
        """Return the audience that this reader belongs to."""
        is_host = player_id == self.host.id
        return Audience(self.seat_of(player_id), self.left_seat_of(player_id), is_host)

    def left_seat_of(self, player_id: str | None) -> Seat | None:
        """Return the seat where the house plays for this player, None without one."""
        if self.status != PLAYING:
            return None
        for seat, record in enumerate(self.seats):
            if record.house and record.player is not None and record.player.id == player_id:
                return seat
        return None

    def participation_of(self, player_id: str | None) -> Participation:
        """Return a player's part in the game."""
        own = (r for r in self.seats if r.player is not None and r.player.id == player_id)
        return Participation(self.seat_of(player_id), sum(record.times_left for record in own))

    # Sets of player ids, each a superset of the one before, but for `occupants`.

    def active_players(self) -> set[str]:
        """Return the players that play for their seats themselves."""
        return {r.player.id for r in self.seats if r.player is not None and r.house is None}

    def players(self) -> set[str]:
        """Return the players that have a seat, also if the house plays for it."""
        return {r.player.id for r in self.seats if r.player is not None}

    def participants(self) -> set[str]:
        """Return the players that have a seat, and the host."""
        return self.players() | {self.host.id}

    def occupants(self) -> set[str]:
        """Return the players for which the game counts as unfinished.

        These are the active players and, before the start, the host.
        """
        return self.active_players() | ({self.host.id} if self.status == OPEN else set())

    def members(self) -> set[str]:
        """Return the participants and the players for which a seat is reserved.

        For them the game exists even if it is private.
        """
        named = [p for r in self.seats for p in (r.player, r.reserved_for) if p is not None]
        return {self.host.id, *(player.id for player in named)}


NOT_A_MOVE = NULL


class HistoryItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a game's history: its cause, and its events as each audience is told them.

    `told` has the public view of the events, `told_to` the views of single seats (by their
    number as text), which replace them. `move` is the move that was played, for the record only.
    The last item of a commit has the game's `version_id`. `deadline` is the end of the countdown
    that one of the events starts.
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
    deadline: Time | None = None

    def events(self, reader: Seat | None) -> Raw:
        """Return the events as this seat, or a spectator, is told them."""
        return self.told_to.get(str(reader), self.told)


class StoredDeal(Struct, frozen=True):
    """The deal of a game, and the text whose hash was published at the start."""

    deal: Raw
    deal_text: str


def history_item(
    version: int,
    at: int,
    by: str,
    told: tuple[Told, ...],
    *,
    turn: int | None = None,
    seat: Seat | None = None,
    move: Any = None,
    deadline: int | None = None,
) -> HistoryItem:
    """Return an item, with its events encoded for each audience.

    `deadline` is the end of a countdown that is running; one that the events start gets it.
    """
    if deadline is not None and any(isinstance(each.everybody, TimedEvent) for each in told):
        told = with_deadline(told, deadline)
    else:
        deadline = None
    everybody, privately = encoded_events(told)
    return HistoryItem(
        version=version,
        at=at,
        turn=turn,
        by=by,
        seat=seat,
        move=NOT_A_MOVE if move is None else raw(move),
        told=everybody,
        told_to=privately,
        deadline=deadline,
    )


def with_deadline(told: tuple[Told, ...], deadline: int) -> tuple[Told, ...]:
    """Return events with the end of the countdown that they start, since the engine has no clock.

    The deadline is in ms since 1970.
    """
    until = timestamp(deadline)
    return tuple(
        replace(each, everybody=replace(each.everybody, deadline=until))
        if isinstance(each.everybody, TimedEvent)
        else each
        for each in told
    )


def encoded_events(told: tuple[Told, ...]) -> tuple[Raw, dict[str, Raw]]:
    """Return events as `HistoryItem.told` and `HistoryItem.told_to` have them."""
    told_more = {seat for each in told for seat, _ in each.privately}
    everybody = raw([each.everybody for each in told])
    return everybody, {str(seat): raw([each.to(seat) for each in told]) for seat in told_more}


def public_item(version: int, at: int, by: str, seat: Seat | None, *events: Event) -> HistoryItem:
    """Return an item that is not a move, and is the same for all audiences."""
    return history_item(version, at, by, tuple(Told(event) for event in events), seat=seat)


def raw(value: Any) -> Raw:
    """Return a value as encoded JSON."""
    return Raw(msgspec.json.encode(value))


def timestamp(milliseconds: int) -> str:
    """Return a time as RFC 3339 text in UTC.

    >>> timestamp(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03}Z"


@lru_cache(8192)
def _to_the_second(seconds: int) -> str:
    # Cut off the offset of an aware time, which is faster than strftime.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
