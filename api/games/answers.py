"""The bodies of the answers about players, games and rulesets, each declared once.

A struct is encoded as it is, and its published schema is generated from it: the names and types of
the members, their `described` annotations, and the first line of the docstring. A new member is
one entry here and its value where the struct is filled. A struct is published under its name
without the ending `Answer`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Raw, Struct, UnsetType

from api.model.events import (
    GameCancelled,
    GameFinished,
    GameStarted,
    ItemCause,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
    TimeRanOut,
)
from api.model.game import MAX_TURN_SECONDS, MIN_TURN_SECONDS, GameStatus, Player, Visibility
from api.model.members import GameId, Hash, Moment, Number, SeatCount, Turn
from api.problems.problem import ProblemBody
from engine.published import MAX_SEATS, NamedUnion, bounded, by_seat, described, published_as
from engine.registry import RULESETS
from engine.ruleset import (
    OPTION_TYPE,
    Breakdown,
    Event,
    GameResult,
    Move,
    NothingPreview,
    Preview,
    Seat,
    Table,
)

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
    "One event, as the caller may see it.",
)
TABLES = NamedUnion(
    "Table",
    tuple(ruleset.table_type for ruleset in RULESETS.values()),
    "The table of a game, as the caller sees it.",
)
PREVIEWS = NamedUnion(
    "Preview",
    (
        *(preview for ruleset in RULESETS.values() for preview in ruleset.preview_types),
        NothingPreview,
    ),
    "What the caller can know of the outcome of a move beforehand.",
)
BREAKDOWNS = NamedUnion(
    "Breakdown",
    tuple(ruleset.breakdown_type for ruleset in RULESETS.values()),
    "What the scores of a game are made of.",
)

DEALS = NamedUnion(
    "Deal",
    tuple(ruleset.deal_type for ruleset in RULESETS.values()),
    "Everything that chance decides in a game.",
)

AnyMove = Annotated[Move, published_as("Move")]
AnyEvent = Annotated[Event, published_as(EVENTS)]
AnyTable = Annotated[Table, published_as(TABLES)]
AnyPreview = Annotated[Preview, published_as(PREVIEWS)]
AnyBreakdown = Annotated[Breakdown, published_as(BREAKDOWNS)]

Token = Annotated[str, described("A token.", pattern=r"^[0-9a-f]{32}\.[A-Za-z0-9_-]{43}$")]
GameCursor = Annotated[
    str,
    described(
        "What this answer includes of the game's history: pass it to listEvents as `since`, or to "
        "streamEvents as the last event id, for what happens after it."
    ),
]
SeatsToMove = Annotated[tuple[Seat, ...], bounded(maxItems=MAX_SEATS)]


# --- Players ----------------------------------------------------------------------------------


class OwnPlayer(Player, frozen=True):
    """Your player, with the time until which it is kept."""

    expires_at: Annotated[
        Moment,
        described(
            "The earliest time at which the player may be deleted if it sends no request with its "
            "token from now on: an hour after the last one by default, 90 days for a player who "
            "was in a game. A player is kept at least as long as its games."
        ),
    ]


class PlayerWithToken(OwnPlayer, frozen=True):
    """A new player with its token. The token is shown only once."""

    token: Annotated[
        Token,
        described(
            "To be sent as `Authorization: Bearer TOKEN`. Keep it secret: it gives full access to "
            "this player."
        ),
    ]


class NewTokenAnswer(Struct, frozen=True):
    """A new token. The old one expires when the new one is first used, or after ten minutes."""

    token: Annotated[Token, described("The token to send from now on instead of the old one.")]


# --- Games ------------------------------------------------------------------------------------


class SeatAnswer(Struct, frozen=True):
    """A seat of a game."""

    seat: Annotated[Seat, described("The seat's number, from 0 in clockwise order.")]
    player: Annotated[
        Player | None,
        described(
            "The player who owns the seat, also while the house plays for it; null if the seat is "
            "free or a house seat."
        ),
    ]
    house: Annotated[
        str | None,
        described("The level of the house if it plays for this seat; else null."),
    ]
    reserved_for: Annotated[
        Player | None,
        described("The player for whom the seat is reserved; null if any player may take it."),
    ]


class GameSummary(Struct, frozen=True, kw_only=True):
    """A game as it appears in lists."""

    id: Annotated[GameId, described("The game's id.")]
    ruleset: Annotated[str, described("The id of the ruleset.")]
    seat_count: Annotated[SeatCount, described("The number of seats.")]
    options: Annotated[
        Raw,
        published_as(
            "GameOptions", "The options of the game; which ones there are depends on the ruleset."
        ),
    ]
    visibility: Annotated[str, published_as(Visibility, "Which callers can see the game.")]
    status: Annotated[str, published_as(GameStatus, "The status of the game.")]
    host: Annotated[
        Player,
        described(
            "The player who may start or cancel the game before it is full: its creator. When the "
            "host leaves its seat before the start, the player who sat down next becomes host."
        ),
    ]
    seats: Annotated[tuple[SeatAnswer, ...], by_seat("The seats, in clockwise order.")]
    version: Annotated[
        Number,
        described("The version of the game: the id of its last item, 0 before the first item."),
    ]
    cursor: GameCursor
    turn: Annotated[
        Turn | None,
        described("The number of the current decision; a move must name it. Null unless playing."),
    ]
    to_move: Annotated[
        SeatsToMove,
        described("The seats that must move now, ascending; empty unless playing."),
    ]
    deadline: Annotated[
        Moment | None,
        described(
            "When the time for the turn or for a countdown runs out; of an open game, when it "
            "starts with house players in the empty seats. Null if there is no such time."
        ),
    ]
    turn_seconds: Annotated[
        int,
        described(
            "How many seconds a turn may take before the house makes the move.",
            minimum=MIN_TURN_SECONDS,
            maximum=MAX_TURN_SECONDS,
        ),
    ]
    you: Annotated[Seat | None, described("Your seat; null if you have no seat.")]
    left_seat: Annotated[
        Seat | None,
        described(
            "Your seat while the house plays for it, since you left or did not move in time: "
            "joinGame gives it back to you. Null if there is none, and after the end."
        ),
    ]
    result: Annotated[
        Raw,
        published_as(
            GameResult | None, "The result; null before the end and for a cancelled game."
        ),
    ]
    deal_sha256: Annotated[
        Hash | None,
        described(
            "The SHA-256 of the record's `deal_text`, in hexadecimal; null before the start."
        ),
    ]
    rematch: Annotated[
        GameId | None,
        described("The id of the rematch; null if there is none."),
    ]
    invite: Annotated[
        str | None,
        described(
            "The invite of a private game, which lets others join. Null unless you are the host.",
            pattern="^[A-Za-z0-9_-]{22}$",
        ),
    ]
    created_at: Annotated[Moment, described("When it was created.")]
    started_at: Annotated[Moment | None, described("When it was started; null before.")]
    finished_at: Annotated[
        Moment | None, described("When it finished or was cancelled; null before.")
    ]
    updated_at: Annotated[Moment, described("When the game last changed.")]


class GameAnswer(GameSummary, frozen=True, kw_only=True):
    """A game as seen by the caller."""

    legal_moves: Annotated[
        tuple[AnyMove, ...],
        described("The legal moves of your seat; empty if there are none or you have no seat."),
    ]
    table: Annotated[
        AnyTable | UnsetType,
        described("The table as seen from your seat or by a spectator; absent before the start."),
    ] = UNSET


class WaitingGame(GameSummary, frozen=True, kw_only=True):
    """A game in which it is your turn."""

    legal_moves: Annotated[
        tuple[AnyMove, ...] | UnsetType,
        described("The legal moves of your seat; absent if you asked for `view=false`."),
    ] = UNSET
    table: Annotated[
        AnyTable | UnsetType,
        described("The table as seen from your seat; absent if you asked for `view=false`."),
    ] = UNSET


class GamePage(Struct, frozen=True):
    """A page of games, newest first."""

    items: Annotated[
        tuple[Annotated[Raw, published_as(GameSummary)], ...],
        described("The games.", maxItems=100),
    ]
    next: Annotated[str | None, described("The cursor of the next page; null on the last page.")]


class SeatPresence(Struct, frozen=True):
    """When the player of a seat was last active."""

    seat: Annotated[Seat, described("The seat.")]
    last_seen: Annotated[
        Moment | None,
        described(
            "When the player last sent a request, to half a minute; null for a house or free seat."
        ),
    ]


class PresenceAnswer(Struct, frozen=True):
    """When the player of each seat was last active."""

    items: Annotated[tuple[SeatPresence, ...], by_seat("The seats.")]


# --- Playing ----------------------------------------------------------------------------------


class HappenedItemAnswer(Struct, frozen=True):
    """One entry of the history, with its events as the caller may see them."""

    version: Annotated[
        int,
        described("The version of the game after this item; also the id of the item.", minimum=1),
    ]
    at: Annotated[Moment, described("When it happened.")]
    turn: Annotated[
        Turn | None,
        described("The turn of a move or countdown; null for any other item."),
    ]
    by: Annotated[str, published_as(ItemCause, "The actor that caused the item.")]
    seat: Annotated[Seat | None, described("The seat that the item is about; null if none.")]
    events: Annotated[
        Raw,
        published_as(
            Annotated[tuple[AnyEvent, ...], bounded(minItems=1)],
            "The events of the item, in order.",
        ),
    ]


class EventPage(Struct, frozen=True):
    """The history of a game after a cursor."""

    items: Annotated[
        tuple[HappenedItemAnswer, ...], described("The items, in order.", maxItems=500)
    ]
    cursor: Annotated[str, described("Where this page ends: pass it as `since` to continue.")]
    more: Annotated[bool, described("Whether there are more items after this page.")]
    status: Annotated[str, published_as(GameStatus, "The status of the game.")]
    reset: Annotated[
        bool,
        described(
            "Whether the service has lost what `since` names, in a failure of its store. If true, "
            "read the game again, and continue from its cursor: what you have may never have "
            "happened."
        ),
    ]


class PlayedMoveAnswer(Struct, frozen=True):
    """The outcome of a move: the game, and all items that the request added."""

    game: Annotated[
        Raw, published_as(GameAnswer, "The game after the move, as seen by the caller.")
    ]
    items: Annotated[
        tuple[HappenedItemAnswer, ...],
        described(
            "Your move first, then the moves of the house and other consequences.", minItems=1
        ),
    ]


class MoveOutcomeAnswer(Struct, frozen=True):
    """The outcome of one move of a batch: what playMove would have answered."""

    game_id: Annotated[GameId, described("The `game_id` of the move, as you sent it.")]
    status: Annotated[
        int, described("The status that playMove would have answered.", minimum=200, maximum=599)
    ]
    problem: Annotated[
        ProblemBody | None, described("Why the move was not played; null if it was.")
    ] = None
    game: Annotated[
        Raw | None,
        published_as(
            GameAnswer | None,
            "The game after the move, as seen by the caller. Null if the move was not played, and "
            "with `Prefer: return=minimal`.",
        ),
    ] = None
    items: Annotated[
        tuple[HappenedItemAnswer, ...] | None,
        described(
            "Your move first, then the moves of the house and other consequences. Null if the move "
            "was not played, and with `Prefer: return=minimal`."
        ),
    ] = None


class MoveOutcomesAnswer(Struct, frozen=True):
    """The outcomes of the moves of a batch."""

    items: Annotated[
        tuple[MoveOutcomeAnswer, ...],
        described("One for each move, in the order of the request.", minItems=1, maxItems=100),
    ]


class LegalMovesAnswer(Struct, frozen=True):
    """The legal moves of your seat."""

    turn: Annotated[Turn | None, described("The turn of these moves; null unless playing.")]
    seat: Annotated[Seat, described("Your seat.")]
    moves: Annotated[
        tuple[AnyMove, ...],
        described("The legal moves, in a fixed order; may be empty."),
    ]
    previews: Annotated[
        tuple[AnyPreview, ...] | None,
        described("One entry for each move; null unless requested."),
    ] = None


class MoveCheckAnswer(Struct, frozen=True):
    """Whether a move would be legal now, and why not."""

    legal: Annotated[bool, described("Whether playMove would accept the move now.")]
    code: Annotated[
        str | None,
        described("The problem code that playMove would return; null if legal."),
    ] = None
    rule: Annotated[str | None, described("The rule that an illegal move breaks; else null.")] = (
        None
    )
    detail: Annotated[
        str | None,
        described("Why playMove would refuse the move, as text for people; null if legal."),
    ] = None
    preview: Annotated[
        AnyPreview | UnsetType,
        described("What you can know of the outcome of a legal move; absent if it is illegal."),
    ] = UNSET


class TicketAnswer(Struct, frozen=True):
    """A ticket for the stream of one game, or of a player, as its caller sees it."""

    ticket: Annotated[
        str,
        described(
            "The value of the stream's `ticket` parameter until it expires. Keep it secret.",
            pattern="^[A-Za-z0-9_-]{43}$",
        ),
    ]
    expires_at: Annotated[Moment, described("The latest time at which it expires.")]


class StreamUpdate(Struct, frozen=True):
    """What happened, and the game after it: the data of a stream's `update`."""

    game: Annotated[Raw, published_as(GameAnswer, "The game, as seen by the reader.")]
    items: Annotated[
        tuple[HappenedItemAnswer, ...], described("The new items, in order.", minItems=1)
    ]


class EndReason(StrEnum):
    """Why a stream of a game ended."""

    ENDED = "ended"
    LEFT = "left"
    TIME = "time"
    SEAT_CHANGED = "seat_changed"


class StreamEnd(Struct, frozen=True):
    """Why the stream ended: the data of its last event, `end`."""

    id: Annotated[GameId, described("The game's id.")]
    status: Annotated[
        str,
        published_as(
            GameStatus,
            "The status of the game. If the game is private and does not exist for you any more: "
            "the status that you were shown last.",
        ),
    ]
    result: Annotated[
        Raw,
        published_as(GameResult | None, "The result; null for a game that has not finished."),
    ]
    reason: Annotated[
        str,
        published_as(
            EndReason,
            "`ended`: the game is over. `left`: you left, or a seat is no longer reserved for you. "
            "`time`: the house plays for you, since your time ran out. `seat_changed`: you took a "
            "seat, or took it back. After all but `ended`, open the stream again to go on, with a "
            "new ticket if you use one.",
        ),
    ]


STREAM_DATA = NamedUnion(
    "StreamData",
    (GameAnswer, StreamUpdate, StreamEnd, ProblemBody),
    "The data of one event: of `snapshot` the game, of `update` what happened and the game, of "
    "`end` why the stream ended, of `unavailable` the problem.",
)


class EndedGame(Struct, frozen=True):
    """A game that has ended. A cancelled game has no result."""

    id: Annotated[GameId, described("The game's id.")]
    result: Annotated[
        Raw, published_as(GameResult | None, "The result; null if the game was cancelled.")
    ]


class TurnNews(Struct, frozen=True):
    """A game that waits for you: the data of `turn` in your stream."""

    game: Annotated[Raw, published_as(GameAnswer, "The game, with your legal moves.")]


class GameNews(Struct, frozen=True):
    """A game that started, or one that you are invited to: the data of `started`, `invited`."""

    game: Annotated[
        Raw,
        published_as(GameSummary, "The game: `status` is `playing` if it started, else `open`."),
    ]


TURN_STREAM_DATA = NamedUnion(
    "TurnStreamData",
    (TurnNews, GameNews, EndedGame, ProblemBody),
    "The data of one event of your stream: of `turn` a game with its legal moves, of `started` and "
    "`invited` a game as in lists, of `ended` its id and result, of `unavailable` the problem.",
)


class TurnsAnswer(Struct, frozen=True):
    """The games in which it is your turn, longest waiting first, and those that ended."""

    items: Annotated[
        tuple[Annotated[Raw, published_as(WaitingGame)], ...],
        described(
            "All games in which it is your turn, as getGame returns them; empty if `unchanged`. "
            "One request applies the clock in at most four games whose time has run out; later "
            "requests handle the others.",
            maxItems=100,
        ),
    ]
    ended: Annotated[
        tuple[EndedGame, ...],
        described(
            "The games that you hosted or had a seat in and that ended since the cursor, or "
            "without a cursor, in the last day."
        ),
    ]
    unchanged: Annotated[
        bool,
        described(
            "Whether there is nothing newer than `since`. If true, `items` is empty although games "
            "may wait: those that waited before and in which you have not moved still wait, unless "
            "their deadline has passed. Ask without `since` to get them again."
        ),
    ]
    cursor: Annotated[str, described("The cursor of this answer: pass it as `since` next time.")]


# --- Records and analysis ---------------------------------------------------------------------


class MadeMove(Struct, frozen=True, tag_field="type", tag="move"):
    """A move of a game that has ended."""

    seat: Annotated[Seat, described("The seat that moved.")]
    move: Annotated[Raw, published_as("Move", "The move.")]
    turn: Annotated[int | None, published_as(Turn, "The turn of the move.")]
    at: Annotated[Moment, described("When it was played.")]
    by: Annotated[
        str,
        published_as(
            ItemCause,
            "The actor that made the move: the player, the house, or the clock if the house moved "
            "because the time ran out.",
        ),
    ]


class RunOutCountdown(Struct, frozen=True, tag_field="type", tag="countdown_ran_out"):
    """A countdown that ran out in a game that has ended."""

    turn: Annotated[int | None, published_as(Turn, "The turn of the countdown.")]
    at: Annotated[Moment, described("When it ran out.")]


RECORDED_MOVE = NamedUnion(
    "RecordedMove",
    (MadeMove, RunOutCountdown),
    "A move, or a countdown that ran out.",
)


class GameRecord(Struct, frozen=True):
    """A whole game. The record is a valid request body of analyse."""

    ruleset: Annotated[str, described("The id of the ruleset.")]
    seat_count: Annotated[SeatCount, described("The number of seats.")]
    options: Annotated[
        Raw,
        published_as(
            "GameOptions", "The options of the game; which ones there are depends on the ruleset."
        ),
    ]
    deal: Annotated[
        Raw,
        published_as(DEALS, "The deal."),
    ]
    deal_text: Annotated[
        str,
        described("The deal with its salt, as JSON text. Its SHA-256 was published at the start."),
    ]
    deal_sha256: Annotated[Hash, described("The SHA-256 of `deal_text`, in hexadecimal.")]
    moves: Annotated[
        tuple[Annotated[Any, published_as(RECORDED_MOVE)], ...],
        described("All moves and countdowns that ran out, in order."),
    ]
    result: Annotated[
        Raw, published_as(GameResult | None, "The result; null if the game was cancelled.")
    ]


LegalMovesBySeat = Annotated[
    tuple[
        Annotated[tuple[AnyMove, ...], described("A seat's legal moves.")],
        ...,
    ],
    by_seat("By seat: its legal moves."),
]


class AnalysedPosition(Struct, frozen=True):
    """Whose move it is, and what every seat may do."""

    to_move: Annotated[
        SeatsToMove,
        described("The seats that must move, ascending; empty after the end."),
    ]
    legal_moves: LegalMovesBySeat


class AnalysisStepAnswer(AnalysedPosition, frozen=True):
    """A position before a move."""

    table: Annotated[
        AnyTable, described("The table as `seat` sees it; without `seat`, as a spectator sees it.")
    ]
    event_count: Annotated[
        int, described("How many of `events` have happened before the move.", minimum=0)
    ]


class AnalysisAnswer(AnalysedPosition, frozen=True):
    """The position after the given moves."""

    views: Annotated[tuple[AnyTable, ...], by_seat("By seat: the table as the seat sees it.")]
    spectator: Annotated[AnyTable, described("The table as a spectator sees it.")]
    events: Annotated[
        tuple[AnyEvent, ...],
        described("All events, in order, with the information that only one seat may see."),
    ]
    result: Annotated[GameResult | None, described("The result; null if the game has not ended.")]
    steps: Annotated[
        tuple[AnalysisStepAnswer, ...] | UnsetType,
        described("The position before each move; only present with `trace`."),
    ] = UNSET


# --- Rulesets ---------------------------------------------------------------------------------


class SeatCounts(Struct, frozen=True):
    """The allowed numbers of seats."""

    minimum: Annotated[int, described("The least number of seats.", minimum=1)]
    maximum: Annotated[int, described("The largest number of seats.", minimum=1)]


class OptionChoice(Struct, frozen=True):
    """A text that an option can have."""

    value: Annotated[str, described("The text, as createGame takes it.")]
    title: Annotated[str, described("Its title for people.")]


class RulesetOption(Struct, frozen=True):
    """An option of createGame."""

    name: Annotated[str, described("The member of `options` that sets it.")]
    title: Annotated[str, described("Its title for people.")]
    type: Annotated[str, published_as(OPTION_TYPE, "The type of its value.")]
    # Of any type: of a union of texts, numbers and lists openapi-generator makes a Java class that
    # does not compile.
    default: Annotated[
        Any,
        described("The value if the option is not given; null if there is no default."),
    ]
    description: Annotated[str, described("What it changes, in sentences for people.")]
    minimum: Annotated[
        int | None,
        described("The least value, or the fewest texts; null if there is no bound.", minimum=0),
    ]
    maximum: Annotated[
        int | None,
        described("The greatest value, or the most texts; null if there is no bound.", minimum=0),
    ]
    choices: Annotated[
        tuple[OptionChoice, ...] | None,
        described("The allowed texts; null if the option is no choice between texts."),
    ]


class ComponentAnswer(Struct, frozen=True):
    """A kind of thing in the box."""

    kind: Annotated[str, described("Its kind, for example `card`.")]
    name: Annotated[str, described("The name in moves, tables and events.")]
    title: Annotated[str, described("Its title for people.", examples=["red 7"])]
    count: Annotated[int, described("How many there are in the box.", minimum=1)]
    color: Annotated[str | None, described("Its colour; null without one.")]
    value: Annotated[int | None, described("The value printed on it; null without one.", minimum=0)]
    parts: Annotated[
        tuple[str, ...],
        described("The names of its symbols or of its two faces; empty for most things."),
    ]
    url: Annotated[
        str | None,
        described(
            "The path of its picture, an SVG image (getPicture): put the address of the service "
            "before it. Null without a picture.",
            format="uri-reference",
            examples=["/v1/rulesets/contrast/pictures/picture-7"],
        ),
    ]


class MoveTypeAnswer(Struct, frozen=True):
    """A type of move of a game."""

    type: Annotated[str, described("The `type` of such a move.")]
    title: Annotated[str, described("Its title for people.")]
    description: Annotated[str, described("What it does, in a sentence for people.")]


class RefusalAnswer(Struct, frozen=True):
    """Why a move can be refused."""

    rule: Annotated[str, described("The `rule` of an `illegal_move` problem.")]
    text: Annotated[str, described("What is wrong, in a sentence for people.")]


class NameTitleAnswer(Struct, frozen=True):
    """What people call something that has a name in tables, moves and events."""

    name: Annotated[str, described("The name: of a colour, a symbol, a face, a card.")]
    title: Annotated[str, described("Its title for people.")]


class RulesetAnswer(Struct, frozen=True):
    """A game of the catalogue."""

    ruleset: Annotated[str, described("The id, as used in createGame.")]
    title: Annotated[str, described("The title of the game, as printed on the box.")]
    seat_counts: Annotated[SeatCounts, described("The allowed numbers of seats.")]
    options: Annotated[
        tuple[RulesetOption, ...],
        described("The options of createGame for this ruleset; may be empty."),
    ]
    components: Annotated[
        tuple[ComponentAnswer, ...],
        described("Everything in the box.", minItems=1),
    ]
    titles: Annotated[
        tuple[NameTitleAnswer, ...],
        described(
            "The titles of everything else that has a name: colours, symbols, faces.", minItems=1
        ),
    ]
    move_types: Annotated[
        tuple[MoveTypeAnswer, ...],
        described("The types of move.", minItems=1),
    ]
    refusals: Annotated[
        tuple[RefusalAnswer, ...],
        described("Every reason for which a move can be refused.", minItems=1),
    ]
    house_levels: Annotated[
        tuple[str, ...],
        described(
            "The levels of the house players, the simplest first.",
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
