"""Games, moves and what happened on the wire."""

from __future__ import annotations

import contextlib
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.live import MAX_WAIT_SECONDS
from api.model.events import Cause
from api.model.game import GameStatus, Visibility
from api.web.schemas import unions
from api.web.schemas.cards import MAX_SEATS, MIN_SEATS, by_seat, seat
from api.web.schemas.fields import (
    HASH,
    ID,
    MAX_INTEGER,
    BodySchema,
    Boolean,
    Choice,
    Either,
    Integer,
    List,
    QueryBoolean,
    QueryInteger,
    Text,
    described,
    flag,
    identifier,
    listed,
    number,
    part,
    text,
    time,
)
from api.web.schemas.players import PlayerSchema
from api.web.schemas.unions import OptionsSchema, ResultSchema

MAX_TURNS_CURSOR = 3000
"""More than the marks of all games that a cursor remembers."""

# --- Bodies and queries ------------------------------------------------------------------


class NewGameBodySchema(BodySchema):
    """A game to be."""

    ruleset = Text(
        required=True,
        metadata=described("The id of a ruleset, of listRulesets.", examples=["parade"]),
    )
    seat_count = Integer(
        required=True,
        validate=validate.Range(min=MIN_SEATS, max=MAX_SEATS),
        metadata=described("Within the ruleset's `seat_counts`."),
    )
    options = fields.Nested(
        OptionsSchema,
        metadata=described("Options of this ruleset; those not given are as the ruleset says."),
    )
    visibility = Choice(
        Visibility,
        metadata=described("Whom the game exists for; absent means public."),
    )
    take_seat = Boolean(metadata=described("Whether you sit down at once; absent means true."))
    house = List(
        Text(validate=validate.Length(max=40)),
        validate=validate.Length(max=MAX_SEATS - 1),
        metadata=described(
            "A level for each house player, of the ruleset's `house_levels`; they get the last "
            "seats. Absent means none; at least one seat is left for a player."
        ),
    )
    players = List(
        Text(allow_none=True, validate=validate.Length(max=64), metadata={"pattern": ID}),
        validate=validate.Length(max=MAX_SEATS),
        metadata=described(
            "Player ids by seat, for whom the seats are reserved; null for anybody, as are the "
            "seats after the list's end."
        ),
    )
    turn_seconds = Integer(
        validate=validate.Range(min=5, max=604800),
        metadata=described(
            "How many seconds a turn may take, before the house makes the move; absent means "
            "86400, a day."
        ),
    )


class JoinBodySchema(BodySchema):
    """Which seat to take; all of it may be left out."""

    seat = Integer(
        validate=validate.Range(min=0, max=MAX_SEATS - 1),
        metadata=described("Absent means any free seat."),
    )
    invite = Text(
        validate=validate.Length(max=64),
        metadata=described("What opens a private game, as its host was told."),
    )


class MoveBodySchema(BodySchema):
    """A move, and the turn that it answers."""

    turn = Integer(
        required=True,
        validate=validate.Range(min=1, max=MAX_INTEGER),
        metadata=described("The game's `turn` at which you decided on this move."),
    )
    move = unions.move("The move, one of the game's `legal_moves`.", required=True)

    def load(self, data: Any, **how: Any) -> Any:
        """Read a body: one with these members and no mistake goes the short way."""
        if isinstance(data, dict) and data.keys() == self.fields.keys():
            with contextlib.suppress(ValidationError):
                return {name: self.fields[name].deserialize(data[name]) for name in data}
        return super().load(data, **how)


class PageQuerySchema(Schema):
    """A page of a list."""

    status = Choice(GameStatus, metadata=described("Only games with this status."))
    cursor = Text(
        validate=validate.Length(max=100),
        metadata=described("`next` of the page before; absent for the first."),
    )
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

    ticket = Text(
        validate=validate.Length(max=100),
        metadata=described("Of createStreamTicket, instead of a token."),
    )


class LegalMovesQuerySchema(Schema):
    """How much is told of the legal moves."""

    previews = QueryBoolean(
        load_default=False, metadata=described("Whether to tell what each move would do.")
    )


class TurnsQuerySchema(Schema):
    """What the caller has been told already."""

    since = Text(
        validate=validate.Length(max=MAX_TURNS_CURSOR),
        metadata=described("`cursor` of the answer before; absent the first time."),
    )
    wait = wait()


# --- Answers -----------------------------------------------------------------------------


class SeatSchema(Schema):
    """A seat of a game."""

    seat = seat("The seat's number, from 0 in clockwise order.")
    player = part(
        PlayerSchema,
        "Whose seat it is, also while the house plays for it; null if nobody's or the house's own.",
        allow_none=True,
    )
    house = text(
        "The level at which the house plays here; null if it does not.",
        allow_none=True,
    )
    reserved_for = part(
        PlayerSchema, "Who alone may take the seat; null if anybody may.", allow_none=True
    )


def recorded_options() -> fields.Nested:
    """The options of a game."""
    return part(OptionsSchema, "The options that it is played with; those of its ruleset.")


class GameSummarySchema(Schema):
    """A game as lists show it."""

    id = identifier("The game's id.")
    ruleset = text("The id of its ruleset.")
    seat_count = number("How many seats it has.", MIN_SEATS, MAX_SEATS)
    options = recorded_options()
    visibility = Choice(Visibility, required=True, metadata=described("Whom the game exists for."))
    status = Choice(GameStatus, required=True, metadata=described("Where in its life it is."))
    host = part(PlayerSchema, "Who created it, and may start or cancel it.")
    seats = by_seat(fields.Nested(SeatSchema), "The seats, in clockwise order.")
    version = number("Counts all that happened; the id of the last item, 0 before the first.")
    turn = number(
        "Counts decision points; a move names it. Null unless playing.", 1, allow_none=True
    )
    to_move = listed(
        number(maximum=MAX_SEATS - 1),
        "The seats that the game waits for, ascending; empty unless playing.",
        most=MAX_SEATS,
    )
    deadline = time(
        "When the clock acts: the time of the turn or a countdown is up. Null unless playing.",
        allow_none=True,
    )
    you = seat("Your own seat; null if you have none.", allow_none=True)
    result = part(
        ResultSchema, "How it ended; null before, and if it was cancelled.", allow_none=True
    )
    deal_sha256 = text(
        "The SHA-256 of the record's `deal_text`, in hexadecimal; null before the start.",
        allow_none=True,
        pattern=HASH,
    )
    rematch = identifier(
        "The id of the game that follows this one; null if none does.", allow_none=True
    )
    invite = text(
        "What lets others into a private game; null for all but its host, and in a public one.",
        allow_none=True,
        pattern="^[A-Za-z0-9_-]{22}$",
    )
    created_at = time("When it was created.")
    started_at = time("When it was started; null before.", allow_none=True)
    finished_at = time("When it finished or was cancelled; null before.", allow_none=True)
    updated_at = time("When something last happened in it.")


class GameSchema(GameSummarySchema):
    """A game as you see it."""

    legal_moves = listed(
        unions.move(), "The legal moves of your own seat; empty if there is none, or no seat."
    )
    table = unions.table(
        "What you see of the table, as your seat or as a spectator; null before the start.",
        required=True,
        allow_none=True,
    )


class GamePageSchema(Schema):
    """A page of games, newest first."""

    items = listed(fields.Nested(GameSummarySchema), "The games.", most=100)
    next = text("The cursor of the next page; null on the last one.", allow_none=True)


class ItemSchema(Schema):
    """One thing that happened, with its events as you are told them."""

    version = number("The version that the game had after it; its id.", 1)
    at = time("When it happened.")
    turn = number(
        "Of a move or a countdown: the turn that it answered; else null.", 1, allow_none=True
    )
    by = Choice(Cause, required=True, metadata=described("Who caused it."))
    seat = seat("The seat that it concerns; null if none.", allow_none=True)
    events = listed(unions.event(), "What it consisted of, in order.", least=1)


class EventPageSchema(Schema):
    """What happened since a version."""

    items = listed(fields.Nested(ItemSchema), "What happened, in order.", most=500)
    version = number("Where this page ends: pass it as `since`.")
    more = flag("Whether more has happened after this page.")
    status = Choice(GameStatus, required=True, metadata=described("Where in its life the game is."))
    reset = flag("Whether `since` was beyond the game's version: read the game anew.")


class PlayedSchema(Schema):
    """What became of a move: the game, and all that the request committed."""

    game = part(GameSchema, "The game after it, as you see it.")
    items = listed(
        fields.Nested(ItemSchema),
        "Your move, then what the house and the rules made of it.",
        least=1,
    )


class TicketSchema(Schema):
    """A ticket that opens the stream of one game, as its maker sees it."""

    ticket = text(
        "To be sent as the stream's `ticket`, until it expires. A secret.",
        pattern="^[A-Za-z0-9_-]{43}$",
    )
    expires_at = time("When it expires at the latest.")


class LegalMovesSchema(Schema):
    """The legal moves of your seat."""

    turn = number("The turn that they answer; null unless playing.", 1, allow_none=True)
    seat = seat("Your seat.")
    moves = listed(unions.move(), "The moves, in a fixed order; empty if there is none.")
    previews = listed(
        unions.preview(allow_none=True),
        "One for each move, null where there is nothing to tell; null unless asked for.",
        allow_none=True,
    )


class CheckSchema(Schema):
    """Whether a move would be legal now; if not, the code with which it would be refused."""

    legal = flag("Whether it would be accepted now.")
    code = text("The code of the problem that playMove would be; null if legal.", allow_none=True)
    rule = text("Of an illegal move: the rule against it; else null.", allow_none=True)
    detail = text("Why it would be refused, for people; null if legal.", allow_none=True)
    preview = unions.preview(
        "Of a legal move: what you can know of its outcome; null where there is nothing to tell.",
        required=True,
        allow_none=True,
    )


class EndedGameSchema(Schema):
    """A game that has ended; without a result if it was cancelled."""

    id = identifier("The game's id.")
    result = part(ResultSchema, "How it ended; null if it was cancelled.", allow_none=True)


class TurnsSchema(Schema):
    """The games that wait for you, longest waiting first, and those that ended."""

    items = listed(
        fields.Nested(GameSchema),
        "The games that wait for you, as getGame shows them. One answer applies the clock in at "
        "most four games whose time has run out; the next answers list the others.",
        most=100,
    )
    ended = listed(
        fields.Nested(EndedGameSchema),
        "Of the games that you hosted or had a seat in, those that ended since the cursor; without "
        "one, in the last day.",
    )
    cursor = text("What you now know: pass it as `since`.")


class SeatPresenceSchema(Schema):
    """When a seat's player was last heard of."""

    seat = seat("The seat.")
    last_seen = time(
        "When, to half a minute; null for the house and an empty seat.", allow_none=True
    )


class PresenceSchema(Schema):
    """Who is there."""

    items = by_seat(fields.Nested(SeatPresenceSchema), "The seats.")


class MadeMoveSchema(Schema):
    """A move of a game that has ended."""

    seat = seat("Who moved.")
    move = unions.move("What was played.", required=True)
    turn = number("The turn that it answered.", 1)
    at = time("When it was played.")
    by = Choice(
        Cause,
        required=True,
        metadata=described(
            "Who made it: the player, the house, or the clock, when the house moved as time was up."
        ),
    )


class RunOutCountdownSchema(Schema):
    """A countdown that ran out in a game that has ended."""

    expire = Boolean(
        required=True,
        validate=validate.Equal(True),
        metadata=described("Always true; tells it apart from a move."),
    )
    turn = number("The turn in which it ran.", 1)
    at = time("When it ran out.")


class DealSchema(Schema):
    """All that chance decided in a game; its members depend on the ruleset."""

    class Meta:
        unknown = "include"


class GameRecordSchema(Schema):
    """A whole game. It can be sent to analyse as it is."""

    ruleset = text("The id of its ruleset.")
    seat_count = number("How many seats it has.", MIN_SEATS, MAX_SEATS)
    options = recorded_options()
    deal = part(DealSchema, "All that chance decided; its members depend on the ruleset.")
    deal_text = text(
        "The deal with its salt, as JSON: the text whose SHA-256 was published at the start."
    )
    deal_sha256 = text("The SHA-256 of `deal_text`, in hexadecimal.", pattern=HASH)
    moves = listed(
        Either(
            "RecordedMove",
            (MadeMoveSchema, RunOutCountdownSchema),
            "A move, or a countdown that ran out: what has `expire` is the latter.",
        ),
        "All moves and countdowns that ran out, in order.",
    )
    result = part(ResultSchema, "How it ended; null if it was cancelled.", allow_none=True)
