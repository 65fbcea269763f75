"""The rules of each game as text for people, one Markdown file a game and language.

The words are our own; the facts are those of the sheets and of the rulings that the engine's
modules list.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "fr")


@cache
def rules_text(ruleset: str, language: str) -> str:
    """The rules of a game, as Markdown, in one of `LANGUAGES`."""
    return (files(__name__) / f"{ruleset}.{language}.md").read_text(encoding="utf-8")
