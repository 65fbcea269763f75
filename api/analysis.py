"""Analysing a game without keeping one: a deal and moves in, everything that follows out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.answers import AnalysisAnswer, StepAnswer
from api.problems import FieldError, Problem, invalid, pointer
from engine.registry import RULESETS
from engine.ruleset import Event, IllegalMove, InvalidSetup, Outcome, Ruleset, Told

AnyRuleset = Ruleset[Any, Any, Any, Any, Any]


def analyse(body: Mapping[str, Any]) -> AnalysisAnswer:
    """Replay a deal and moves. Raises `Problem` naming the move that the rules forbid."""
    ruleset, seat_count = _ruleset(body), body["seat_count"]
    state, told = _start(ruleset, seat_count, body)
    events = [_in_full(each) for each in told]
    steps = []
    for index, move in enumerate(body["moves"]):
        if body.get("trace"):
            steps.append(step(ruleset, seat_count, state))
        state, told = _advance(ruleset, seat_count, state, move, index)
        events += [_in_full(each) for each in told]
    last = step(ruleset, seat_count, state)
    return AnalysisAnswer(
        to_move=last.to_move,
        legal_moves=last.legal_moves,
        views=tuple(ruleset.view(state, seat) for seat in range(seat_count)),
        spectator=ruleset.view(state, None),
        events=tuple(events),
        result=ruleset.result(state),
        steps=tuple(steps) if body.get("trace") else None,
    )


def step(ruleset: AnyRuleset, seat_count: int, state: Any) -> StepAnswer:
    """Whose move it is, and every seat's legal moves."""
    moves = tuple(ruleset.legal_moves(state, seat) for seat in range(seat_count))
    return StepAnswer(ruleset.to_move(state), moves)


def _in_full(told: Told) -> Event:
    """An event as the seat that it is about is told it: whoever analyses has the whole deal."""
    return told.to(getattr(told.everybody, "seat", None))


def _ruleset(body: Mapping[str, Any]) -> AnyRuleset:
    ruleset = RULESETS.get(body["ruleset"])
    if ruleset is None:
        raise invalid(f"There is no such ruleset. There are: {', '.join(RULESETS)}.", "ruleset")
    try:
        ruleset.check_seats(body["seat_count"])
    except InvalidSetup as error:
        raise invalid(error.detail, "seat_count") from None
    return ruleset


def _start(ruleset: AnyRuleset, seat_count: int, body: Mapping[str, Any]) -> Outcome[Any]:
    try:
        options = ruleset.read_options(seat_count, body.get("options", {}))
    except InvalidSetup as error:
        raise invalid(error.detail, "options", *error.path) from None
    try:
        return ruleset.start(seat_count, options, ruleset.read_deal(body["deal"]))
    except InvalidSetup as error:
        at = FieldError(error.detail, pointer=pointer(("deal", *error.path)))
        raise Problem("invalid_deal", error.detail, errors=(at,)) from None


def _advance(
    ruleset: AnyRuleset, seat_count: int, state: Any, move: Mapping[str, Any], index: int
) -> Outcome[Any]:
    try:
        if move.get("expire"):
            return ruleset.expire(state)
        if move["seat"] >= seat_count:
            raise invalid(f"The seats are 0 to {seat_count - 1}.", "moves", index, "seat")
        return ruleset.apply(state, move["seat"], move["move"])
    except IllegalMove as illegal:
        at = FieldError(illegal.detail, pointer=pointer(("moves", index)))
        detail = f"Move {index}: {illegal.detail}"
        raise Problem("illegal_move", detail, rule=illegal.rule, errors=(at,)) from None
