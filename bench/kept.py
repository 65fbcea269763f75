"""The figures that are kept in `bench/results`, from which the documents are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

RESULTS = ROOT / "bench" / "results"
KEPT = ("http", "boardgame_io", "growth", "waiting", "memory", "engine", "traffic")
"""The benchmarks whose figures are kept."""


def read(directory: Path = RESULTS) -> dict[str, Any]:
    """The figures that are kept, by benchmark; boardgame.io may not have been measured."""
    files = {name: directory / f"{name}.json" for name in KEPT}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
