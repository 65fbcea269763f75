"""What a game is started from, as a request names it: ruleset, seats and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.problems.problem import invalid
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, InvalidSetup


def find_ruleset(name: str) -> AnyRuleset | None:
    """The ruleset of this id, if there is one."""
    return RULESETS.get(name)


def unknown_ruleset() -> str:
    """What to tell who asks for another one."""
    return f"There is no such ruleset. There are: {', '.join(RULESETS)}."


def read_setup(body: Mapping[str, Any]) -> tuple[AnyRuleset, Any]:
    """The ruleset and the options that a body asks for.

    Raises `Problem` (``invalid_request``) with a pointer to what cannot be.
    """
    ruleset = find_ruleset(body["ruleset"])
    if ruleset is None:
        raise invalid(unknown_ruleset(), "ruleset")
    try:
        ruleset.check_seats(body["seat_count"])
    except InvalidSetup as error:
        raise invalid(error.detail, "seat_count") from None
    try:
        return ruleset, ruleset.read_options(body["seat_count"], body.get("options", {}))
    except InvalidSetup as error:
        raise invalid(error.detail, "options", *error.path) from None
