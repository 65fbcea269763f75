"""Forms of pictures, as SVG elements.

A picture is square, `SIDE` wide and high; x runs to the right, y down. Forms are coloured by
attributes, so a picture needs no style sheet. A form without a colour has that of its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import cos, hypot, radians, sin
from random import Random
from typing import NamedTuple

Form = str
"""An SVG element."""

Point = tuple[float, float]

SIDE = 240

SVG = "http://www.w3.org/2000/svg"


class Picture(NamedTuple):
    """A picture of a game."""

    symbols: tuple[str, ...]
    """What it shows, in the words of the game."""

    background: str
    """The colour behind the forms."""

    forms: Callable[[], list[Form]]
    """Return the forms, each in front of the earlier ones."""

    def draw(self) -> str:
        """Return the SVG document."""
        return (
            f'<svg xmlns="{SVG}" viewBox="0 0 {SIDE} {SIDE}" width="{SIDE}" height="{SIDE}">'
            f'<rect width="{SIDE}" height="{SIDE}" fill="{self.background}"/>'
            f"{''.join(self.forms())}</svg>"
        )


def number(value: float) -> str:
    """Return a number with at most one decimal.

    The small addend decides halves alike on every machine, whose sines may differ in the last bit.

    >>> number(12.25), number(12.25 - 1e-12), number(-0.04), number(120)
    ('12.3', '12.3', '0', '120')
    """
    text = f"{value + 1e-6:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def disc(x: float, y: float, radius: float, color: str = "", *, opacity: float = 1) -> Form:
    """A filled circle."""
    return _element("circle", cx=x, cy=y, r=radius, fill=color, opacity=opacity)


def ring(x: float, y: float, radius: float, width: float, color: str) -> Form:
    """A circle's line, `radius` to its middle."""
    return _element("circle", cx=x, cy=y, r=radius, fill="none", stroke=color, stroke_width=width)


def oval(x: float, y: float, across: float, up: float, color: str, *, turn: float = 0) -> Form:
    """A filled ellipse by its half axes."""
    return _element("ellipse", turn=(turn, x, y), cx=x, cy=y, rx=across, ry=up, fill=color)


def block(
    x: float,
    y: float,
    width: float,
    height: float,
    color: str = "",
    *,
    turn: float = 0,
    corner: float = 0,
    opacity: float = 1,
) -> Form:
    """A filled rectangle about its centre, with round corners of a radius."""
    return _element(
        "rect",
        turn=(turn, x, y),
        x=x - width / 2,
        y=y - height / 2,
        width=width,
        height=height,
        rx=corner,
        fill=color,
        opacity=opacity,
    )


def frame(x: float, y: float, side: float, width: float, color: str, *, turn: float = 0) -> Form:
    """A square's line about its centre."""
    return _element(
        "rect",
        turn=(turn, x, y),
        x=x - side / 2,
        y=y - side / 2,
        width=side,
        height=side,
        fill="none",
        stroke=color,
        stroke_width=width,
    )


def shape(path: str, color: str, *, opacity: float = 1) -> Form:
    """A filled SVG path."""
    return _element("path", d=path, fill=color, opacity=opacity)


def stroke(path: str, width: float, color: str, *, cap: str = "") -> Form:
    """A line along an SVG path; `cap` is `round` for round ends."""
    return _element(
        "path", d=path, fill="none", stroke=color, stroke_width=width, stroke_linecap=cap
    )


def group(color: str, *forms: Form) -> Form:
    """Forms of the same colour."""
    return f'<g fill="{color}">{"".join(forms)}</g>'


def polyline(*points: Point) -> str:
    """Return the path through some points.

    >>> polyline((0, 0), (10, 0), (5, 8.25))
    'M0 0 10 0 5 8.3'
    """
    return "M" + " ".join(f"{number(x)} {number(y)}" for x, y in points)


def squares(side: float, centres: Iterable[Point]) -> str:
    """Return the path of many squares of one size: shorter than a block for each.

    >>> squares(10, [(5, 5), (25, 5)])
    'M0 0h10v10h-10zM20 0h10v10h-10z'
    """
    a, half = number(side), side / 2
    return "".join(f"M{number(x - half)} {number(y - half)}h{a}v{a}h-{a}z" for x, y in centres)


def around(x: float, y: float, radius: float, angle: float) -> Point:
    """Return the point at this distance and angle: 0 is to the right, 90 is down.

    >>> [round(each, 6) for each in around(120, 120, 50, 90)]
    [120.0, 170.0]
    """
    return x + radius * cos(radians(angle)), y + radius * sin(radians(angle))


def spots(seed: int, count: int, apart: float, margin: float) -> list[Point]:
    """Return points that lie irregularly, so far apart and so far from the edge.

    The same seed gives the same points on every release of Python.
    """
    random = Random(seed).random
    found: list[Point] = []
    while len(found) < count:
        x, y = (margin + random() * (SIDE - 2 * margin) for _ in "xy")
        if all(hypot(x - a, y - b) >= apart for a, b in found):
            found.append((x, y))
    return found


def _element(
    name: str, *, turn: tuple[float, float, float] = (0, 0, 0), **attributes: float | str
) -> Form:
    """Return an element, without the attributes that have no effect."""
    written = [name]
    for key, value in attributes.items():
        if value != "" and (key, value) not in NO_EFFECT:
            text = number(value) if isinstance(value, int | float) else value
            written.append(f'{key.replace("_", "-")}="{text}"')
    if turn[0]:
        written.append(f'transform="rotate({" ".join(map(number, turn))})"')
    return f"<{' '.join(written)}/>"


NO_EFFECT = {("opacity", 1), ("rx", 0)}
"""Attributes that may be left out."""
