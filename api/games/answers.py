"""The bodies of the answers about players, games and rulesets, each declared once.

A struct is encoded as it is, and its published schema is generated from it: the names and types of
the members, their `described` annotations, and the first line of the docstring. A new member is
one entry here and its value where the struct is filled. A struct is published under its name
without the ending `Answer`.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Raw, Struct, UnsetType

from api.model.events import (
    Cause,
    GameCancelled,
    GameFinished,
    GameStarted,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
    TimeRanOut,
)
from api.model.game import GameStatus, Player, Visibility
from api.model.members import Hash, Id, Moment, Number, SeatCount, Turn
from engine.published import MAX_SEATS, NamedUnion, bounded, by_seat, described, published_as
from engine.registry import RULESETS
from engine.ruleset import Component, Event, Move, MoveType, Option, Preview, Result, Seat, Table

EVENTS = NamedUnion(
    "GameEvent",
    (
        SeatTaken,
        SeatLeft,
        SeatHandedOver,
        SeatTakenBack,
        TimeRanOut,
        GameStarted,
        GameFinished,
        GameCancelled,
        # Games may share an event: it is listed once.
        *dict.fromkeys(event for ruleset in RULESETS.values() for event in ruleset.event_types),
    ),
    "One thing that happened, as you are told it.",
)
TABLES = NamedUnion(
    "Table",
    tuple(ruleset.table_type for ruleset in RULESETS.values()),
    "What you see of the table.",
)
PREVIEWS = NamedUnion(
    "Preview",
    tuple(ruleset.preview_type for ruleset in RULESETS.values() if ruleset.preview_type),
    "What you can know of a move beforehand.",
)

AnyMove = Annotated[Move, published_as("Move")]
AnyEvent = Annotated[Event, published_as(EVENTS)]
AnyTable = Annotated[Table, published_as(TABLES)]
AnyPreview = Annotated[Preview, published_as(PREVIEWS)]

Token = Annotated[str, described("A token.", pattern=r"^[0-9a-f]{32}\.[A-Za-z0-9_-]{43}$")]
SeatsToMove = Annotated[tuple[Seat, ...], bounded(maxItems=MAX_SEATS)]


# --- Players ----------------------------------------------------------------------------------


class PlayerWithToken(Player, frozen=True):
    """A new player, with the token that proves who is calling. It is shown this once."""

    token: Annotated[
        Token,
        described(
            "To be sent as `Authorization: Bearer TOKEN`. A secret: whoever has it is this player."
        ),
    ]


class TokenAnswer(Struct, frozen=True):
    """A new token. The old one ends when this one is first used, at the latest in ten minutes."""

    token: Annotated[Token, described("To be sent from now on, instead of the old one.")]


# --- Games ------------------------------------------------------------------------------------


class SeatAnswer(Struct, frozen=True):
    """A seat of a game."""

    seat: Annotated[Seat, described("The seat's number, from 0 in clockwise order.")]
    player: Annotated[
        Player | None,
        described(
            "Whose seat it is, also while the house plays for it; null if nobody's or the "
            "house's own."
        ),
    ]
    house: Annotated[
        str | None,
        described("The level at which the house plays here; null if it does not."),
    ]
    reserved_for: Annotated[
        Player | None, described("Who alone may take the seat; null if anybody may.")
    ]


class GameSummary(Struct, frozen=True, kw_only=True):
    """A game as lists show it."""

    id: Annotated[Id, described("The game's id.")]
    ruleset: Annotated[str, described("The id of its ruleset.")]
    seat_count: Annotated[SeatCount, described("How many seats it has.")]
    options: Annotated[
        Raw,
        published_as("Options", "The options that it is played with; those of its ruleset."),
    ]
    visibility: Annotated[str, published_as(Visibility, "Whom the game exists for.")]
    status: Annotated[str, published_as(GameStatus, "Where in its life it is.")]
    host: Annotated[Player, described("Who created it, and may start or cancel it.")]
    seats: Annotated[tuple[SeatAnswer, ...], by_seat("The seats, in clockwise order.")]
    version: Annotated[
        Number,
        described("Counts all that happened; the id of the last item, 0 before the first."),
    ]
    turn: Annotated[
        Turn | None,
        described("Counts decision points; a move names it. Null unless playing."),
    ]
    to_move: Annotated[
        SeatsToMove,
        described("The seats that the game waits for, ascending; empty unless playing."),
    ]
    deadline: Annotated[
        Moment | None,
        described(
            "When the clock acts: the time of the turn or a countdown is up. Null unless playing."
        ),
    ]
    you: Annotated[Seat | None, described("Your own seat; null if you have none.")]
    result: Annotated[
        Result | None, described("How it ended; null before, and if it was cancelled.")
    ]
    deal_sha256: Annotated[
        Hash | None,
        described(
            "The SHA-256 of the record's `deal_text`, in hexadecimal; null before the start."
        ),
    ]
    rematch: Annotated[
        Id | None,
        described("The id of the game that follows this one; null if none does."),
    ]
    invite: Annotated[
        str | None,
        described(
            "What lets others into a private game; null for all but its host, and in a public one.",
            pattern="^[A-Za-z0-9_-]{22}$",
        ),
    ]
    created_at: Annotated[Moment, described("When it was created.")]
    started_at: Annotated[Moment | None, described("When it was started; null before.")]
    finished_at: Annotated[
        Moment | None, described("When it finished or was cancelled; null before.")
    ]
    updated_at: Annotated[Moment, described("When something last happened in it.")]


class GameAnswer(GameSummary, frozen=True, kw_only=True):
    """A game as you see it."""

    legal_moves: Annotated[
        tuple[AnyMove, ...],
        described("The legal moves of your own seat; empty if there is none, or no seat."),
    ]
    table: Annotated[
        AnyTable | None,
        described(
            "What you see of the table, as your seat or as a spectator; null before the start."
        ),
    ]


class GamePage(Struct, frozen=True):
    """A page of games, newest first."""

    items: Annotated[tuple[GameSummary, ...], described("The games.", maxItems=100)]
    next: Annotated[str | None, described("The cursor of the next page; null on the last one.")]


class SeatPresence(Struct, frozen=True):
    """When a seat's player was last heard of."""

    seat: Annotated[Seat, described("The seat.")]
    last_seen: Annotated[
        Moment | None,
        described("When, to half a minute; null for the house and an empty seat."),
    ]


class PresenceAnswer(Struct, frozen=True):
    """Who is there."""

    items: Annotated[tuple[SeatPresence, ...], by_seat("The seats.")]


# --- Playing ----------------------------------------------------------------------------------


class ItemAnswer(Struct, frozen=True):
    """One thing that happened, with its events as you are told them."""

    version: Annotated[int, described("The version that the game had after it; its id.", minimum=1)]
    at: Annotated[Moment, described("When it happened.")]
    turn: Annotated[
        Turn | None,
        described("Of a move or a countdown: the turn that it answered; else null."),
    ]
    by: Annotated[str, published_as(Cause, "Who caused it.")]
    seat: Annotated[Seat | None, described("The seat that it concerns; null if none.")]
    events: Annotated[
        Raw,
        published_as(
            Annotated[tuple[AnyEvent, ...], bounded(minItems=1)],
            "What it consisted of, in order.",
        ),
    ]


class EventPage(Struct, frozen=True):
    """What happened since a version."""

    items: Annotated[tuple[ItemAnswer, ...], described("What happened, in order.", maxItems=500)]
    version: Annotated[Number, described("Where this page ends: pass it as `since`.")]
    more: Annotated[bool, described("Whether more has happened after this page.")]
    status: Annotated[str, published_as(GameStatus, "Where in its life the game is.")]
    reset: Annotated[
        bool,
        described("Whether `since` was beyond the game's version: read the game anew."),
    ]


class PlayedAnswer(Struct, frozen=True):
    """What became of a move: the game, and all that the request committed."""

    game: Annotated[Raw, published_as(GameAnswer, "The game after it, as you see it.")]
    items: Annotated[
        tuple[ItemAnswer, ...],
        described("Your move, then what the house and the rules made of it.", minItems=1),
    ]


class LegalMovesAnswer(Struct, frozen=True):
    """The legal moves of your seat."""

    turn: Annotated[Turn | None, described("The turn that they answer; null unless playing.")]
    seat: Annotated[Seat, described("Your seat.")]
    moves: Annotated[
        tuple[AnyMove, ...],
        described("The moves, in a fixed order; empty if there is none."),
    ]
    previews: Annotated[
        tuple[AnyPreview | None, ...] | None,
        described("One for each move, null where there is nothing to tell; null unless asked for."),
    ] = None


class CheckAnswer(Struct, frozen=True):
    """Whether a move would be legal now; if not, the code with which it would be refused."""

    legal: Annotated[bool, described("Whether it would be accepted now.")]
    code: Annotated[
        str | None,
        described("The code of the problem that playMove would be; null if legal."),
    ] = None
    rule: Annotated[
        str | None, described("Of an illegal move: the rule against it; else null.")
    ] = None
    detail: Annotated[
        str | None, described("Why it would be refused, for people; null if legal.")
    ] = None
    preview: Annotated[
        AnyPreview | None,
        described(
            "Of a legal move: what you can know of its outcome; null where there is nothing "
            "to tell."
        ),
    ] = None


class TicketAnswer(Struct, frozen=True):
    """A ticket that opens the stream of one game, as its maker sees it."""

    ticket: Annotated[
        str,
        described(
            "To be sent as the stream's `ticket`, until it expires. A secret.",
            pattern="^[A-Za-z0-9_-]{43}$",
        ),
    ]
    expires_at: Annotated[Moment, described("When it expires at the latest.")]


class StreamUpdate(Struct, frozen=True):
    """The data of a stream's event: what happened, and the game after it."""

    game: Raw
    items: tuple[ItemAnswer, ...]


class StreamEnd(Struct, frozen=True):
    """The data of a stream's last event: how the game ended."""

    id: str
    status: str
    result: Result | None


class EndedGame(Struct, frozen=True):
    """A game that has ended; without a result if it was cancelled."""

    id: Annotated[Id, described("The game's id.")]
    result: Annotated[Result | None, described("How it ended; null if it was cancelled.")]


class TurnsAnswer(Struct, frozen=True):
    """The games that wait for you, longest waiting first, and those that ended."""

    items: Annotated[
        tuple[Annotated[Raw, published_as(GameAnswer)], ...],
        described(
            "The games that wait for you, as getGame shows them. One answer applies the "
            "clock in at most four games whose time has run out; the next answers list the "
            "others.",
            maxItems=100,
        ),
    ]
    ended: Annotated[
        tuple[EndedGame, ...],
        described(
            "Of the games that you hosted or had a seat in, those that ended since the "
            "cursor; without one, in the last day."
        ),
    ]
    cursor: Annotated[str, described("What you now know: pass it as `since`.")]


# --- Records and analysis ---------------------------------------------------------------------


class MadeMove(Struct, frozen=True):
    """A move of a game that has ended."""

    seat: Annotated[Seat, described("Who moved.")]
    move: Annotated[Raw, published_as("Move", "What was played.")]
    turn: Annotated[int | None, published_as(Turn, "The turn that it answered.")]
    at: Annotated[Moment, described("When it was played.")]
    by: Annotated[
        str,
        published_as(
            Cause,
            "Who made it: the player, the house, or the clock, when the house moved as time was "
            "up.",
        ),
    ]


class RunOutCountdown(Struct, frozen=True):
    """A countdown that ran out in a game that has ended."""

    turn: Annotated[int | None, published_as(Turn, "The turn in which it ran.")]
    at: Annotated[Moment, described("When it ran out.")]
    expire: Annotated[
        bool,
        described(
            "Always true; tells it apart from a move.",
            const=True,
        ),
    ] = True


RECORDED_MOVE = NamedUnion(
    "RecordedMove",
    (MadeMove, RunOutCountdown),
    "A move, or a countdown that ran out: what has `expire` is the latter.",
)


class GameRecord(Struct, frozen=True):
    """A whole game. It can be sent to analyse as it is."""

    ruleset: Annotated[str, described("The id of its ruleset.")]
    seat_count: Annotated[SeatCount, described("How many seats it has.")]
    options: Annotated[
        Raw,
        published_as("Options", "The options that it is played with; those of its ruleset."),
    ]
    deal: Annotated[
        Raw,
        published_as("Deal", "All that chance decided; its members depend on the ruleset."),
    ]
    deal_text: Annotated[
        str,
        described(
            "The deal with its salt, as JSON: the text whose SHA-256 was published at the start."
        ),
    ]
    deal_sha256: Annotated[Hash, described("The SHA-256 of `deal_text`, in hexadecimal.")]
    moves: Annotated[
        tuple[Annotated[Any, published_as(RECORDED_MOVE)], ...],
        described("All moves and countdowns that ran out, in order."),
    ]
    result: Annotated[Result | None, described("How it ended; null if it was cancelled.")]


LegalMovesBySeat = Annotated[
    tuple[
        Annotated[tuple[AnyMove, ...], described("A seat's legal moves.")],
        ...,
    ],
    by_seat("By seat: its legal moves."),
]


class StepAnswer(Struct, frozen=True):
    """A position before a move."""

    to_move: Annotated[
        SeatsToMove,
        described("The seats that the game waits for, ascending; empty when it is over."),
    ]
    legal_moves: LegalMovesBySeat


class AnalysisAnswer(StepAnswer, frozen=True):
    """What follows from the deal and the moves."""

    views: Annotated[tuple[AnyTable, ...], by_seat("By seat: what it sees.")]
    spectator: Annotated[AnyTable, described("What a spectator sees.")]
    events: Annotated[
        tuple[AnyEvent, ...],
        described("All that happened, in order, with what only the seat itself is told."),
    ]
    result: Annotated[Result | None, described("How the game ended; null if it has not.")]
    steps: Annotated[
        tuple[StepAnswer, ...] | UnsetType,
        described("The position before each move; only with `trace`."),
    ] = UNSET


# --- Rulesets ---------------------------------------------------------------------------------


class SeatCounts(Struct, frozen=True):
    """For how many seats a game is."""

    minimum: Annotated[int, described("The fewest seats.", minimum=1)]
    maximum: Annotated[int, described("The most seats.", minimum=1)]


class RulesetAnswer(Struct, frozen=True):
    """A game of the catalogue."""

    ruleset: Annotated[str, described("Its id, to be named in createGame.")]
    title: Annotated[str, described("What the game is called.")]
    seat_counts: Annotated[SeatCounts, described("For how many it is.")]
    options: Annotated[
        tuple[Annotated[Option, bounded(title="RulesetOption")], ...],
        described("What may be chosen when a game is created; empty if nothing."),
    ]
    components: Annotated[
        tuple[Component, ...],
        described("Everything in the box.", minItems=1),
    ]
    move_types: Annotated[
        tuple[MoveType, ...],
        described("The moves that there are.", minItems=1),
    ]
    house_levels: Annotated[
        tuple[str, ...],
        described(
            "The levels at which the house plays it, the plainest first.",
            minItems=1,
        ),
    ]
    rules: Annotated[
        str,
        described("The rules for players as Markdown, with rulings, in `Content-Language`."),
    ]


class RulesetPage(Struct, frozen=True):
    """All games of the catalogue."""

    items: Annotated[tuple[RulesetAnswer, ...], described("The games.", minItems=1)]
