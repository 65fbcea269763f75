"""The catalogue of games."""

from __future__ import annotations

from functools import cache
from typing import Any

from flask import Response

from api.answers import RulesetAnswer, RulesetPage, SeatCounts, answer
from api.openapi import NO_TOKEN, Blueprint
from api.problems import Problem
from api.schemas.rulesets import RulesetPageSchema, RulesetSchema
from engine.registry import RULESETS
from engine.ruleset import Ruleset
from engine.texts import rules_text

blueprint = Blueprint("rulesets", __name__, url_prefix="/v1/rulesets")

CACHED = {"Cache-Control": "public, max-age=300"}
HOUSE_LEVELS: tuple[str, ...] = ()


@blueprint.get("")
@blueprint.operation("listRulesets", security=NO_TOKEN)
@blueprint.response(200, RulesetPageSchema)
def list_rulesets() -> Response:
    """List the games that there are"""
    return answer(RulesetPage(tuple(describe(name) for name in RULESETS)), headers=CACHED)


@blueprint.get("/<ruleset>")
@blueprint.operation("getRuleset", "ruleset_not_found", security=NO_TOKEN)
@blueprint.response(200, RulesetSchema)
def get_ruleset(ruleset: str) -> Response:
    """Get a game's rules, cards and options"""
    if ruleset not in RULESETS:
        raise Problem("ruleset_not_found", f"There are: {', '.join(RULESETS)}.")
    return answer(describe(ruleset), headers=CACHED)


@cache
def describe(name: str) -> RulesetAnswer:
    """A game of the catalogue."""
    ruleset: Ruleset[Any, Any, Any, Any, Any] = RULESETS[name]
    return RulesetAnswer(
        ruleset=ruleset.id,
        title=ruleset.title,
        seat_counts=SeatCounts(ruleset.min_seats, ruleset.max_seats),
        options=ruleset.options,
        components=ruleset.components,
        move_types=ruleset.move_types,
        house_levels=HOUSE_LEVELS,
        rules=rules_text(name, "en"),
    )
