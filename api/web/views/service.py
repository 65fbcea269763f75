"""Routes of the service itself: home, health, the API document, the error catalogue.

`getHome`, `listProblems` and `getProblem` answer browsers with a page. The document does not
mention HTML: a generated client would have to distinguish the two types.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from flask import Response, current_app, request

from api.observability import lifecycle
from api.problems.catalogue import CATALOGUE
from api.problems.problem import Problem
from api.storage.health import KEEPS_EVERYTHING
from api.web.compression import Content
from api.web.openapi.blueprint import NO_TOKEN, Blueprint
from api.web.openapi.components import CONDITIONAL, HEADERS, IF_NONE_MATCH, header
from api.web.pages.rendering import BY_ACCEPT, page, wants_page
from api.web.responses import answer, prepared, services, unless_had
from api.web.schemas.service import (
    ApiDocumentSchema,
    HealthAnswer,
    HomeAnswer,
    ProblemKindAnswer,
    ProblemKindPage,
)
from engine.registry import RULESETS

blueprint = Blueprint("service", __name__)

CODE = {
    "name": "code",
    "in": "path",
    "required": True,
    "description": "The `code` of a problem.",
    "schema": {"type": "string", "examples": ["stale_turn"]},
}

TAGGED = {
    "ETag": CONDITIONAL["ETag"],
    "Cache-Control": CONDITIONAL["Cache-Control"],
    "Vary": HEADERS["VaryByEncoding"],
}
KEPT = {
    "Cache-Control": header("How long the response may be cached.", "public, max-age=300"),
    "Vary": header(
        "`Accept`, as a browser gets a page, and `Accept-Encoding`.", "Accept, Accept-Encoding"
    ),
}
PROBLEMS = tuple(ProblemKindAnswer(code, *kind) for code, kind in CATALOGUE.items())
PROBLEM_PAGE = Content.of(msgspec.json.encode(ProblemKindPage(PROBLEMS)))
PHRASES = {status.value: status.phrase for status in HTTPStatus}


@blueprint.get("/")
@blueprint.operation("getHome", security=NO_TOKEN, store=False)
@blueprint.response(200, HomeAnswer, headers=KEPT)
def home() -> Response:
    """Get the service's name, version and links

    Browsers get a page.
    """
    version = current_app.config["API_VERSION"]
    if wants_page():
        return page("home.html", rulesets=RULESETS.values(), version=version)
    places = ("docs", "openapi.yaml", "openapi.json", "v1/rulesets", "problems")
    root = request.script_root
    home = HomeAnswer("Ludothèque", version, *(f"{root}/{place}" for place in places))
    return answer(home, headers=BY_ACCEPT)


@blueprint.get("/livez")
@blueprint.operation("getLiveness", security=NO_TOKEN, store=False)
@blueprint.response(200, HealthAnswer)
def livez() -> Response:
    """Check that the process is alive

    The process answers; nothing else is checked.
    """
    return answer(HealthAnswer("alive", None))


@blueprint.get("/readyz")
@blueprint.operation(
    "getReadiness", "store_evicts", "store_read_only", "stopping", security=NO_TOKEN, limits=()
)
@blueprint.response(200, HealthAnswer)
def readyz() -> Response:
    """Check that the service is ready

    503 while the store is unavailable or a replica, if it may evict games when its memory is full,
    and once the service is stopping. While the memory or the disk of the store is full, the answer
    is 200 and `detail` says so: games can be read, changes are 503.
    """
    if lifecycle.is_stopping():
        raise Problem("stopping")
    refusal = None
    for condition in services().health.conditions():
        if condition.may_drop_games:
            policy = condition.eviction_policy
            raise Problem("store_evicts", f"maxmemory-policy is {policy}, not {KEEPS_EVERYTHING}.")
        if not condition.is_master:
            raise Problem("store_read_only")
        refusal = refusal or condition.refusal
    return answer(HealthAnswer("ready", refusal and refusal.detail))


@blueprint.get("/problems")
@blueprint.operation("listProblems", security=NO_TOKEN, store=False)
@blueprint.response(200, ProblemKindPage, headers=KEPT)
def list_problems() -> Response:
    """List all problems, their meaning and what to do

    Browsers get a page.
    """
    if wants_page():
        return page("problems.html", problems=PROBLEMS, phrases=PHRASES)
    return prepared(PROBLEM_PAGE, headers=BY_ACCEPT)


@blueprint.get("/problems/<code>", parameters=[CODE])
@blueprint.operation("getProblem", "problem_not_found", security=NO_TOKEN, store=False)
@blueprint.response(200, ProblemKindAnswer, headers=KEPT)
def get_problem(code: str) -> Response:
    """Get the meaning of a problem code and what to do

    The `type` of a problem is the address of this operation. Browsers get a page.
    """
    if code not in CATALOGUE:
        raise Problem("problem_not_found")
    problem = ProblemKindAnswer(code, *CATALOGUE[code])
    if wants_page():
        return page("problem.html", about=code, problem=problem, phrases=PHRASES)
    return answer(problem, headers=BY_ACCEPT)


@blueprint.get("/openapi.json")
@blueprint.operation(
    "getDocumentAsJson", security=NO_TOKEN, store=False, parameters=[IF_NONE_MATCH]
)
@blueprint.response(
    200,
    ApiDocumentSchema,
    description="This document.",
    headers=TAGGED,
)
@blueprint.alt_response(304, description="You have it already.", headers=TAGGED)
def openapi_json() -> Response:
    """Get this document as JSON

    The same document as /openapi.yaml.
    """
    return _document("json", "application/json")


@blueprint.get("/openapi.yaml")
@blueprint.operation(
    "getDocumentAsYaml", security=NO_TOKEN, store=False, parameters=[IF_NONE_MATCH]
)
@blueprint.response(
    200,
    {"type": "string"},
    content_type="application/yaml",
    description="This document.",
    headers=TAGGED,
)
@blueprint.alt_response(304, description="You have it already.", headers=TAGGED)
def openapi_yaml() -> Response:
    """Get this document as YAML

    The whole contract; clients can be generated from it.
    """
    return _document("yaml", "application/yaml")


def _document(form: str, content_type: str) -> Response:
    content: Content = current_app.extensions["document"][form]
    return unless_had(content, content_type, "no-cache")
