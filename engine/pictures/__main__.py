"""Write the pictures to files: `python -m engine.pictures [DIRECTORY] [--sheet FILE]`.

Each picture becomes `DIRECTORY/RULESET/NAME.svg`. The sheet shows all of them, with their numbers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.pictures import PICTURES, draw
from engine.pictures.drawing import SIDE, SVG

COLUMNS = 10
CELL = SIDE + 24
LABEL = 60
GREY = "#7a7a7a"
"""Readable on white and on black pages alike."""


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m engine.pictures", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, help="where to write one file each")
    parser.add_argument("--sheet", type=Path, help="the file that shows all pictures of Contrast")
    wanted = parser.parse_args()
    if wanted.directory is None and wanted.sheet is None:
        parser.error("Name a directory, or --sheet with a file.")
    if wanted.directory is not None:
        for ruleset, pictures in PICTURES.items():
            (wanted.directory / ruleset).mkdir(parents=True, exist_ok=True)
            for name, picture in pictures.items():
                path = wanted.directory / ruleset / f"{name}.svg"
                path.write_text(picture.draw(), encoding="utf-8")
    if wanted.sheet is not None:
        wanted.sheet.write_text(sheet("contrast"), encoding="utf-8")


def sheet(ruleset: str) -> str:
    """Return an SVG document that shows all pictures of a game, without a background."""
    names = list(PICTURES[ruleset])
    rows = -(-len(names) // COLUMNS)
    cells = []
    for place, name in enumerate(names):
        x, y = place % COLUMNS * CELL, place // COLUMNS * (CELL + LABEL)
        inner = draw(ruleset, name).replace(f'xmlns="{SVG}"', f'x="{x}" y="{y}"', 1)
        number = name.rpartition("-")[2]
        cells.append(f'{inner}\n<text x="{x + SIDE // 2}" y="{y + SIDE + 48}">{number}</text>\n')
    width, height = COLUMNS * CELL - (CELL - SIDE), rows * (CELL + LABEL)
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {width} {height}" width="{width // 2}" '
        f'height="{height // 2}" role="img" aria-label="{len(names)} pictures, by number" '
        f'fill="{GREY}" font-family="system-ui, sans-serif" font-size="44" font-weight="600" '
        f'text-anchor="middle">\n{"".join(cells)}</svg>\n'
    )


if __name__ == "__main__":
    main()
