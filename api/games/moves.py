"""Playing: which moves there are, whether one would do, and making it.

A move is safe to send again: who, turn and move are looked up before anything else, and what
was played already is answered as it was the first time. Otherwise the refusals come in a fixed
order, from the state of the game to the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from api.games.players import Credentials
from api.games.progress import Progress
from api.games.representations import (
    CheckAnswer,
    LegalMovesAnswer,
    PlayedAnswer,
    game_answer,
    item_answers,
    legal_moves,
)
from api.games.transactions import LoadedGame, Transactions
from api.model.game import ENDED, OPEN
from api.problems.problem import FieldError, Problem
from api.storage.games import Change
from engine.registry import RULESETS
from engine.ruleset import COUNTDOWN_RUNNING, NOT_YOUR_TURN, IllegalMove, Move, Outcome, Seat


class Moves:
    """Lists, checks and makes moves."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self.store = transactions.store

    def listed(self, visit: LoadedGame, previews: bool) -> LegalMovesAnswer:
        """The legal moves of the caller's seat, with what it can know of each if asked.

        Raises `Problem` (``not_seated``).
        """
        seat = self.seat(visit)
        state = visit.found.position
        moves = legal_moves(visit.game, state, seat)
        shown = None
        if previews:
            ruleset = RULESETS[visit.game.ruleset]
            table = None if state is None else ruleset.view(state, seat)
            shown = tuple(ruleset.preview(table, seat, move) for move in moves)
        return LegalMovesAnswer(visit.game.turn, seat, moves, shown)

    def seat(self, visit: LoadedGame) -> Seat:
        """The caller's seat. Raises `Problem` (``not_seated``)."""
        if visit.seat is None:
            raise Problem("not_seated")
        return visit.seat

    def check(
        self, credentials: Credentials | None, game_id: str, turn: int, move: Move
    ) -> CheckAnswer:
        """Whether this move would be accepted now, and what the seat can know of its outcome."""
        visit = self.transactions.visit(credentials, game_id)
        seat = self.seat(visit)
        try:
            state, _ = _try(visit, seat, turn, move)
        except Problem as problem:
            return CheckAnswer(
                legal=False, code=problem.code, rule=problem.rule, detail=problem.detail
            )
        ruleset = RULESETS[visit.game.ruleset]
        return CheckAnswer(
            legal=True, preview=ruleset.preview(ruleset.view(state, seat), seat, move)
        )

    def play(
        self,
        credentials: Credentials | None,
        game_id: str,
        turn: int,
        move: Move,
        if_match: Callable[[str], bool],
    ) -> tuple[int, PlayedAnswer, bool]:
        """Make a move; the time of it (ms), what became of it, and whether it is new.

        Raises `Problem` if it is refused, and then nothing has changed.
        """
        key = None if credentials is None else _played_key(credentials.player_id, turn, move)

        def decide(visit: LoadedGame) -> Change | None:
            if visit.played is not None or key is None:
                return None
            seat = self.seat(visit)
            state, outcome = _try(visit, seat, turn, move)
            course = Progress(visit.game, state, visit.now, self.transactions.rng)
            course.move(seat, move, outcome)
            course.let_house_move()
            return course.change(played=(key, msgspec.json.encode(course.versions).decode()))

        visit, items = self.transactions.change(
            credentials, game_id, decide, if_match=if_match, played=key
        )
        is_new = visit.played is None
        if visit.played is not None:
            first, last = msgspec.json.decode(visit.played, type=tuple[int, int])
            items = tuple(self.store.items(game_id, first, last))
            if len(items) <= last - first:
                # Between the two reads the store has lost it, with the master that it had.
                raise Problem("busy")
            if visit.game.version < last:
                # The commit fell between the reads of the game and of what was played in it.
                visit = self.transactions.visit(credentials, game_id)
        game = game_answer(visit.found, visit.audience)
        return visit.now, PlayedAnswer(game, item_answers(items, visit.seat)), is_new


def _played_key(player_id: str, turn: int, move: Move) -> str:
    return f"{player_id}:{turn}:{msgspec.json.encode(move).decode()}"


def _try(visit: LoadedGame, seat: Seat, turn: int, move: Move) -> tuple[Any, Outcome[Any]]:
    """The position and the outcome of a move in it. Raises `Problem` in the contract's order."""
    game = visit.game
    if game.status == OPEN:
        raise Problem("game_not_started")
    if game.status in ENDED:
        raise Problem("game_over")
    if turn != game.turn:
        raise Problem("stale_turn", f"The game is at turn {game.turn}, not {turn}.")
    ruleset = RULESETS[game.ruleset]
    state = visit.found.position
    try:
        return state, ruleset.apply(state, seat, move)
    except IllegalMove as illegal:
        if illegal.rule == NOT_YOUR_TURN:
            raise Problem("already_moved" if seat in game.answered else "not_your_turn") from None
        if illegal.rule == COUNTDOWN_RUNNING:
            raise Problem("countdown_running") from None
        at = FieldError(illegal.detail, pointer="#/move")
        raise Problem("illegal_move", illegal.detail, rule=illegal.rule, errors=(at,)) from None
