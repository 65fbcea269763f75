"""The picture of what grows: a panel for each thing that does, a line for each request.

It follows the colour scheme of the page that shows it. Text stays text.

    python -m bench.picture [FILE [DIRECTORY]]
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from bench.growth import OPERATIONS
from bench.kept import RESULTS
from tests.support.paths import ROOT


class Colours(NamedTuple):
    """The colours of a picture: the background, the text, the grid and the lines."""

    ground: str
    ink: str
    grid: str
    lines: tuple[str, ...]


LIGHT = Colours(
    "#ffffff", "#1f2328", "#d1d9e0", ("#0550ae", "#bc4c00", "#116329", "#8250df", "#a40e26")
)
DARK = Colours(
    "#0d1117", "#e6edf3", "#30363d", ("#79c0ff", "#ffa657", "#7ee787", "#d2a8ff", "#ff7b72")
)
MARKERS = "osD^v"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "growth",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
}


def draw(measured: dict[str, Any]) -> str:
    """Return the picture as an SVG document."""
    written = io.StringIO()
    with mpl.rc_context(STYLE):
        # Without date and program: the same figures give the same picture.
        _figure(measured["growth"]).savefig(
            written, format="svg", facecolor=LIGHT.ground, metadata={"Date": None, "Creator": None}
        )
    return _in_both_schemes(written.getvalue())


def _in_both_schemes(svg: str) -> str:
    """Replace each colour by a variable that the colour scheme sets."""
    light = dark = ""
    pairs = zip(_each(LIGHT), _each(DARK), strict=True)
    for at, (of_light, of_dark) in enumerate(pairs):
        svg = svg.replace(of_light, f"var(--c{at})")
        light += f"--c{at}: {of_light}; "
        dark += f"--c{at}: {of_dark}; "
    style = f":root {{{light}}} @media (prefers-color-scheme: dark) {{:root {{{dark}}}}}"
    return svg.replace("</style>", f"{style}</style>", 1)


def _each(colours: Colours) -> tuple[str, ...]:
    return (colours.ground, colours.ink, colours.grid, *colours.lines)


def _figure(growth: list[dict[str, Any]]) -> Figure:
    rows = -(-len(growth) // 2)
    figure = Figure(figsize=(9, 3.25 * rows), layout="constrained")
    panels = list(figure.subplots(rows, 2, sharey=True).flat)
    for axes in panels[len(growth) :]:
        axes.remove()
    for at, (axes, each) in enumerate(zip(panels, growth, strict=False)):
        _panel(axes, each)
        if at % 2 == 0:
            axes.set_ylabel("milliseconds, one at a time", color=LIGHT.ink)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(OPERATIONS),
        frameon=False,
        labelcolor=LIGHT.ink,
    )
    return figure


def _panel(axes: Axes, each: dict[str, Any]) -> None:
    sizes = each["sizes"]
    for name, colour, marker in zip(OPERATIONS, LIGHT.lines, MARKERS, strict=True):
        medians, lowest, highest = zip(*each["ms"][name], strict=True)
        axes.plot(sizes, medians, color=colour, marker=marker, markersize=5, label=name)
        axes.fill_between(sizes, lowest, highest, color=colour, alpha=0.15, linewidth=0)
    if sizes[0] == 0:
        axes.set_xscale("symlog", linthresh=sizes[1])
    else:
        axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(f"number of {each['what']}", color=LIGHT.ink)
    axes.grid(visible=True, which="major", color=LIGHT.grid, linewidth=0.7)
    axes.grid(visible=True, which="minor", axis="y", color=LIGHT.grid, linewidth=0.3)
    axes.set_facecolor(LIGHT.ground)
    axes.tick_params(which="both", color=LIGHT.grid, labelcolor=LIGHT.ink)
    for spine in axes.spines.values():
        spine.set_color(LIGHT.grid)


def main(file: Path = RESULTS / "growth.json", directory: Path = ROOT / "docs") -> None:
    """Draw what is kept, or the figures in a file."""
    picture = draw(json.loads(file.read_text(encoding="utf-8")))
    (directory / "growth.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
