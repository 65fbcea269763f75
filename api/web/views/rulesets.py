"""Routes of rulesets: the games that can be played."""

from __future__ import annotations

from functools import cache

import msgspec
from flask import Response, request

from api.config.rate_policies import READS
from api.games.answers import RulesetAnswer, RulesetPage
from api.games.rulesets import no_such_ruleset, ruleset_answer
from api.problems.problem import Problem
from api.web.compression import Content
from api.web.openapi.blueprint import NO_TOKEN, Blueprint
from api.web.openapi.components import ACCEPT_LANGUAGE, IN_A_LANGUAGE, parameter
from api.web.responses import prepared
from engine.registry import RULESETS
from engine.texts import LANGUAGES

blueprint = Blueprint("rulesets", __name__, url_prefix="/v1/rulesets")

DEFAULT_LANGUAGE = LANGUAGES[0]
RULESET = parameter(
    "ruleset", "path", "The ruleset's id, of listRulesets.", required=True, examples=["parade"]
)


@blueprint.get("")
@blueprint.operation(
    "listRulesets", security=NO_TOKEN, store=False, parameters=[ACCEPT_LANGUAGE], limits=(READS,)
)
@blueprint.response(200, RulesetPage, headers=IN_A_LANGUAGE)
def list_rulesets() -> Response:
    """List the rulesets

    Each with its cards, options, types of moves, and the rules as text, in English or French. The
    same for all callers.
    """
    language = best_language()
    return prepared(rendered_catalogue(language), headers=headers_in(language))


@blueprint.get("/<ruleset>", parameters=[RULESET])
@blueprint.operation(
    "getRuleset",
    "ruleset_not_found",
    security=NO_TOKEN,
    store=False,
    parameters=[ACCEPT_LANGUAGE],
    limits=(READS,),
)
@blueprint.response(200, RulesetAnswer, headers=IN_A_LANGUAGE)
def get_ruleset(ruleset: str) -> Response:
    """Get a game's rules, cards and options

    Everything to know about a game before it is played. With its titles and texts, in English or
    French, a front end can show all of a game to people. The same for all callers.
    """
    if ruleset not in RULESETS:
        raise Problem("ruleset_not_found", no_such_ruleset(ruleset))
    language = best_language()
    return prepared(rendered(ruleset, language), headers=headers_in(language))


def best_language() -> str:
    """Return the available language that the caller prefers, ignoring regions."""
    for tag, quality in request.accept_languages:
        language = tag.partition("-")[0].lower()
        if quality > 0 and language in LANGUAGES:
            return language
    return DEFAULT_LANGUAGE


def headers_in(language: str) -> dict[str, str]:
    """Return the headers of an answer in this language, which shared caches may store."""
    return {
        "Cache-Control": "public, max-age=300",
        "Content-Language": language,
        "Vary": "Accept-Language, Accept-Encoding",
    }


@cache
def rendered_catalogue(language: str) -> Content:
    """Return the encoded list of all rulesets."""
    page = RulesetPage(tuple(ruleset_answer(name, language) for name in RULESETS))
    return Content.of(msgspec.json.encode(page))


@cache
def rendered(name: str, language: str) -> Content:
    """Return an encoded ruleset."""
    return Content.of(msgspec.json.encode(ruleset_answer(name, language)))
