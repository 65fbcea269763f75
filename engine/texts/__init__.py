"""The rules of each game as text for players: one Markdown file for each game and language.

The wording is our own. The facts are those of the rule sheets, and of the rulings at the head of
each game's module.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "fr")


@cache
def rules_text(ruleset: str, language: str) -> str:
    """Return the rules of a game as Markdown, in one of `LANGUAGES`."""
    return (files(__name__) / f"{ruleset}.{language}.md").read_text(encoding="utf-8")
