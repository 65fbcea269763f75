"""Playing: which moves there are, whether one would do, and making it.

A move is safe to send again: who, turn and move are looked up before anything else, and what
was played already is answered as it was the first time. Otherwise the refusals come in a fixed
order, from the state of the game to the rules.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from api.accounts import Credentials
from api.answers import (
    CheckAnswer,
    LegalMovesAnswer,
    PlayedAnswer,
    game_answer,
    item_answers,
    legal_moves,
    read_state,
)
from api.game.desk import Desk, Visit
from api.happenings import BY_PLAYER, BY_TABLE, GameFinished
from api.problems import FieldError, Problem
from api.store import Change
from api.stored import ENDED, FINISHED, OPEN, Game, item, public_item
from engine.registry import RULESETS
from engine.ruleset import IllegalMove, Move, Outcome, Seat, same_decision


class Moves:
    """Lists, checks and makes moves."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.store = desk.store

    def listed(self, visit: Visit) -> LegalMovesAnswer:
        """The legal moves of the caller's seat. Raises `Problem` (``not_seated``)."""
        seat = _seat(visit)
        state = read_state(visit.game, visit.found.state)
        return LegalMovesAnswer(visit.game.turn, seat, legal_moves(visit.game, state, seat))

    def check(
        self, credentials: Credentials | None, game_id: str, turn: int, move: Move
    ) -> CheckAnswer:
        """Whether this move would be accepted now, and what the seat can know of its outcome."""
        if credentials is None:
            raise Problem("missing_token")
        visit = self.desk.visit(credentials, game_id)
        seat = _seat(visit)
        try:
            state, _ = _try(visit, seat, turn, move)
        except Problem as problem:
            return CheckAnswer(
                legal=False, code=problem.code, rule=problem.rule, detail=problem.detail
            )
        ruleset = RULESETS[visit.game.ruleset]
        return CheckAnswer(legal=True, preview=ruleset.preview(ruleset.view(state, seat), move))

    def play(
        self, credentials: Credentials | None, game_id: str, turn: int, move: Move
    ) -> tuple[int, PlayedAnswer]:
        """Make a move; the time of it (ms), and what became of it.

        Raises `Problem` if it is refused, and then nothing has changed.
        """
        if credentials is None:
            raise Problem("missing_token")
        key = _played_key(credentials.player_id, turn, move)

        def decide(visit: Visit) -> Change | None:
            if visit.played is not None:
                return None
            seat = _seat(visit)
            _, outcome = _try(visit, seat, turn, move)
            return _moved(visit, seat, move, outcome, key)

        visit, items = self.desk.change(credentials, game_id, decide, played=key)
        if visit.played is not None:
            first, last = msgspec.json.decode(visit.played, type=tuple[int, int])
            items = tuple(self.store.items(game_id, first, last))
        game = game_answer(visit.found, visit.reader)
        return visit.now, PlayedAnswer(game, item_answers(items, visit.seat))


def _seat(visit: Visit) -> Seat:
    if visit.seat is None:
        raise Problem("not_seated")
    return visit.seat


def _played_key(player_id: str, turn: int, move: Move) -> str:
    return f"{player_id}:{turn}:{msgspec.json.encode(move).decode()}"


def _try(visit: Visit, seat: Seat, turn: int, move: Move) -> tuple[Any, Outcome[Any]]:
    """The position and the outcome of a move in it. Raises `Problem` in the contract's order."""
    game = visit.game
    if game.status == OPEN:
        raise Problem("game_not_started")
    if game.status in ENDED:
        raise Problem("game_over")
    if turn != game.turn:
        raise Problem("stale_turn", f"The game is at turn {game.turn}, not {turn}.")
    ruleset = RULESETS[game.ruleset]
    state = read_state(game, visit.found.state)
    if seat not in game.to_move and move not in ruleset.legal_moves(state, seat):
        raise Problem("already_moved" if seat in game.answered else "not_your_turn")
    try:
        return state, ruleset.apply(state, seat, move)
    except IllegalMove as illegal:
        at = FieldError(illegal.detail, pointer="#/move")
        raise Problem("illegal_move", illegal.detail, rule=illegal.rule, errors=(at,)) from None


def _moved(visit: Visit, seat: Seat, move: Move, outcome: Outcome[Any], key: str) -> Change:
    """What a move commits: the item of the move, and the end of the game if it is one."""
    game, now = visit.game, visit.now
    state, told = outcome
    version = game.version + 1
    items = [item(version, now, BY_PLAYER, told, turn=game.turn, seat=seat, move=move)]
    after = _after_move(game, seat, state, now)
    if after.status == FINISHED and after.result is not None:
        end = GameFinished(after.result)
        items.append(public_item(version + 1, now, BY_TABLE, None, end))
    return Change(
        game=after,
        items=tuple(items),
        state=msgspec.json.encode(state),
        played=(key, msgspec.json.encode((version, items[-1].version)).decode()),
    )


def _after_move(game: Game, seat: Seat, state: Any, now: int) -> Game:
    ruleset = RULESETS[game.ruleset]
    to_move = ruleset.to_move(state)
    result = ruleset.result(state)
    if result is not None:
        return replace(
            game,
            status=FINISHED,
            turn=None,
            turn_started_at=None,
            to_move=(),
            answered=(),
            result=result,
            finished_at=now,
        )
    if same_decision(game.to_move, seat, to_move):
        return replace(game, to_move=to_move, answered=(*game.answered, seat))
    assert game.turn is not None
    return replace(game, turn=game.turn + 1, turn_started_at=now, to_move=to_move, answered=())
