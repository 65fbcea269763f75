"""Pages from templates, and whether the caller prefers a page."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from jinja2 import Environment, PackageLoader, StrictUndefined

from api.web.compression import Content
from api.web.headers import PAGE_POLICY, POLICY
from api.web.responses import prepared

HTML = "text/html; charset=utf-8"

BY_ACCEPT = {"Cache-Control": "public, max-age=300", "Vary": "Accept, Accept-Encoding"}
"""The headers of a response that is a page for browsers and JSON for other clients."""

_templates = Environment(
    loader=PackageLoader("api.web.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_rendered: dict[tuple[str, str, str], Content] = {}


def wants_page() -> bool:
    """Tell whether the caller prefers HTML, as browsers do. `Accept: */*` gets JSON."""
    accepted = request.accept_mimetypes
    return bool(accepted["text/html"] > accepted["application/json"])


def page(template: str, policy: str = PAGE_POLICY, *, about: str = "", **values: Any) -> Response:
    """Return a page rendered from a template.

    The page is cached for each value of `about`, so the other values must depend on it alone.
    """
    root = _to_root(request.path)
    content = _rendered.get((template, root, about))
    if content is None:
        content = _rendered[template, root, about] = render(template, root, **values)
    headers = {POLICY: policy, "Content-Language": "en", **BY_ACCEPT}
    return prepared(content, HTML, headers)


def render(template: str, root: str, **values: Any) -> Content:
    """Return a page rendered from a template. `root` is the relative address of the service."""
    return Content.of(_templates.get_template(template).render(root=root, **values).encode())


def _to_root(path: str) -> str:
    """Return the relative address of the service's root as seen from a path.

    >>> _to_root("/"), _to_root("/problems"), _to_root("/problems/busy")
    ('./', './', '../')
    """
    return "../" * (path.count("/") - 1) or "./"
