"""The figures of the documents, written from those that are kept in `bench/results`.

python -m bench.report
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import boardgame_io, capacity, engine, growth, http, memory
from bench.kept import read
from bench.running import table
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
# Comments that every renderer of Markdown leaves out, also one without HTML.
BEGIN = '[//]: # "Written by bench/report.py from bench/results."'
END = '[//]: # "The end of what is written."'


def text(kept: Mapping[str, Any]) -> str:
    """The part of docs/performance.md that is written."""
    return "\n\n".join(filter(None, (part(kept) for part in PARTS)))


def _requests(kept: Mapping[str, Any]) -> str:
    found = kept["http"]
    return (
        f"Measured on {found['machine']}, with the load generator on the same cores; medians of "
        f"{found['rounds']} rounds of {found['seconds']:g} seconds.\n\n{http.tables(found)}"
    )


def _beside_boardgame_io(kept: Mapping[str, Any]) -> str:
    found = kept.get("boardgame_io")
    return "" if found is None else f"{boardgame_io.heading(found)}\n\n{boardgame_io.tables(found)}"


def _growth(kept: Mapping[str, Any]) -> str:
    found = kept["growth"]
    sizes = ", ".join(f"{each['what']} to {each['sizes'][-1]:,}" for each in found["growth"])
    alt = f"Milliseconds of five requests as there are more {sizes}; the table has the ends."
    return (
        "How long one request takes as more is stored, the median of "
        f"{found['rounds']} medians:\n\n![{alt}](growth.svg)\n\n{growth.summary(found)}"
        f"{growth.lobby_in_short(found)}"
    )


def _memory(kept: Mapping[str, Any]) -> str:
    waiting, found = kept["waiting"], kept["memory"]
    worker = found["worker"]
    rows = [
        [f"from a move to its waiting clients, {waiting['clients']:,} on a worker, 4 to a game",
         f"{waiting['p50_ms']:g} ms (p99 {waiting['p99_ms']:g} ms)"],
        ["a waiting client, in a worker", f"{waiting['kb_each']:g} kB"],
        ["a worker as it starts", f"{worker['started'] / memory.MB:.0f} MB"],
        [f"a worker after it has shown {worker['games']:,} games",
         f"{worker['after_games'] / memory.MB:.0f} MB"],
        [f"a worker while {worker['waiters']:,} wait",
         f"{worker['with_waiters'] / memory.MB:.0f} MB"],
    ]  # fmt: skip
    return (
        f"{table(['what', 'is'], rows)}\n\nAll keys of a game in {found['games_store']}:\n\n"
        f"{memory.table_of_games(found)}"
    )


def _engine(kept: Mapping[str, Any]) -> str:
    return f"The rules alone, in one process, in a second:\n\n{engine.tables(kept['engine'])}"


PARTS: tuple[Callable[[Mapping[str, Any]], str], ...] = (
    _requests,
    _beside_boardgame_io,
    _growth,
    _memory,
    _engine,
)


DOCUMENTS: dict[Path, Callable[[Mapping[str, Any]], str]] = {
    DOCS / "performance.md": text,
    DOCS / "scaling.md": capacity.text,
}
"""The documents with figures, each with what is written into it."""


def written(document: Path, kept: Mapping[str, Any]) -> str:
    """A document with these figures."""
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    figures = DOCUMENTS[document](kept)
    found, number = re.subn(
        pattern,
        lambda _: f"{BEGIN}\n\n{figures}\n\n{END}",
        document.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    if number != 1:
        raise SystemExit(f"{document.name} has {number} places for figures.")
    return found


if __name__ == "__main__":
    for each in DOCUMENTS:
        each.write_text(written(each, read()), encoding="utf-8")
