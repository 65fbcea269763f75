"""The files that pages load: the project's own and those of Swagger UI.

Swagger UI comes with the package flask-swagger-ui; its blueprint is not used, because its page has
inline scripts. Only the files listed here are served. Each is read once, on first use, and is also
kept compressed.

The table in the browser is the folder `play`, which is served as it is: it can be copied to any
other server, so the files name each other by relative addresses.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from api.web.compression import Content

OWN = ("docs.css", "docs.js", "icon.svg", "page.css", "table-dark.webp", "table.webp")
SWAGGER_UI = ("swagger-ui-bundle.js", "swagger-ui.css")
TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "webp": "image/webp",
}


class Asset(NamedTuple):
    """A file and its type."""

    content_type: str
    content: Content


def find(name: str) -> Asset | None:
    """Return an asset by its name, None if there is none."""
    return _load(name) if name in OWN or name in SWAGGER_UI else None


def find_play(name: str) -> Asset | None:
    """Return a file of the table in the browser, None if there is none."""
    return _load_play(name) if name in play_files() else None


@cache
def play_files() -> frozenset[str]:
    """Return the names of the files of the table in the browser."""
    return frozenset(file.name for file in _play().iterdir() if file.is_file())


def _play() -> Traversable:
    return files("api.web.pages") / "play"


@cache
def _load(name: str) -> Asset:
    return read((files("api.web.pages") / "static" if name in OWN else swagger_ui()) / name)


@cache
def _load_play(name: str) -> Asset:
    return read(_play() / name)


def read(file: Traversable) -> Asset:
    """Return a file with its type, also compressed."""
    return Asset(TYPES[file.name.rpartition(".")[2]], Content.of(file.read_bytes()))


def swagger_ui() -> Traversable:
    """Return the directory of Swagger UI's files."""
    return files("flask_swagger_ui") / "dist"
