"""The texts of each game for players, in each language.

`ID.LANGUAGE.md` has the rules, `ID.LANGUAGE.toml` the words: titles of components, options, moves
and of everything else that has a name in tables, moves and events, and why a move is refused.

The wording is our own. The facts are those of the rule sheets, and of the rulings at the head of
each game's module.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from engine.ruleset import Component

LANGUAGES = ("en", "fr")


class MoveWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a type of move."""

    title: str
    """Its title."""

    description: str
    """What it does, in a sentence."""


class OptionWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of an option."""

    title: str
    """Its title."""

    description: str
    """What it changes, in sentences."""

    choices: Mapping[str, str] = {}
    """By choice: its title."""


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a game in a language."""

    components: Mapping[str, str]
    """By kind of component: the pattern of its titles."""

    names: Mapping[str, str]
    """The titles of everything that has a name: colours, symbols, faces, single cards."""

    moves: Mapping[str, MoveWords]
    """By type of move."""

    refusals: Mapping[str, str]
    """By rule code of an illegal move: why it is refused."""

    options: Mapping[str, OptionWords] = {}
    """By name of the option."""

    def title(self, component: Component) -> str:
        """Return the title of a component: `red 7`."""
        return self.components[component.kind].format(
            name=self.names.get(component.name),
            number=component.name.rpartition("-")[2],
            color=self.names.get(component.color or ""),
            value=component.value,
            parts=" / ".join(self.names[part] for part in component.parts),
        )


@cache
def rules_text(ruleset: str, language: str) -> str:
    """Return the rules of a game as Markdown, in one of `LANGUAGES`."""
    return _read(f"{ruleset}.{language}.md")


@cache
def words(ruleset: str, language: str) -> Words:
    """Return the words of a game, in one of `LANGUAGES`."""
    return msgspec.convert(tomllib.loads(_read(f"{ruleset}.{language}.toml")), Words)


def _read(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")
