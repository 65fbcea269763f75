"""Routes of pages: the table in the browser, the interactive reference, the guide and assets.

Not part of the API document.
"""

from __future__ import annotations

from flask import Blueprint, Response, request

from api.problems.problem import Problem
from api.web.headers import PAGE_POLICY, PICTURE_POLICY, PLAY_POLICY, POLICY, REFERENCE_POLICY
from api.web.pages import assets, guide
from api.web.pages.rendering import HTML, page
from api.web.responses import unless_had

REVALIDATED = "public, no-cache"
"""Browsers keep a file and ask each time: the files of one release never mix with another's."""

blueprint = Blueprint("pages", __name__)


@blueprint.get("/docs")
def docs() -> Response:
    """Return the interactive reference."""
    return page("docs.html", REFERENCE_POLICY)


@blueprint.get("/guide")
@blueprint.get("/play")
def to_folder() -> Response:
    """Redirect to the address with a slash, below which the other files are.

    The address is relative, so that it is right behind a proxy that adds a path prefix.
    """
    location = f"{request.path.rpartition('/')[2]}/"
    return Response(status=308, headers={"Location": location, "Cache-Control": REVALIDATED})


@blueprint.get("/guide/")
@blueprint.get("/guide/<path:name>")
def guide_page(name: str = "") -> Response:
    """Return a document or a picture of the guide."""
    found = guide.find(name)
    if found is None:
        raise Problem("not_found")
    response = unless_had(found.content, found.content_type, REVALIDATED)
    is_page = found.content_type == HTML
    response.headers[POLICY] = PAGE_POLICY if is_page else PICTURE_POLICY
    if is_page:
        response.headers["Content-Language"] = "en"
    return response


@blueprint.get("/play/")
def play_page() -> Response:
    """Return the page of the table in the browser."""
    return play("index.html")


@blueprint.get("/play/<name>")
def play(name: str) -> Response:
    """Return a file of the table in the browser."""
    found = assets.find_play(name)
    if found is None:
        raise Problem("not_found")
    response = unless_had(found.content, found.content_type, REVALIDATED)
    response.headers[POLICY] = PLAY_POLICY
    return response


@blueprint.get("/assets/<name>")
def asset(name: str) -> Response:
    """Return a style sheet, a script or an icon."""
    found = assets.find(name)
    if found is None:
        raise Problem("not_found")
    return unless_had(found.content, found.content_type, REVALIDATED)
