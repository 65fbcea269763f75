"""Games, moves and what happened on the wire."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.happenings import Cause
from api.schemas import unions
from api.schemas.cards import MAX_SEATS, MIN_SEATS
from api.schemas.fields import (
    MAX_INTEGER,
    BodySchema,
    Boolean,
    Choice,
    Integer,
    List,
    QueryBoolean,
    QueryInteger,
    Text,
    described,
    listed,
    nullable,
)
from api.schemas.players import PlayerSchema
from api.schemas.unions import OptionsSchema, ResultSchema
from api.stored import GameStatus, Visibility
from api.waiting import MAX_WAIT_SECONDS

# --- Bodies and queries ------------------------------------------------------------------


class NewGameBodySchema(BodySchema):
    """A game to be."""

    ruleset = Text(required=True, metadata=described("Of listRulesets.", example="parade"))
    seat_count = Integer(
        required=True,
        validate=validate.Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Within the ruleset's `seat_counts`."),
    )
    options = fields.Nested(OptionsSchema)
    visibility = Choice(Visibility, metadata=described("Absent means public."))
    take_seat = Boolean(metadata=described("Whether you sit down at once; absent means true."))
    house = List(
        Text(validate=validate.Length(max=40)),
        validate=validate.Length(max=MAX_SEATS),
        metadata=described("A level for each house player; they get the last seats."),
    )
    players = List(
        Text(allow_none=True, validate=validate.Length(max=64)),
        validate=validate.Length(max=MAX_SEATS),
        metadata=described(
            "Player ids by seat, for whom the seats are reserved; null for anybody."
        ),
    )
    turn_seconds = Integer(
        validate=validate.Range(min=5, max=604800),
        metadata=described("How long a turn may take."),
    )


class JoinBodySchema(BodySchema):
    """Which seat to take; all of it may be left out."""

    seat = Integer(
        validate=validate.Range(min=0, max=MAX_SEATS - 1),
        metadata=described("Absent means any free seat."),
    )
    invite = Text(
        validate=validate.Length(max=64), metadata=described("What opens a private game.")
    )


class MoveBodySchema(BodySchema):
    """A move, and the turn that it answers."""

    turn = Integer(
        required=True,
        validate=validate.Range(min=1, max=MAX_INTEGER),
        metadata=described("The game's `turn` at which you decided on this move."),
    )
    move = unions.move(required=True)


class PageQuerySchema(Schema):
    """A page of a list."""

    status = Choice(GameStatus, metadata=described("Only games with this status."))
    cursor = Text(metadata=described("`next` of the page before."))
    limit = QueryInteger(
        load_default=50,
        validate=validate.Range(min=1, max=100),
        metadata=described("How many games at most."),
    )


class LobbyQuerySchema(PageQuerySchema):
    """A page of the public games."""

    ruleset = Text(metadata=described("Only games of this ruleset."))


def wait() -> QueryInteger:
    """How long an answer may be waited for."""
    return QueryInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_WAIT_SECONDS),
        metadata=described("Seconds to wait until there is something new."),
    )


class EventsQuerySchema(Schema):
    """Which part of a game's history."""

    since = QueryInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_INTEGER),
        metadata=described("The version that you have; what came after it is answered."),
    )
    limit = QueryInteger(
        load_default=500,
        validate=validate.Range(min=1, max=500),
        metadata=described("How many items at most."),
    )
    wait = wait()


class StreamQuerySchema(Schema):
    """Who opens a stream without a header."""

    ticket = Text(metadata=described("Of createStreamTicket, instead of a token."))


class LegalMovesQuerySchema(Schema):
    """How much is told of the legal moves."""

    previews = QueryBoolean(
        load_default=False, metadata=described("Whether to tell what each move would do.")
    )


class TurnsQuerySchema(Schema):
    """What the caller has been told already."""

    since = Text(metadata=described("`cursor` of the answer before."))
    wait = wait()


# --- Answers -----------------------------------------------------------------------------


def time(**kwargs: object) -> fields.String:
    """A moment."""
    return fields.String(
        required=True,
        metadata={"format": "date-time"},
        **kwargs,  # type: ignore[arg-type]
    )


class SeatSchema(Schema):
    """A seat of a game."""

    seat = Integer(required=True)
    player = nullable(fields.Nested, PlayerSchema)
    house = nullable(fields.String, metadata=described("The level at which the house plays here."))
    reserved_for = nullable(fields.Nested, PlayerSchema)


class GameSummarySchema(Schema):
    """A game as lists show it."""

    id = fields.String(required=True)
    ruleset = fields.String(required=True)
    seat_count = Integer(required=True)
    options = fields.Nested(OptionsSchema, required=True)
    visibility = Choice(Visibility, required=True)
    status = Choice(GameStatus, required=True)
    host = fields.Nested(PlayerSchema, required=True)
    seats = listed(fields.Nested(SeatSchema))
    version = Integer(
        required=True, metadata=described("Counts all that happened; the id of the last item.")
    )
    turn = nullable(
        Integer, metadata=described("Counts decision points; a move names it. Null unless playing.")
    )
    to_move = listed(Integer(), metadata=described("The seats that the game waits for."))
    deadline = time(allow_none=True)
    you = nullable(Integer, metadata=described("Your own seat."))
    result = nullable(fields.Nested, ResultSchema)
    deal_sha256 = nullable(
        fields.String,
        metadata=described("From the start on: the SHA-256 of the record's `deal_text`."),
    )
    rematch = nullable(fields.String, metadata=described("The game that follows this one."))
    invite = nullable(
        fields.String, metadata=described("For the host of a private game: what lets others in.")
    )
    created_at = time()
    started_at = time(allow_none=True)
    finished_at = time(allow_none=True)
    updated_at = time()


class GameSchema(GameSummarySchema):
    """A game as you see it."""

    legal_moves = listed(unions.move(), metadata=described("Of your own seat."))
    table = unions.table(required=True, allow_none=True)


class GamePageSchema(Schema):
    """A page of games, newest first."""

    items = listed(fields.Nested(GameSummarySchema))
    next = nullable(fields.String, metadata=described("The cursor of the next page, if any."))


class ItemSchema(Schema):
    """One thing that happened, with its events as you are told them."""

    version = Integer(required=True)
    at = time()
    turn = nullable(Integer, metadata=described("Of a move: the turn that it answered."))
    by = Choice(Cause, required=True)
    seat = nullable(Integer)
    events = listed(unions.event())


class EventPageSchema(Schema):
    """What happened since a version."""

    items = listed(fields.Nested(ItemSchema))
    version = Integer(
        required=True, metadata=described("Where this page ends: pass it as `since`.")
    )
    more = Boolean(required=True, metadata=described("Whether more has happened after this page."))
    status = Choice(GameStatus, required=True)
    reset = Boolean(
        required=True,
        metadata=described("`since` was beyond the game's version: read the game anew."),
    )


class PlayedSchema(Schema):
    """What became of a move: the game, and all that the request committed."""

    game = fields.Nested(GameSchema, required=True)
    items = listed(fields.Nested(ItemSchema))


class TicketSchema(Schema):
    """A ticket that opens the stream of one game, as its maker sees it."""

    ticket = fields.String(required=True, metadata=described("The stream's `ticket`, until then."))
    expires_at = time()


class LegalMovesSchema(Schema):
    """The legal moves of your seat."""

    turn = nullable(Integer)
    seat = Integer(required=True)
    moves = listed(unions.move())
    previews = listed(
        unions.preview(allow_none=True),
        allow_none=True,
        metadata=described("One for each move, null where there is nothing to tell; if asked for."),
    )


class CheckSchema(Schema):
    """Whether a move would be legal now; if not, the code with which it would be refused."""

    legal = Boolean(required=True)
    code = nullable(fields.String)
    rule = nullable(fields.String, metadata=described("Of an illegal move: the rule against it."))
    detail = nullable(fields.String)
    preview = unions.preview(required=True, allow_none=True)


class EndedGameSchema(Schema):
    """A game that has ended; without a result if it was cancelled."""

    id = fields.String(required=True)
    result = nullable(fields.Nested, ResultSchema)


class TurnsSchema(Schema):
    """The games that wait for you, longest waiting first, and those that ended."""

    items = listed(fields.Nested(GameSchema))
    ended = listed(
        fields.Nested(EndedGameSchema),
        metadata=described("Since the cursor; without one, in the last day."),
    )
    cursor = fields.String(required=True, metadata=described("Pass it as `since`."))


class SeatPresenceSchema(Schema):
    """When a seat's player was last heard of."""

    seat = Integer(required=True)
    last_seen = time(allow_none=True)


class PresenceSchema(Schema):
    """Who is there."""

    items = listed(fields.Nested(SeatPresenceSchema))


class RecordedMoveSchema(Schema):
    """A move of a game that has ended; or, with `expire`, a countdown that ran out."""

    turn = Integer(required=True)
    at = time()
    seat = Integer()
    move = unions.move()
    by = Choice(Cause)
    expire = Boolean(validate=validate.Equal(True))


class DealSchema(Schema):
    """All that chance decided in a game; its members depend on the ruleset."""

    class Meta:
        unknown = "include"


class RecordSchema(Schema):
    """A whole game. It can be sent to analyse as it is."""

    ruleset = fields.String(required=True)
    seat_count = Integer(required=True)
    options = fields.Nested(OptionsSchema, required=True)
    deal = fields.Nested(DealSchema, required=True)
    deal_text = fields.String(
        required=True,
        metadata=described("The deal with its salt, whose SHA-256 was published at the start."),
    )
    deal_sha256 = fields.String(required=True)
    moves = listed(fields.Nested(RecordedMoveSchema))
    result = nullable(fields.Nested, ResultSchema)
