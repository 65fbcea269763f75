"""Moves: list the legal ones, check one, play one.

Playing a move is idempotent: the player, the turn and the move are its key. The key is looked up
with the game, and a move that was played before has the same outcome again, before any refusal.
Refusals come in a fixed order, from the game's status to the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from api.games.answers import LegalMovesAnswer, MoveCheckAnswer, PlayedMoveAnswer
from api.games.players import Credentials
from api.games.progress import Progress
from api.games.representations import game_answer, item_answers, legal_moves
from api.games.transactions import LoadedGame, Precondition, Transactions
from api.model.game import OPEN, HistoryItem
from api.problems.problem import FieldError, Problem, invalid
from api.problems.quoting import quoted
from api.storage.games import Change, Versions, move_key
from engine.registry import RULESETS
from engine.ruleset import (
    COUNTDOWN_RUNNING,
    NOT_YOUR_TURN,
    WRONG_MOVE_TYPE,
    AnyRuleset,
    IllegalMove,
    Move,
    Outcome,
    Seat,
    UnknownMove,
    type_of_move,
)


class PlayedMove(NamedTuple):
    """A move that was played, now or before: the game as it is now, and the items of the move."""

    loaded: LoadedGame
    items: tuple[HistoryItem, ...]
    is_repeated: bool = False

    def answer(self) -> PlayedMoveAnswer:
        """Return the move's outcome as the caller sees it."""
        loaded = self.loaded
        game = game_answer(loaded.stored, loaded.audience)
        return PlayedMoveAnswer(game, item_answers(self.items, loaded.seat))


class Moves:
    """Lists, checks and plays moves."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self.store = transactions.store

    def list_legal(self, loaded: LoadedGame, seat: Seat, previews: bool) -> LegalMovesAnswer:
        """Return the legal moves of a seat, with previews of their outcomes if asked."""
        state = loaded.stored.position
        moves = legal_moves(loaded.game, state, seat)
        shown = None
        if previews:
            ruleset = RULESETS[loaded.game.ruleset]
            table = None if state is None else ruleset.view(state, seat)
            shown = tuple(ruleset.preview(table, seat, move) for move in moves)
        return LegalMovesAnswer(loaded.game.turn, seat, moves, shown)

    def check(
        self, credentials: Credentials, game_id: str, turn: int, move: Move
    ) -> MoveCheckAnswer:
        """Return whether a move would be accepted now, and what the seat can know of its outcome.

        Raises `Problem` as `Transactions.load` does; ``not_seated``.
        """
        loaded = self.transactions.load(credentials, game_id)
        seat = require_seat(loaded)
        try:
            state, _ = _outcome_of(loaded, seat, turn, move)
        except Problem as problem:
            if problem.code == "invalid_request":
                raise
            return MoveCheckAnswer(
                legal=False, code=problem.code, rule=problem.rule, detail=problem.detail
            )
        ruleset = RULESETS[loaded.game.ruleset]
        return MoveCheckAnswer(
            legal=True, preview=ruleset.preview(ruleset.view(state, seat), seat, move)
        )

    def play(
        self,
        credentials: Credentials,
        game_id: str,
        turn: int,
        move: Move,
        if_match: Precondition | None,
    ) -> PlayedMove:
        """Play a move, or find the outcome of the same move played before.

        Raises `Problem` if the move is refused; the game is then unchanged.
        """
        key = key_of_move(credentials.player_id, turn, move)

        def decide(loaded: LoadedGame) -> Change | None:
            if loaded.played_versions is not None:
                return None
            progress = self.apply(loaded, turn, move)
            progress.play_house_moves()
            return change_by_move(progress, key)

        # A type that no game has is refused before the precondition, as any wrong body is.
        condition = None if isinstance(move, UnknownMove) else if_match
        loaded, items = self.transactions.update(
            credentials, game_id, decide, if_match=condition, move_key=key
        )
        if loaded.played_versions is None:
            return PlayedMove(loaded, items)
        return self._earlier_move(credentials, loaded, loaded.played_versions)

    def apply(self, loaded: LoadedGame, turn: int, move: Move) -> Progress:
        """Return the progress of a game after a move of the caller, before any of the house.

        Raises `Problem` if the move is refused.
        """
        seat = require_seat(loaded)
        state, outcome = _outcome_of(loaded, seat, turn, move)
        progress = Progress(loaded.game, state, loaded.now, self.transactions.rng)
        progress.apply_move(seat, move, outcome)
        return progress

    def _earlier_move(
        self, credentials: Credentials, loaded: LoadedGame, versions: Versions
    ) -> PlayedMove:
        """Return a move that was played before, with the game as it is now."""
        first, last = versions
        items = tuple(self.store.history_part(loaded.game, first, last).items)
        if len(items) <= last - first:
            # A failover between the two reads has lost the items.
            raise Problem("busy")
        if loaded.game.version < last:
            # The move was committed between the read of the game and that of the earlier moves.
            loaded = self.transactions.load(credentials, loaded.game.id)
        return PlayedMove(loaded, items, is_repeated=True)


def change_by_move(progress: Progress, key: str) -> Change:
    """Return the change by a move with this key and by what followed from it."""
    return progress.to_change(played=(key, progress.versions))


def require_seat(loaded: LoadedGame) -> Seat:
    """Return the caller's seat. Raises `Problem` (``not_seated``)."""
    if loaded.seat is None:
        raise Problem("not_seated")
    return loaded.seat


def key_of_move(player_id: str, turn: int, move: Move) -> str:
    """Return the key of a move, which makes playing it idempotent."""
    return move_key(player_id, turn, msgspec.json.encode(move))


def _outcome_of(loaded: LoadedGame, seat: Seat, turn: int, move: Move) -> tuple[Any, Outcome[Any]]:
    """Return the state before a move and the outcome of the move.

    Raises `Problem` if the move is refused, in the order of the contract.
    """
    game, state = loaded.game, loaded.stored.position
    ruleset = RULESETS[game.ruleset]
    if isinstance(move, UnknownMove):
        # Its form is wrong, whatever the game's state is.
        legal = legal_moves(game, state, seat)
        raise invalid(impossible_type(ruleset, move, legal), "move", "type")
    if game.status == OPEN:
        raise Problem("game_not_started")
    if game.has_ended:
        raise Problem("game_over")
    if turn != game.turn:
        wrong = f"Turn {turn} is over" if turn < (game.turn or 0) else f"Turn {turn} has not begun"
        detail = (
            f"{wrong}: the game is at turn {game.turn}. Read the game again and choose one of its "
            "legal moves."
        )
        raise Problem("stale_turn", detail)
    try:
        return state, ruleset.apply(state, seat, move)
    except IllegalMove as illegal:
        detail = why_illegal(illegal, ruleset, state, seat, move)
        if illegal.rule == NOT_YOUR_TURN:
            code = "already_moved" if seat in game.answered else "not_your_turn"
            raise Problem(code) from None
        if illegal.rule == COUNTDOWN_RUNNING:
            raise Problem("countdown_running") from None
        at = FieldError(detail, pointer="#/move")
        raise Problem("illegal_move", detail, rule=illegal.rule, errors=(at,)) from None


def why_illegal(
    illegal: IllegalMove, ruleset: AnyRuleset, state: Any, seat: Seat, move: Move
) -> str:
    """Return why a move is illegal; of a wrong type of move, which types are possible now."""
    if illegal.rule != WRONG_MOVE_TYPE:
        return illegal.detail
    return impossible_type(ruleset, move, ruleset.legal_moves(state, seat))


def impossible_type(ruleset: AnyRuleset, move: Move, legal: Sequence[Move]) -> str:
    """Return that a type of move is not possible now, and which are.

    While the seat has no legal move, those of the game are named.
    """
    possible = tuple(dict.fromkeys(map(type_of_move, legal))) or ruleset.move_types
    return (
        f"A move of type {quoted(type_of_move(move))} is not possible now in {ruleset.title}, "
        f"only: {', '.join(possible)}. Choose one of your legal moves."
    )
