"""The course of a game: what a move or a countdown that ran out makes of it.

A new position comes with its turn, its deadline, its items and, at the end, its result. This is
the one place where a game in play goes on, whoever caused it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from api.happenings import BY_CLOCK, BY_PLAYER, BY_TABLE, GameFinished
from api.positions import read_state
from api.store import Change, StoredGame
from api.stored import FINISHED, Game, Item, item, public_item, timestamp
from engine.registry import RULESETS
from engine.ruleset import Move, Outcome, Seat, TimedEvent, Told, same_decision


def is_due(game: Game, now: int) -> bool:
    """Whether the clock has something to do before anybody else."""
    return game.deadline is not None and game.deadline <= now


def after_move(game: Game, seat: Seat, move: Move, outcome: Outcome[Any], now: int) -> Change:
    """What a move commits: its item, and the end of the game if it is one."""
    state, told = outcome
    after = _with_position(game, state, now)
    if same_decision(game.to_move, seat, after.to_move):
        answered = tuple(sorted({*game.answered, seat}))
        after = replace(
            after, turn=game.turn, turn_started_at=game.turn_started_at, answered=answered
        )
    moved = item(
        game.version + 1,
        now,
        BY_PLAYER,
        _timed(told, after.deadline),
        turn=game.turn,
        seat=seat,
        move=move,
    )
    return _change(after, state, moved, now)


def after_countdown(found: StoredGame, now: int) -> Change:
    """What a countdown that ran out commits."""
    game = found.game
    state, told = RULESETS[game.ruleset].expire(read_state(game, found.state))
    after = _with_position(game, state, now)
    told = _timed(told, after.deadline)
    return _change(after, state, item(game.version + 1, now, BY_CLOCK, told, turn=game.turn), now)


def _change(after: Game, state: Any, happened: Item, now: int) -> Change:
    items = [happened]
    if after.status == FINISHED and after.result is not None:
        end = GameFinished(after.result)
        items.append(public_item(happened.version + 1, now, BY_TABLE, None, end))
    return Change(game=after, items=tuple(items), state=msgspec.json.encode(state))


def _with_position(game: Game, state: Any, now: int) -> Game:
    """The game in a new position: at a new turn, or finished."""
    ruleset = RULESETS[game.ruleset]
    result = ruleset.result(state)
    if result is not None:
        return replace(
            game,
            status=FINISHED,
            turn=None,
            turn_started_at=None,
            to_move=(),
            answered=(),
            deadline=None,
            result=result,
            finished_at=now,
        )
    assert game.turn is not None
    return replace(
        game,
        turn=game.turn + 1,
        turn_started_at=now,
        to_move=ruleset.to_move(state),
        answered=(),
        deadline=_deadline(game, ruleset.countdown(state), now),
    )


def _deadline(game: Game, countdown_seconds: int | None, now: int) -> int | None:
    """When the countdown runs out: of one that runs already, when it did before."""
    if countdown_seconds is None:
        return None
    return game.deadline or now + countdown_seconds * 1000


def _timed(told: tuple[Told, ...], deadline: int | None) -> tuple[Told, ...]:
    """What happened, with the time filled in that the engine cannot know."""
    if deadline is None:
        return told
    until = timestamp(deadline)
    return tuple(
        replace(each, everybody=replace(each.everybody, deadline=until))
        if isinstance(each.everybody, TimedEvent)
        else each
        for each in told
    )
