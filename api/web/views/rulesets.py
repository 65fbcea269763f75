"""Routes of rulesets: the games that can be played."""

from __future__ import annotations

from functools import cache

import msgspec
from flask import Response, request

from api.config.rate_policies import READS
from api.games.answers import RulesetAnswer, RulesetPage
from api.games.rulesets import no_such_picture, no_such_ruleset, ruleset_answer
from api.problems.problem import Problem
from api.web.compression import Content
from api.web.openapi.blueprint import NO_TOKEN, Blueprint
from api.web.openapi.components import (
    ACCEPT_LANGUAGE,
    CONDITIONAL,
    HEADERS,
    IF_NONE_MATCH,
    IN_A_LANGUAGE,
    parameter,
)
from api.web.responses import prepared, unless_had
from engine.pictures import draw, has_picture
from engine.registry import RULESETS
from engine.texts import LANGUAGES

blueprint = Blueprint("rulesets", __name__, url_prefix="/v1/rulesets")

DEFAULT_LANGUAGE = LANGUAGES[0]
SVG = "image/svg+xml"
RULESET = parameter(
    "ruleset", "path", "The ruleset's id, of listRulesets.", required=True, examples=["parade"]
)
PICTURED = parameter("ruleset", "path", "The ruleset's id.", required=True, examples=["contrast"])
PICTURE = parameter(
    "picture", "path", "The component's name.", required=True, examples=["picture-7"]
)
KEPT_FOREVER = "public, max-age=31536000, immutable"
TAGGED = {
    "ETag": CONDITIONAL["ETag"],
    "Cache-Control": HEADERS["Forever"],
    "Vary": HEADERS["VaryByEncoding"],
}


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


@blueprint.get("/<ruleset>/pictures/<picture>", parameters=[PICTURED, PICTURE])
@blueprint.operation(
    "getPicture",
    "ruleset_not_found",
    "picture_not_found",
    security=NO_TOKEN,
    store=False,
    parameters=[IF_NONE_MATCH],
    limits=(READS,),
)
@blueprint.response(
    200,
    {"type": "string"},
    content_type=SVG,
    description="The picture, a square SVG image of at most 4 KB.",
    headers=TAGGED,
)
@blueprint.alt_response(304, description="You have it already.", headers=TAGGED)
def get_picture(ruleset: str, picture: str) -> Response:
    """Get the picture of a component

    What lies face up in Contrast, as an SVG image: let a page or an app load the `url` of the
    component. The same for all callers, and it never changes.
    """
    if ruleset not in RULESETS:
        raise Problem("ruleset_not_found", no_such_ruleset(ruleset))
    if not has_picture(ruleset, picture):
        raise Problem("picture_not_found", no_such_picture(ruleset, picture))
    return unless_had(drawn(ruleset, picture), SVG, KEPT_FOREVER)


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
def drawn(ruleset: str, picture: str) -> Content:
    """Return a picture."""
    return Content.of(draw(ruleset, picture).encode())


@cache
def rendered(name: str, language: str) -> Content:
    """Return an encoded ruleset."""
    return Content.of(msgspec.json.encode(ruleset_answer(name, language)))
