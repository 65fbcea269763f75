"""The service itself: is it alive, is it ready, its document, what its problems mean."""

from __future__ import annotations

from flask import Response, current_app

from api.answers import HealthAnswer, ProblemAnswer
from api.kinds import KINDS
from api.openapi import NO_TOKEN, Blueprint
from api.parts import CONDITIONAL, IF_NONE_MATCH
from api.problems import Problem
from api.resources.common import answer, services, unless_had
from api.schemas.service import ApiDocumentSchema, HealthSchema, ProblemKindSchema

blueprint = Blueprint("service", __name__)

CODE = {
    "name": "code",
    "in": "path",
    "required": True,
    "description": "The `code` of a problem.",
    "schema": {"type": "string", "examples": ["stale_turn"]},
}
KEEPS_EVERYTHING = "noeviction"
TAGGED = {"ETag": CONDITIONAL["ETag"], "Cache-Control": CONDITIONAL["Cache-Control"]}


@blueprint.get("/livez")
@blueprint.operation("getLiveness", security=NO_TOKEN, store=False)
@blueprint.response(200, HealthSchema)
def livez() -> Response:
    """Is the service alive

    Whether the process answers at all; it asks nobody else.
    """
    return answer(HealthAnswer("alive"))


@blueprint.get("/readyz")
@blueprint.operation("getReadiness", "store_evicts", "store_read_only", security=NO_TOKEN)
@blueprint.response(200, HealthSchema)
def readyz() -> Response:
    """Can the service do its work

    503 while the store cannot be reached or written to, or if it may drop games when its memory is
    full.
    """
    for policy, is_master in services().store.conditions():
        if policy not in (None, KEEPS_EVERYTHING):
            raise Problem("store_evicts", f"maxmemory-policy is {policy}, not {KEEPS_EVERYTHING}.")
        if not is_master:
            raise Problem("store_read_only")
    return answer(HealthAnswer("ready"))


@blueprint.get("/problems/<code>", parameters=[CODE])
@blueprint.operation("getProblem", "problem_not_found", security=NO_TOKEN, store=False)
@blueprint.response(200, ProblemKindSchema)
def get_problem(code: str) -> Response:
    """What a problem code means, and what to do about it

    The `type` of a problem is this operation's address.
    """
    if code not in KINDS:
        raise Problem("problem_not_found")
    kind = KINDS[code]
    return answer(ProblemAnswer(code, kind.status, kind.title, kind.advice))


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
    """This document, as JSON

    The same as /openapi.yaml, for programs.
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
    """This document, as YAML

    The whole contract: clients can be generated from it.
    """
    return _document("yaml", "application/yaml")


def _document(form: str, content_type: str) -> Response:
    response = Response(current_app.extensions["document"][form], content_type=content_type)
    response.add_etag()
    response.headers["Cache-Control"] = "no-cache"
    return unless_had(response)
