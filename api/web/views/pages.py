"""Routes of pages: the interactive reference and assets. Not part of the API document."""

from __future__ import annotations

from flask import Blueprint, Response

from api.problems.problem import Problem
from api.web.headers import REFERENCE_POLICY
from api.web.pages import assets
from api.web.pages.rendering import page
from api.web.responses import unless_had

blueprint = Blueprint("pages", __name__)


@blueprint.get("/docs")
def docs() -> Response:
    """Return the interactive reference."""
    return page("docs.html", REFERENCE_POLICY)


@blueprint.get("/assets/<name>")
def asset(name: str) -> Response:
    """Return a style sheet, a script or an icon."""
    found = assets.find(name)
    if found is None:
        raise Problem("not_found")
    return unless_had(found.content, found.content_type, "public, no-cache")
