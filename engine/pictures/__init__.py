"""The pictures that are drawn for games, as SVG: `has_picture` and `draw`.

`drawing` has the forms, and each game that has pictures a module of its own. They are drawn when
they are wanted, so the repository holds no files of them. `python -m engine.pictures` writes such
files, and the sheet that shows all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.pictures import contrast
from engine.pictures.drawing import Picture

PICTURES: Mapping[str, Mapping[str, Picture]] = {"contrast": contrast.PICTURES}
"""By ruleset, then by the name of the component: its picture."""


def has_picture(ruleset: str, name: str) -> bool:
    """Whether there is a picture of a component."""
    return name in PICTURES.get(ruleset, {})


def draw(ruleset: str, name: str) -> str:
    """Return the SVG document of a component that has a picture."""
    return PICTURES[ruleset][name].draw()
