"""The guide: the documents of `docs/`, rendered from Markdown.

The folder `guide` beside this module is a link to `docs/`, and a copy of it in a wheel. A document
is rendered at its first request, and cached. HTML in a document stays text.

A link from one document to another works as it stands, without `.md`. A link to any other file of
the repository becomes plain text, as the service does not serve it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from api.concurrency.single_flight import SingleFlight
from api.concurrency.time_slices import long_work, pause
from api.web.compression import Content
from api.web.pages.assets import Asset, read
from api.web.pages.rendering import HTML, render

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

START = "README"
"""The document at `/guide/`."""

SERVED = {"../openapi.yaml": "openapi.yaml"}
"""The files outside of the guide that the service serves, with their addresses below its root."""

SECTION = re.compile(r"^(?=## )", re.MULTILINE)
"""The beginning of a part of a document. No block of code has such a line; a test checks it."""


_rendering: SingleFlight[Content] = SingleFlight()
"""Concurrent first requests for a document render it once."""


class Heading(NamedTuple):
    """A heading, and the anchor that GitHub gives to it too."""

    level: str
    title: str
    anchor: str


def find(name: str) -> Asset | None:
    """Return a document or a picture by its path below `/guide/`, None if there is none."""
    if name in paths():
        return _picture(name) if name.endswith(".svg") else None
    document = f"{name or START}.md"
    if name == START or document not in paths():
        return None
    return Asset(HTML, _rendering.run(document, lambda: _document(document)))


@cache
def paths() -> frozenset[str]:
    """Return the paths of all documents and pictures."""
    return frozenset(_files(_folder(), ""))


def _files(folder: Traversable, path: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{path}{entry.name}/")
        elif entry.name.endswith((".md", ".svg")):
            yield path + entry.name


def _folder() -> Traversable:
    return files("api.web.pages") / "guide"


@cache
def _picture(path: str) -> Asset:
    return read(_folder() / path)


@cache
def _document(path: str) -> Content:
    markdown = _markdown()
    root = "../" * (path.count("/") + 1)
    headings: list[Heading] = []
    parts = []
    with long_work():
        for part in SECTION.split((_folder() / path).read_text(encoding="utf-8")):
            tokens = markdown.parse(part)
            headings += _add_anchors(tokens)
            for token in tokens:
                token.children = token.children and list(
                    _with_addresses(token.children, dirname(path), root)
                )
                if "style" in token.attrs:  # the alignment of a cell
                    token.attrs = {"class": "number"}
            html = markdown.renderer.render(tokens, markdown.options, {})
            # Wide tables scroll by themselves, also by the keyboard.
            html = html.replace("<table>", '<div class="wide" tabindex="0"><table>')
            parts.append(html.replace("</table>", "</table></div>"))
            pause()
    title = next(each.title for each in headings if each.level == "h1")
    sections = [each for each in headings if each.level == "h2"]
    return render("guide.html", root, title=title, sections=sections, parts=parts)


@cache
def _markdown() -> MarkdownIt:
    """Return the parser, which is imported by the workers only that render a document: 4 MB."""
    from markdown_it import MarkdownIt  # noqa: PLC0415

    return MarkdownIt("js-default")  # CommonMark and tables, without HTML


def _add_anchors(tokens: list[Token]) -> Iterator[Heading]:
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = "".join(each.content for each in tokens[at + 1].children or ())
            anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            token.attrs["id"] = anchor
            yield Heading(token.tag, title, anchor)


def _with_addresses(tokens: Iterable[Token], folder: str, root: str) -> Iterator[Token]:
    """Give links the addresses that they have in the guide; leave out links to other files."""
    is_left_out = False
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrs["href"]), folder, root)
            is_left_out = address is None
            token.attrs["href"] = address or ""
        if not (is_left_out and token.type in {"link_open", "link_close"}):
            yield token


def _address(link: str, folder: str, root: str) -> str | None:
    """Return the address of a link of a document in a folder, None if nothing is served there.

    >>> _address("rules/parade.md#setup", "", "../"), _address("../README.md", "rules", "../../")
    ('rules/parade#setup', '../')
    """
    path, mark, anchor = link.partition("#")
    if not path or ":" in path:
        return link
    target = normpath(join(folder, path))
    if target in SERVED:
        return root + SERVED[target]
    if target not in paths():
        return None
    return (path.removesuffix(f"{START}.md").removesuffix(".md") or "./") + mark + anchor
