"""The setup of a game as a request names it: ruleset, number of seats, options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.problems.problem import invalid
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, InvalidSetup


def no_such_ruleset(name: str) -> str:
    """Return the error text for an id that is not the id of a ruleset."""
    # The id may be as long as the body.
    return f"There is no ruleset {name[:40]!r}. The rulesets are {', '.join(RULESETS)}."


def read_setup(body: Mapping[str, Any]) -> tuple[AnyRuleset, Any]:
    """Return the ruleset and the options that a body asks for.

    Raises `Problem` (``invalid_request``) that points to the wrong member.
    """
    ruleset = RULESETS.get(body["ruleset"])
    if ruleset is None:
        raise invalid(no_such_ruleset(body["ruleset"]), "ruleset")
    try:
        ruleset.check_seats(body["seat_count"])
    except InvalidSetup as error:
        raise invalid(error.detail, "seat_count") from None
    try:
        return ruleset, ruleset.read_options(body["seat_count"], body.get("options", {}))
    except InvalidSetup as error:
        raise invalid(error.detail, "options", *error.path) from None
