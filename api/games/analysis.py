"""Analysis: replay a deal and moves without storing a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from api.concurrency.time_slices import long_work, pause
from api.games.answers import AnalysedPosition, AnalysisAnswer, AnalysisStepAnswer
from api.games.moves import why_illegal
from api.games.rulesets import read_setup
from api.games.seats import no_such_seat
from api.problems.problem import FieldError, Problem, invalid, pointer
from engine.ruleset import (
    AnyRuleset,
    IllegalMove,
    InvalidSetup,
    Outcome,
    UnknownMove,
)


def analyse(body: Mapping[str, Any]) -> AnalysisAnswer:
    """Replay a deal and moves.

    Raises:
        Problem: ``invalid_request``, ``invalid_deal``, ``illegal_move``, with a pointer to what is
            wrong.
    """
    with long_work():
        return _analyse(body)


def _analyse(body: Mapping[str, Any]) -> AnalysisAnswer:
    ruleset, options = read_setup(body)
    seat_count = body["seat_count"]
    state, told = _start(ruleset, seat_count, options, body["deal"])
    events = [each.in_full() for each in told]
    reader = body.get("seat")
    if reader is not None and reader >= seat_count:
        raise invalid(no_such_seat(reader, seat_count), "seat")
    steps = []
    for index, move in enumerate(body["moves"]):
        pause()
        if body.get("trace"):
            now = _position(ruleset, seat_count, state)
            table = ruleset.view(state, reader)
            steps.append(AnalysisStepAnswer(now.to_move, now.legal_moves, table, len(events)))
        state, told = _advance(ruleset, seat_count, state, move, index)
        events += [each.in_full() for each in told]
    last = _position(ruleset, seat_count, state)
    return AnalysisAnswer(
        to_move=last.to_move,
        legal_moves=last.legal_moves,
        views=tuple(ruleset.view(state, seat) for seat in range(seat_count)),
        spectator=ruleset.view(state, None),
        events=tuple(events),
        result=ruleset.result(state),
        steps=tuple(steps) if body.get("trace") else UNSET,
    )


def _position(ruleset: AnyRuleset, seat_count: int, state: Any) -> AnalysedPosition:
    """Return the seats to move and the legal moves of every seat."""
    moves = tuple(ruleset.legal_moves(state, seat) for seat in range(seat_count))
    return AnalysedPosition(ruleset.to_move(state), moves)


def _start(ruleset: AnyRuleset, seat_count: int, options: Any, deal: Any) -> Outcome[Any]:
    try:
        return ruleset.start(seat_count, options, ruleset.read_deal(deal))
    except InvalidSetup as error:
        at = FieldError(error.detail, pointer=pointer(("deal", *error.path)))
        raise Problem("invalid_deal", error.detail, errors=(at,)) from None


def _advance(
    ruleset: AnyRuleset, seat_count: int, state: Any, move: Mapping[str, Any], index: int
) -> Outcome[Any]:
    """Apply a move, or the end of a countdown."""
    try:
        if move["type"] == "countdown_ran_out":
            return ruleset.expire(state)
        seat = move["seat"]
        if seat >= seat_count:
            raise invalid(no_such_seat(seat, seat_count), "moves", index, "seat")
        return ruleset.apply(state, seat, move["move"])
    except IllegalMove as illegal:
        detail = illegal.detail
        if "move" in move:
            detail = why_illegal(illegal, ruleset, state, seat, move["move"])
        if isinstance(move.get("move"), UnknownMove):
            raise invalid(detail, "moves", index, "move", "type") from None
        at = FieldError(detail, pointer=pointer(("moves", index)))
        detail = f"Move {index}: {detail}"
        raise Problem("illegal_move", detail, rule=illegal.rule, errors=(at,)) from None
