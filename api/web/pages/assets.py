"""The files that pages load: the project's own and those of Swagger UI.

Swagger UI comes with the package flask-swagger-ui; its blueprint is not used, because its page has
inline scripts. Only the files listed here are served. Each is read once, on first use, and is also
kept compressed.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from api.web.compression import Content

OWN = ("docs.css", "docs.js", "icon.svg", "page.css")
SWAGGER_UI = ("swagger-ui-bundle.js", "swagger-ui.css")
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """A file and its type."""

    content_type: str
    content: Content


def find(name: str) -> Asset | None:
    """Return an asset by its name, None if there is none."""
    return _load(name) if name in OWN or name in SWAGGER_UI else None


@cache
def _load(name: str) -> Asset:
    directory = files("api.web.pages") / "static" if name in OWN else swagger_ui()
    content = Content.of((directory / name).read_bytes())
    return Asset(TYPES[name.rpartition(".")[2]], content)


def swagger_ui() -> Traversable:
    """Return the directory of Swagger UI's files."""
    return files("flask_swagger_ui") / "dist"
