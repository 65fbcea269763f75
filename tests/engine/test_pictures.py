"""The pictures of Contrast: small, safe, always the same, and good to argue about."""

from __future__ import annotations

import colorsys
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.contrast import PICTURES as NAMES
from engine.contrast import SYMBOL
from engine.pictures import draw, has_picture
from engine.pictures.contrast import BLUE, GREEN, PICTURES, RED, YELLOW
from engine.pictures.drawing import SVG
from tests.support.paths import ROOT

MAX_BYTES = 4096
COLORS = (RED, BLUE, YELLOW, GREEN)

FORMS = {"svg", "g", "rect", "circle", "ellipse", "path"}
ATTRIBUTES = {
    *("viewBox", "width", "height", "x", "y", "rx", "ry", "cx", "cy", "r", "d", "transform"),
    *("fill", "opacity", "stroke", "stroke-width", "stroke-linecap"),
}
COLOR = re.compile(r"#[0-9a-f]{6}")

HUES = {"red": (345, 20), "yellow": (35, 60), "green": (130, 190), "blue": (180, 235)}
"""Degrees of the hues that players can take for each colour: between green and blue for both."""

COLOR_BLIND = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What linear RGB becomes for eyes that lack a kind of cone (Machado, Oliveira, Fernandes 2009)."""

every_picture = pytest.mark.parametrize("name", NAMES)


def command(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "engine.pictures", *arguments], cwd=ROOT, check=True)


def test_every_picture_of_the_game_is_drawn() -> None:
    assert tuple(PICTURES) == NAMES
    assert all(has_picture("contrast", name) for name in NAMES)


@pytest.mark.parametrize(
    ("ruleset", "name"),
    [("contrast", "picture-75"), ("contrast", "red-yellow"), ("parade", "picture-1"), ("", "")],
)
def test_nothing_else_has_a_picture(ruleset: str, name: str) -> None:
    assert not has_picture(ruleset, name)


@every_picture
def test_a_picture_is_small_and_of_plain_forms_alone(name: str) -> None:
    text = draw("contrast", name)
    assert len(text.encode("ascii")) <= MAX_BYTES
    for element in ElementTree.fromstring(text).iter():
        assert element.tag.removeprefix(f"{{{SVG}}}") in FORMS
        assert set(element.attrib) <= ATTRIBUTES
        assert element.text is element.tail is None
        assert not any("url" in value or "nan" in value for value in element.attrib.values())


def test_the_sheet_shows_the_pictures_as_they_are_drawn_everywhere(tmp_path: Path) -> None:
    command("--sheet", tmp_path / "sheet.svg")
    drawn = (tmp_path / "sheet.svg").read_text(encoding="utf-8")
    kept = (ROOT / "docs" / "contrast-pictures.svg").read_text(encoding="utf-8")
    assert drawn == kept, "A picture that was released never changes; else run `make pictures`."
    ElementTree.fromstring(kept)


def test_the_command_writes_a_file_for_each_picture(tmp_path: Path) -> None:
    command(tmp_path)
    files = {path.stem: path.read_text() for path in (tmp_path / "contrast").glob("*.svg")}
    assert files == {name: draw("contrast", name) for name in NAMES}


def test_pictures_differ_by_their_forms_and_not_by_colours_alone() -> None:
    colourless = [COLOR.sub("", draw("contrast", name)) for name in NAMES]
    assert len(set(colourless)) == len(NAMES)
    # Nor are there more than two that have the same forms in other places and sizes.
    forms = Counter(re.sub(r"[0-9.-]+", "", each) for each in colourless)
    assert max(forms.values()) <= 2


@every_picture
def test_a_picture_can_be_argued_about(name: str) -> None:
    symbols = PICTURES[name].symbols
    assert len(symbols) == len(set(symbols)) >= 4
    assert set(symbols) <= set(SYMBOL.values)


def test_no_symbol_is_much_more_often_right_than_another() -> None:
    often = Counter(symbol for picture in PICTURES.values() for symbol in picture.symbols)
    assert set(often) == set(SYMBOL.values)
    assert min(often.values()) >= 25
    assert max(often.values()) <= 48


def hues(color: str) -> set[str]:
    """The colours of the game for which players can take a colour; none for pale and dull ones."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    if not (0.15 < lightness < 0.78 and saturation > 0.4):
        return set()
    degrees = hue * 360
    return {
        name
        for name, (first, last) in HUES.items()
        if (first <= degrees <= last if first < last else degrees >= first or degrees <= last)
    }


@every_picture
def test_a_colour_can_be_argued_for_where_it_is_seen(name: str) -> None:
    seen = set().union(*map(hues, COLOR.findall(draw("contrast", name))))
    assert seen == set(PICTURES[name].symbols) & set(HUES)


def lab(linear: list[float]) -> tuple[float, float, float]:
    """The CIE L*a*b* values of linear RGB."""
    rgb = [min(1.0, max(0.0, each)) for each in linear]
    rows = (
        (0.4124564, 0.3575761, 0.1804375, 0.95047),
        (0.2126729, 0.7151522, 0.0721750, 1.0),
        (0.0193339, 0.1191920, 0.9503041, 1.08883),
    )
    x, y, z = (
        share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116
        for share in (sum(a * b for a, b in zip(row, rgb, strict=False)) / row[3] for row in rows)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def linear(color: str) -> list[float]:
    """The linear RGB of a colour that has no very dark part."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [((each + 0.055) / 1.055) ** 2.4 for each in parts]


@pytest.mark.parametrize("eyes", COLOR_BLIND)
def test_the_four_colours_are_told_apart_by_colour_blind_eyes(eyes: str) -> None:
    seen = [
        lab(
            [
                sum(a * b for a, b in zip(row, linear(color), strict=True))
                for row in COLOR_BLIND[eyes]
            ]
        )
        for color in COLORS
    ]
    for one, other in combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 >= 25


def test_the_four_colours_are_told_apart_in_grey() -> None:
    weights = (0.2126, 0.7152, 0.0722)
    greys = sorted(
        sum(a * b for a, b in zip(weights, linear(color), strict=True)) + 0.05 for color in COLORS
    )
    assert all(lighter / darker >= 1.4 for darker, lighter in pairwise(greys))
