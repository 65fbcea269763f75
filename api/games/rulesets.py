"""Rulesets: what is answered about one, and the setup of a game as a request names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from api.games.answers import (
    ComponentAnswer,
    MoveTypeAnswer,
    NameTitleAnswer,
    OptionChoice,
    RefusalAnswer,
    RulesetAnswer,
    RulesetOption,
    SeatCounts,
)
from api.problems.problem import invalid
from api.problems.quoting import quoted
from engine.house import HOUSE_LEVELS
from engine.pictures import has_picture
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, InvalidSetup, Option
from engine.texts import OptionWords, rules_text, words


def no_such_ruleset(name: str) -> str:
    """Return the error text for an id that is not the id of a ruleset."""
    # The id may be as long as the body.
    return f"There is no ruleset {name[:40]!r}. The rulesets are {', '.join(RULESETS)}."


def no_such_picture(ruleset: str, component: str) -> str:
    """Return the error text for a name that is not that of a component with a picture."""
    return (
        f"{RULESETS[ruleset].title} has no picture {quoted(component)}. Use the `url` of a "
        "component of getRuleset, where it is not null."
    )


def ruleset_answer(name: str, language: str) -> RulesetAnswer:
    """Return what is answered about a ruleset, in one of `LANGUAGES`."""
    ruleset, text = RULESETS[name], words(name, language)
    return RulesetAnswer(
        ruleset=ruleset.id,
        title=ruleset.title,
        seat_counts=SeatCounts(ruleset.min_seats, ruleset.max_seats),
        options=tuple(_option_answer(each, text.options[each.name]) for each in ruleset.options),
        components=tuple(
            ComponentAnswer(
                **asdict(each), title=text.title(each), url=picture_path(ruleset.id, each.name)
            )
            for each in ruleset.components
        ),
        titles=tuple(NameTitleAnswer(*each) for each in text.names.items()),
        move_types=tuple(
            MoveTypeAnswer(each, **asdict(text.moves[each])) for each in ruleset.move_types
        ),
        refusals=tuple(RefusalAnswer(*each) for each in text.refusals.items()),
        house_levels=HOUSE_LEVELS,
        rules=rules_text(name, language),
    )


def picture_path(ruleset: str, component: str) -> str | None:
    """Return the path of the picture of a component, None if it has none.

    The picture of a path never changes: caches may keep it.
    """
    if not has_picture(ruleset, component):
        return None
    return f"/v1/rulesets/{ruleset}/pictures/{component}"


def _option_answer(option: Option, text: OptionWords) -> RulesetOption:
    members = asdict(option)
    if option.choices is not None:
        members["choices"] = tuple(
            OptionChoice(value, text.choices[value]) for value in option.choices
        )
    return RulesetOption(**members, title=text.title, description=text.description)


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
