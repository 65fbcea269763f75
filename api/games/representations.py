"""The answers' bodies, as typed values that are encoded as they stand.

They are built up from what the reader may see: the game's document, which is public but for the
invite, and the ruleset's view for the reader's seat. Each has a published schema under
`api.web.schemas`, which the tests hold it against.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from api.model.game import Audience, Game, HistoryItem, Player, raw, timestamp
from api.storage.games import StoredGame
from engine.registry import RULESETS
from engine.ruleset import Move, Option, Preview, Result, Seat, Table


class SeatAnswer(Struct, frozen=True):
    """A seat of a game."""

    seat: Seat
    player: Player | None
    house: str | None
    reserved_for: Player | None


class GameSummary(Struct, frozen=True, kw_only=True):
    """A game as lists show it: all but what takes its position to know."""

    id: str
    ruleset: str
    seat_count: int
    options: Raw
    visibility: str
    status: str
    host: Player
    seats: tuple[SeatAnswer, ...]
    version: int
    turn: int | None
    to_move: tuple[Seat, ...]
    deadline: str | None
    you: Seat | None
    result: Result | None
    deal_sha256: str | None
    rematch: str | None
    invite: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    updated_at: str


class GameAnswer(GameSummary, frozen=True, kw_only=True):
    """A game as one reader sees it."""

    legal_moves: tuple[Move, ...]
    table: Table | None


class ItemAnswer(Struct, frozen=True):
    """One thing that happened, as one reader is told it."""

    version: int
    at: str
    turn: int | None
    by: str
    seat: Seat | None
    events: Raw


class PlayerAnswer(Struct, frozen=True):
    """A new player; the token is shown this once."""

    id: str
    name: str
    kind: str
    token: str


class TokenAnswer(Struct, frozen=True):
    """A new token, shown this once."""

    token: str


class GamePage(Struct, frozen=True):
    """A page of games; `next` is the cursor of the following page."""

    items: tuple[GameSummary, ...]
    next: str | None


class EventPage(Struct, frozen=True):
    """What happened in a game since a version."""

    items: tuple[ItemAnswer, ...]
    version: int
    more: bool
    status: str
    reset: bool


class PlayedAnswer(Struct, frozen=True):
    """A move's outcome: the game, and all that the request committed."""

    game: Raw
    items: tuple[ItemAnswer, ...]


class LegalMovesAnswer(Struct, frozen=True):
    """The legal moves of the caller's seat."""

    turn: int | None
    seat: Seat
    moves: tuple[Move, ...]
    previews: tuple[Preview | None, ...] | None = None


class CheckAnswer(Struct, frozen=True):
    """Whether a move would be legal now; if not, why."""

    legal: bool
    code: str | None = None
    rule: str | None = None
    detail: str | None = None
    preview: Preview | None = None


class TicketAnswer(Struct, frozen=True):
    """A ticket, shown this once."""

    ticket: str
    expires_at: str


class StreamEnd(Struct, frozen=True):
    """How a game has ended, as its stream tells it last."""

    id: str
    status: str
    result: Result | None


class StreamUpdate(Struct, frozen=True):
    """What happened, and the game after it, as a stream tells it."""

    game: Raw
    items: tuple[ItemAnswer, ...]


class EndedGame(Struct, frozen=True):
    """A game that has ended."""

    id: str
    result: Result | None


class TurnsAnswer(Struct, frozen=True):
    """The games that wait for the caller, and those that ended."""

    items: tuple[Raw, ...]
    ended: tuple[EndedGame, ...]
    cursor: str


class SeatPresence(Struct, frozen=True):
    """When a seat's player was last heard of."""

    seat: Seat
    last_seen: str | None


class PresenceAnswer(Struct, frozen=True):
    """Who is there."""

    items: tuple[SeatPresence, ...]


class RecordedMove(Struct, frozen=True):
    """A move of a game that has ended."""

    seat: Seat
    move: Raw
    turn: int | None
    at: str
    by: str


class RecordedExpiry(Struct, frozen=True):
    """A countdown that ran out in a game that has ended."""

    turn: int | None
    at: str
    expire: bool = True


class RecordAnswer(Struct, frozen=True):
    """A whole game: replayed, it gives the result again."""

    ruleset: str
    seat_count: int
    options: Raw
    deal: Raw
    deal_text: str
    deal_sha256: str | None
    moves: tuple[RecordedMove | RecordedExpiry, ...]
    result: Result | None


class SeatCounts(Struct, frozen=True):
    """For how many seats a game is."""

    minimum: int
    maximum: int


class RulesetAnswer(Struct, frozen=True):
    """A game of the catalogue."""

    ruleset: str
    title: str
    seat_counts: SeatCounts
    options: tuple[Option, ...]
    components: tuple[Any, ...]
    move_types: tuple[Any, ...]
    house_levels: tuple[str, ...]
    rules: str


class RulesetPage(Struct, frozen=True):
    """All games of the catalogue."""

    items: tuple[RulesetAnswer, ...]


class StepAnswer(Struct, frozen=True):
    """A position of an analysed game, before a move."""

    to_move: tuple[Seat, ...]
    legal_moves: tuple[tuple[Move, ...], ...]


class AnalysisAnswer(Struct, frozen=True, omit_defaults=True):
    """What follows from a deal and moves; `steps` only if asked for."""

    to_move: tuple[Seat, ...]
    legal_moves: tuple[tuple[Move, ...], ...]
    views: tuple[Table, ...]
    spectator: Table
    events: tuple[Any, ...]
    result: Result | None
    steps: tuple[StepAnswer, ...] | None = None


class HealthAnswer(Struct, frozen=True):
    """The service is alive, or ready."""

    status: str
    detail: str | None


class ProblemAnswer(Struct, frozen=True):
    """What a problem code means."""

    code: str
    status: int
    title: str
    meaning: str
    advice: str


class ProblemPage(Struct, frozen=True):
    """All problem codes."""

    items: tuple[ProblemAnswer, ...]


class HomeAnswer(Struct, frozen=True):
    """What this service is, and where its parts are."""

    name: str
    version: str
    docs: str
    openapi_yaml: str
    openapi_json: str
    rulesets: str
    problems: str


LONG_OPTIONS = {
    name: frozenset(option.name for option in ruleset.options if option.type == "strings")
    for name, ruleset in RULESETS.items()
}
"""By ruleset, the options that lists of games leave out."""


def game_summary(game: Game, reader: str | None) -> GameSummary:
    """A game as lists show it to this player, or to nobody in particular (None)."""
    members = _public_members(game, game.audience_of(reader))
    if LONG_OPTIONS[game.ruleset]:
        options = msgspec.json.decode(game.options)
        kept = {name: options[name] for name in options if name not in LONG_OPTIONS[game.ruleset]}
        members["options"] = raw(kept)
    return GameSummary(**members)


def game_answer(found: StoredGame, audience: Audience) -> Raw:
    """A game as this audience sees it, as it is sent; made once as long as it is kept."""
    shown = found.shown.get(audience)
    if shown is None:
        shown = raw(_game_answer(found, audience))
        found.shown[audience] = shown
    return shown


def _game_answer(found: StoredGame, audience: Audience) -> GameAnswer:
    game, state, seat = found.game, found.position, audience.seat
    ruleset = RULESETS[game.ruleset]
    return GameAnswer(
        **_public_members(game, audience),
        legal_moves=() if state is None or seat is None else legal_moves(game, state, seat),
        table=None if state is None else ruleset.view(state, seat),
    )


def legal_moves(game: Game, state: Any, seat: Seat) -> tuple[Move, ...]:
    """A seat's legal moves; there are none in a game that is not being played."""
    moves: tuple[Move, ...] = ()
    if game.turn is not None:
        moves = RULESETS[game.ruleset].legal_moves(state, seat)
    return moves


def _public_members(game: Game, audience: Audience) -> dict[str, Any]:
    return {
        "id": game.id,
        "ruleset": game.ruleset,
        "seat_count": game.seat_count,
        "options": game.options,
        "visibility": game.visibility,
        "status": game.status,
        "host": game.host,
        "seats": tuple(
            [
                SeatAnswer(seat, record.player, record.house, record.reserved_for)
                for seat, record in enumerate(game.seats)
            ]
        ),
        "version": game.version,
        "turn": game.turn,
        "to_move": game.to_move,
        "deadline": _time(game.deadline),
        "you": audience.seat,
        "result": game.result,
        "deal_sha256": game.deal_sha256,
        "rematch": game.rematch,
        "invite": game.invite if audience.is_host else None,
        "created_at": timestamp(game.created_at),
        "started_at": _time(game.started_at),
        "finished_at": _time(game.finished_at),
        "updated_at": timestamp(game.updated_at),
    }


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else timestamp(milliseconds)


def item_answers(items: Sequence[HistoryItem], seat: Seat | None) -> tuple[ItemAnswer, ...]:
    """What happened, as this seat or a spectator is told it."""
    return tuple(
        ItemAnswer(
            each.version, timestamp(each.at), each.turn, each.by, each.seat, each.events(seat)
        )
        for each in items
    )
