"""Playing: which moves there are, whether one would do, and making it.

A move is safe to send again: who, turn and move are looked up before anything else, and what
was played already is answered as it was the first time. Otherwise the refusals come in a fixed
order, from the state of the game to the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from api.games.answers import CheckAnswer, LegalMovesAnswer, PlayedAnswer
from api.games.players import Credentials
from api.games.progress import Progress
from api.games.representations import game_answer, item_answers, legal_moves
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

    def listed(self, loaded: LoadedGame, previews: bool) -> LegalMovesAnswer:
        """The legal moves of the caller's seat, with what it can know of each if asked.

        Raises `Problem` (``not_seated``).
        """
        seat = self.seat(loaded)
        state = loaded.found.position
        moves = legal_moves(loaded.game, state, seat)
        shown = None
        if previews:
            ruleset = RULESETS[loaded.game.ruleset]
            table = None if state is None else ruleset.view(state, seat)
            shown = tuple(ruleset.preview(table, seat, move) for move in moves)
        return LegalMovesAnswer(loaded.game.turn, seat, moves, shown)

    def seat(self, loaded: LoadedGame) -> Seat:
        """The caller's seat. Raises `Problem` (``not_seated``)."""
        if loaded.seat is None:
            raise Problem("not_seated")
        return loaded.seat

    def check(
        self, credentials: Credentials | None, game_id: str, turn: int, move: Move
    ) -> CheckAnswer:
        """Whether this move would be accepted now, and what the seat can know of its outcome."""
        loaded = self.transactions.load(credentials, game_id)
        seat = self.seat(loaded)
        try:
            state, _ = _try(loaded, seat, turn, move)
        except Problem as problem:
            return CheckAnswer(
                legal=False, code=problem.code, rule=problem.rule, detail=problem.detail
            )
        ruleset = RULESETS[loaded.game.ruleset]
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

        def decide(loaded: LoadedGame) -> Change | None:
            if loaded.played is not None or key is None:
                return None
            seat = self.seat(loaded)
            state, outcome = _try(loaded, seat, turn, move)
            progress = Progress(loaded.game, state, loaded.now, self.transactions.rng)
            progress.move(seat, move, outcome)
            progress.let_house_move()
            return progress.change(played=(key, msgspec.json.encode(progress.versions).decode()))

        loaded, items = self.transactions.update(
            credentials, game_id, decide, if_match=if_match, played=key
        )
        is_new = loaded.played is None
        if loaded.played is not None:
            first, last = msgspec.json.decode(loaded.played, type=tuple[int, int])
            items = tuple(self.store.items(game_id, first, last))
            if len(items) <= last - first:
                # Between the two reads the store has lost it, with the master that it had.
                raise Problem("busy")
            if loaded.game.version < last:
                # The commit fell between the reads of the game and of what was played in it.
                loaded = self.transactions.load(credentials, game_id)
        game = game_answer(loaded.found, loaded.audience)
        return loaded.now, PlayedAnswer(game, item_answers(items, loaded.seat)), is_new


def _played_key(player_id: str, turn: int, move: Move) -> str:
    return f"{player_id}:{turn}:{msgspec.json.encode(move).decode()}"


def _try(loaded: LoadedGame, seat: Seat, turn: int, move: Move) -> tuple[Any, Outcome[Any]]:
    """The position and the outcome of a move in it. Raises `Problem` in the contract's order."""
    game = loaded.game
    if game.status == OPEN:
        raise Problem("game_not_started")
    if game.status in ENDED:
        raise Problem("game_over")
    if turn != game.turn:
        raise Problem("stale_turn", f"The game is at turn {game.turn}, not {turn}.")
    ruleset = RULESETS[game.ruleset]
    state = loaded.found.position
    try:
        return state, ruleset.apply(state, seat, move)
    except IllegalMove as illegal:
        if illegal.rule == NOT_YOUR_TURN:
            raise Problem("already_moved" if seat in game.answered else "not_your_turn") from None
        if illegal.rule == COUNTDOWN_RUNNING:
            raise Problem("countdown_running") from None
        at = FieldError(illegal.detail, pointer="#/move")
        raise Problem("illegal_move", illegal.detail, rule=illegal.rule, errors=(at,)) from None
