"""Request bodies and queries about games and moves."""

from __future__ import annotations

import contextlib
from typing import Any

from marshmallow import ValidationError

from api.games.matching import MAX_HOUSE_AFTER_SECONDS, MIN_HOUSE_AFTER_SECONDS
from api.games.queries import OwnGamesStatus
from api.live import MAX_WAIT_SECONDS
from api.model.game import MAX_TURN_SECONDS, MIN_TURN_SECONDS, GameStatus, Visibility
from api.model.members import GAME_ID, ID_PATTERN, PLAYER_ID
from api.web.headers import MAX_CURSOR_LENGTH
from api.web.schemas import unions
from api.web.schemas.cards import seat
from api.web.schemas.fields import (
    MAX_INTEGER,
    BodySchema,
    Boolean,
    Choice,
    Integer,
    Length,
    List,
    Nested,
    Pattern,
    QueryBoolean,
    QueryInteger,
    QuerySchema,
    Range,
    Text,
    described,
    listed,
)
from api.web.schemas.unions import ChosenOptionsSchema
from engine.published import MAX_SEATS, MIN_SEATS, PUBLISHED_AS

MAX_MOVES = 100
"""In one batch."""

TURNS_CURSOR = "1795858200123.oFxjVqI9"

MAX_EVENTS_CURSOR = 100
"""Longer than a cursor of a game's events, or the id of an event of its stream."""


class ReservedSeatSchema(BodySchema):
    """A seat that only one player may take."""

    seat = seat("The seat's number.", required=True)
    player_id = Text(
        required=True,
        validate=Length(max=64),
        metadata=described(
            "The id of the player for whom it is reserved.", **{PUBLISHED_AS: PLAYER_ID}
        ),
    )


class GameSetupSchema(BodySchema):
    """What is played, and by how many."""

    ruleset = Text(
        required=True,
        metadata=described("The id of a ruleset, of listRulesets.", examples=["parade"]),
    )
    seat_count = Integer(
        required=True,
        validate=Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Within the ruleset's `seat_counts`."),
    )
    options = Nested(
        ChosenOptionsSchema,
        metadata=described(
            "Options of this ruleset; a missing option has the default value of the ruleset."
        ),
    )


class NewGameBodySchema(GameSetupSchema):
    """A new game."""

    visibility = Choice(
        Visibility,
        metadata=described("Which callers can see the game; absent means public."),
    )
    take_seat = Boolean(
        metadata=described("Whether you take a seat immediately; absent means true.")
    )
    house = List(
        Text(validate=Length(max=40)),
        validate=Length(max=MAX_SEATS - 1),
        metadata=described(
            "A level of `house_levels` for each house player; house players get the last seats. "
            "Absent means no house players; at least one seat must be left for a player."
        ),
    )
    reserved_seats = List(
        Nested(ReservedSeatSchema),
        validate=Length(max=MAX_SEATS),
        metadata=described(
            "The seats that are reserved for certain players; any player may take the other seats. "
            "Absent means none."
        ),
    )
    turn_seconds = Integer(
        validate=Range(min=MIN_TURN_SECONDS, max=MAX_TURN_SECONDS),
        metadata=described(
            "How many seconds a turn may take before the house makes the move; absent means 86400 "
            "(one day)."
        ),
    )


class MatchBodySchema(GameSetupSchema):
    """The game that you want to play; players who send the same wish are seated together."""

    turn_seconds = Integer(
        validate=Range(min=MIN_TURN_SECONDS, max=MAX_TURN_SECONDS),
        metadata=described(
            "How many seconds a turn may take before the house makes the move; absent means 86400 "
            "(one day)."
        ),
    )
    house_after_seconds = Integer(
        validate=Range(min=MIN_HOUSE_AFTER_SECONDS, max=MAX_HOUSE_AFTER_SECONDS),
        metadata=described(
            "How many seconds after its creation the game starts with house players in the empty "
            "seats. The open game shows this time as its `deadline`. Absent: it waits for players.",
            examples=[30],
        ),
    )
    house = Text(
        validate=Length(max=40),
        metadata=described(
            "The level of these house players, one of `house_levels`; absent means `careful`. Only "
            "with `house_after_seconds`.",
            examples=["careful"],
        ),
    )


class JoinBodySchema(BodySchema):
    """Which seat to take. All members are optional."""

    seat = seat("Absent means any free seat.")
    invite = Text(
        validate=Length(max=64),
        metadata=described("The invite of a private game, from its host."),
    )


class MoveBodySchema(BodySchema):
    """A move and its turn."""

    turn = Integer(
        required=True,
        validate=Range(min=1, max=MAX_INTEGER),
        metadata=described("The game's `turn` at which you decided on this move."),
    )
    move = unions.move("The move, one of the game's `legal_moves`.", required=True)

    def load(self, data: Any, **how: Any) -> Any:
        """Read a body; skip marshmallow's bookkeeping if both members are there and valid."""
        if isinstance(data, dict) and data.keys() == self.fields.keys():
            with contextlib.suppress(ValidationError):
                return {name: self.fields[name].deserialize(data[name]) for name in data}
        return super().load(data, **how)


class GameMoveSchema(MoveBodySchema):
    """A move with its turn and its game."""

    game_id = Text(
        required=True,
        validate=Pattern(ID_PATTERN, error="it must be 32 digits from 0 to 9 and a to f."),
        metadata=described("The game in which to move.", **{PUBLISHED_AS: GAME_ID}),
    )
    # A type that no game has is wrong in its form; which types this game has, only it can tell.
    move = unions.move(
        "The move, one of the game's `legal_moves`.", required=True, must_be_known=True
    )


class MovesBodySchema(BodySchema):
    """Moves in any games of yours."""

    moves = listed(
        Nested(GameMoveSchema),
        "The moves. Those in one game are played in their order.",
        validate=Length(min=1, max=MAX_MOVES),
    )


class PageQuerySchema(QuerySchema):
    """A page of a list."""

    cursor = Text(
        validate=Length(max=100),
        metadata=described(
            "`next` of the previous page; absent for the first page.",
            examples=["1795858200123-9f86d081884c7d659a2feaa0c55ad015"],
        ),
    )
    limit = QueryInteger(
        load_default=50,
        validate=Range(min=1, max=100),
        metadata=described("The largest number of games.", examples=[20]),
    )


class OwnGamesQuerySchema(PageQuerySchema):
    """A page of the caller's games."""

    status = Choice(
        OwnGamesStatus,
        metadata=described(
            "Only games with this status; `invited`: the open games in which a seat is only "
            "reserved for you."
        ),
    )


class LobbyQuerySchema(PageQuerySchema):
    """A page of the public games."""

    status = Choice(GameStatus, metadata=described("Only games with this status."))
    ruleset = Text(metadata=described("Only games of this ruleset.", examples=["parade"]))
    seat_count = QueryInteger(
        validate=Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Only games with this number of seats.", examples=[4]),
    )
    free_seats = QueryBoolean(
        load_default=False,
        metadata=described(
            "If true, only open games with a free seat that is not reserved for another player.",
            examples=[True],
        ),
    )


def wait() -> WaitSeconds:
    """Return a field for the seconds that a request may wait for news."""
    return WaitSeconds(
        load_default=0,
        validate=Range(min=0),
        metadata=described(
            f"How many seconds to wait for news; more than {MAX_WAIT_SECONDS} count as "
            f"{MAX_WAIT_SECONDS}.",
            examples=[20],
        ),
    )


class WaitSeconds(QueryInteger):
    """The seconds that a request waits, as in the header Prefer: the service may wait less."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        return min(super()._deserialize(value, attr, data, **kwargs), MAX_WAIT_SECONDS)


class EventsQuerySchema(QuerySchema):
    """Which part of a game's history."""

    since = Text(
        validate=Length(max=MAX_EVENTS_CURSOR),
        metadata=described(
            "`cursor` of a game or of the previous answer; only later items are returned. Absent "
            "to begin with the first item.",
            examples=["31-9f3ac0d2e1b45877"],
        ),
    )
    limit = QueryInteger(
        load_default=500,
        validate=Range(min=1, max=500),
        metadata=described("The largest number of items.", examples=[100]),
    )
    wait = wait()


class StreamQuerySchema(QuerySchema):
    """The query of a stream that is opened without an Authorization header."""

    ticket = Text(
        validate=Length(max=100),
        metadata=described(
            "A ticket of createStreamTicket, instead of a token.",
            examples=["v9EJ3tXWgXbFDHQzb3mlV5nG8-0q1oLZ3uYx2bTn7kE"],
        ),
    )
    last_event_id = Text(
        validate=Length(max=MAX_EVENTS_CURSOR),
        metadata=described(
            "The same as the header Last-Event-ID, which a new EventSource cannot send; the header "
            "is used if both are sent.",
            examples=["31-9f3ac0d2e1b45877"],
        ),
    )


class TurnStreamQuerySchema(QuerySchema):
    """The query of a player's stream that a browser opens."""

    ticket = Text(
        validate=Length(max=100),
        metadata=described(
            "A ticket of createTurnsTicket, instead of a token.",
            examples=["v9EJ3tXWgXbFDHQzb3mlV5nG8-0q1oLZ3uYx2bTn7kE"],
        ),
    )
    last_event_id = Text(
        validate=Length(max=MAX_CURSOR_LENGTH),
        metadata=described(
            "The same as the header Last-Event-ID, which a new EventSource cannot send; the header "
            "is used if both are sent.",
            examples=[TURNS_CURSOR],
        ),
    )


class LegalMovesQuerySchema(QuerySchema):
    """How much is told of the legal moves."""

    previews = QueryBoolean(
        load_default=False,
        metadata=described("Whether to return what each move would do.", examples=[True]),
    )


class TurnsQuerySchema(QuerySchema):
    """The cursor of the previous answer, and how long to wait for news."""

    since = Text(
        validate=Length(max=MAX_CURSOR_LENGTH),
        metadata=described(
            "`cursor` of the previous answer; absent the first time.",
            examples=[TURNS_CURSOR],
        ),
    )
    wait = wait()
    view = QueryBoolean(
        load_default=True,
        metadata=described(
            "If false, the games come without `table` and `legal_moves`.", examples=[False]
        ),
    )
